//! Compares and restores references by their meaning.
//!
//! The value of a reference is in a file of its own or in `packed-refs`, and git moves it from one to the other when it
//! cleans up. What counts for undo is the value: the one that a change set left must still be there, wherever it is.
//! While all files are as the change set left them, undo restores the files instead, exactly.
//!
//! Not here: reftables, which are restored as a whole or not at all (`take_back`); whether the objects exist (`needs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GitPath, GitPathRole, earlier, is_null, reflog};
use crate::files::read::open::WorkspaceRoot;
use crate::history::contents::Contents;
use crate::state::journal::{Inline, IntentStep, PathState};

/// One step at a file of a repository.
pub(in crate::history) struct GitStep<'a> {
    pub(in crate::history) number: u64,
    pub(in crate::history) path: PathBuf,
    pub(in crate::history) at: GitPath,
    pub(in crate::history) before: &'a PathState,
    pub(in crate::history) after: &'a PathState,
    pub(in crate::history) inline: Inline,
}

impl<'a> GitStep<'a> {
    pub(in crate::history) fn of(number: u64, step: &'a IntentStep, inline: Inline, at: GitPath) -> Option<Self> {
        let IntentStep::Change { path, before, after, .. } = step else { return None };
        Some(Self { number, path: path.path(), at, before, after, inline })
    }

    /// Returns the content before the step, where it is a file and was kept.
    pub(in crate::history) fn old(&self, contents: &Contents<'_>) -> Option<Vec<u8>> {
        contents.bytes(self.before, &PathState::Absent, self.inline)
    }

    /// Returns the content after the step, where it is a file and was kept.
    pub(in crate::history) fn left(&self, contents: &Contents<'_>) -> Option<Vec<u8>> {
        contents.bytes(self.after, self.before, self.inline)
    }
}

/// How a change set moved one reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::history) struct RefMove {
    pub(in crate::history) number: u64,
    pub(in crate::history) name: String,
    /// The loose file of the reference.
    pub(in crate::history) path: PathBuf,
    pub(in crate::history) from: Option<String>,
    pub(in crate::history) to: Option<String>,
}

/// A reference that has moved since a change set.
#[derive(Clone, Debug)]
pub(in crate::history) struct MovedSince {
    pub(in crate::history) moved: RefMove,
    pub(in crate::history) now: Option<String>,
}

/// What undo makes of the references of one repository.
#[derive(Default)]
pub(in crate::history) struct RefPlan {
    /// Whether the files are not as the change sets left them, so that values are restored and not files.
    pub(in crate::history) by_meaning: bool,
    pub(in crate::history) moves: Vec<RefMove>,
    pub(in crate::history) conflicts: Vec<MovedSince>,
    /// New contents of files, where values are restored; nothing means that the file is removed.
    pub(in crate::history) files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// Plans what to do with the references that steps of one repository changed, the newest first.
pub(in crate::history) fn plan(contents: &Contents<'_>, dir: &Path, steps: &[&GitStep<'_>]) -> RefPlan {
    let mut store = RefStore::read(contents, dir);
    let mut plan = RefPlan { by_meaning: !are_files_as_left(contents, dir, steps, &store), ..RefPlan::default() };
    let mut paths: BTreeMap<String, PathBuf> = BTreeMap::new();
    for set in steps.chunk_by(|one, next| one.number == next.number) {
        for moved in moves_of(contents, dir, set, &store) {
            let now = store.value(&moved.name);
            paths.insert(moved.name.clone(), moved.path.clone());
            plan.moves.push(moved.clone());
            if now == moved.to {
                store.wanted.insert(moved.name, moved.from);
            } else if now != moved.from {
                plan.conflicts.push(MovedSince { moved, now });
            }
        }
    }
    if plan.by_meaning {
        plan.files = store.files(dir, &paths);
    }
    plan
}

/// Returns whether every file of references is as the steps left it, so that restoring the files restores the values.
fn are_files_as_left(contents: &Contents<'_>, dir: &Path, steps: &[&GitStep<'_>], store: &RefStore) -> bool {
    let mut there: BTreeMap<&Path, PathState> = BTreeMap::new();
    let has_packed = steps.iter().any(|step| step.at.role == GitPathRole::PackedRefs);
    steps.iter().filter(|step| matches!(step.at.role, GitPathRole::Ref(_) | GitPathRole::PackedRefs)).all(|step| {
        let looked = || {
            crate::files::change::snapshot::look(contents.root, &step.path).map_or(PathState::Absent, |seen| seen.state)
        };
        let now = there.remove(step.path.as_path()).unwrap_or_else(looked);
        // A packed copy of what the step made would outlive its file.
        let is_also_packed = || match &step.at.role {
            GitPathRole::Ref(name) if *step.before == PathState::Absent && step.at.worktree == dir && !has_packed => {
                let new = step.left(contents).map(|bytes| value_of(&bytes));
                store.packed.get(name).is_some_and(|packed| Some(packed) == new.as_ref())
            }
            _ => false,
        };
        let is_as_left = now.is_same_content(step.after) && !is_also_packed();
        there.insert(&step.path, step.before.clone());
        is_as_left
    })
}

/// Returns how one change set moved references.
fn moves_of(contents: &Contents<'_>, dir: &Path, steps: &[&GitStep<'_>], store: &RefStore) -> Vec<RefMove> {
    let mut loose: BTreeMap<&str, (&GitStep<'_>, Option<String>, Option<String>)> = BTreeMap::new();
    let (mut packed, mut has_packed) = ((BTreeMap::new(), BTreeMap::new()), false);
    for step in steps {
        let value = |bytes: Option<Vec<u8>>| bytes.map(|bytes| value_of(&bytes));
        match &step.at.role {
            GitPathRole::Ref(name) if !is_folder(step) => {
                let (old, new) = (value(step.old(contents)), value(step.left(contents)));
                // Steps come newest first, so an earlier one of the same set only says what was there before.
                loose.entry(name).and_modify(|(_, known, _)| known.clone_from(&old)).or_insert((step, old, new));
            }
            GitPathRole::PackedRefs => {
                let map = |bytes: Option<Vec<u8>>| bytes.map(|bytes| packed_values(&bytes)).unwrap_or_default();
                packed = (map(step.old(contents)), map(step.left(contents)));
                has_packed = true;
            }
            _ => {}
        }
    }
    let (old_packed, new_packed) = packed;
    let mut names: BTreeSet<&str> = loose.keys().copied().collect();
    names.extend(old_packed.keys().chain(new_packed.keys()).map(String::as_str));
    let mut moves = Vec::new();
    for name in names {
        let (was_packed, is_packed) = (old_packed.get(name).cloned(), new_packed.get(name).cloned());
        let (step, from, to) = match loose.get(name) {
            Some((step, old, new)) if has_packed => {
                (Some(*step), old.clone().or(was_packed), new.clone().or(is_packed))
            }
            Some((step, old, new)) => {
                let packed_now = store.packed.get(name).cloned();
                let packed_then = packed_now.clone().filter(|_| store.was_packed_before(contents, step.number));
                let logged = || to_reflog(contents, dir, name, steps);
                let is_then = |packed: &String| Some(packed) == old.as_ref() || Some(packed) == logged().as_ref();
                let to = new.clone().or(packed_then.clone()).or_else(|| packed_now.clone().filter(is_then));
                let hinted = || from_reflog(contents, dir, name, steps);
                let shadowed = || packed_now.clone().filter(|packed| Some(packed) != to.as_ref());
                let from = old.clone().or(packed_then).or_else(hinted).or_else(shadowed);
                (Some(*step), from.filter(|oid| !is_null(oid)), to)
            }
            // A file of its own counts before what is packed, so packing alone moved nothing.
            None if store.loose.contains_key(name) => continue,
            None => (None, was_packed, is_packed),
        };
        let (number, path) = match step {
            Some(step) => (step.number, step.path.clone()),
            None => (steps[0].number, dir.join(name)),
        };
        if from != to {
            moves.push(RefMove { number, name: name.to_owned(), path, from, to });
        }
    }
    moves
}

/// Returns where a reference was before a change set, by what the set added to its reflog; zeros mean nowhere.
fn from_reflog(contents: &Contents<'_>, dir: &Path, name: &str, steps: &[&GitStep<'_>]) -> Option<String> {
    let log = dir.join("logs").join(name);
    let step = steps.iter().rfind(|step| step.path == log)?;
    let (before, after) = (step.old(contents).unwrap_or_default(), step.left(contents)?);
    let first = reflog::added(&before, &after).into_iter().next()?;
    let word = first.split(|byte| *byte == b' ').next()?;
    Some(String::from_utf8_lossy(word).into_owned())
}

/// Returns where a change set left a reference, by the last entry of its reflog.
fn to_reflog(contents: &Contents<'_>, dir: &Path, name: &str, steps: &[&GitStep<'_>]) -> Option<String> {
    let log = dir.join("logs").join(name);
    let left = steps.iter().find(|step| step.path == log)?.left(contents)?;
    let last = reflog::lines(&left).into_iter().next_back()?;
    reflog::oids(last).last().map(str::to_owned)
}

fn is_folder(step: &GitStep<'_>) -> bool {
    [step.before, step.after].iter().any(|state| matches!(state, PathState::Folder { .. }))
}

/// The references of a repository.
pub(in crate::history) struct RefStore {
    pub(in crate::history) loose: BTreeMap<String, String>,
    pub(in crate::history) packed: BTreeMap<String, String>,
    packed_text: Vec<u8>,
    /// When the packed ones were written, in milliseconds since the epoch.
    packed_at: Option<u64>,
    /// Values that undo restores; nothing means that the reference goes.
    wanted: BTreeMap<String, Option<String>>,
}

/// Most references of a repository that are read one file each.
const MOST_LOOSE: usize = 100_000;

impl RefStore {
    pub(in crate::history) fn read(contents: &Contents<'_>, dir: &Path) -> Self {
        let packed_text = contents.now(&dir.join("packed-refs")).unwrap_or_default();
        let packed = packed_values(&packed_text);
        let mut loose = BTreeMap::new();
        let of_worktrees = files_below(contents.root, &dir.join("worktrees")).into_iter();
        let is_ref = |path: &PathBuf| {
            path.strip_prefix(dir).is_ok_and(|name| name.iter().nth(2).is_some_and(|part| part == "refs"))
        };
        let shared = files_below(contents.root, &dir.join("refs")).into_iter();
        for path in shared.chain(of_worktrees.filter(is_ref)) {
            let value = contents.now(&path).map(|bytes| value_of(&bytes));
            if let (Ok(name), Some(value)) = (path.strip_prefix(dir), value) {
                loose.insert(name.to_string_lossy().into_owned(), value);
            }
        }
        let packed_at = earlier::changed_at(contents, &dir.join("packed-refs"));
        Self { loose, packed, packed_text, packed_at, wanted: BTreeMap::new() }
    }

    /// Returns whether the packed references are those that a change set found, and left alone.
    fn was_packed_before(&self, contents: &Contents<'_>, number: u64) -> bool {
        self.packed_at.zip(earlier::began_at(contents, [number])).is_some_and(|(packed, began)| packed < began)
    }

    /// Returns the value of a reference, as far as it is taken back by now.
    pub(in crate::history) fn value(&self, name: &str) -> Option<String> {
        let real = || self.loose.get(name).or_else(|| self.packed.get(name)).cloned();
        self.wanted.get(name).cloned().unwrap_or_else(real)
    }

    /// Returns the files that make the references what they should be.
    fn files(&self, dir: &Path, paths: &BTreeMap<String, PathBuf>) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut files = BTreeMap::new();
        let mut gone = BTreeSet::new();
        for (name, value) in &self.wanted {
            let now = self.loose.get(name).or_else(|| self.packed.get(name));
            let path = paths.get(name).cloned().unwrap_or_else(|| dir.join(name));
            match value {
                Some(value) if now != Some(value) => {
                    files.insert(path, Some(format!("{value}\n").into_bytes()));
                }
                None if now.is_some() => {
                    if self.loose.contains_key(name) {
                        files.insert(path, None);
                    }
                    gone.insert(name.as_str());
                }
                _ => {}
            }
        }
        if gone.iter().any(|name| self.packed.contains_key(*name)) {
            files.insert(dir.join("packed-refs"), Some(without(&self.packed_text, &gone)));
        }
        files
    }
}

/// Lists the files below a folder of a repository.
pub(in crate::history) fn files_below(root: &WorkspaceRoot, folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.path().join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if files.len() < MOST_LOOSE => files.push(path),
                Ok(_) | Err(_) => {}
            }
        }
    }
    files
}

/// Returns the value in a loose reference.
pub(in crate::history) fn value_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// Reads the values in `packed-refs`; lines that begin with `^` say what a tag leads to.
pub(in crate::history) fn packed_values(text: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines.filter_map(|line| line.split_once(' ')).map(|(oid, name)| (name.to_owned(), oid.to_owned())).collect()
}

/// Returns `packed-refs` without some references.
fn without(text: &[u8], gone: &BTreeSet<&str>) -> Vec<u8> {
    let mut is_gone = false;
    let mut rest = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if !line.starts_with(b"^") {
            let name = String::from_utf8_lossy(line);
            let name = name.trim_end().split_once(' ').map(|(_, name)| name);
            is_gone = !line.starts_with(b"#") && name.is_some_and(|name| gone.contains(name));
        }
        if !is_gone {
            rest.extend_from_slice(line);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_leaves_the_packed_ones_with_the_line_about_its_tag() {
        let text = b"# pack-refs with: peeled\n11 refs/heads/a\n22 refs/tags/t\n^33\n44 refs/tags/u\n";
        let gone = BTreeSet::from(["refs/tags/t"]);
        let rest = b"# pack-refs with: peeled\n11 refs/heads/a\n44 refs/tags/u\n";
        assert_eq!(without(text, &gone), rest);
        let names: Vec<String> = packed_values(rest).into_keys().collect();
        assert_eq!(names, ["refs/heads/a", "refs/tags/u"]);
    }
}
