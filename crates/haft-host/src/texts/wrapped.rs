//! Wraps lines to fit a terminal, between words where possible. It leaves nothing out.

use super::bounded_text::{columns_in, columns_of};

/// Breaks a text into rows of at most so many columns; the rows behind the first are indented.
#[must_use]
pub fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let indentation = " ".repeat(indent.min(columns / 2));
    let mut rows = vec![WrappedRow::default()];
    for piece in text.split_inclusive(' ') {
        let row = rows.last_mut().expect("there is always a row");
        if row.columns > row.blank && row.columns + columns_in(piece.trim_end()) > columns {
            rows.push(WrappedRow::beginning(&indentation));
        }
        for c in piece.chars() {
            let row = rows.last_mut().expect("there is always a row");
            let is_full = row.columns + columns_of(c) > columns && row.columns > row.blank;
            match (is_full, c) {
                // A blank at the edge is where the row ends.
                (true, ' ') => {}
                (true, c) => {
                    rows.push(WrappedRow::beginning(&indentation));
                    rows.last_mut().expect("it was just made").push(c);
                }
                (false, c) => row.push(c),
            }
        }
    }
    rows.into_iter().map(|row| row.text.trim_end().to_owned()).collect()
}

/// A row of wrapped text.
#[derive(Default)]
struct WrappedRow {
    text: String,
    columns: usize,
    /// How many columns are the indentation.
    blank: usize,
}

impl WrappedRow {
    fn beginning(indentation: &str) -> Self {
        Self { text: indentation.to_owned(), columns: indentation.len(), blank: indentation.len() }
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.columns += columns_of(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words_and_long_words_break_anywhere() {
        assert_eq!(wrapped("one two three four", 9, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("abcdefghij k", 6, 2), ["abcdef", "  ghij", "  k"]);
        assert_eq!(wrapped("漢字漢字", 5, 0), ["漢字", "漢字"]);
        assert_eq!(wrapped("", 5, 2), [""]);
        assert_eq!(wrapped("n  no", 40, 3), ["n  no"]);
    }

    #[test]
    fn no_row_is_too_wide_and_no_word_is_lost() {
        let text =
            "a question with some words, averyveryverylongwordthatfitsnowhere, and 漢字漢字漢字漢字漢字 at the end";
        for columns in 5..60 {
            let rows = wrapped(text, columns, 3);
            assert!(rows.iter().all(|row| columns_in(row) <= columns), "{columns}: {rows:?}");
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&rows.concat()), letters(text), "{columns}");
        }
    }
}
