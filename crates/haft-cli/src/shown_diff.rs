//! Shows differences as lines for a terminal: removed red, added green, unchanged plain.

use std::borrow::Cow;

use haft_contract::text::diff::{Diff, DiffHunk, DiffLine};

use crate::screen::StyledText;
use haft_host::texts::bounded_text::shortened_line;

/// Most characters of a line, unless all lines are shown.
pub(crate) const LONGEST_LINE: usize = 2_000;

/// A line of a difference, with its meaning.
pub(crate) enum DiffDisplayLine {
    Header(String),
    Equal(String),
    Delete(String),
    Insert(String),
}

impl DiffDisplayLine {
    /// Returns the line as a part with its colour.
    pub(crate) fn part(&self) -> StyledText<'_> {
        match self {
            DiffDisplayLine::Header(text) => StyledText::Faint(text),
            DiffDisplayLine::Equal(text) => StyledText::Plain(text),
            DiffDisplayLine::Delete(text) => StyledText::Bad(text),
            DiffDisplayLine::Insert(text) => StyledText::Good(text),
        }
    }
}

/// Returns how many lines of a difference are not shown, or not shown whole, where at most so many are.
pub(crate) fn not_whole(diff: &Diff, most_lines: usize) -> usize {
    let all = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let is_cut = |line: &&DiffLine| matches!(shortened(line.text(), most_lines), Cow::Owned(_));
    let shown = all.clone().take(most_lines).filter(is_cut).count();
    all.count().saturating_sub(most_lines) + shown
}

/// Shortens a line, unless all lines are shown: then a person wants to see everything.
fn shortened(text: &str, most_lines: usize) -> Cow<'_, str> {
    if most_lines == usize::MAX { Cow::Borrowed(text) } else { shortened_line(text, LONGEST_LINE) }
}

/// Returns the lines of a difference, at most so many, and says how many are left out.
pub(crate) fn lines(diff: &Diff, most_lines: usize) -> Vec<DiffDisplayLine> {
    lines_with(diff, most_lines, &|_, hunk| hunk.header())
}

/// Returns the lines of a difference of a file with a number before each hunk, as `haft undo --hunk` takes it.
pub(crate) fn numbered_lines(diff: &Diff, most_lines: usize, path: &str) -> Vec<DiffDisplayLine> {
    lines_with(diff, most_lines, &|number, hunk| format!("{path}:{number} {}", hunk.header()))
}

fn lines_with(diff: &Diff, most_lines: usize, header: &dyn Fn(usize, &DiffHunk) -> String) -> Vec<DiffDisplayLine> {
    let mut shown = Vec::new();
    let all: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut left = most_lines;
    for (hunk, number) in diff.hunks.iter().zip(1..) {
        if left == 0 {
            break;
        }
        shown.push(DiffDisplayLine::Header(header(number, hunk)));
        shown.extend(hunk.lines.iter().take(left).map(|one| line(one, most_lines)));
        left = left.saturating_sub(hunk.lines.len());
    }
    match all.saturating_sub(most_lines) {
        0 => {}
        1 => shown.push(DiffDisplayLine::Header("[1 more line]".into())),
        more => shown.push(DiffDisplayLine::Header(format!("[{more} more lines]"))),
    }
    if diff.coarse {
        shown.push(DiffDisplayLine::Header("[comparing took too long; changed parts are shown in full]".into()));
    }
    shown
}

fn line(line: &DiffLine, most_lines: usize) -> DiffDisplayLine {
    // One line of the file is one line here, whatever is in it.
    let text = format!("{}{}", line.prefix(), shortened(line.text(), most_lines).replace('\n', "\\n"));
    match line {
        DiffLine::Equal(_) => DiffDisplayLine::Equal(text),
        DiffLine::Delete(_) => DiffDisplayLine::Delete(text),
        DiffLine::Insert(_) => DiffDisplayLine::Insert(text),
    }
}
