//! Folds lines for the search of similar ones: typography and white space do not count.

use std::borrow::Cow;

use super::super::rungs;
use super::super::whole_lines::BLANKS;
use super::likeness::alike;

/// Bytes of a line that are compared; the rest of a very long one is left out.
const COMPARED: usize = 64 << 10;

/// A line of the old text.
pub(super) struct OldTextLine<'t> {
    pub(super) line: &'t str,
    pub(super) folded: Cow<'t, str>,
    /// The line without the number in front, if that may be a copied line number.
    pub(super) bare: Option<Cow<'t, str>>,
}

impl<'t> OldTextLine<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self { line, folded: folded(line), bare: rungs::without_number(line).map(folded) }
    }

    /// Returns how much it has in common with a line of the file, a little more where they are indented alike.
    pub(super) fn alike(&self, line: &str) -> f32 {
        let indentation = |line: &str| line.len() - line.trim_start_matches(BLANKS).len();
        let kept = if indentation(self.line) == indentation(line) { 1.0 } else { 0.98 };
        let line = folded(line);
        let bare = self.bare.as_ref().map_or(0.0, |bare| alike(bare, &line));
        kept * bare.max(alike(&self.folded, &line))
    }
}

/// Returns a line in plain typography, with one blank for several and none at its ends.
pub(super) fn folded(line: &str) -> Cow<'_, str> {
    let line = line.trim_matches(BLANKS);
    let line = &line[..line.floor_char_boundary(COMPARED)];
    let is_plain = line.is_ascii() && memchr::memchr(b'\t', line.as_bytes()).is_none() && !line.contains("  ");
    if is_plain {
        return Cow::Borrowed(line);
    }
    let mut folded = String::with_capacity(line.len());
    let mut buffer = [0; 4];
    for letter in line.chars() {
        let plain = rungs::plain(letter).unwrap_or_else(|| letter.encode_utf8(&mut buffer));
        if !plain.trim().is_empty() {
            folded.push_str(plain);
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    Cow::Owned(folded)
}
