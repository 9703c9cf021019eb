//! Finds the one place an edit means, and says what would stand there; never guesses.
//!
//! A model sends a text to replace and its replacement. Line ends, blanks and quotes get lost between the file and the
//! call. So a short ladder of rungs forgives such differences, each only if it leads to exactly one place. haft refuses
//! everything else with the nearest lines: an edit at the wrong place costs more than another call.
//!
//! haft finds all edits of a call in the original text and applies them together, or applies none.
//!
//! Not here: files, encodings, byte order marks (the text is already decoded), the tool `edit_file`, and similarity as a
//! reason to change anything (`nearest` only finds words for a refusal).

mod already;
mod even;
mod exact;
mod ladder;
mod line_ends;
mod miss;
mod nearest;
mod rungs;
mod shared_lines;
mod shown;
mod whole_lines;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use haft_contract::outcome::error::Next;
use haft_contract::outcome::kinds::ErrorKind;

use even::EvenText;
use ladder::EditSpan;

/// One replacement, as the model asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The text to replace.
    pub old: &'a str,
    /// The text that shall stand there.
    pub new: &'a str,
    /// How many places are meant.
    pub count: Count,
}

/// How many places an edit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The only one; more are ambiguous.
    Unique,
    /// All, at least one; where none is exact, the only one.
    All,
    /// The first of possibly several; where none is exact, the only one.
    First,
    /// This many, no more and no fewer. More than one must be exact.
    Exactly(usize),
}

/// One replaced stretch of the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The bytes of the original text that go.
    pub range: Range<usize>,
    /// What stands there afterwards; shared between the places of one edit.
    pub new: Arc<str>,
    /// Which edit asked for it, counted from 0.
    pub edit: usize,
}

/// All edits of a call, fitted to the text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedEdits {
    /// The replaced stretches, sorted, not overlapping.
    pub replacements: Vec<Replacement>,
    /// What had to be forgiven, one per edit.
    pub rungs: Vec<Rung>,
}

/// What may differ between an edit and the file, in the order it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Nothing but the kind of line ends.
    Exact,
    /// Blanks at line ends, or the line end at the end of the file.
    LineEndBlanks,
    /// The same shift of the indentation on all lines.
    Indentation,
    /// Typographic quotes, dashes and blanks.
    Typography,
    /// Line numbers that were copied from a read result.
    LineNumbers,
}

/// Why a call's edits do not fit. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// What is wrong, for programs.
    pub kind: ErrorKind,
    /// Which edit, counted from 0.
    pub edit: usize,
    /// What is wrong, in words, with the lines that came near.
    pub what: Box<str>,
    /// What to send instead, or where to look.
    pub next: Next,
    /// The lines that came near or that fit.
    pub near: Option<Near>,
    /// How many places fit.
    pub count: usize,
}

/// Lines of the file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The first line.
    pub first_line: usize,
    /// The last line.
    pub last_line: usize,
}

/// Locates all edits in the text; `path` is only for the words of a refusal.
pub fn fit(text: &str, edits: &[Edit<'_>], path: &str) -> Result<FittedEdits, Miss> {
    let even = EvenText::new(text);
    let mut places = Vec::new();
    let mut rungs = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        if edits[..index].contains(edit) {
            // All edits are located in the original text, so the same one twice is one.
            rungs.push(Rung::Exact);
            continue;
        }
        let asked = miss::RefusedEdit { edits, index, path };
        let located = ladder::locate(&even, edit).map_err(|reason| asked.refused(&even, reason))?;
        rungs.push(located.rung);
        places.extend(located.places.into_iter().map(|place| (place, index)));
    }
    places.sort_by_key(|(place, _)| (place.range.start, place.range.end));
    let overlap = places.array_windows().find(|[(a, _), (b, _)]| a.range.end > b.range.start);
    let apart = overlap.and_then(|_| shared_lines::without_shared_lines(even.as_str(), edits, (&places, &rungs)));
    if let (Some([first, second]), None) = (overlap, &apart) {
        let asked = miss::RefusedEdit { edits, index: first.1.max(second.1), path };
        return Err(asked.overlap(&even, [&first.0.range, &second.0.range], first.1.min(second.1)));
    }
    let replacements = replacements(&even, text, edits, apart.unwrap_or(places));
    let fitted = FittedEdits { replacements, rungs };
    if fitted.changes_nothing(text) { Err(miss::no_change(path)) } else { Ok(fitted) }
}

/// Takes places back to the original text. Places of one edit mostly get the same text, and there may be a million
/// of them, so they share it.
fn replacements(
    even: &EvenText<'_>,
    text: &str,
    edits: &[Edit<'_>],
    places: Vec<(EditSpan, usize)>,
) -> Vec<Replacement> {
    let mut last_new: Arc<str> = Arc::from("");
    let mut replacements = Vec::with_capacity(places.len());
    for (place, edit) in places {
        let range = even.original_range(&place.range);
        let stretch = line_ends::ReplacedSpan { text, range: &range, ends: even.ends() };
        let new = stretch.new_text(place.new.as_deref().unwrap_or(edits[edit].new));
        if *last_new != *new {
            last_new = Arc::from(&*new);
        }
        replacements.push(Replacement { range, new: Arc::clone(&last_new), edit });
    }
    replacements
}

impl FittedEdits {
    /// Returns the text with all replacements made.
    pub fn apply(&self, text: &str) -> String {
        let added: usize = self.replacements.iter().map(|replacement| replacement.new.len()).sum();
        let mut after = String::with_capacity(text.len() + added);
        let mut done = 0;
        for replacement in &self.replacements {
            after.push_str(&text[done..replacement.range.start]);
            after.push_str(&replacement.new);
            done = replacement.range.end;
        }
        after.push_str(&text[done..]);
        after
    }

    fn changes_nothing(&self, text: &str) -> bool {
        let removed: usize = self.replacements.iter().map(|replacement| replacement.range.len()).sum();
        let added: usize = self.replacements.iter().map(|replacement| replacement.new.len()).sum();
        // Two changes may undo each other, which only the whole text shows.
        let is_kept = |replacement: &Replacement| text[replacement.range.clone()] == *replacement.new;
        removed == added && (self.replacements.iter().all(is_kept) || self.apply(text) == text)
    }
}

impl Rung {
    /// Returns what differed, for the result; nothing when nothing did.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Rung::Exact => None,
            Rung::LineEndBlanks => Some("white space at line ends differs"),
            Rung::Indentation => Some("the indentation differs; new_text was shifted by the same amount"),
            Rung::Typography => Some("typographic quotes, dashes or spaces differ"),
            Rung::LineNumbers => Some("line numbers were left out"),
        }
    }
}
