//! Forgives blanks at line ends, also on blank lines, and a line end that the end of the file lacks.

use super::super::even::EvenText;
use super::super::exact::Places;
use super::super::whole_lines::{BLANKS, WholeLines};
use super::{Change, Found};

/// Finds the blocks that agree but for blanks at line ends.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (Places, Option<Found>) {
    let block = WholeLines::new(old);
    block.places(text, |stand| {
        let agree = |(wanted, line): (&&str, &&str)| wanted.trim_end_matches(BLANKS) == line.trim_end_matches(BLANKS);
        let agrees = block.lines.iter().zip(&stand.lines).all(agree);
        agrees.then(|| Found::new(&block, stand, Change::AsSent))
    })
}
