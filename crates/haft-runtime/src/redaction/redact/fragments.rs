//! Finds parts of known texts quickly, by short fragments.
//!
//! A known text that crosses the end of a line has a fragment there. Most line ends hold no part of a secret. For those,
//! haft need not search the text again for each way in which a program may have wrapped it.
//!
//! A long enough part of a text has a fragment at one of every few places, wherever the text was cut.

use std::collections::HashMap;
use std::ops::Range;

/// How long a fragment is, in bytes. A text that is found across lines is longer.
const LENGTH: usize = 8;
/// Shortest part of a text that is found, in bytes.
pub(super) const SHORTEST_PART: usize = 16;
/// Every part has a fragment that begins at a multiple of this.
const STRIDE: usize = SHORTEST_PART - LENGTH + 1;
/// Most fragments; with more, everything may hold one.
const MOST: usize = 1_000_000;
/// A bit for so many fragments: most that are not known are told by one look at it.
const BITS: usize = 1 << 18;

/// The fragments of texts, without regard to case.
#[derive(Default)]
pub(super) struct Fragments {
    texts: Vec<Box<str>>,
    /// The text that has a fragment, and where.
    places: HashMap<u64, (usize, usize)>,
    bits: Vec<u64>,
    is_full: bool,
}

impl Fragments {
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut fragments = Self { bits: vec![0; BITS / 64], ..Self::default() };
        for text in texts {
            if fragments.places.len() > MOST {
                fragments.is_full = true;
                break;
            }
            let number = fragments.texts.len();
            fragments.texts.push(text.into());
            for (at, fragment) in text.as_bytes().windows(LENGTH).map(folded).enumerate() {
                fragments.places.entry(fragment).or_insert((number, at));
                let bit = bit_of(fragment);
                fragments.bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        fragments
    }

    /// Returns whether a known text may be on both sides of this place in a text.
    pub(super) fn may_be_across(&self, text: &str, place: usize) -> bool {
        let around = place.saturating_sub(LENGTH - 1)..(place + LENGTH - 1).min(text.len());
        self.is_full || text.as_bytes()[around].windows(LENGTH).any(|window| self.place(folded(window)).is_some())
    }

    /// Returns where parts of known texts are in a text, each with the number of the text that it is of.
    pub(super) fn parts(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
        if self.texts.is_empty() {
            return parts;
        }
        for (index, window) in text.as_bytes().windows(LENGTH).step_by(STRIDE).enumerate() {
            let Some((number, from)) = self.place(folded(window)) else { continue };
            let at = index * STRIDE;
            if parts.last().is_some_and(|(last, _)| last.end >= at + LENGTH) {
                continue;
            }
            let part = extended(text, at..at + LENGTH, (&self.texts[number], from));
            if part.len() >= SHORTEST_PART {
                parts.push((part, number));
            }
        }
        parts
    }

    fn place(&self, fragment: u64) -> Option<(usize, usize)> {
        let bit = bit_of(fragment);
        let is_set = self.bits.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1);
        if is_set { self.places.get(&fragment).copied() } else { None }
    }
}

/// Extends a part of a known text by what of the text stands around it.
pub(super) fn extended(text: &str, part: Range<usize>, (whole, from): (&str, usize)) -> Range<usize> {
    let same = |(a, b): &(u8, u8)| a.eq_ignore_ascii_case(b);
    let (text_bytes, whole) = (text.as_bytes(), whole.as_bytes());
    let before = text_bytes[..part.start].iter().rev().copied().zip(whole[..from].iter().rev().copied());
    let after = text_bytes[part.end..].iter().copied().zip(whole[from + part.len()..].iter().copied());
    let start = part.start - before.take_while(same).count();
    let end = part.end + after.take_while(same).count();
    let start = (start..part.end).find(|at| text.is_char_boundary(*at)).unwrap_or(part.end);
    let end = (start..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    start..end
}

/// Returns the bytes of a fragment as a number that is the same in either case. Some signs are the same as others, too.
fn folded(window: &[u8]) -> u64 {
    let bytes = window.try_into().expect("a window has the length of a fragment");
    u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020
}

fn bit_of(fragment: u64) -> usize {
    let mixed = fragment.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS.trailing_zeros());
    usize::try_from(mixed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_across_a_place_is_noticed_wherever_the_place_is_in_it() {
        let fragments = Fragments::of(["k7Qp2Zx9Lm".to_lowercase().as_str()].into_iter());
        let text = "--K7qP2ZX9LM--";
        for place in 3..12 {
            assert!(fragments.may_be_across(text, place), "{place}");
        }
        for (text, place) in [("--k7Qp2Zx--", 5), ("", 0), ("short", 2), ("nothing of it is here", 10), (text, 0)] {
            assert!(!fragments.may_be_across(text, place), "{text}");
        }
    }

    #[test]
    fn every_part_that_is_long_enough_is_found_wherever_it_stands() {
        let whole = "k7qp2zx9lm4tr8wv5yb1c3dn6fh0";
        let fragments = Fragments::of([whole].into_iter());
        for from in 0..=whole.len() - SHORTEST_PART {
            for to in from + SHORTEST_PART..=whole.len() {
                for before in 0..10 {
                    let text = format!("{}{}ä-", "-".repeat(before), whole[from..to].to_uppercase());
                    assert_eq!(fragments.parts(&text), [(before..before + to - from, 0)], "{text}");
                }
            }
        }
        assert_eq!(fragments.parts("k7qp2zx9lm4tr8w and ordinary text"), []);
        assert_eq!(fragments.parts(""), []);
    }
}
