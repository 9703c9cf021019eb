//! Gives new text the line ends that belong at its place.
//!
//! A file may mix line ends. A kept line keeps its own end, a changed line takes that of the line it replaces, an added
//! line that of its neighbour.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr2, memrchr2};

use super::even::{Ends, evened};

/// A stretch of the original text that is replaced.
pub(super) struct ReplacedSpan<'a> {
    pub(super) text: &'a str,
    pub(super) range: &'a Range<usize>,
    pub(super) ends: Ends,
}

impl ReplacedSpan<'_> {
    /// Returns the new text with the line ends that belong here.
    pub(super) fn new_text<'a>(&self, new: &'a str) -> Cow<'a, str> {
        if memchr2(b'\n', b'\r', new.as_bytes()).is_none() {
            return Cow::Borrowed(new);
        }
        match self.ends {
            Ends::Absent if new.contains("\r\n") => Cow::Owned(evened(new).replace('\n', "\r\n")),
            Ends::Absent | Ends::Newlines => evened(new),
            Ends::Various => Cow::Owned(self.aligned(&evened(new))),
        }
    }

    fn aligned(&self, new: &str) -> String {
        let old = ended_lines(&self.text[self.range.clone()]);
        let mut added: Vec<&str> = new.split('\n').collect();
        let open = added.pop().unwrap_or_default();

        let stay_first = old.iter().zip(&added).take_while(|((line, _), new)| line == *new).count();
        let most = old.len().min(added.len()) - stay_first;
        let stay_last = old.iter().rev().zip(added.iter().rev()).take(most).take_while(|((line, _), new)| line == *new);
        let stay_last = stay_last.count();
        let changed = &old[stay_first..old.len() - stay_last];
        let neighbour = || {
            let inside = old.get(stay_first.saturating_sub(1)).map(|(_, end)| *end);
            inside.unwrap_or_else(|| self.end_around())
        };

        let mut result = String::with_capacity(new.len() + added.len());
        for (index, line) in added.iter().enumerate() {
            let from_last = added.len() - index;
            let end = if index < stay_first {
                old[index].1
            } else if from_last <= stay_last {
                old[old.len() - from_last].1
            } else {
                changed.get(index - stay_first).or(changed.last()).map_or_else(neighbour, |(_, end)| *end)
            };
            result.push_str(line);
            result.push_str(end);
        }
        result.push_str(open);
        result
    }

    /// Returns the end of the line that the stretch ends in, else of the line before it.
    fn end_around(&self) -> &str {
        let (text, bytes) = (self.text, self.text.as_bytes());
        if let Some(at) = memchr2(b'\n', b'\r', &bytes[self.range.end..]) {
            return first_end(&text[self.range.end + at..]);
        }
        match memrchr2(b'\n', b'\r', &bytes[..self.range.start]) {
            Some(at) if at > 0 && bytes[at] == b'\n' && bytes[at - 1] == b'\r' => &text[at - 1..=at],
            Some(at) => &text[at..=at],
            None => "\n",
        }
    }
}

/// Returns the lines that have an end, each with it.
fn ended_lines(text: &str) -> Vec<(&str, &str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr2(b'\n', b'\r', rest.as_bytes()) {
        let end = first_end(&rest[at..]);
        lines.push((&rest[..at], end));
        rest = &rest[at + end.len()..];
    }
    lines
}

fn first_end(text: &str) -> &str {
    let length = if text.starts_with("\r\n") { 2 } else { 1 };
    &text[..length]
}
