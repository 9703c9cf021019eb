//! Merges two changes of one text when they do not overlap.
//!
//! A call may rest on an older version of a file, and an undo may meet later work. haft keeps both changes if it can.
//! An overlap is left to a person: the result is a merge or nothing, never a conflict marker.
//!
//! Lines are compared as bytes, so this works for every encoding whose line ends are bytes. UTF-16 is split at its line
//! ends of two bytes. Other bytes with NULs are merged only when one side left them alone.
//!
//! Not here: what differs, for reading (`diff`); a file that changes between plan and execution, which is `stale`.

mod among;
#[cfg(test)]
mod tests;

pub use among::merge_among;

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::encoding::decode;
use super::lines::LineBreak;

/// How long the two comparisons may take together.
const LONGEST: Duration = Duration::from_secs(2);

/// Why two changes were not brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMerged {
    /// They overlap.
    #[error("in the same lines")]
    Touching,
    /// It was not tried: there are no lines to compare.
    #[error("and only text in the same encoding can be merged")]
    NotText,
    /// It took too long to find out.
    #[error("and merging the two takes too long")]
    OutOfTime,
}

/// Returns the base with the changes of both sides.
///
/// Changes of neighbouring lines are both kept. Both sides may change the same lines to the same; otherwise changes of
/// the same lines, and different insertions at the same place, are not merged.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, NotMerged> {
    if ours == base || ours == theirs {
        return Ok(theirs.to_vec());
    }
    if theirs == base {
        return Ok(ours.to_vec());
    }
    let split = Split::of([base, ours, theirs])?;
    let [base, ours, theirs] = &split.lines;
    let deadline = Instant::now() + LONGEST;
    let ours = changes(base, ours, deadline).ok_or(NotMerged::OutOfTime)?;
    let theirs = changes(base, theirs, deadline).ok_or(NotMerged::OutOfTime)?;
    let all = united(ours, theirs).ok_or(NotMerged::Touching)?;
    Ok(applied(split.mark, base, &all))
}

/// Three texts as lines, without the byte order mark that all of them have.
struct Split<'t> {
    mark: &'static [u8],
    lines: [Vec<&'t [u8]>; 3],
}

impl<'t> Split<'t> {
    fn of(texts: [&'t [u8]; 3]) -> Result<Self, NotMerged> {
        let may_be_wide = |text: &[u8]| {
            memchr::memchr(0, text).is_some() || text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff")
        };
        if !texts.iter().any(|text| may_be_wide(text)) {
            // Another program may have converted the file since; ASCII text is the same in both encodings.
            let odd = || texts.iter().filter(|text| !text.is_ascii()).map(|text| std::str::from_utf8(text).is_ok());
            if odd().any(|is_utf8| is_utf8) && odd().any(|is_utf8| !is_utf8) {
                return Err(NotMerged::NotText);
            }
            let line_break = LineBreak::of(&texts);
            return Ok(Self { mark: b"", lines: texts.map(|text| line_break.split(text)) });
        }
        let form = |text: &[u8]| decode(text).map(|decoded| decoded.form).map_err(|_| NotMerged::NotText);
        let wide = form(texts[0])?;
        for text in &texts[1..] {
            if form(text)? != wide {
                return Err(NotMerged::NotText);
            }
        }
        let bodies = texts.map(|text| text.strip_prefix(wide.mark()).unwrap_or(text));
        // Without wide units there is no NUL in a text.
        let has_newline = bodies.iter().any(|body| body.chunks_exact(2).any(|unit| unit == wide.unit(b'\n')));
        let end = if has_newline { b'\n' } else { b'\r' };
        Ok(Self { mark: wide.mark(), lines: bodies.map(|body| wide_lines(body, wide.unit(end))) })
    }
}

/// Splits a text of two-byte units into its lines, each with its end.
fn wide_lines(body: &[u8], end: [u8; 2]) -> Vec<&[u8]> {
    let ends = body.chunks_exact(2).enumerate().filter(|(_, unit)| **unit == end).map(|(index, _)| 2 * index + 2);
    let mut lines = Vec::new();
    let mut start = 0;
    for end in ends.chain([body.len()]) {
        if end > start {
            lines.push(&body[start..end]);
        }
        start = end;
    }
    lines
}

/// Lines of the base, and the lines with which one side replaced them.
#[derive(PartialEq, Eq)]
struct MergeHunk<'t> {
    place: Range<usize>,
    new: Vec<&'t [u8]>,
}

impl MergeHunk<'_> {
    /// Returns whether both cannot be kept.
    fn conflicts(&self, other: &MergeHunk<'_>) -> bool {
        let (first, second) = if self.order() <= other.order() { (self, other) } else { (other, self) };
        if first.place.end < second.place.start {
            return false;
        }
        let is_same_place = first.place.is_empty() && second.place.is_empty();
        let overlaps = first.place.end > second.place.start;
        // Neighbours that add the same line may both mean one line, and a last line without an end would be joined.
        let shares = || first.new.iter().any(|line| second.new.contains(line));
        let is_open = || first.new.last().is_some_and(|line| !is_ended(line)) && !second.new.is_empty();
        is_same_place || overlaps || shares() || is_open()
    }

    /// An insertion comes before a change of the line behind it.
    fn order(&self) -> (usize, usize) {
        (self.place.start, self.place.end)
    }
}

/// Returns whether a line has a line end, in units of one byte or two.
fn is_ended(line: &[u8]) -> bool {
    let ends: [&[u8]; 4] = [b"\n", b"\r", b"\n\0", b"\r\0"];
    ends.iter().any(|end| line.ends_with(end))
}

/// Finds what a side changed, in order; nothing when time runs out.
fn changes<'t>(base: &[&[u8]], side: &[&'t [u8]], deadline: Instant) -> Option<Vec<MergeHunk<'t>>> {
    let ops = capture_diff_slices_deadline(Algorithm::Myers, base, side, Some(deadline));
    if Instant::now() >= deadline {
        return None;
    }
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    Some(changed.map(|op| MergeHunk { place: op.old_range(), new: side[op.new_range()].to_vec() }).collect())
}

/// Puts the changes of both sides in order; nothing when two of them cannot both be kept.
fn united<'t>(ours: Vec<MergeHunk<'t>>, theirs: Vec<MergeHunk<'t>>) -> Option<Vec<MergeHunk<'t>>> {
    let mut all = Vec::with_capacity(ours.len() + theirs.len());
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    loop {
        match (ours.peek(), theirs.peek()) {
            (Some(our), Some(their)) if our == their => {
                all.extend(ours.next());
                theirs.next();
            }
            (Some(our), Some(their)) if our.conflicts(their) => return None,
            (Some(our), Some(their)) if our.order() < their.order() => all.extend(ours.next()),
            (Some(_), None) => all.extend(ours.next()),
            (_, Some(_)) => all.extend(theirs.next()),
            (None, None) => return Some(all),
        }
    }
}

fn applied(mark: &[u8], base: &[&[u8]], changes: &[MergeHunk<'_>]) -> Vec<u8> {
    let mut text = mark.to_vec();
    let mut taken = 0;
    for change in changes {
        text.extend(base[taken..change.place.start].iter().chain(&change.new).copied().flatten());
        taken = change.place.end;
    }
    text.extend(base[taken..].iter().copied().flatten());
    text
}
