//! Finds the places where a text occurs unchanged.

use std::ops::Range;

use memchr::memmem::Finder;

/// How many places are named at most; the rest is counted.
const NAMED: usize = 10;

/// How many places that overlap are counted at most; more are as ambiguous.
const OVERLAPPING: usize = 1000;

/// The ranges that match: how many there are, and the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchRanges {
    pub(super) first: Vec<Range<usize>>,
    pub(super) count: usize,
    /// Counting stopped early: there may be more.
    pub(super) may_be_more: bool,
}

impl MatchRanges {
    pub(super) fn push(&mut self, range: Range<usize>) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(range);
        }
    }
}

/// Returns the places of a text from left to right, not overlapping.
pub(super) fn in_turn<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let places = memchr::memmem::find_iter(text.as_bytes(), old.as_bytes());
    places.take_while(|_| !old.is_empty()).map(|at| at..at + old.len())
}

/// Returns every place where the text could be meant: where only one is left, also those that overlap it.
pub(super) fn all(text: &str, old: &str) -> MatchRanges {
    let mut places = MatchRanges::default();
    in_turn(text, old).for_each(|range| places.push(range));
    if places.count == 1 { overlapping(text, old) } else { places }
}

/// Returns every place of a text, also those that overlap others.
pub(super) fn overlapping(text: &str, old: &str) -> MatchRanges {
    let mut places = MatchRanges::default();
    let finder = Finder::new(old.as_bytes());
    let (mut from, mut overlaps, mut last_end) = (0, 0, 0);
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
        let range = from + at..from + at + old.len();
        overlaps += usize::from(range.start < last_end);
        if overlaps > OVERLAPPING {
            places.may_be_more = true;
            break;
        }
        (from, last_end) = (range.start + 1, range.end);
        places.push(range);
    }
    places
}
