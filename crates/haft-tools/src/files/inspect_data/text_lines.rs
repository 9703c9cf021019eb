//! Counts the lines of a text that is not data, and keeps the first ones.

use super::shape::KEPT_TEXT;
use super::survey::TextSink;

/// How many lines are kept.
const FIRST_LINES: usize = 5;

/// The lines of a text.
pub(super) struct TextLines {
    pub(super) first: Vec<String>,
    pub(super) count: u64,
    /// The longest line, in bytes.
    pub(super) longest: u64,
    length: u64,
}

impl TextLines {
    pub(super) fn of(head: &str) -> Self {
        let kept = |line: &str| line[..line.floor_char_boundary(KEPT_TEXT)].to_owned();
        Self { first: head.lines().take(FIRST_LINES).map(kept).collect(), count: 0, longest: 0, length: 0 }
    }

    /// Returns how many lines there are, with one that has no end.
    pub(super) fn lines(&self) -> u64 {
        self.count + u64::from(self.length > 0)
    }
}

impl TextSink for TextLines {
    fn take(&mut self, bytes: &[u8]) {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.longest = self.longest.max(self.length + (end - from) as u64);
            (self.length, from) = (0, end + 1);
            self.count += 1;
        }
        self.length += (bytes.len() - from) as u64;
        self.longest = self.longest.max(self.length);
    }
}
