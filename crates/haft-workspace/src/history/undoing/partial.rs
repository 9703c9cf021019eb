//! Restores parts: single hunks of files, or earlier versions beside the current ones.
//!
//! The journal records both as separate changes. The original change sets stay valid, because the rest of their changes
//! still exists.
//!
//! Not here: taking whole files back (`take_back`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use haft_contract::files::path::Target;
use haft_contract::text::diff::{Diff, DiffHunk, DiffLine};
use haft_contract::text::encoding::decode;
use haft_contract::text::lines::LineBreak;
use haft_contract::text::merge::merge;

use super::take_back::{Restoration, concerned, looked, made_of};
use crate::files::change::transaction::{FileAction, FileMutation, NewContent, Precondition};
use crate::files::fingerprint::Fingerprint;
use crate::files::read::owner::NOT_AS_ANOTHER;
use crate::files::searching::order::in_order;
use crate::history::contents::Contents;
use crate::history::git::Repositories;
use crate::history::sets::Sets;
use crate::history::{Became, Conflict, HistoryError, PathContent};
use crate::state::journal::{IntentStep, PathState};

/// Unchanged lines around a hunk, wherever hunks are numbered.
pub const HUNK_CONTEXT: usize = 3;

/// Returns whether change sets only restored earlier versions beside files: undoing these is not a redo.
pub(in crate::history) fn restored_beside(sets: &Sets, numbers: &[u64]) -> bool {
    let is_copy = |step: &IntentStep, of: &[u64]| match step {
        IntentStep::Change { path, before: PathState::Absent, .. } => {
            let name = path.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            of.iter().any(|number| name.ends_with(&format!(".before-{number}")))
        }
        _ => false,
    };
    let mut intents = numbers.iter().flat_map(|number| sets.intents_of(*number)).map(|(intent, _)| intent).peekable();
    intents.peek().is_some()
        && intents.all(|intent| match &intent.takes_back {
            Some(back) if back.partly => intent.steps.iter().all(|step| is_copy(step, &back.sets)),
            _ => false,
        })
}

/// Plans to take single hunks of one change set back, as they are numbered with so many unchanged lines around.
pub(in crate::history) fn hunks(
    contents: &Contents<'_>,
    number: u64,
    (wanted, context): (&[(Target, usize)], usize),
) -> Result<Restoration, HistoryError> {
    let mut by_file: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
    for (target, hunk) in wanted {
        by_file.entry(target.place().path().to_owned()).or_default().insert(*hunk);
    }
    let changes = contents.changes_of(number);
    let mut plan = Restoration::default();
    for (path, numbers) in by_file {
        let name = path.display().to_string();
        let change = changes.iter().find(|change| change.path == name);
        let sides = change.map(|change| (&change.before, &change.after));
        let Some((PathContent::File(before), PathContent::File(after))) = sides else {
            return Err(match sides {
                Some(_) => HistoryError::NoHunks(name),
                None => HistoryError::NotInSet { path: name, set: number },
            });
        };
        let left = HunkedFile { path: &name, before, after }.without_hunks(&numbers, context)?;
        let now = contents.now(&path);
        let merged = now.as_ref().map(|now| merge(after, now, &left));
        match merged {
            Some(Ok(bytes)) => {
                let is_changed = now.as_ref() != Some(&bytes);
                let expected = Precondition::Same(Fingerprint::from(&looked(contents, &path)?));
                if is_changed {
                    let action = FileAction::Put(NewContent::Bytes(bytes.into()), None);
                    plan.deeds.push(FileMutation { place: path.clone(), action, expected });
                }
                let became = match now {
                    _ if !is_changed => Became::Unchanged,
                    Some(now) if now[..] == after[..] => Became::PartlyRestored,
                    _ => Became::Merged,
                };
                plan.files.push((path, became));
            }
            other => {
                let why = match other {
                    Some(Err(why)) => why.to_string(),
                    _ => "it is gone".to_owned(),
                };
                let left = Some(after.clone());
                plan.conflicts.push(Conflict { set: number, path: name, why, left, now, blocked_by: Vec::new() });
            }
        }
    }
    plan.refuse_conflicts(contents, &[number])?;
    Ok(plan)
}

/// A file that a change set changed.
struct HunkedFile<'a> {
    path: &'a str,
    before: &'a [u8],
    after: &'a [u8],
}

impl HunkedFile<'_> {
    /// Returns the content after the change, with some of its hunks as they were before it.
    fn without_hunks(&self, numbers: &BTreeSet<usize>, context: usize) -> Result<Vec<u8>, HistoryError> {
        let Self { path, before, after } = *self;
        let no_text = |_| HistoryError::NoHunks(path.to_owned());
        let (old, new) = (decode(before).map_err(no_text)?, decode(after).map_err(no_text)?);
        let diff = Diff::between(&old.text, &new.text, context);
        let line_break = LineBreak::of(&[old.text.as_bytes(), new.text.as_bytes()]);
        let (old_starts, new_starts) = (starts(line_break, &old.text), starts(line_break, &new.text));
        let mut replacements = Vec::new();
        for number in numbers {
            let no_hunk = || HistoryError::NoHunk { path: path.to_owned(), hunk: *number, hunks: diff.hunks.len() };
            let hunk = number.checked_sub(1).and_then(|index| diff.hunks.get(index)).ok_or_else(no_hunk)?;
            let place = |starts: &[usize], line: usize, count: usize| {
                let first = line.saturating_sub(1).min(starts.len() - 1);
                starts[first]..starts[(first + count).min(starts.len() - 1)]
            };
            let old_place = place(&old_starts, hunk.old_line, count(hunk, |line| !matches!(line, DiffLine::Insert(_))));
            let new_place = place(&new_starts, hunk.new_line, count(hunk, |line| !matches!(line, DiffLine::Delete(_))));
            replacements.push((new_place, &old.text[old_place]));
        }
        new.splice(after, &replacements).map_err(|_| HistoryError::NoHunks(path.to_owned()))
    }
}

fn count(hunk: &DiffHunk, counts: impl Fn(&DiffLine) -> bool) -> usize {
    hunk.lines.iter().filter(|line| counts(line)).count()
}

/// Returns where each line of a text begins, and where the text ends.
fn starts(line_break: LineBreak, text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    for line in line_break.split(text.as_bytes()) {
        at += line.len();
        starts.push(at);
    }
    starts
}

/// Plans to restore earlier contents beside the present files.
pub(in crate::history) fn beside(
    contents: &Contents<'_>,
    numbers: &[u64],
    only: Option<&Path>,
) -> Result<Restoration, HistoryError> {
    let repositories = Repositories::new(contents.root);
    let mut plan = Restoration::default();
    // The newest steps come first, so what an older one says of the same path replaces what a newer one said.
    let mut earliest = BTreeMap::new();
    for (number, step, inline) in concerned(contents, numbers, only) {
        if let IntentStep::Change { path, before, .. } = step {
            earliest.insert(path.path(), (number, before, inline));
        }
    }
    for (path, (number, before, inline)) in earliest {
        // A second file there would be another reference, and not a copy.
        if repositories.locate(&path).is_some() || !matches!(before, PathState::File { .. }) {
            continue;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".before-{number}"));
        let place = path.with_file_name(name);
        if looked(contents, &place)? != PathState::Absent {
            return Err(HistoryError::BesideExists(place.display().to_string()));
        }
        // A second file with the rights of its owner would be a new program, and not an earlier version.
        let plain = before.mode().and_then(|mode| before.with_mode(mode & NOT_AS_ANOTHER));
        let action = made_of(contents, &place, plain.as_ref().unwrap_or(before), inline)?;
        plan.deeds.push(FileMutation {
            place: place.clone(),
            action,
            expected: Precondition::Same(Fingerprint::Absent),
        });
        plan.files.push((place, Became::Returned));
    }
    if plan.files.is_empty() {
        return Err(HistoryError::NothingEarlier);
    }
    plan.make_missing_folders(contents);
    plan.deeds = in_order(std::mem::take(&mut plan.deeds));
    Ok(plan)
}
