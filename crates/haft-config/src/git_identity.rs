//! Takes the user's identity from git's settings: name, address and the name of the first branch.
//!
//! A command sees only these, because git's settings may also name programs and hold keys.

/// What is passed on, by section and key.
const PASSED_ON: [(&str, &str); 4] =
    [("user", "name"), ("user", "email"), ("init", "defaultbranch"), ("core", "autocrlf")];

/// Returns the settings that are passed on, as a file for git; later texts go over earlier ones.
pub(crate) fn of(texts: impl IntoIterator<Item = String>) -> Option<String> {
    let mut found: [Option<String>; PASSED_ON.len()] = Default::default();
    for text in texts {
        let mut section = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                section = name.0.trim().to_ascii_lowercase();
            } else if let Some((key, value)) = line.split_once('=') {
                let key = key.trim().to_ascii_lowercase();
                let wanted = PASSED_ON.iter().position(|passed| *passed == (section.as_str(), key.as_str()));
                if let (Some(place), Some(value)) = (wanted, plain(value)) {
                    found[place] = Some(value);
                }
            }
        }
    }
    let lines = PASSED_ON.iter().zip(found).filter_map(|((section, key), value)| {
        let value = value?.replace('\\', "\\\\").replace('"', "\\\"");
        Some(format!("[{section}]\n\t{key} = \"{value}\"\n"))
    });
    Some(lines.collect::<String>()).filter(|text| !text.is_empty())
}

/// Reads a value as git does: quotes taken off, a comment behind it left out. Nothing when it goes on in the next line.
fn plain(value: &str) -> Option<String> {
    let mut plain = String::new();
    let (mut quoted, mut letters) = (false, value.trim().chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match letters.next()? {
                'n' => plain.push('\n'),
                't' => plain.push('\t'),
                escaped => plain.push(escaped),
            },
            letter => plain.push(letter),
        }
    }
    let plain = if quoted { None } else { Some(plain.trim_end().to_owned()) };
    plain.filter(|plain| !plain.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_the_user_is_comes_through() {
        let system = "[user]\n name = Old Name ; was so\n[credential]\n helper = store --token=abc\n";
        let own =
            "[User]\n\tName = \"A \\\"quoted\\\" name\"\n\temail=me@example.org # mine\n[alias]\n x = !rm -rf /\n";
        let text = of([system.to_owned(), own.to_owned()]).expect("there is something");
        assert_eq!(text, "[user]\n\tname = \"A \\\"quoted\\\" name\"\n[user]\n\temail = \"me@example.org\"\n");
    }

    #[test]
    fn nothing_and_garbage_give_no_file() {
        assert_eq!(of([]), None);
        assert_eq!(of(["[user\nname = x\n[user]\nname = \"open\nemail = a\\".to_owned()]), None);
    }
}
