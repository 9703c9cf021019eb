//! Forgives blanks at line ends, also on blank lines, and a missing line end at the end of the file.

use super::super::even::EvenText;
use super::super::exact::MatchRanges;
use super::super::whole_lines::{BLANKS, WholeLines};
use super::{TextAdaptation, TolerantMatch};

/// Finds the blocks that agree but for blanks at line ends.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (MatchRanges, Option<TolerantMatch>) {
    let block = WholeLines::new(old);
    block.places(text, |stand| {
        let agree = |(wanted, line): (&&str, &&str)| wanted.trim_end_matches(BLANKS) == line.trim_end_matches(BLANKS);
        let agrees = block.lines.iter().zip(&stand.lines).all(agree);
        agrees.then(|| TolerantMatch::new(&block, stand, TextAdaptation::AsSent))
    })
}
