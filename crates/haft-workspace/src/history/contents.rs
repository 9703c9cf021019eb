//! Finds contents: before a change, after it, and now.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::sets::Sets;
use super::{FileChange, PathContent};
use crate::files::change::snapshot;
use crate::files::read::open::WorkspaceRoot;
use crate::files::tree::{StoredTree, TreeStores};
use crate::state::journal::{
    ContentHash, ContentLocation, Inline, IntentStep, Journal, Objects, PathState, TreeRecord,
};

/// Larger contents are not merged and not shown; nor is more than this of one change set.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Most files of one change set whose contents are shown.
const MOST_SHOWN: usize = 1_000;

/// Where contents are found.
pub(super) struct Contents<'a> {
    pub(super) sets: &'a Sets,
    pub(super) root: &'a WorkspaceRoot,
    objects: Objects,
    stores: TreeStores,
    /// Where contents were kept before changes, by their hash; found out when it is needed.
    kept: OnceCell<HashMap<ContentHash, Vec<(&'a ContentLocation, Inline)>>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(sets: &'a Sets, root: &'a WorkspaceRoot, journal: &Journal) -> Self {
        let (objects, stores) = (journal.objects(), TreeStores::of(journal));
        Self { sets, root, objects, stores, kept: OnceCell::new() }
    }

    /// Returns whether the before-images of an ignored tree are kept.
    pub(super) fn has_store(&self, tree: &TreeRecord) -> bool {
        self.stores.has(self.root.path(), &tree.store)
    }

    /// Returns whether nothing is left of an ignored tree when its exchange is taken back: nothing was changed since.
    pub(super) fn vanishes(&self, path: &Path, tree: &TreeRecord, restored: &[PathBuf]) -> bool {
        matches!(tree.counts, [created, 0, 0] if created > 0)
            && StoredTree { root: self.root, stores: &self.stores, place: path, record: tree }
                .would_keep(restored)
                .is_ok_and(|kept| kept == 0)
    }

    /// Returns the places in an ignored tree that later undos and redos have written again through the journal. These places
    /// now have the content from before the first of those changes.
    pub(super) fn restored_below(&self, tree: &Path, record: &TreeRecord) -> Vec<PathBuf> {
        let reading = &self.sets.reading;
        let is_it = |step: &IntentStep| matches!(step, IntentStep::Tree { tree, .. } if tree == record);
        let Some(at) = reading.intents.iter().position(|(intent, _)| intent.steps.iter().any(is_it)) else {
            return Vec::new();
        };
        let later = reading.intents[at + 1..].iter().filter(|(intent, _)| reading.outcome(intent) != Some(false));
        let mut changed: BTreeMap<PathBuf, (&PathState, &PathState, bool)> = BTreeMap::new();
        for (intent, step) in later.flat_map(|(intent, _)| intent.steps.iter().map(move |step| (intent, step))) {
            let IntentStep::Change { path, before, after, .. } = step else { continue };
            let (path, takes_back) = (path.path(), intent.takes_back.is_some());
            if path.starts_with(tree) {
                let known = changed.entry(path).or_insert((before, after, takes_back));
                (known.1, known.2) = (after, takes_back);
            }
        }
        let is_restored = |(path, (before, after, takes_back)): &(&PathBuf, &(&PathState, &PathState, bool))| {
            *takes_back
                && before.is_same_content(after)
                && snapshot::look(self.root, path).is_ok_and(|seen| seen.state.is_same_content(after))
        };
        changed.iter().filter(is_restored).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the content of a file before or after a step, if it was kept and is sound.
    pub(super) fn bytes(&self, state: &PathState, before: &PathState, inline: Inline) -> Option<Vec<u8>> {
        let PathState::File { hash, content, .. } = state else { return None };
        if is_too_large(state) {
            return None;
        }
        let bytes = self.kept(content, before, inline).or_else(|| self.elsewhere(*hash))?;
        (ContentHash::of(&bytes) == *hash).then_some(bytes)
    }

    fn kept(&self, kept: &ContentLocation, before: &PathState, inline: Inline) -> Option<Vec<u8>> {
        match kept {
            ContentLocation::Inline { at, length } => self.sets.reading.inline(inline, *at, *length).ok(),
            ContentLocation::Object { hash } => bounded(&mut self.objects.open(*hash).ok()?).ok(),
            ContentLocation::Splice { begin, middle, end } => {
                let old = self.bytes(before, &PathState::Absent, inline)?;
                let middle = self.kept(middle, before, inline)?;
                let begin = old.get(..usize::try_from(*begin).ok()?)?;
                let end = old.get(old.len().checked_sub(usize::try_from(*end).ok()?)?..)?;
                Some([begin, &middle, end].concat())
            }
            ContentLocation::No => None,
        }
    }

    /// What was not kept after one change may have been kept before a later one.
    fn elsewhere(&self, wanted: ContentHash) -> Option<Vec<u8>> {
        let places = self.kept.get_or_init(|| self.all_kept()).get(&wanted)?;
        places.iter().find_map(|(content, inline)| self.kept(content, &PathState::Absent, *inline))
    }

    fn all_kept(&self) -> HashMap<ContentHash, Vec<(&'a ContentLocation, Inline)>> {
        let mut all: HashMap<ContentHash, Vec<(&ContentLocation, Inline)>> = HashMap::new();
        for (intent, inline) in &self.sets.reading.intents {
            for step in &intent.steps {
                if let IntentStep::Change { before: PathState::File { hash, content, .. }, .. } = step {
                    all.entry(*hash).or_default().push((content, *inline));
                }
            }
        }
        all
    }

    /// Returns the content of a file now.
    pub(super) fn now(&self, path: &Path) -> Option<Vec<u8>> {
        let opened = self.root.open_place(path, OFlags::RDONLY | OFlags::NOFOLLOW).ok()?;
        let mut file = std::fs::File::from(opened);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        bounded(&mut file).ok()
    }

    /// Returns the paths of what is in a folder; nothing where there is none.
    pub(super) fn paths_in(&self, folder: &Path) -> Vec<PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let entries = self.root.open_own(folder).ok().and_then(|opened| rustix::fs::Dir::new(opened).ok());
        let names = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name().to_bytes().to_vec()));
        let names = names.filter(|name| name != b"." && name != b"..");
        names.map(|name| folder.join(std::ffi::OsStr::from_bytes(&name))).collect()
    }

    /// Returns whether a folder holds nothing but these places.
    pub(super) fn holds_only(&self, folder: &Path, places: &HashSet<PathBuf>) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let Ok(opened) = self.root.open_own(folder) else { return false };
        let Ok(mut entries) = rustix::fs::Dir::new(opened) else { return false };
        entries.all(|entry| {
            entry.is_ok_and(|entry| match entry.file_name().to_bytes() {
                b"." | b".." => true,
                name => places.contains(&folder.join(std::ffi::OsStr::from_bytes(name))),
            })
        })
    }

    /// Returns what a change set did to each path, from its beginning to its end.
    pub(super) fn changes_of(&self, number: u64) -> Vec<FileChange> {
        let mut changes: Vec<FileChange> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut room = Room { files: MOST_SHOWN, bytes: LARGEST };
        for (intent, inline) in self.sets.intents_of(number) {
            for step in &intent.steps {
                let change = match step {
                    IntentStep::Change { path, before, after, .. } if before.differs_in_mode(after) => {
                        mode_change(&path.path(), before, after)
                    }
                    IntentStep::Change { path, before, after, .. } if room.takes(before, after) => {
                        self.change(&path.path(), before, after, *inline)
                    }
                    IntentStep::Change { path, before, after, .. } => unshown(&path.path(), before, after),
                    IntentStep::Tree { path, tree } => tree_change(&path.path(), tree),
                    IntentStep::Move { from, to } => FileChange {
                        path: from.path().display().to_string(),
                        before: PathContent::Unshown,
                        after: PathContent::Absent,
                        note: Some(format!("renamed to {}", to.path().display())),
                    },
                };
                match known.get(&change.path) {
                    Some(index) => (changes[*index].after, changes[*index].note) = (change.after, change.note),
                    None => {
                        known.insert(change.path.clone(), changes.len());
                        changes.push(change);
                    }
                }
            }
        }
        changes
    }

    fn change(&self, path: &Path, before: &PathState, after: &PathState, inline: Inline) -> FileChange {
        let (old, mut new) = (self.bytes(before, &PathState::Absent, inline), self.bytes(after, before, inline));
        if let (None, PathState::File { hash, .. }) = (&new, after) {
            new = self.now(path).filter(|bytes| ContentHash::of(bytes) == *hash);
        }
        let is_unknown =
            |state: &PathState, bytes: &Option<Vec<u8>>| matches!(state, PathState::File { .. }) && bytes.is_none();
        let note = match (before, after) {
            (PathState::Absent, PathState::Folder { .. }) => Some("folder created".to_owned()),
            (PathState::Folder { .. }, PathState::Absent) => Some("folder removed".to_owned()),
            (PathState::Link { to }, PathState::Absent) => Some(format!("link to {} removed", to.path().display())),
            (PathState::Absent, PathState::Link { to }) => Some(format!("link to {} created", to.path().display())),
            (_, PathState::Link { to }) => Some(format!("became a link to {}", to.path().display())),
            (_, PathState::Folder { .. }) => Some("became a folder".to_owned()),
            (PathState::Link { to }, PathState::File { .. }) => Some(format!("was a link to {}", to.path().display())),
            (PathState::Folder { .. }, PathState::File { .. }) => Some("was a folder".to_owned()),
            _ if is_unknown(before, &old) || is_unknown(after, &new) => {
                Some("the content is too large to show, or was not kept".to_owned())
            }
            _ => None,
        };
        FileChange { path: path.display().to_string(), before: side(before, old), after: side(after, new), note }
    }
}

fn side(state: &PathState, bytes: Option<Vec<u8>>) -> PathContent {
    match (state, bytes) {
        (PathState::Absent, _) => PathContent::Absent,
        (_, Some(bytes)) => PathContent::File(bytes),
        (_, None) => PathContent::Unshown,
    }
}

/// How much more of a change set can be shown.
struct Room {
    files: usize,
    bytes: u64,
}

impl Room {
    fn takes(&mut self, before: &PathState, after: &PathState) -> bool {
        let size = |state: &PathState| match state {
            // What is too large is not loaded.
            PathState::File { size, .. } if !is_too_large(state) => *size,
            _ => 0,
        };
        let bytes = self.bytes.checked_sub(size(before).saturating_add(size(after)));
        match (self.files.checked_sub(1), bytes) {
            (Some(files), Some(bytes)) => {
                *self = Self { files, bytes };
                true
            }
            _ => false,
        }
    }
}

/// Says how many entries of an ignored tree were changed.
fn tree_change(path: &Path, tree: &TreeRecord) -> FileChange {
    let [created, replaced, removed] = tree.counts;
    let note = format!("ignored tree: {created} files created, {replaced} replaced, {removed} removed");
    let path = path.display().to_string();
    FileChange { path, before: PathContent::Unshown, after: PathContent::Unshown, note: Some(note) }
}

fn mode_change(path: &Path, before: &PathState, after: &PathState) -> FileChange {
    let mode = |state: &PathState| state.mode().unwrap_or_default();
    let note = format!("mode {:o} became {:o}", mode(before), mode(after));
    let path = path.display().to_string();
    FileChange { path, before: PathContent::Unshown, after: PathContent::Unshown, note: Some(note) }
}

/// Says that a path was changed, without its contents.
fn unshown(path: &Path, before: &PathState, after: &PathState) -> FileChange {
    let note = Some("not shown, because so much was changed".to_owned());
    FileChange { path: path.display().to_string(), before: side(before, None), after: side(after, None), note }
}

/// Tells whether a file is too large to be merged and shown.
pub(super) fn is_too_large(state: &PathState) -> bool {
    matches!(state, PathState::File { size, .. } if *size > LARGEST)
}

fn bounded(source: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}
