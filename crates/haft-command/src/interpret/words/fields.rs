//! Builds a word: the fields into which the shell splits it.

use crate::interpret::words::brackets;
use crate::value::{ShellValue, ValuePiece};

/// A word in the making: finished fields, and the one that is being written.
#[derive(Clone, Default)]
pub(crate) struct WordFields {
    pub(crate) done: Vec<ShellValue>,
    pub(crate) open: Option<ShellValue>,
    /// Whether a gap is not quoted: there may be blanks in it, and further words behind them.
    pub(crate) spills: bool,
    /// Whether a pattern stands in it, which the shell replaces by the names that it finds.
    pub(crate) has_pattern: bool,
    /// Whether it stands for all values that are too many to follow.
    pub(crate) stands_for_others: bool,
}

impl WordFields {
    pub(crate) fn push(&mut self, piece: ValuePiece) {
        self.open.get_or_insert_default().push(piece);
    }

    /// Adds a piece of text in which patterns count.
    pub(crate) fn push_pattern(&mut self, piece: ValuePiece) {
        self.has_pattern |= piece == ValuePiece::Glob;
        self.push(piece);
    }

    pub(crate) fn append(&mut self, value: &ShellValue) {
        self.open.get_or_insert_default().append(value);
    }

    pub(crate) fn append_list(&mut self, list: &[ShellValue], separators: Option<&str>) {
        for (index, value) in list.iter().enumerate() {
            if index > 0 {
                self.end();
            }
            match separators {
                None => self.append(value),
                Some(separators) => self.append_split(value, separators),
            }
        }
    }

    pub(crate) fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Adds a value that is split at blanks and in which patterns count.
    pub(crate) fn append_split(&mut self, value: &ShellValue, separators: &str) {
        for piece in value.pieces() {
            let ValuePiece::Text(text) = piece else {
                self.spills |= matches!(piece, ValuePiece::Unknown | ValuePiece::Foreign(_));
                // The names of a pattern are plain; those that are not are told apart.
                self.spills |=
                    *piece == ValuePiece::Glob && separators.contains(|letter: char| !letter.is_whitespace());
                self.push(piece.clone());
                continue;
            };
            for (index, field) in text.split(|letter| separators.contains(letter)).enumerate() {
                if index > 0 {
                    self.end();
                }
                if !field.is_empty() {
                    brackets::pieces(field).into_iter().for_each(|piece| self.push_pattern(piece));
                }
            }
        }
    }

    pub(crate) fn finished(mut self) -> Vec<ShellValue> {
        self.end();
        self.done.extend(self.spills.then(ShellValue::unknown));
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(fields: WordFields) -> Vec<String> {
        fields.finished().iter().map(ShellValue::shown).collect()
    }

    #[test]
    fn a_value_is_split_where_it_is_not_quoted_and_joins_what_stands_beside_it() {
        let mut fields = WordFields::default();
        fields.push(ValuePiece::Text("a".to_owned()));
        fields.append_list(&[ShellValue::text("b c")], Some(" "));
        fields.append_list(&[ShellValue::text("d e")], None);

        assert_eq!(shown(fields), ["ab", "cd e"]);
    }

    #[test]
    fn a_gap_that_is_not_quoted_may_be_further_words() {
        let mut fields = WordFields::default();
        fields.append_list(&[ShellValue::unknown()], Some(" "));

        assert_eq!(shown(fields).len(), 2);
    }
}
