//! Words that come from the input of a command, as `xargs` and `read` take them.

use crate::act::StreamContent;
use crate::interpret::streams::pipes;
use crate::value::{ForeignOrigin, ShellValue, ValuePiece};

/// Puts a value in the place of a mark.
pub(crate) fn replaced(word: &ShellValue, mark: &str, value: &ShellValue) -> ShellValue {
    let mut result = ShellValue::default();
    for piece in word.pieces() {
        let ValuePiece::Text(text) = piece else {
            result.push(piece.clone());
            continue;
        };
        for (index, part) in text.split(mark).enumerate() {
            if index > 0 {
                result.append(value);
            }
            result.push(ValuePiece::Text(part.to_owned()));
        }
    }
    result
}

/// Returns the words that come from the input.
pub(crate) fn words_of(input: Option<&StreamContent>) -> Vec<ShellValue> {
    match input {
        Some(StreamContent::Text(text)) => split_at_blanks(text),
        Some(StreamContent::OneOf(texts)) => texts.iter().flat_map(split_at_blanks).collect(),
        // `xargs` splits a name that has blanks in it.
        Some(StreamContent::Paths(paths)) => {
            paths.iter().cloned().chain(paths.iter().flat_map(parts_of_name)).collect()
        }
        Some(StreamContent::Downloaded) => vec![pipes::foreign(ForeignOrigin::Network)],
        Some(StreamContent::Decoded) => vec![pipes::foreign(ForeignOrigin::Decoded)],
        Some(_) | None => vec![ShellValue::unknown()],
    }
}

/// Returns the words in a name that is known and has blanks or quotes in it.
pub(crate) fn parts_of_name(name: &ShellValue) -> Vec<ShellValue> {
    let Some(text) =
        name.known().filter(|text| text.contains(|letter: char| letter.is_whitespace() || "'\"\\".contains(letter)))
    else {
        return Vec::new();
    };
    let is_end = |letter: char| letter.is_whitespace() || "'\"\\".contains(letter);
    let unquoted = text.replace(['\'', '"', '\\'], "");
    let words = unquoted.split_whitespace().chain(text.split(is_end)).filter(|word| !word.is_empty());
    words.map(ShellValue::text).collect()
}

pub(crate) fn split_at_blanks(text: &ShellValue) -> Vec<ShellValue> {
    let mut words = vec![ShellValue::default()];
    for piece in text.pieces() {
        let ValuePiece::Text(known) = piece else {
            words.last_mut().expect("it began with one").push(piece.clone());
            continue;
        };
        for (index, word) in known.split(char::is_whitespace).enumerate() {
            if index > 0 {
                words.push(ShellValue::default());
            }
            words.last_mut().expect("it began with one").push(ValuePiece::Text(word.to_owned()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_or_quotes_may_be_several_words() {
        let parts: Vec<String> = parts_of_name(&ShellValue::text("a 'b c'")).iter().map(ShellValue::shown).collect();
        assert_eq!(parts, ["a", "b", "c", "a", "b", "c"]);
        assert!(parts_of_name(&ShellValue::text("a.txt")).is_empty());
    }

    #[test]
    fn a_value_stands_in_every_place_of_the_mark() {
        assert_eq!(replaced(&ShellValue::text("{}.o:{}"), "{}", &ShellValue::text("a")).shown(), "a.o:a");
    }
}
