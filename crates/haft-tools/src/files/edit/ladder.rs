//! Finds the places of an edit: exact matches, or else matches that differ in exactly one forgiven way.
//!
//! A forgiven match leads to one place. So haft forgives nothing if the edit asks for several places by number.
//!
//! haft tries every rung, and all of them have to agree on one place. A rung that fits twice makes the edit ambiguous
//! even if another rung fits once. haft never combines rungs.

use std::ops::Range;

use super::even::{EvenText, evened};
use super::exact::{self, MatchRanges};
use super::rungs::{self, Misfit, TolerantMatch};
use super::{Count, Edit, Rung};

/// Texts above this size are only searched for exact matches: rungs copy or walk the whole text.
pub(super) const FORGIVING: usize = 64 << 20;

/// The places where an edit fits, and the rung that found them.
pub(super) struct EditLocation {
    pub(super) places: Vec<EditSpan>,
    pub(super) rung: Rung,
}

/// A stretch of the even text, and its replacement where that is not the new text as it was sent.
pub(super) struct EditSpan {
    pub(super) range: Range<usize>,
    pub(super) new: Option<String>,
}

/// Why an edit has no place.
pub(super) enum Reason {
    EmptyOld,
    NoMatch,
    /// There are matches, but another number than was asked for.
    Miscounted {
        places: MatchRanges,
        wanted: usize,
        overlap: Overlap,
    },
    Ambiguous {
        places: MatchRanges,
        forgiven: Vec<Rung>,
    },
    /// There is one place, but the new text cannot be changed in the same way as the old one.
    CannotAdapt {
        range: Range<usize>,
        rung: Rung,
        misfit: Misfit,
    },
}

/// Whether places of one edit share text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    Yes,
    No,
}

/// Finds the places an edit means.
pub(super) fn locate(text: &EvenText<'_>, edit: &Edit<'_>) -> Result<EditLocation, Reason> {
    if edit.old.is_empty() {
        return Err(Reason::EmptyOld);
    }
    let old = evened(edit.old);
    let found = exact::in_turn(text.as_str(), &old);
    let ranges = match edit.count {
        Count::Unique => unique(text, &old)?,
        Count::First => found.take(1).collect(),
        Count::All => found.collect(),
        Count::Exactly(wanted) => exactly(text, &old, wanted)?,
    };
    match (ranges.is_empty(), edit.count) {
        (true, Count::Unique | Count::First | Count::All | Count::Exactly(1)) => forgiving(text, &old, edit.new),
        (true, Count::Exactly(_)) => Err(Reason::NoMatch),
        (false, _) => Ok(EditLocation { places: ranges.into_iter().map(as_it_is).collect(), rung: Rung::Exact }),
    }
}

fn as_it_is(range: Range<usize>) -> EditSpan {
    EditSpan { range, new: None }
}

/// Returns the only place, or none.
fn unique(text: &EvenText<'_>, old: &str) -> Result<Vec<Range<usize>>, Reason> {
    let places = exact::all(text.as_str(), old);
    if places.count > 1 { Err(Reason::Ambiguous { places, forgiven: Vec::new() }) } else { Ok(places.first) }
}

/// Returns this many places, or none. Places that overlap are different places, of which not all can be replaced.
fn exactly(text: &EvenText<'_>, old: &str, wanted: usize) -> Result<Vec<Range<usize>>, Reason> {
    let places = exact::overlapping(text.as_str(), old);
    let ranges: Vec<Range<usize>> = exact::in_turn(text.as_str(), old).collect();
    // Only what overlaps is counted in part.
    let overlap = if places.count == ranges.len() && !places.may_be_more { Overlap::No } else { Overlap::Yes };
    let is_wanted = places.count == wanted && overlap == Overlap::No;
    if is_wanted || places.count == 0 { Ok(ranges) } else { Err(Reason::Miscounted { places, wanted, overlap }) }
}

fn forgiving(text: &EvenText<'_>, old: &str, new: &str) -> Result<EditLocation, Reason> {
    // Without a letter or digit there is nothing to tell places apart once something may differ.
    if text.as_str().len() > FORGIVING || !old.chars().any(char::is_alphanumeric) {
        return Err(Reason::NoMatch);
    }
    let mut fits: Vec<(Rung, TolerantMatch)> = Vec::new();
    let mut several: Vec<(Rung, MatchRanges)> = Vec::new();
    for (rung, find) in rungs::ALL {
        let (places, found) = find(text, old);
        match (places.count, found) {
            (1, Some(found)) => fits.push((rung, found)),
            (0, _) => {}
            _ => several.push((rung, places)),
        }
    }
    if let Some((rung, places)) = several.into_iter().max_by_key(|(_, places)| places.count) {
        return Err(Reason::Ambiguous { places, forgiven: vec![rung] });
    }
    let Some((rung, found)) = fits.first() else { return Err(Reason::NoMatch) };
    if fits.iter().any(|(_, other)| !text.are_same_lines(&found.range, &other.range)) {
        let mut places = MatchRanges::default();
        fits.iter().for_each(|(_, found)| places.push(found.range.clone()));
        return Err(Reason::Ambiguous { places, forgiven: fits.iter().map(|(rung, _)| *rung).collect() });
    }
    match found.adapted(text, &evened(new)) {
        Ok(new) => {
            Ok(EditLocation { places: vec![EditSpan { range: found.range.clone(), new: Some(new) }], rung: *rung })
        }
        Err(misfit) => Err(Reason::CannotAdapt { range: found.range.clone(), rung: *rung, misfit }),
    }
}
