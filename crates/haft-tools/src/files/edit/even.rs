//! Gives a text line ends that are all `\n`, and maps positions back to the original.
//!
//! Line ends never count, so haft searches in this form. A text without `\r` already has this form, and haft does not
//! copy it.

use std::borrow::Cow;
use std::ops::Range;

use haft_contract::text::lines::LineBreak;
use memchr::{memchr, memchr_iter, memrchr};

/// A text with even line ends.
pub(super) struct EvenText<'a> {
    text: Cow<'a, str>,
    original: &'a str,
    /// The line ends that count for line numbers. Here every lone `\r` counts, elsewhere only where there is no `\n`.
    counted: LineBreak,
    ends: Ends,
    /// Where, in the even text, a `\r\n` became one `\n`.
    shortened: Vec<usize>,
}

/// Which line ends a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// None.
    Absent,
    /// Only `\n`.
    Newlines,
    /// Others, perhaps several kinds.
    Various,
}

impl<'a> EvenText<'a> {
    pub(super) fn new(original: &'a str) -> Self {
        let bytes = original.as_bytes();
        let counted = LineBreak::of(&[bytes]);
        if memchr(b'\r', bytes).is_none() {
            let ends = if memchr(b'\n', bytes).is_some() { Ends::Newlines } else { Ends::Absent };
            return Self { text: Cow::Borrowed(original), original, counted, ends, shortened: Vec::new() };
        }
        let mut text = String::with_capacity(original.len());
        let mut shortened = Vec::new();
        let mut done = 0;
        for at in memchr_iter(b'\r', bytes) {
            text.push_str(&original[done..at]);
            let is_pair = bytes.get(at + 1) == Some(&b'\n');
            if is_pair {
                shortened.push(text.len());
            }
            text.push('\n');
            done = at + 1 + usize::from(is_pair);
        }
        text.push_str(&original[done..]);
        Self { text: Cow::Owned(text), original, counted, ends: Ends::Various, shortened }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let original = |at: usize| at + self.shortened.partition_point(|shortened| *shortened < at);
        original(range.start)..original(range.end)
    }

    pub(super) fn ends(&self) -> Ends {
        self.ends
    }

    /// Returns the number of the line at an offset, from 1, as the other tools count.
    pub(super) fn line_at(&self, at: usize) -> usize {
        1 + self.lines_between(&(0..at))
    }

    /// Counts the line ends of a stretch, as the other tools do.
    pub(super) fn lines_between(&self, range: &Range<usize>) -> usize {
        self.counted.count(&self.original.as_bytes()[self.original_range(range)])
    }

    /// Returns the first and last line of a stretch, from 1, as the other tools count.
    pub(super) fn lines_of(&self, range: &Range<usize>) -> (usize, usize) {
        let inner = self.inner(range);
        let first = self.line_at(inner.start);
        (first, first + self.lines_between(&inner))
    }

    /// Tells whether two stretches have the same first and last line, where every line end counts.
    pub(super) fn are_same_lines(&self, one: &Range<usize>, other: &Range<usize>) -> bool {
        let lines = |range: &Range<usize>| {
            let inner = self.inner(range);
            (self.line_start(inner.start), self.line_start(inner.end))
        };
        lines(one) == lines(other)
    }

    /// Returns a stretch without the line ends at its ends: one that begins with the end of a line is about the next.
    fn inner(&self, range: &Range<usize>) -> Range<usize> {
        let stretch = &self.as_str()[range.clone()];
        let start = range.start + usize::from(stretch.starts_with('\n') && range.len() > 1);
        let end = range.end - usize::from(stretch.ends_with('\n'));
        start..end.max(start)
    }

    /// Returns where the line at an offset starts.
    pub(super) fn line_start(&self, at: usize) -> usize {
        memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(0, |end| end + 1)
    }

    /// Returns where the text of the line at an offset ends, before its line end.
    pub(super) fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |end| at + end)
    }
}

/// Returns a text with even line ends, for what the model sends.
pub(super) fn evened(text: &str) -> Cow<'_, str> {
    EvenText::new(text).text
}
