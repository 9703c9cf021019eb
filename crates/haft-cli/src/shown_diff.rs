//! Differences as lines for a terminal: removed red, added green, what is unchanged plain.

use haft_contract::diff::{Diff, DiffHunk, DiffLine};

use crate::screen::Part;

/// Most characters of a line.
const LONGEST_LINE: usize = 2_000;

/// A line that is part of a difference, with how it is meant.
pub(crate) enum Shown {
    Header(String),
    Equal(String),
    Delete(String),
    Insert(String),
}

impl Shown {
    /// Returns the line as a part with its colour.
    pub(crate) fn part(&self) -> Part<'_> {
        match self {
            Shown::Header(text) => Part::Faint(text),
            Shown::Equal(text) => Part::Plain(text),
            Shown::Delete(text) => Part::Bad(text),
            Shown::Insert(text) => Part::Good(text),
        }
    }
}

/// Returns the lines of a difference, at most so many, and says how many are left out.
pub(crate) fn lines(diff: &Diff, most_lines: usize) -> Vec<Shown> {
    lines_with(diff, most_lines, &|_, hunk| hunk.header())
}

/// Returns the lines of a difference of a file with a number before each hunk, as `haft undo --hunk` takes it.
pub(crate) fn numbered_lines(diff: &Diff, most_lines: usize, path: &str) -> Vec<Shown> {
    lines_with(diff, most_lines, &|number, hunk| format!("{path}:{number} {}", hunk.header()))
}

fn lines_with(diff: &Diff, most_lines: usize, header: &dyn Fn(usize, &DiffHunk) -> String) -> Vec<Shown> {
    let mut shown = Vec::new();
    let all: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut left = most_lines;
    for (hunk, number) in diff.hunks.iter().zip(1..) {
        if left == 0 {
            break;
        }
        shown.push(Shown::Header(header(number, hunk)));
        shown.extend(hunk.lines.iter().take(left).map(line));
        left = left.saturating_sub(hunk.lines.len());
    }
    match all.saturating_sub(most_lines) {
        0 => {}
        1 => shown.push(Shown::Header("[1 more line]".into())),
        more => shown.push(Shown::Header(format!("[{more} more lines]"))),
    }
    if diff.coarse {
        shown.push(Shown::Header("[comparing took too long; changed parts are shown in full]".into()));
    }
    shown
}

fn line(line: &DiffLine) -> Shown {
    let cut: String = line.text().chars().take(LONGEST_LINE).collect();
    let more = if cut.len() < line.text().len() { " […]" } else { "" };
    // One line of the file is one line here, whatever is in it.
    let text = format!("{}{}{more}", line.prefix(), cut.replace('\n', "\\n"));
    match line {
        DiffLine::Equal(_) => Shown::Equal(text),
        DiffLine::Delete(_) => Shown::Delete(text),
        DiffLine::Insert(_) => Shown::Insert(text),
    }
}
