//! Finds the protected names in git's data: a checkout writes these files, and other programs run them.
//!
//! A command cannot change such a file in the workspace, but git lets it put one into an index or a commit. The result of
//! the call says so, because the user's next `git restore` brings the file into the workspace.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use haft_contract::files::path::one_line;

use super::{IndexThen, LookTiming, SecretVersion};

/// Most names in one line.
const MOST_NAMED: usize = 5;

/// The protected names that the indexes of each repository list.
#[derive(Debug, Default)]
pub(super) struct ProtectedIndexNames {
    staged: HashMap<PathBuf, BTreeMap<PathBuf, BTreeSet<SecretVersion>>>,
}

impl ProtectedIndexNames {
    /// Returns the protected names that indexes list in another version than at the last look, and remembers this one.
    pub(super) fn staged_since(&mut self, git_dir: &Path, indexes: &BTreeMap<PathBuf, IndexThen>) -> BTreeSet<String> {
        let now: BTreeMap<_, _> = indexes.iter().map(|(path, index)| (path.clone(), index.guarded.clone())).collect();
        let before = self.staged.insert(git_dir.to_owned(), now).unwrap_or_default();
        let elsewhere: BTreeSet<&SecretVersion> = before.values().flatten().collect();
        let is_new = |path: &PathBuf, version: &&SecretVersion| match before.get(path) {
            Some(then) => !then.contains(*version),
            // A new worktree begins with what another one has.
            None => !elsewhere.contains(*version),
        };
        let new = indexes.iter().flat_map(|(path, index)| index.guarded.iter().filter(move |of| is_new(path, of)));
        new.map(|(_, name)| name.clone()).collect()
    }
}

/// The protected names that were added since the last look.
#[derive(Debug, Default)]
pub(super) struct NewProtectedNames {
    /// In commits, and in trees that references name.
    pub(super) committed: BTreeSet<String>,
    /// In indexes.
    pub(super) staged: BTreeSet<String>,
    /// References that put a tree or a file in the place of another one.
    pub(super) replacing: BTreeSet<String>,
    /// Whether everything could be looked at.
    pub(super) is_whole: bool,
}

impl NewProtectedNames {
    pub(super) fn nothing() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.committed.extend(other.committed);
        self.staged.extend(other.staged);
        self.replacing.extend(other.replacing);
        self.is_whole &= other.is_whole;
    }

    /// Adds the names in a tree, but for those that an index has in the same version.
    pub(super) fn of_tree(&mut self, files: Vec<SecretVersion>, indexes: &BTreeMap<PathBuf, IndexThen>) {
        let is_new = |file: &SecretVersion| indexes.values().all(|index| !index.guarded.contains(file));
        self.committed.extend(files.into_iter().filter(is_new).map(|(_, name)| name));
    }

    /// Adds the references that put one object in the place of another and that are new.
    pub(super) fn replaced(&mut self, now: &BTreeSet<String>, before: &BTreeSet<String>) {
        let name = |reference: &String| reference.split(' ').next().unwrap_or_default().to_owned();
        self.replacing.extend(now.difference(before).map(name));
    }

    /// Returns what to say of it.
    pub(super) fn words(&self, when: LookTiming) -> Vec<String> {
        let staged: BTreeSet<String> = self.staged.difference(&self.committed).cloned().collect();
        let mut words = Vec::new();
        words.extend(listed(&self.committed).map(|names| {
            format!(
                "New commits have protected names: {names}. A checkout of them writes what other programs run; look at \
                 it first."
            )
        }));
        words.extend(listed(&staged).map(|names| {
            format!(
                "The index of git has new versions of protected names: {names}. \"git restore\" and \"git checkout\" \
                 write them, and other programs run them; look at them first (git diff --cached)."
            )
        }));
        words.extend(listed(&self.replacing).map(|names| {
            format!(
                "New references put one object in the place of another: {names}. A checkout writes the other content; \
                 \"git replace -d\" removes them."
            )
        }));
        if !self.is_whole && when == LookTiming::After {
            words.push(
                "haft could not look at everything that the command left in git; there may be protected names in it."
                    .to_owned(),
            );
        }
        words
    }
}

fn listed(names: &BTreeSet<String>) -> Option<String> {
    let named = names.iter().take(MOST_NAMED).map(|name| one_line(name).into_owned()).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => (!names.is_empty()).then_some(named),
        more => Some(format!("{named} and {more} more")),
    }
}
