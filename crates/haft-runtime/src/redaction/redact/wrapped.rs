//! Removes the line ends of a text, to get the text from before a program wrapped it.
//!
//! Not here: finding secrets in it (`known`).

use std::ops::Range;

/// How a text was wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineWrapping {
    /// Anywhere, and nothing was added.
    Anywhere,
    /// Anywhere; lines begin with blanks, a number, a sign: as in numbered lines, differences and quotes.
    Numbered,
    /// Anywhere; lines begin with signs of comments and lists too, and end with a quote or a comma.
    Listed,
    /// Between words, and lines may begin likewise.
    Words,
}

/// A text without the ends of its lines.
pub(super) struct UnwrappedText {
    pub(super) text: String,
    /// Where each piece begins in it, and where it lies in the original.
    pieces: Vec<(usize, Range<usize>)>,
}

impl UnwrappedText {
    /// Takes the ends of lines out of a text; nothing where it is one line.
    pub(super) fn of(text: &str, lines: &[Range<usize>], wrapping: LineWrapping) -> Option<Self> {
        let mut unwrapped = Self { text: String::with_capacity(text.len()), pieces: Vec::with_capacity(lines.len()) };
        for line in lines {
            let content = &text[line.clone()];
            let (skipped, behind) = match wrapping {
                LineWrapping::Anywhere => (0, 0),
                LineWrapping::Numbered | LineWrapping::Words => (before_content(content, MARKS), 0),
                LineWrapping::Listed => (before_content(content, LIST_MARKS), behind_content(content)),
            };
            let piece = line.start + skipped..(line.end - behind).max(line.start + skipped);
            if !piece.is_empty() {
                if wrapping == LineWrapping::Words && !unwrapped.pieces.is_empty() {
                    unwrapped.text.push(' ');
                }
                unwrapped.pieces.push((unwrapped.text.len(), piece.clone()));
                unwrapped.text.push_str(&text[piece]);
            }
        }
        (unwrapped.pieces.len() > 1 || unwrapped.text.len() < text.len()).then_some(unwrapped)
    }

    /// Returns where in it a line ended.
    pub(super) fn joints(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().skip(1).map(|(from, _)| *from)
    }

    /// Returns where a part of it lies in the original, piece by piece.
    pub(super) fn pieces(&self, part: Range<usize>) -> Vec<Range<usize>> {
        let first = self.pieces.partition_point(|(from, _)| *from <= part.start).saturating_sub(1);
        let touched = self.pieces[first..].iter().take_while(|(from, _)| *from < part.end);
        let ranges = touched.map(|(from, original)| {
            let start = original.start + part.start.saturating_sub(*from);
            start..original.end.min(original.start + (part.end - from))
        });
        ranges.filter(|range| !range.is_empty()).collect()
    }

    /// Returns where a place in it is in the original.
    pub(super) fn original(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(from, _)| *from <= at).saturating_sub(1);
        self.pieces.get(piece).map_or(at, |(from, original)| original.start + (at - from))
    }
}

/// Returns the lines of a text without their ends. An end may be written as `\n`, in JSON.
pub(super) fn line_pieces(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(sign) = bytes[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'\\')) {
        let end = at + sign;
        let length = match (bytes[end], bytes.get(end + 1)) {
            (b'\\', Some(b'n' | b'r')) => 2,
            (b'\\', _) => 0,
            _ => 1,
        };
        at = end + length.max(1);
        if length > 0 {
            lines.push(start..end);
            start = at;
        }
    }
    lines.push(start..text.len());
    lines
}

/// Signs before the content of a line.
const MARKS: &str = " \t:|>+-│→";
const LIST_MARKS: &str = " \t:|>+-│→#*;%!\"',";

fn before_content(line: &str, marks: &str) -> usize {
    let content = line.trim_start_matches([' ', '\t']);
    let unnumbered = content.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_mark = |letter: char| marks.contains(letter);
    // A number that no mark follows is content.
    let content = if unnumbered.starts_with(is_mark) || unnumbered.is_empty() { unnumbered } else { content };
    line.len() - content.trim_start_matches(is_mark).len()
}

fn behind_content(line: &str) -> usize {
    line.len() - line.trim_end_matches(['"', '\'', ',', '|', '\\']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wrapped_is_one_text_again() {
        for (text, plain, numbered) in [
            ("ab\ncd", "abcd", "abcd"),
            ("ab\r\ncd\n", "abcd", "abcd"),
            ("1\tab\n2\tcd", "1\tab2\tcd", "abcd"),
            ("  1: ab\n 10: cd", "  1: ab 10: cd", "abcd"),
            ("+ab\n+cd", "+ab+cd", "abcd"),
            ("{\"a\":\"ab\\ncd\"}", "{\"a\":\"abcd\"}", "{\"a\":\"abcd\"}"),
            ("12ab\n34cd", "12ab34cd", "12ab34cd"),
        ] {
            let unwrapped =
                |wrapping| UnwrappedText::of(text, &line_pieces(text), wrapping).expect("it has lines").text;
            assert_eq!(
                (unwrapped(LineWrapping::Anywhere), unwrapped(LineWrapping::Numbered)),
                (plain.into(), numbered.into())
            );
        }
        for listed in ["# ab\n# cd", "'ab',\n'cd',", "1 | ab|\n2 | cd|", "ab\ncd"] {
            let unwrapped =
                UnwrappedText::of(listed, &line_pieces(listed), LineWrapping::Listed).expect("it has lines");
            assert_eq!(unwrapped.text, "abcd", "{listed}");
        }
        assert!(UnwrappedText::of("one line", &line_pieces("one line"), LineWrapping::Anywhere).is_none());
        let text = "1\tab\n2\tcd";
        let unwrapped = UnwrappedText::of(text, &line_pieces(text), LineWrapping::Numbered).expect("it has lines");
        assert_eq!(unwrapped.pieces(1..4), [3..4, 7..9]);
    }
}
