//! Brings two changes of one text together when they do not touch.
//!
//! Between a plan and its execution somebody else may have changed the file elsewhere; then both changes are kept.
//! What touches is left to a person: there are no conflict markers here, only a merge or none.
//!
//! Lines are compared as bytes, so every encoding works whose line ends are bytes. Bytes with NULs
//! (binaries, UTF-16) are merged only when one side left them alone.
//!
//! Not here: what differs, for reading (`diff`).

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use crate::lines::LineBreak;

/// How long the two comparisons may take together.
const LONGEST: Duration = Duration::from_secs(2);

/// Returns the base with the changes of both sides; nothing when they touch, or when that takes too long to find out.
///
/// Changes touch when no unchanged line lies between them, unless both sides changed the same lines to the same.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if ours == base || ours == theirs {
        return Some(theirs.to_vec());
    }
    if theirs == base {
        return Some(ours.to_vec());
    }
    if [base, ours, theirs].iter().any(|text| memchr::memchr(0, text).is_some()) {
        return None;
    }
    let line_break = LineBreak::of(&[base, ours, theirs]);
    let base = line_break.split(base);
    let deadline = Instant::now() + LONGEST;
    let ours = changes(&base, &line_break.split(ours), deadline)?;
    let theirs = changes(&base, &line_break.split(theirs), deadline)?;
    Some(applied(&base, &united(ours, theirs)?))
}

/// Lines of the base and what one side made of them.
#[derive(PartialEq, Eq)]
struct Changed<'t> {
    place: Range<usize>,
    new: Vec<&'t [u8]>,
}

impl Changed<'_> {
    fn touches(&self, other: &Changed<'_>) -> bool {
        self.place.start <= other.place.end && other.place.start <= self.place.end
    }
}

/// Finds what a side changed, in order; nothing when time runs out.
fn changes<'t>(base: &[&[u8]], side: &[&'t [u8]], deadline: Instant) -> Option<Vec<Changed<'t>>> {
    let ops = capture_diff_slices_deadline(Algorithm::Myers, base, side, Some(deadline));
    if Instant::now() >= deadline {
        return None;
    }
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    Some(changed.map(|op| Changed { place: op.old_range(), new: side[op.new_range()].to_vec() }).collect())
}

/// Puts the changes of both sides in order; nothing when two of them touch.
fn united<'t>(ours: Vec<Changed<'t>>, theirs: Vec<Changed<'t>>) -> Option<Vec<Changed<'t>>> {
    let mut all = Vec::with_capacity(ours.len() + theirs.len());
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    loop {
        match (ours.peek(), theirs.peek()) {
            (Some(our), Some(their)) if our == their => {
                all.extend(ours.next());
                theirs.next();
            }
            (Some(our), Some(their)) if our.touches(their) => return None,
            (Some(our), Some(their)) if our.place.start < their.place.start => all.extend(ours.next()),
            (Some(_), None) => all.extend(ours.next()),
            (_, Some(_)) => all.extend(theirs.next()),
            (None, None) => return Some(all),
        }
    }
}

fn applied(base: &[&[u8]], changes: &[Changed<'_>]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut taken = 0;
    for change in changes {
        text.extend(base[taken..change.place.start].iter().chain(&change.new).copied().flatten());
        taken = change.place.end;
    }
    text.extend(base[taken..].iter().copied().flatten());
    text
}
