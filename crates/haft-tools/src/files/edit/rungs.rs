//! Lists what may differ between an edit and the file, one file each.
//!
//! A rung finds all places that fit when one certain thing does not count, and says how the new text changes with the
//! old one.

mod indentation;
mod line_end_blanks;
mod line_numbers;
mod typography;

use std::ops::Range;

use super::Rung;
use super::even::EvenText;
use super::exact::MatchRanges;
use super::whole_lines::{Stand, WholeLines};

pub(super) use indentation::Shift;
pub(super) use line_numbers::{Numbering, without_number};
pub(super) use typography::plain;

/// Finds the places of an old text: how many there are, and the first.
type Find = fn(&EvenText<'_>, &str) -> (MatchRanges, Option<TolerantMatch>);

/// All rungs, in the order they are preferred at one and the same place.
pub(super) const ALL: [(Rung, Find); 4] = [
    (Rung::LineEndBlanks, line_end_blanks::find),
    (Rung::Indentation, indentation::find),
    (Rung::Typography, typography::find),
    (Rung::LineNumbers, line_numbers::find),
];

/// Why a new text cannot be changed like the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// A line lacks what has to change, or would end up in the line before.
    Lacking,
    /// It has depths that the old text lacks, in tabs or spaces whose width there is not certain.
    TabWidth,
    /// Its numbers may be line numbers or text.
    Numbers,
}

/// A place that fits when one thing is forgiven, and the adaptation that the new text needs there.
pub(super) struct TolerantMatch {
    pub(super) range: Range<usize>,
    change: TextAdaptation,
    follows_line_end: bool,
    lacks_last_end: bool,
}

/// The change that the new text needs in the same way as the old one.
pub(super) enum TextAdaptation {
    AsSent,
    Shift(Shift),
    Unnumber(Numbering),
}

impl TolerantMatch {
    fn new(block: &WholeLines<'_>, stand: &Stand<'_>, change: TextAdaptation) -> Self {
        let (follows_line_end, lacks_last_end) = (block.follows_line_end, stand.lacks_last_end);
        Self { range: stand.range.clone(), change, follows_line_end, lacks_last_end }
    }

    fn inside_lines(range: Range<usize>) -> Self {
        Self { range, change: TextAdaptation::AsSent, follows_line_end: false, lacks_last_end: false }
    }

    /// Returns the new text as it fits here; else why it cannot be changed like the old one.
    pub(super) fn adapted(&self, text: &EvenText<'_>, new: &str) -> Result<String, Misfit> {
        let kept = if self.lacks_last_end { new.strip_suffix('\n').unwrap_or(new) } else { new };
        let begins_a_line = !self.follows_line_end || kept.is_empty() || kept.starts_with('\n');
        match &self.change {
            TextAdaptation::AsSent => Ok(kept.to_owned()),
            TextAdaptation::Shift(shift) if begins_a_line => shift.new_text(text, &self.range, kept),
            TextAdaptation::Unnumber(numbering) if begins_a_line => numbering.new_text(kept).ok_or(Misfit::Numbers),
            TextAdaptation::Shift(_) | TextAdaptation::Unnumber(_) => Err(Misfit::Lacking),
        }
    }
}
