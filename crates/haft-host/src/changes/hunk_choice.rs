//! Chooses hunks of a change set one by one, for `haft undo --hunk` at a terminal.
//!
//! A hunk of `haft diff` may hold several changes that are close together; the person can split it. This module only returns
//! the chosen changes. It undoes nothing.

use std::collections::VecDeque;
use std::ops::Range;

use haft_contract::text::diff::{Diff, DiffHunk, DiffLine};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{FileChange, HUNK_CONTEXT};

use super::change_records::{ContentComparison, between, has_hunks, learn};

/// The hunks of a change set, and which of their changes were chosen.
pub struct HunkChoice {
    left: VecDeque<OfferedHunk>,
    /// The path and the number of each change that was chosen, as `Scope::Changes` takes them.
    pub chosen: Vec<(String, usize)>,
    /// The files that have no hunks: they were created or removed, or are not text.
    pub without_hunks: Vec<String>,
}

/// One hunk, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedHunk {
    /// The file.
    pub path: String,
    /// What is shown, without secrets.
    pub hunk: DiffHunk,
    /// The numbers of its changes.
    changes: Range<usize>,
}

impl HunkChoice {
    /// Offers all hunks of a change set.
    pub fn of(changes: &[FileChange], redactor: &Redactor) -> Self {
        let mut choice = Self { left: VecDeque::new(), chosen: Vec::new(), without_hunks: Vec::new() };
        changes.iter().for_each(|change| learn(&change.path, [&change.before, &change.after], redactor));
        for change in changes {
            match between(&change.before, &change.after) {
                ContentComparison::Diff(mut diff) if has_hunks(change) && !diff.is_empty() => {
                    redactor.redact_diff(&mut diff);
                    choice.left.extend(offered(&change.path, diff));
                }
                _ => choice.without_hunks.push(change.path.clone()),
            }
        }
        choice
    }

    /// Returns the hunk that is to be decided about; nothing when all are.
    pub fn next(&self) -> Option<&OfferedHunk> {
        self.left.front()
    }

    /// Chooses the hunk.
    pub fn take(&mut self) {
        let Some(OfferedHunk { path, changes, .. }) = self.left.pop_front() else { return };
        self.chosen.extend(changes.map(|number| (path.clone(), number)));
    }

    /// Leaves the hunk as it is.
    pub fn skip(&mut self) {
        self.left.pop_front();
    }

    /// Splits the hunk into its changes; they are offered next.
    pub fn split(&mut self) {
        let Some(hunk) = self.left.pop_front() else { return };
        hunk.parts().into_iter().rev().for_each(|part| self.left.push_front(part));
    }
}

fn offered(path: &str, diff: Diff) -> Vec<OfferedHunk> {
    let mut number = 1;
    let offer = |hunk: DiffHunk| {
        let changes = number..number + runs(&hunk.lines).len();
        number = changes.end;
        OfferedHunk { path: path.to_owned(), hunk, changes }
    };
    diff.hunks.into_iter().map(offer).collect()
}

/// Returns where changed lines stand together.
fn runs(lines: &[DiffLine]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| !matches!(line, DiffLine::Equal(_))) {
        match runs.last_mut().filter(|run| run.end == index) {
            Some(run) => run.end += 1,
            None => runs.push(index..index + 1),
        }
    }
    runs
}

impl OfferedHunk {
    /// Returns whether it can be split.
    pub fn can_be_split(&self) -> bool {
        self.changes.len() > 1
    }

    fn parts(&self) -> Vec<Self> {
        let lines = &self.hunk.lines;
        let runs = runs(lines);
        let part = |(index, run): (usize, &Range<usize>)| {
            let before = index.checked_sub(1).map_or(0, |before| runs[before].end);
            let behind = runs.get(index + 1).map_or(lines.len(), |behind| behind.start);
            let begin = run.start.saturating_sub(HUNK_CONTEXT).max(before);
            let end = (run.end + HUNK_CONTEXT).min(behind);
            let counted = |other: fn(&DiffLine) -> bool| lines[..begin].iter().filter(|line| !other(line)).count();
            let hunk = DiffHunk {
                old_line: self.hunk.old_line + counted(|line| matches!(line, DiffLine::Insert(_))),
                new_line: self.hunk.new_line + counted(|line| matches!(line, DiffLine::Delete(_))),
                lines: lines[begin..end].to_vec(),
            };
            let number = self.changes.start + index;
            Self { path: self.path.clone(), hunk, changes: number..number + 1 }
        };
        runs.iter().enumerate().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_workspace::history::PathContent;

    fn choice() -> HunkChoice {
        let file = |text: &str| PathContent::File(text.as_bytes().to_vec());
        let before: String = (1..=16).map(|number| format!("{number}\n")).collect();
        let after = before.replacen("2\n", "two\n", 1).replacen("5\n", "five\n", 1).replacen("14\n", "new\n14\n", 1);
        let change = |path: &str, before, after| FileChange { path: path.into(), before, after, note: None };
        let changes = [change("a", file(&before), file(&after)), change("b", PathContent::Absent, file("x\n"))];
        HunkChoice::of(&changes, &Redactor::default())
    }

    #[test]
    fn whole_hunks_choose_all_their_changes() {
        let mut choice = choice();
        assert_eq!(choice.without_hunks, ["b"]);
        assert!(choice.next().is_some_and(OfferedHunk::can_be_split));
        choice.take();
        assert!(choice.next().is_some_and(|hunk| !hunk.can_be_split() && hunk.hunk.old_line == 11));
        choice.skip();
        assert!(choice.next().is_none());
        assert_eq!(choice.chosen, [("a".to_owned(), 1), ("a".to_owned(), 2)]);
    }

    #[test]
    fn a_split_hunk_offers_its_changes_with_the_lines_around_them() {
        let mut choice = choice();
        choice.split();
        let first = choice.next().expect("there are two").hunk.clone();
        assert_eq!((first.old_line, first.lines.len()), (1, 5));
        choice.skip();
        let second = choice.next().expect("there is one left").hunk.clone();
        assert_eq!((second.old_line, second.new_line, second.lines.len()), (3, 3, 7));
        choice.take();
        choice.take();
        assert_eq!(choice.chosen, [("a".to_owned(), 2), ("a".to_owned(), 3)]);
    }
}
