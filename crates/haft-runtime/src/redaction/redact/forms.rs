//! Lists the forms in which programs write a text.
//!
//! These are JSON, the form for names with odd characters, and the forms for a shell, a page and an address.

use serde_json::Value;

use super::known::Secret;

/// Returns a secret in all its forms, itself first.
pub(super) fn forms(secret: &Secret) -> Vec<Secret> {
    let texts = written(&secret.text);
    // Each form is written letter by letter, so that a beginning of the text is a beginning of its form.
    let kept = written(&secret.text[..secret.kept]);
    let forms = texts.into_iter().zip(kept).map(|(text, kept)| Secret { text, kept: kept.len() });
    let mut all = vec![secret.clone()];
    for form in forms {
        if !all.contains(&form) {
            all.push(form);
        }
    }
    all
}

fn written(text: &str) -> Vec<String> {
    let mut forms = in_literals(text);
    forms.extend(for_shells(text));
    forms.extend(in_addresses(text));
    forms.extend(in_markup(text));
    // Words, as programs part them.
    forms.extend(SEPARATORS.map(|between| text.replace(' ', between)));
    forms
}

/// What programs put between words.
const SEPARATORS: [&str; 18] =
    ["", "  ", "   ", "    ", "\t", "_", "-", "+", ",", ", ", ";", "; ", "|", " | ", "/", ".", ":", " - "];

/// Writes a text letter by letter.
fn each(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

/// Writes a text with a backslash before some letters.
fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    each(text, |letter| if is_escaped(letter) { format!("\\{letter}") } else { letter.to_string() })
}

/// Returns the forms in strings of JSON and of programming languages.
fn in_literals(text: &str) -> Vec<String> {
    let json = |text: &str| {
        let json = Value::from(text).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let units = |letter: char| {
        let mut units = [0; 2];
        letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let bytes = |letter: char, write: &dyn Fn(u8) -> String| {
        let mut bytes = [0; 4];
        letter.encode_utf8(&mut bytes).bytes().map(write).collect::<String>()
    };
    let ascii = |text: &str| each(text, |letter| if letter.is_ascii() { letter.to_string() } else { units(letter) });
    // For a page or a script in one.
    let for_pages = |text: &str, more: &str| {
        each(text, |letter| if more.contains(letter) { units(letter) } else { letter.to_string() })
    };
    let of_json = json(text);
    let python = text.replace('\\', "\\\\");
    let c = |write: &dyn Fn(u8) -> String| {
        each(&escaped(text, |letter| "\\\"".contains(letter)), |letter| match letter.is_ascii() {
            true => letter.to_string(),
            false => bytes(letter, write),
        })
    };
    vec![
        of_json.replace('/', "\\/"),
        ascii(&of_json),
        ascii(&of_json).replace('/', "\\/"),
        ascii(text),
        for_pages(&of_json, "<>&"),
        for_pages(&of_json, "<>&'"),
        for_pages(&of_json, "<>&'+="),
        for_pages(&ascii(&of_json), "<>&"),
        for_pages(&ascii(&of_json), "<>&'"),
        // JSON within JSON.
        json(&of_json),
        json(&ascii(&of_json)),
        text.escape_debug().to_string(),
        python.replace('\'', "\\'"),
        escaped(text, |letter| "\\'\"".contains(letter)),
        escaped(text, |letter| "\\\"$".contains(letter)),
        escaped(text, |letter| "\\\"#".contains(letter)),
        escaped(text, |letter| "\\`$".contains(letter)),
        c(&|byte| format!("\\{byte:03o}")),
        c(&|byte| format!("\\x{byte:02x}")),
        python,
        // SQL, YAML, and tables.
        text.replace('\'', "''"),
        text.replace('"', "\"\""),
        of_json,
    ]
}

/// Returns the forms for shells and in regular expressions.
fn for_shells(text: &str) -> Vec<String> {
    let is_common = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    vec![
        escaped(text, |letter| !(is_common(letter) || !letter.is_ascii() || "/:=@%+".contains(letter))),
        escaped(text, |letter| letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_'),
        escaped(text, |letter| "()[]{}?*+-|^$\\.&~# ".contains(letter)),
        escaped(text, |letter| "()[]{}?*+|^$\\./".contains(letter)),
        escaped(text, |letter| "$`\"\\".contains(letter)),
        escaped(text, |letter| "$`\"\\!".contains(letter)),
        escaped(text, |letter| "\\'".contains(letter)),
        text.replace('\'', "'\\''"),
        text.replace('\'', "'\"'\"'"),
        each(text, |letter| if "$`\"".contains(letter) { format!("`{letter}") } else { letter.to_string() }),
    ]
}

/// Returns the forms in addresses, by the letters that functions for them leave alone.
fn in_addresses(text: &str) -> Vec<String> {
    let percent = |letter: char| {
        let mut bytes = [0; 4];
        letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let kept = [
        "-_.~",
        "-_./",
        "-_./~",
        "-_.~*",
        "-_.*",
        "-_.!~*'()",
        "-_.!~*'();,/?:@&=+$#",
        "-_.~!$&'()*+,;=:@",
        "-_.~!$&'()*+,;=:@/",
    ];
    let write = |kept: &str| {
        each(text, |letter| match letter.is_ascii_alphanumeric() || kept.contains(letter) {
            true => letter.to_string(),
            false => percent(letter),
        })
    };
    let whole = kept.iter().map(|kept| write(kept));
    let with_plus = kept.iter().map(|kept| write(kept).replace("%20", "+"));
    whole.chain(with_plus).collect()
}

/// Returns the forms in HTML and XML: what they write for quotes differs.
fn in_markup(text: &str) -> Vec<String> {
    let marked = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut forms = Vec::new();
    for double in ["\"", "&quot;", "&#34;", "&#x22;"] {
        for single in ["'", "&#39;", "&#x27;", "&apos;", "&#039;"] {
            forms.push(marked.replace('"', double).replace('\'', single));
        }
    }
    let number = |letter: char, write: &dyn Fn(u32) -> String| match letter.is_ascii_alphanumeric() {
        true => letter.to_string(),
        false => write(u32::from(letter)),
    };
    forms.push(each(text, |letter| number(letter, &|code| format!("&#{code};"))));
    forms.push(each(text, |letter| number(letter, &|code| format!("&#x{code:x};"))));
    forms.push(text.replace('&', "&amp;").replace('<', "&lt;"));
    forms
}

#[cfg(test)]
mod tests {
    use haft_contract::doors::door::SecretFile;
    use haft_contract::files::guarded::SecretKind;

    use super::super::Redactor;

    /// Passwords with all kinds of signs, also with what begins a comment elsewhere.
    const VALUES: &[&str] = &[
        "kR7#vd\"Qz\\9x&Lp<2w>T",
        "k#R7vd'Qz9x&Lp<2w>Tq",
        "p/ä s$w\"rd&9 x#y",
        "a'b\"c\\d$e`f!g#h",
        "x#1<y>&z\"/w\\v'u+t",
        "#startsW1th\"and<more>",
        "semi;colon\"9x&Lp<2w>T",
    ];

    /// Returns a value as programs of many languages write it.
    fn written_by_programs(value: &str) -> Vec<(&'static str, String)> {
        [written_in_code(value), written_on_pages(value)].concat()
    }

    fn backslashed(value: &str, is_special: impl Fn(char) -> bool) -> String {
        value.chars().map(|c| if is_special(c) { format!("\\{c}") } else { c.to_string() }).collect()
    }

    fn written_in_code(value: &str) -> Vec<(&'static str, String)> {
        let json_of = |text: &str| {
            let json = serde_json::Value::from(text).to_string();
            json[1..json.len() - 1].to_owned()
        };
        let json = json_of(value);
        let unit = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
        let is_word = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii();
        vec![
            ("as it is", value.to_owned()),
            ("JSON", json.clone()),
            ("JSON of Python", json.chars().map(unit).collect()),
            ("JSON of Go", json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")),
            ("JSON of PHP", json.replace('/', "\\/")),
            ("JSON in JSON", json_of(&json)),
            ("repr of Python", value.replace('\\', "\\\\").replace('\'', "\\'")),
            ("repr without a quote", value.replace('\\', "\\\\")),
            ("printf %q", backslashed(value, |c| !is_word(c) && !"-_./:=@%+".contains(c))),
            ("quotemeta", backslashed(value, |c| !is_word(c) && c != '_')),
            ("single quotes", value.replace('\'', "'\\''")),
            ("shlex", value.replace('\'', "'\"'\"'")),
            ("declare -p", backslashed(value, |c| "$`\"\\".contains(c))),
            ("CSV", value.replace('"', "\"\"")),
            ("SQL", value.replace('\'', "''")),
        ]
    }

    fn written_on_pages(value: &str) -> Vec<(&'static str, String)> {
        let percent = |safe: &str| -> String {
            let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || safe.as_bytes().contains(&byte);
            let write = |byte| if is_safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
            value.bytes().map(write).collect()
        };
        let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        vec![
            ("HTML text", html.clone()),
            ("HTML of Python", html.replace('"', "&quot;").replace('\'', "&#x27;")),
            ("HTML of Go", html.replace('"', "&#34;").replace('\'', "&#39;")),
            ("XML", html.replace('"', "&quot;").replace('\'', "&apos;")),
            ("encodeURIComponent", percent("-_.!~*'()")),
            ("quote of Python", percent("-_.~/")),
            ("quote_plus", percent("-_.~").replace("%20", "+")),
            ("rawurlencode in small letters", percent("-_.~").to_lowercase()),
        ]
    }

    #[test]
    fn a_value_of_a_file_is_hidden_in_every_form_that_programs_write_it_in() {
        for value in VALUES {
            for (name, assignment) in
                [("plain", format!("DB_PASSWORD={value}\n")), ("quoted", format!("DB_PASSWORD='{value}'\n"))]
            {
                if name == "quoted" && value.contains('\'') {
                    continue;
                }
                let redactor = Redactor::default();
                let file = SecretFile { path: ".env".into(), kind: SecretKind::Data, text: assignment };
                redactor.also_hide_files(&[file]);
                for (program, written) in written_by_programs(value) {
                    for output in [
                        written.clone(),
                        format!("DB_PASSWORD={written}"),
                        format!("\"DB_PASSWORD={written}\\n\""),
                        format!("x={written};"),
                    ] {
                        let shown = redactor.redact(&output);
                        let expected = output.replace(&written, "[secret]");
                        assert_eq!(shown, expected, "{program}, {name}: {value}");
                    }
                }
            }
        }
    }
}
