//! The places where a text occurs as it is.

use std::ops::Range;

use memchr::memmem::Finder;

/// How many places are named at most; the rest is counted.
const NAMED: usize = 10;

/// How many overlapping places are counted at most; more are as ambiguous.
const OVERLAPPING: usize = 1000;

/// The places that fit: how many, and the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) first: Vec<Range<usize>>,
    pub(super) count: usize,
}

impl Places {
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
pub(super) fn all(text: &str, old: &str) -> Places {
    let mut places = Places::default();
    in_turn(text, old).for_each(|range| places.push(range));
    if places.count == 1 {
        let only = places.first[0].clone();
        let finder = Finder::new(old.as_bytes());
        let until = text.len().min(only.end + old.len());
        let mut from = only.start + 1;
        while let Some(at) = text.as_bytes().get(from..until).and_then(|rest| finder.find(rest)) {
            places.push(from + at..from + at + old.len());
            from += at + 1;
            if places.count >= OVERLAPPING {
                break;
            }
        }
    }
    places
}
