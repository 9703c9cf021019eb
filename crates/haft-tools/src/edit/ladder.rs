//! From an edit to its places: as it is, or else with exactly one thing forgiven.
//!
//! Every rung is tried and all of them have to agree on one place; a rung that fits twice makes the
//! edit ambiguous even when another fits once. Rungs are never combined.

use std::ops::Range;

use super::even::{EvenText, evened};
use super::exact::{self, Places};
use super::rungs::{self, Found};
use super::{Count, Edit, Rung};

/// Texts above this size are only searched for exact matches: rungs copy or walk the whole text.
pub(super) const FORGIVING: usize = 64 << 20;

/// Where an edit fits.
pub(super) struct Located {
    pub(super) places: Vec<Place>,
    pub(super) rung: Rung,
}

/// One stretch of the even text, and what shall stand there if it is not the new text as it was sent.
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) new: Option<String>,
}

/// Why an edit has no place.
pub(super) enum Reason {
    EmptyOld,
    NoMatch,
    /// There are matches, but another number than was asked for.
    Miscounted {
        places: Places,
        wanted: usize,
    },
    Ambiguous {
        places: Places,
        forgiven: Vec<Rung>,
    },
    /// There is one place, but the new text cannot be changed in the same way as the old one.
    CannotAdapt {
        range: Range<usize>,
        rung: Rung,
    },
}

/// Finds the places an edit means.
pub(super) fn locate(text: &EvenText<'_>, edit: &Edit<'_>) -> Result<Located, Reason> {
    if edit.old.is_empty() {
        return Err(Reason::EmptyOld);
    }
    let old = evened(edit.old);
    let found = exact::in_turn(text.as_str(), &old);
    match edit.count {
        Count::Unique => unique(text, &old, edit.new),
        Count::First => as_they_are(found.take(1).collect()),
        Count::All => as_they_are(found.collect()),
        Count::Exactly(wanted) => {
            let mut places = Places::default();
            exact::in_turn(text.as_str(), &old).for_each(|range| places.push(range));
            match places.count {
                count if count == wanted => Ok(Located { places: found.map(as_it_is).collect(), rung: Rung::Exact }),
                0 => Err(Reason::NoMatch),
                _ => Err(Reason::Miscounted { places, wanted }),
            }
        }
    }
}

fn as_they_are(ranges: Vec<Range<usize>>) -> Result<Located, Reason> {
    if ranges.is_empty() {
        return Err(Reason::NoMatch);
    }
    Ok(Located { places: ranges.into_iter().map(as_it_is).collect(), rung: Rung::Exact })
}

fn as_it_is(range: Range<usize>) -> Place {
    Place { range, new: None }
}

fn unique(text: &EvenText<'_>, old: &str, new: &str) -> Result<Located, Reason> {
    let mut places = exact::all(text.as_str(), old);
    match places.count {
        0 => forgiving(text, old, new),
        1 => as_they_are(std::mem::take(&mut places.first)),
        _ => Err(Reason::Ambiguous { places, forgiven: Vec::new() }),
    }
}

fn forgiving(text: &EvenText<'_>, old: &str, new: &str) -> Result<Located, Reason> {
    // Without a letter or digit there is nothing to tell places apart once something may differ.
    if text.as_str().len() > FORGIVING || !old.chars().any(char::is_alphanumeric) {
        return Err(Reason::NoMatch);
    }
    let mut fits: Vec<(Rung, Found)> = Vec::new();
    let mut several: Vec<(Rung, Places)> = Vec::new();
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
        let mut places = Places::default();
        fits.iter().for_each(|(_, found)| places.push(found.range.clone()));
        return Err(Reason::Ambiguous { places, forgiven: fits.iter().map(|(rung, _)| *rung).collect() });
    }
    match found.adapted(&evened(new)) {
        Some(new) => Ok(Located { places: vec![Place { range: found.range.clone(), new: Some(new) }], rung: *rung }),
        None => Err(Reason::CannotAdapt { range: found.range.clone(), rung: *rung }),
    }
}
