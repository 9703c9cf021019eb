//! Splits a line that a person types into words, with quotes as in a shell.
//!
//! haft expands nothing, and an open quote is not an error while the person still types the line.

use std::ops::Range;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedWord {
    /// The text without its quotes.
    pub text: String,
    /// Its position in the line, with its quotes.
    pub bytes: Range<usize>,
}

/// Splits a line into words; says whether the last one has an open quote.
#[must_use]
pub fn words(line: &str) -> (Vec<TypedWord>, bool) {
    let mut words = Vec::new();
    let mut word: Option<TypedWord> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.char_indices();
    while let Some((at, c)) = characters.next() {
        let end = at + c.len_utf8();
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                open(&mut word, at, end);
            }
            (Some(open), c) if open == c => {
                quote = None;
                word.iter_mut().for_each(|word| word.bytes.end = end);
            }
            // Only what would end a word or a quote needs a backslash.
            (None | Some('"'), '\\') if escapes(&line[end..], quote) => {
                let (at, c) = characters.next().unwrap_or((at, c));
                open(&mut word, at, at + c.len_utf8()).push(c);
            }
            (_, c) => open(&mut word, at, end).push(c),
        }
    }
    words.extend(word);
    (words, quote.is_some())
}

fn open(word: &mut Option<TypedWord>, at: usize, end: usize) -> &mut String {
    let word = word.get_or_insert_with(|| TypedWord { text: String::new(), bytes: at..end });
    word.bytes.end = end;
    &mut word.text
}

fn escapes(rest: &str, quote: Option<char>) -> bool {
    let is_special = |c: char| match quote {
        Some(_) => matches!(c, '"' | '\\'),
        None => matches!(c, '"' | '\'' | '\\') || c.is_whitespace(),
    };
    rest.chars().next().is_some_and(is_special)
}

/// Returns the word as it must be typed.
#[must_use]
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| !(c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    match text {
        text if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        text if !text.contains('\'') => format!("'{text}'"),
        text => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> (Vec<String>, bool) {
        let (words, is_open) = words(line);
        (words.into_iter().map(|word| word.text).collect(), is_open)
    }

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        let expected = vec!["bash".to_owned(), "command=echo \"a b\" \\n".to_owned(), "timeout=5".to_owned()];
        assert_eq!(texts("bash command='echo \"a b\" \\n'  timeout=5"), (expected, false));
        assert_eq!(texts(r#"a "b \" c" d\ e C:\x"#).0, ["a", "b \" c", "d e", "C:\\x"]);
        assert_eq!(texts("a 'b c"), (vec!["a".to_owned(), "b c".to_owned()], true));
        for text in ["plain", "two words", "it's", "say \"hi\" it's", "", "back\\slash \"'"] {
            assert_eq!(texts(&quoted(text)).0, [text], "{text}");
        }
        let (words, _) = words("ab 'c d' e");
        assert_eq!(words.iter().map(|word| word.bytes.clone()).collect::<Vec<_>>(), [0..2, 3..8, 9..10]);
    }
}
