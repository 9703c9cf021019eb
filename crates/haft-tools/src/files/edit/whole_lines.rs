//! Finds blocks of whole lines that agree except for the blanks at both ends of the lines.
//!
//! The rungs look more closely at the blocks found here. The search starts from a line of the block that is rare in the
//! text, so it costs a few passes over the text and not one per line.
//!
//! Not here: texts that begin or end inside a line. Those have to fit exactly.

use std::ops::Range;

use memchr::memmem;

use super::even::EvenText;
use super::exact::MatchRanges;

/// How many lines are compared at most for one block, whatever the text repeats.
const PATIENCE: usize = 1_000_000;

/// How many places are counted at most: more than a handful are as ambiguous, and there may be a million.
const COUNTED: usize = 100;

/// How many lines of the block are looked at to find one that is rare in the text.
const RARE: usize = 8;

/// Blanks that may stand at both ends of a line. Others are typography.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// A block of whole lines, as the model sent it.
pub(super) struct WholeLines<'a> {
    pub(super) lines: Vec<&'a str>,
    /// It begins with the end of the line before.
    pub(super) follows_line_end: bool,
    /// It ends with the end of its last line.
    is_closed: bool,
}

/// A place where a block fits.
pub(super) struct Stand<'t> {
    /// The bytes of the even text, with the line ends that the block has.
    pub(super) range: Range<usize>,
    /// The lines of the text.
    pub(super) lines: Vec<&'t str>,
    /// The block has a line end at the end that the text lacks there: it is the end of the file.
    pub(super) lacks_last_end: bool,
}

impl<'a> WholeLines<'a> {
    pub(super) fn new(old: &'a str) -> Self {
        let (follows_line_end, rest) = old.strip_prefix('\n').map_or((false, old), |rest| (true, rest));
        let (is_closed, rest) = rest.strip_suffix('\n').map_or((false, rest), |rest| (true, rest));
        Self { lines: rest.split('\n').collect(), follows_line_end, is_closed }
    }

    /// Returns all places, of which `fits` makes what the caller needs; it says nothing where they do not fit.
    pub(super) fn places<T>(
        &self,
        text: &EvenText<'_>,
        mut fits: impl FnMut(&Stand<'_>) -> Option<T>,
    ) -> (MatchRanges, Option<T>) {
        let mut places = MatchRanges::default();
        let mut first = None;
        let anchor = if self.ends_in_indentation() { None } else { self.rarest_line(text) };
        let Some((anchor_index, anchor)) = anchor else { return (places, first) };
        let mut patience = PATIENCE;
        for at in memmem::find_iter(text.as_str().as_bytes(), anchor.as_bytes()) {
            let line = &text.as_str()[text.line_start(at)..text.line_end(at)];
            if line.trim_matches(BLANKS) != anchor {
                continue;
            }
            let Some(stand) = self.stand(text, (at, anchor_index), &mut patience) else { continue };
            if let Some(found) = fits(&stand) {
                places.push(stand.range);
                first.get_or_insert(found);
            }
            if places.count == COUNTED || patience == 0 {
                break;
            }
        }
        places.may_be_more = places.count == COUNTED || patience == 0;
        if patience == 0 {
            // A text that repeats itself this much has no single place; counting on would take minutes.
            places.count = places.count.max(2);
        }
        (places, first)
    }

    /// Returns whether it ends with blanks that may as well be the beginning of a further line.
    fn ends_in_indentation(&self) -> bool {
        !self.is_closed && self.lines.last().is_some_and(|line| line.trim_matches(BLANKS).is_empty())
    }

    /// Returns the index and text of a line that is rare in the text; nothing when one does not occur at all.
    fn rarest_line(&self, text: &EvenText<'_>) -> Option<(usize, &'a str)> {
        let lines = self.lines.iter().map(|line| line.trim_matches(BLANKS)).enumerate();
        let mut longest: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.is_empty()).collect();
        longest.sort_by_key(|(_, line)| (std::cmp::Reverse(line.len()), *line));
        longest.dedup_by_key(|(_, line)| *line);
        let mut rarest: Option<(usize, &str)> = None;
        let mut least = usize::MAX;
        for (index, line) in longest.into_iter().take(RARE) {
            let count = memmem::find_iter(text.as_str().as_bytes(), line.as_bytes()).take(least).count();
            if count < least {
                (rarest, least) = (Some((index, line)), count);
            }
            if count <= 1 {
                break;
            }
        }
        rarest.filter(|_| least > 0)
    }

    /// Compares the whole block, given where one of its lines is.
    fn stand<'t>(&self, text: &'t EvenText<'_>, anchor: (usize, usize), patience: &mut usize) -> Option<Stand<'t>> {
        let mut start = text.line_start(anchor.0);
        for wanted in self.lines[..anchor.1].iter().rev() {
            *patience = patience.checked_sub(1)?;
            let end = start.checked_sub(1)?;
            start = text.line_start(end);
            if text.as_str()[start..end].trim_matches(BLANKS) != wanted.trim_matches(BLANKS) {
                return None;
            }
        }
        let mut lines = Vec::new();
        let (mut next, mut end) = (start, start);
        for wanted in &self.lines {
            *patience = patience.checked_sub(1)?;
            // After the last line end there is no further line.
            if next >= text.as_str().len() {
                return None;
            }
            end = text.line_end(next);
            let line = &text.as_str()[next..end];
            if line.trim_matches(BLANKS) != wanted.trim_matches(BLANKS) {
                return None;
            }
            lines.push(line);
            next = end + 1;
        }
        let lacks_last_end = self.is_closed && end == text.as_str().len();
        let start = if self.follows_line_end { start.checked_sub(1)? } else { start };
        let end = if self.is_closed && !lacks_last_end { end + 1 } else { end };
        Some(Stand { range: start..end, lines, lacks_last_end })
    }
}
