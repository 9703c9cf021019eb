//! Defines a line, once for reading, comparing and merging.
//!
//! A line ends at `\n`, and its `\r` belongs to the end. Only where a text has no `\n` at all does `\r` end a
//! line, as on old Macs: otherwise such a file would be one line that no reader can page through or merge.
//!
//! Not here: UTF-16, whose line ends are units of two bytes (`merge` and the paging of `haft-workspace` handle them).

use std::fmt;

/// The byte that ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreak {
    /// `\n`, with or without `\r` before it.
    Newline,
    /// `\r` alone.
    Return,
}

impl LineBreak {
    /// Finds what ends the lines of texts that belong together.
    pub fn of(texts: &[&[u8]]) -> Self {
        let has = |byte: u8| texts.iter().any(|text| memchr::memchr(byte, text).is_some());
        if !has(b'\n') && has(b'\r') { Self::Return } else { Self::Newline }
    }

    /// Returns the byte.
    pub fn byte(self) -> u8 {
        match self {
            Self::Newline => b'\n',
            Self::Return => b'\r',
        }
    }

    /// Splits a text into its lines, each with its end. The last one may lack it.
    pub fn split(self, mut text: &[u8]) -> Vec<&[u8]> {
        let mut lines = Vec::new();
        while !text.is_empty() {
            let (line, rest) = text.split_at(self.end_of_line(text, 0));
            lines.push(line);
            text = rest;
        }
        lines
    }

    /// Returns where the line that holds the position begins.
    pub fn start_of_line(self, text: &[u8], position: usize) -> usize {
        memchr::memrchr(self.byte(), &text[..position]).map_or(0, |at| at + 1)
    }

    /// Returns where the line that holds the position ends, behind its end.
    pub fn end_of_line(self, text: &[u8], position: usize) -> usize {
        memchr::memchr(self.byte(), &text[position..]).map_or(text.len(), |at| position + at + 1)
    }

    /// Counts the line ends.
    pub fn count(self, text: &[u8]) -> usize {
        memchr::memchr_iter(self.byte(), text).count()
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// No line has an end.
    #[default]
    None,
    /// All with `\n`.
    Newline,
    /// All with `\r\n`.
    ReturnNewline,
    /// All with `\r`.
    Return,
    /// Some with `\n`, some with `\r\n`.
    Mixed,
}

impl LineEnds {
    /// Returns how one line ends.
    pub fn of_line(line: &[u8]) -> Self {
        match line {
            [.., b'\r', b'\n'] => Self::ReturnNewline,
            [.., b'\n'] => Self::Newline,
            [.., b'\r'] => Self::Return,
            _ => Self::None,
        }
    }

    /// Returns how the lines of two parts of one text end.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, ends) | (ends, Self::None) => ends,
            (one, other) if one == other => one,
            _ => Self::Mixed,
        }
    }
}

impl fmt::Display for LineEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no line ends",
            Self::Newline => "LF line ends",
            Self::ReturnNewline => "CRLF line ends",
            Self::Return => "CR line ends",
            Self::Mixed => "mixed line ends",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let lines = LineBreak::of(&[text.as_bytes()]).split(text.as_bytes());
        lines.into_iter().map(|line| std::str::from_utf8(line).expect("lines of a text are text")).collect()
    }

    #[test]
    fn a_line_has_its_end_and_the_last_one_may_lack_it() {
        assert_eq!(split("a\r\n\nb"), ["a\r\n", "\n", "b"]);
        assert_eq!(split("a\n"), ["a\n"]);
        assert!(split("").is_empty());
    }

    #[test]
    fn a_return_ends_a_line_only_where_there_is_no_newline() {
        assert_eq!(split("a\rb\r"), ["a\r", "b\r"]);
        assert_eq!(split("a\rb\nc"), ["a\rb\n", "c"]);
    }

    #[test]
    fn two_kinds_of_ends_are_mixed() {
        assert_eq!(LineEnds::None.and(LineEnds::ReturnNewline), LineEnds::ReturnNewline);
        assert_eq!(LineEnds::Newline.and(LineEnds::ReturnNewline), LineEnds::Mixed);
    }
}
