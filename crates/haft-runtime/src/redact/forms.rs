//! The forms in which programs write a text.
//!
//! In JSON, as a name with odd characters is shown, and for a shell, a page or an address.

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
    let json = Value::from(text).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let is_common = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let each = |write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>();
    let percent = |letter: char| {
        let mut bytes = [0; 4];
        letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let units = |letter: char| {
        let mut units = [0; 2];
        letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let plain = |letter: char| letter.to_string();
    vec![
        json.replace('/', "\\/"),
        text.escape_debug().to_string(),
        each(&|letter| if letter.is_ascii() { plain(letter) } else { units(letter) }),
        each(&|letter| if is_common(letter) || letter == '~' { plain(letter) } else { percent(letter) }),
        each(&|letter| if is_common(letter) || letter == '/' { plain(letter) } else { percent(letter) }),
        each(&|letter| {
            let is_safe = is_common(letter) || !letter.is_ascii() || "/:=@%+".contains(letter);
            if is_safe { plain(letter) } else { format!("\\{letter}") }
        }),
        each(&|letter| if "$`\"\\".contains(letter) { format!("\\{letter}") } else { plain(letter) }),
        text.replace('\'', "'\\''"),
        text.replace('\'', "''"),
        // Words, as programs part them.
        text.replace(' ', "  "),
        text.replace(' ', "_"),
        text.replace(' ', "-"),
        text.replace(' ', "+"),
        text.replace(' ', ","),
        text.replace(' ', ", "),
        text.replace(' ', ""),
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
        json,
    ]
}
