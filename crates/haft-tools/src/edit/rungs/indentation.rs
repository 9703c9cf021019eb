//! Forgives one shift of the indentation that is the same on all lines, and shifts the new text too.
//!
//! Strict on purpose: one prefix added or removed everywhere, or tabs for the same number of spaces
//! everywhere. A block that was indented anew line by line is another block.

use super::super::even::EvenText;
use super::super::exact::Places;
use super::super::whole_lines::{BLANKS, WholeLines};
use super::{Change, Found};

/// How many spaces a tab may stand for.
const WIDTHS: std::ops::RangeInclusive<usize> = 2..=8;

/// What has to be done to a line that was sent to get a line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Shift {
    Add(String),
    Remove(String),
    SpacesToTabs(usize),
    TabsToSpaces(usize),
}

/// Finds the blocks that are the old text shifted.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (Places, Option<Found>) {
    let block = WholeLines::new(old);
    block.places(text, |stand| {
        let shift = shift_between(&block.lines, &stand.lines)?;
        Some(Found::new(&block, stand, Change::Shift(shift)))
    })
}

fn shift_between(sent: &[&str], lines: &[&str]) -> Option<Shift> {
    let pairs = || sent.iter().zip(lines).filter(|(sent, _)| !is_blank(sent));
    let (first_sent, first_line) = pairs().next()?;
    let (sent_blanks, line_blanks) = (indentation(first_sent), indentation(first_line));
    let mut candidates = Vec::new();
    if let Some(prefix) = line_blanks.strip_suffix(sent_blanks).filter(|prefix| !prefix.is_empty()) {
        candidates.push(Shift::Add(prefix.to_owned()));
    }
    if let Some(prefix) = sent_blanks.strip_suffix(line_blanks).filter(|prefix| !prefix.is_empty()) {
        candidates.push(Shift::Remove(prefix.to_owned()));
    }
    // The first line that is indented at all says how wide a tab is.
    let unstarred = pairs().filter(|(_, line)| !line.trim_start_matches(BLANKS).starts_with('*'));
    let widths = unstarred.map(|(sent, line)| (indentation(sent).len(), indentation(line).len()));
    if let Some((sent_width, line_width)) = widths.into_iter().find(|(sent, line)| *sent > 0 && *line > 0) {
        candidates.push(Shift::SpacesToTabs(sent_width / line_width));
        candidates.push(Shift::TabsToSpaces(line_width / sent_width));
    }
    candidates.into_iter().filter(Shift::is_sensible).find(|shift| {
        let blank_lines = sent.iter().zip(lines).filter(|(sent, _)| is_blank(sent));
        let mut blank_lines = blank_lines.map(|(sent, line)| sent == line || sent.is_empty() || line.is_empty());
        blank_lines.all(|agrees| agrees) && pairs().all(|(sent, line)| shift.line(sent).as_deref() == Some(*line))
    })
}

impl Shift {
    fn is_sensible(&self) -> bool {
        match self {
            Shift::Add(_) | Shift::Remove(_) => true,
            Shift::SpacesToTabs(width) | Shift::TabsToSpaces(width) => WIDTHS.contains(width),
        }
    }

    /// Shifts every line of a text; nothing when a line lacks what has to be removed.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let lines: Option<Vec<String>> = text.split('\n').map(|line| self.line(line)).collect();
        lines.map(|lines| lines.join("\n"))
    }

    fn line(&self, line: &str) -> Option<String> {
        if is_blank(line) {
            return Some(line.to_owned());
        }
        let blanks = indentation(line);
        let rest = &line[blanks.len()..];
        let blanks = match self {
            Shift::Add(prefix) => format!("{prefix}{blanks}"),
            Shift::Remove(prefix) => blanks.strip_prefix(prefix.as_str())?.to_owned(),
            Shift::SpacesToTabs(width) => {
                let (levels, star) = (blanks.len() / width, &blanks[..blanks.len() % width]);
                let fits = blanks.bytes().all(|blank| blank == b' ') && (star.is_empty() || is_starred(star, rest));
                fits.then(|| format!("{}{star}", "\t".repeat(levels)))?
            }
            Shift::TabsToSpaces(width) => {
                let star = blanks.trim_start_matches('\t');
                let fits = star.is_empty() || is_starred(star, rest);
                fits.then(|| format!("{}{star}", " ".repeat((blanks.len() - star.len()) * width)))?
            }
        };
        Some(format!("{blanks}{rest}"))
    }
}

/// Returns whether blanks are the one space before the star of a comment's further lines, which no tab stands for.
fn is_starred(blanks: &str, rest: &str) -> bool {
    blanks == " " && rest.starts_with('*')
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(BLANKS).len()]
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(BLANKS).is_empty()
}
