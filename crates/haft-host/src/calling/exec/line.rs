//! Writes the words of a program as a line that a shell reads as exactly these words.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Words that a shell takes for something else where a program is expected.
const RESERVED: [&str; 18] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while", "exec",
];

/// Returns the line that words of a command line mean: a single word is a whole line already.
pub fn line_of(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => quoted(&words.iter().map(OsString::from).collect::<Vec<_>>()),
    }
}

/// Returns the line. Words of which a shell makes nothing else stay as they are, so that people read them easily.
pub fn quoted(words: &[OsString]) -> String {
    let quote = |(number, word): (usize, &OsString)| {
        let is_reserved = number == 0 && RESERVED.iter().any(|reserved| word == *reserved);
        let plain = plain_word(word.as_bytes()).filter(|_| !is_reserved);
        plain.map_or_else(|| quoted_word(word.as_bytes()), str::to_owned)
    };
    let words: Vec<String> = words.iter().enumerate().map(quote).collect();
    words.join(" ")
}

fn plain_word(word: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+:,./-".contains(byte);
    std::str::from_utf8(word).ok().filter(|_| !word.is_empty() && word.iter().all(is_plain))
}

fn quoted_word(word: &[u8]) -> String {
    match std::str::from_utf8(word) {
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', "'\\''")),
        // Line ends would make the line hard to read, and other bytes are no text.
        _ => {
            let escaped = word.iter().map(|byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b'\n' => "\\n".to_owned(),
                b'\t' => "\\t".to_owned(),
                b' '..=b'~' => char::from(*byte).to_string(),
                byte => format!("\\{byte:03o}"),
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn words_stay_words_and_a_single_one_is_a_command_line() {
        let words = |words: &[&str]| line_of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["npm install && true"]), "npm install && true");
        assert_eq!(words(&["sh", "-c", "echo 'a b'", ""]), r"sh -c 'echo '\''a b'\''' ''");
    }

    #[test]
    fn plain_words_stay_as_they_are_and_all_others_are_quoted() {
        let line = |words: &[&str]| quoted(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(line(&["make", "-j4", "a/b.txt"]), "make -j4 a/b.txt");
        assert_eq!(line(&["if", "A=1", "", "it's", "$x"]), r"'if' 'A=1' '' 'it'\''s' '$x'");
        assert_eq!(line(&["a\nb'"]), r"$'a\nb\''");
        let all: Vec<u8> = (1..=255).collect();
        assert!(quoted(&[OsString::from_vec(all)]).starts_with(r"$'\001\002"));
    }
}
