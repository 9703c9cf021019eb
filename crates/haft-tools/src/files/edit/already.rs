//! Detects whether a change that does not fit was already made, only to word a refusal.

use std::ops::Range;

use super::Edit;
use super::even::{EvenText, evened};
use super::exact;
use super::nearest::Nearest;
use super::whole_lines::BLANKS;

/// Letters and digits a new text must have to be recognised for sure.
const TELLING: usize = 6;
/// Places of the new text that are looked at.
const LOOKED_AT: usize = 1_000;

/// Where the new text stands already.
pub(super) enum Already {
    /// Where the old one should be.
    Seems(Range<usize>),
    /// Somewhere, which may be chance.
    MayBe(Range<usize>),
}

/// Looks for the new text of an edit, given the lines that are most like the old one.
pub(super) fn already(text: &EvenText<'_>, edit: &Edit<'_>, nearest: Option<&Nearest<'_>>) -> Option<Already> {
    let (old, new) = (evened(edit.old), evened(edit.new));
    let new = new.trim_matches('\n');
    let letters = new.chars().filter(|letter| letter.is_alphanumeric()).take(TELLING).count();
    if letters == 0 {
        return None;
    }
    let is_telling = letters == TELLING;
    let as_sure_as_it_is =
        |place: &Range<usize>| if is_telling { Already::Seems(place.clone()) } else { Already::MayBe(place.clone()) };
    let is_blank = |range: Range<usize>| text.as_str()[range].trim_matches(BLANKS).is_empty();
    let lines = |place: &Range<usize>| text.line_start(place.start)..text.line_end(place.end);
    let is_whole =
        |place: &Range<usize>| is_blank(lines(place).start..place.start) && is_blank(place.end..lines(place).end);
    let holds =
        |place: &Range<usize>, near: &Range<usize>| lines(place).start <= near.start && near.end <= lines(place).end;
    let touches = |place: &Range<usize>, near: &Range<usize>| place.start <= near.end && near.start <= place.end;
    let places: Vec<Range<usize>> = exact::in_turn(text.as_str(), new).take(LOOKED_AT).collect();
    let whole: Vec<&Range<usize>> = places.iter().filter(|place| is_whole(place)).collect();
    let Some(near) = nearest.map(|nearest| &nearest.range) else {
        return whole.first().copied().or(places.first().filter(|_| is_telling)).map(as_sure_as_it_is);
    };
    if let Some(place) = whole.iter().find(|place| holds(place, near)) {
        return Some(as_sure_as_it_is(place));
    }
    if old.contains(new) {
        // What is left of a text from which something is taken away proves nothing.
        return None;
    }
    let only = if whole.len() == 1 { whole.first().copied() } else { None };
    let near_it = places.iter().find(|place| is_telling && touches(place, near));
    only.or(near_it).cloned().map(Already::MayBe)
}
