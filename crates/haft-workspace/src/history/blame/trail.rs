//! Follows a file backwards through the journal: its names, and the change sets that concern it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use crate::state::journal::{Choosing, ContentHash, Intent, IntentStep, PathState};

/// The names of a file, from its last back to its first.
pub(super) struct Trail {
    /// Each name, and whether it is known how a file came to have it.
    names: BTreeMap<PathBuf, NameOrigin>,
    /// What the text of a record has that concerns one of the names or a folder above it; nothing where that is no text.
    needles: Option<Vec<Finder<'static>>>,
    /// The oldest change set that a later one takes back: its versions are returned to.
    taken_back: Option<u64>,
    /// The change sets that are taken back.
    wanted: HashSet<u64>,
    /// The change sets that were read.
    met: HashSet<u64>,
    /// How many change sets are read, at most.
    most: usize,
    /// The contents that were there before those.
    returned_to: HashSet<ContentHash>,
    /// Build folders above it, which the journal knows only as a whole.
    build_folders: BTreeSet<PathBuf>,
}

/// Whether it is known how the file came to have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameOrigin {
    Unknown,
    Known,
}

impl Trail {
    /// Begins at the name that the file has now, and leads back over so many change sets.
    pub(super) fn to(path: &Path, most: usize) -> Self {
        let mut trail = Self {
            names: BTreeMap::new(),
            needles: Some(Vec::new()),
            taken_back: None,
            wanted: HashSet::new(),
            met: HashSet::new(),
            most,
            returned_to: HashSet::new(),
            build_folders: BTreeSet::new(),
        };
        trail.follow_to(path.to_owned());
        trail
    }

    /// Returns whether the file had this name.
    pub(super) fn leads_by(&self, path: &Path) -> bool {
        self.names.contains_key(path)
    }

    /// Returns the names of the file.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.names.keys()
    }

    /// Returns whether an undo may return to this content.
    pub(super) fn is_returned_to(&self, hash: &ContentHash) -> bool {
        self.returned_to.contains(hash)
    }

    /// Returns whether everything was read that later change sets take back.
    pub(super) fn is_closed(&self) -> bool {
        self.wanted.is_subset(&self.met)
    }

    /// Says what cannot be known.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warning = |folder: &PathBuf| {
            format!(
                "haft keeps the build folder {} as a whole; lines that commands wrote there count as written without haft.",
                folder.display()
            )
        };
        self.build_folders.iter().map(warning).collect()
    }

    fn follow_to(&mut self, path: PathBuf) {
        let names = path.ancestors().filter(|name| !name.as_os_str().is_empty());
        let needles = names.map(|name| serde_json::to_string(name.to_str()?).ok());
        match (needles.collect::<Option<Vec<String>>>(), &mut self.needles) {
            (Some(new), Some(needles)) => {
                needles.extend(new.iter().map(|needle| Finder::new(needle).into_owned()));
            }
            _ => self.needles = None,
        }
        self.names.entry(path).or_insert(NameOrigin::Unknown);
    }

    /// Notes that a file came to have a name here. Before, there may only be what a later undo returns to.
    fn begins(&mut self, name: &Path, intent: &Intent) {
        let is_first = intent.takes_back.is_none() && self.taken_back.is_none_or(|oldest| intent.set <= oldest);
        if let Some(beginning) = self.names.get_mut(name).filter(|_| is_first) {
            *beginning = NameOrigin::Known;
        }
    }

    fn takes_step(&mut self, intent: &Intent, step: &IntentStep) -> bool {
        match step {
            IntentStep::Change { path, before, after, .. } if self.leads_by(path.as_path()) => {
                if let (PathState::File { hash, .. }, true) = (before, self.wanted.contains(&intent.set)) {
                    self.returned_to.insert(*hash);
                }
                if !matches!(before, PathState::File { .. }) && matches!(after, PathState::File { .. }) {
                    self.begins(path.as_path(), intent);
                    if intent.takes_back.is_none() {
                        source_of(intent, path.as_path()).into_iter().for_each(|source| self.follow_to(source));
                    }
                }
                true
            }
            IntentStep::Move { from, to } => {
                let moved_here: Vec<(PathBuf, PathBuf)> = self
                    .names
                    .keys()
                    .filter_map(|name| Some((name.clone(), moved(name, to.as_path(), from.as_path())?)))
                    .collect();
                for (name, earlier) in &moved_here {
                    self.follow_to(earlier.clone());
                    self.begins(name, intent);
                }
                !moved_here.is_empty() || self.names.keys().any(|name| name.starts_with(from.as_path()))
            }
            IntentStep::Tree { path, .. } => {
                if self.names.keys().any(|name| name.starts_with(path.as_path())) {
                    self.build_folders.insert(path.path());
                }
                false
            }
            IntentStep::Change { .. } => false,
        }
    }
}

impl Choosing for Trail {
    fn may_concern(&self, text: &[u8]) -> bool {
        self.needles.as_ref().is_none_or(|needles| needles.iter().any(|needle| needle.find(text).is_some()))
    }

    fn takes(&mut self, intent: &Intent) -> bool {
        let concerned = intent.steps.iter().filter(|step| self.takes_step(intent, step)).count() > 0;
        if let Some(takes_back) = intent.takes_back.as_ref().filter(|_| concerned) {
            self.wanted.extend(&takes_back.sets);
            self.taken_back = takes_back.sets.iter().copied().chain(self.taken_back).min();
        }
        if concerned {
            self.met.insert(intent.set);
        }
        concerned
    }

    fn is_enough(&self) -> bool {
        self.met.len() >= self.most || self.names.values().all(|beginning| *beginning == NameOrigin::Known)
    }
}

/// Returns where a path is after a folder or file above it, or it itself, was renamed.
pub(super) fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}

/// Returns the name that a file may have had before an intent that created it: that of a file which the same intent removed.
/// One of the same content, else the one that is most alike by name and size.
pub(super) fn source_of(intent: &Intent, created: &Path) -> Option<PathBuf> {
    let new = intent.steps.iter().find_map(|step| match step {
        IntentStep::Change { path, after: PathState::File { hash, size, .. }, .. } if path.as_path() == created => {
            Some((*hash, *size))
        }
        _ => None,
    });
    let (hash, size) = new?;
    let removed = intent.steps.iter().filter_map(|step| match step {
        IntentStep::Change { path, before: PathState::File { hash, size, .. }, after: PathState::Absent, .. } => {
            Some((path.as_path(), *hash, *size))
        }
        _ => None,
    });
    let alike = removed.filter(|(_, old, old_size)| *old == hash || (*old_size <= 2 * size && size <= 2 * *old_size));
    let rank = |(path, old, old_size): &(&Path, ContentHash, u64)| {
        let is_other_name = path.file_name() != created.file_name();
        let is_other_kind = path.extension() != created.extension();
        (*old != hash, is_other_name, is_other_kind, old_size.abs_diff(size))
    };
    alike.min_by_key(rank).map(|(path, ..)| path.to_owned())
}
