//! Forgives typographic quotes, dashes, dots and blanks, on either side.
//!
//! haft reads every such character as its plain form on both sides. The new text stays as it was sent.
//!
//! Not here: invisible characters and letters that look alike. They are different text.

use std::borrow::Cow;

use super::super::even::EvenText;
use super::super::exact::{self, MatchRanges};
use super::TolerantMatch;

/// Finds the places that agree in plain typography. They may begin and end inside lines.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (MatchRanges, Option<TolerantMatch>) {
    let (folded_text, folded_old) = (FoldedText::new(text.as_str()), FoldedText::new(old));
    if folded_text.changes.is_empty() && folded_old.changes.is_empty() {
        return (MatchRanges::default(), None);
    }
    let found = exact::all(&folded_text.text, &folded_old.text);
    // A match that begins or ends inside a folded character would cut it.
    let whole = found.first.iter().filter_map(|range| {
        let (start, end) = (folded_text.original(range.start)?, folded_text.original(range.end)?);
        Some(start..end)
    });
    let mut places = MatchRanges::default();
    whole.for_each(|range| places.push(range));
    if found.count > found.first.len() {
        places.count = found.count;
        places.may_be_more = found.may_be_more;
    }
    let first = places.first.first().cloned().map(TolerantMatch::inside_lines);
    (places, first)
}

/// A text in plain typography, with the way back to the original.
struct FoldedText<'a> {
    text: Cow<'a, str>,
    changes: Vec<Folding>,
}

/// One character that was folded: where it began and ended, then and now.
struct Folding {
    original_end: usize,
    start: usize,
    end: usize,
}

impl<'a> FoldedText<'a> {
    fn new(original: &'a str) -> Self {
        let mut text = String::new();
        let mut changes = Vec::new();
        let mut done = 0;
        for (at, letter) in original.char_indices().filter(|(_, letter)| !letter.is_ascii()) {
            let Some(plain) = plain(letter) else { continue };
            text.push_str(&original[done..at]);
            let start = text.len();
            text.push_str(plain);
            done = at + letter.len_utf8();
            changes.push(Folding { original_end: done, start, end: text.len() });
        }
        if changes.is_empty() {
            return Self { text: Cow::Borrowed(original), changes };
        }
        text.push_str(&original[done..]);
        Self { text: Cow::Owned(text), changes }
    }

    /// Returns where an offset of the plain text is in the original; nothing inside a folded character.
    fn original(&self, at: usize) -> Option<usize> {
        let before = self.changes.partition_point(|folding| folding.start < at);
        let Some(last) = before.checked_sub(1).map(|index| &self.changes[index]) else { return Some(at) };
        at.checked_sub(last.end).map(|beyond| last.original_end + beyond)
    }
}

/// Returns the plain form of a typographic character.
pub(in super::super) fn plain(letter: char) -> Option<&'static str> {
    match letter {
        '\u{2018}'..='\u{201b}' => Some("'"),
        '\u{201c}'..='\u{201f}' => Some("\""),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(" "),
        _ => None,
    }
}
