//! Breaks long lines: pages cut lines, and must still be able to show every part of a kept text.

use std::borrow::Cow;

/// Breaks lines longer than a number of characters, in a text that comes in pieces.
#[derive(Clone, Debug)]
pub struct LineWrapper {
    length: usize,
    column: usize,
}

impl LineWrapper {
    /// Breaks lines behind so many characters.
    pub fn at(length: usize) -> Self {
        Self { length: length.max(1), column: 0 }
    }

    /// Takes the next piece.
    pub fn take<'t>(&mut self, piece: &'t str) -> Cow<'t, str> {
        // Bytes are never fewer than characters, so most lines need no counting.
        let mut lines = piece.split('\n');
        let first_fits = lines.next().is_none_or(|first| self.column + first.len() <= self.length);
        if first_fits && lines.all(|line| line.len() <= self.length) {
            self.column = match piece.rfind('\n') {
                Some(end) => piece[end + 1..].chars().count(),
                None => self.column + piece.chars().count(),
            };
            return Cow::Borrowed(piece);
        }
        let mut wrapped = String::with_capacity(piece.len() + piece.len() / self.length + 1);
        for (number, line) in piece.split('\n').enumerate() {
            if number > 0 {
                wrapped.push('\n');
                self.column = 0;
            }
            self.wrap(line, &mut wrapped);
        }
        Cow::Owned(wrapped)
    }

    /// Adds a line, or a part of one, to a text.
    fn wrap(&mut self, mut line: &str, wrapped: &mut String) {
        while let Some(end) = beyond(line, self.length - self.column) {
            wrapped.push_str(&line[..end]);
            wrapped.push('\n');
            self.column = 0;
            line = &line[end..];
        }
        wrapped.push_str(line);
        self.column += line.chars().count();
    }
}

/// Returns where the first character begins that is beyond so many; nothing where there is none.
fn beyond(line: &str, characters: usize) -> Option<usize> {
    match line.as_bytes().get(..characters) {
        Some(begin) if line.len() > characters && begin.is_ascii() => Some(characters),
        Some(_) => line.char_indices().nth(characters).map(|(place, _)| place),
        // Bytes are never fewer than characters.
        None => None,
    }
}

/// Breaks lines that are longer than so many characters.
pub fn wrapped(text: &str, length: usize) -> Cow<'_, str> {
    LineWrapper::at(length).take(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_lines_are_broken() {
        assert_eq!(wrapped("abc\nabcde\nab", 3), "abc\nabc\nde\nab");
        assert!(matches!(wrapped("äöü\nabc\n", 6), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_in_pieces_is_broken_like_a_whole_one() {
        let text = "abcdefghä\nx\n\nlonger than ten\nabcdäöüßabcdäöüßé\n12345678";
        for size in 1..12 {
            let mut wrapping = LineWrapper::at(4);
            let characters: Vec<char> = text.chars().collect();
            let pieces = characters.chunks(size).map(|piece| piece.iter().collect::<String>());
            let joined: String = pieces.map(|piece| wrapping.take(&piece).into_owned()).collect();
            assert_eq!(joined, wrapped(text, 4), "in pieces of {size}");
        }
    }
}
