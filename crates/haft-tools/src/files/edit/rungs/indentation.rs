//! Forgives one shift of the indentation that is the same on all lines, and shifts the new text too.
//!
//! Strict on purpose: it allows one prefix added or removed everywhere, or tabs for the same number of spaces everywhere.
//! A block that was re-indented line by line is another block. It refuses an edit if the new text is indented in
//! another way than the old one, because that would mix tabs and spaces.

mod conversion;

use std::collections::HashSet;
use std::ops::Range;

use super::super::even::EvenText;
use super::super::exact::MatchRanges;
use super::super::whole_lines::{BLANKS, WholeLines};
use super::{Misfit, TextAdaptation, TolerantMatch};
use conversion::Conversion;

/// What has to be done to a line that was sent to get a line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Shift {
    Add(String),
    Remove(String),
    Convert(Conversion),
}

/// Finds the blocks that are the old text shifted.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (MatchRanges, Option<TolerantMatch>) {
    let block = WholeLines::new(old);
    block.places(text, |stand| {
        let shift = shift_between(&block.lines, &stand.lines)?;
        Some(TolerantMatch::new(&block, stand, TextAdaptation::Shift(shift)))
    })
}

fn shift_between(sent: &[&str], lines: &[&str]) -> Option<Shift> {
    let (first_sent, first_line) = sent.iter().zip(lines).find(|(sent, _)| !is_blank(sent))?;
    let (sent_blanks, line_blanks) = (indentation(first_sent), indentation(first_line));
    let mut candidates = Vec::new();
    if let Some(prefix) = line_blanks.strip_suffix(sent_blanks).filter(|prefix| !prefix.is_empty()) {
        candidates.push(Shift::Add(prefix.to_owned()));
    }
    if let Some(prefix) = sent_blanks.strip_suffix(line_blanks).filter(|prefix| !prefix.is_empty()) {
        candidates.push(Shift::Remove(prefix.to_owned()));
    }
    candidates.extend(Conversion::candidates(sent, lines).into_iter().map(Shift::Convert));
    let fits = |(sent, line): (&&str, &&str), shift: &Shift| match (sent.is_empty(), line.is_empty()) {
        // What has blanks only on one side differs in the blanks at its end as well.
        (true, is_empty) => is_empty,
        (false, _) => shift.line(sent).as_deref() == Some(*line),
    };
    candidates.into_iter().find(|shift| sent.iter().zip(lines).all(|pair| fits(pair, shift)))
}

impl Shift {
    /// Returns a new text shifted like the old one, for a stretch of the text.
    pub(super) fn new_text(&self, text: &EvenText<'_>, range: &Range<usize>, new: &str) -> Result<String, Misfit> {
        // Blanks without text show nothing, so a blank line that cannot be shifted stays.
        let shifted = |line| self.line(line).or_else(|| is_blank(line).then(|| line.to_owned()));
        let lines: Option<Vec<String>> = new.split('\n').map(shifted).collect();
        let lines = lines.ok_or(Misfit::Lacking)?;
        let is_certain = match self {
            Shift::Convert(conversion) => conversion.is_certain(text, new),
            Shift::Add(prefix) | Shift::Remove(prefix) => {
                let there = text.as_str()[range.clone()].split('\n').map(indentation);
                let known: HashSet<char> = there.chain([prefix.as_str()]).flat_map(str::chars).collect();
                lines.iter().all(|line| depth(line).chars().all(|blank| known.contains(&blank)))
            }
        };
        if is_certain { Ok(lines.join("\n")) } else { Err(Misfit::TabWidth) }
    }

    /// Shifts a line; nothing when it lacks what has to be removed. An empty line stays empty.
    fn line(&self, line: &str) -> Option<String> {
        if line.is_empty() {
            return Some(String::new());
        }
        let blanks = indentation(line);
        let rest = &line[blanks.len()..];
        let blanks = match self {
            Shift::Add(prefix) => format!("{prefix}{blanks}"),
            Shift::Remove(prefix) => blanks.strip_prefix(prefix.as_str())?.to_owned(),
            Shift::Convert(conversion) => conversion.blanks(blanks, rest)?,
        };
        Some(format!("{blanks}{rest}"))
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(BLANKS).len()]
}

/// Returns the blanks that are a line's depth: none of a blank line, and not the space before the star of a comment.
fn depth(line: &str) -> &str {
    let blanks = indentation(line);
    match &line[blanks.len()..] {
        "" => "",
        rest if rest.starts_with('*') => blanks.strip_suffix(' ').unwrap_or(blanks),
        _ => blanks,
    }
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(BLANKS).is_empty()
}
