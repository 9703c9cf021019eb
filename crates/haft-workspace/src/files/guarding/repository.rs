//! Decides whether a change plants a git repository that runs programs.
//!
//! Git takes any folder for a repository that holds `HEAD`, `objects` and `refs`, whatever its name, and follows the
//! `config` and the `hooks` in it as soon as a user enters the folder. The parts can come one by one and in any order. So
//! every way into the workspace asks this module: the layer of a command, the plan of a file tool, and each transaction
//! (undo and redo too) while it holds the journal's lock.
//!
//! Only names are looked at, and a link counts as what it leads to: whatever a part is now, it can become another thing
//! later. A folder in which all settings are protected by their names (`.git`, `.git/modules/NAME`) is left to that
//! protection.
//!
//! Not here: protected names (`haft_contract::files::guarded`), settings that are harmless by their content (`layer::harmless`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded;
use haft_contract::files::path::Target;
use rustix::fs::OFlags;

use crate::files::read::open::WorkspaceRoot;

#[cfg(test)]
mod tests;

/// What a folder must hold for git to take it for a repository.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];
/// Those of them that are folders, in which a file can be made together with them.
const PART_FOLDERS: [&str; 2] = ["objects", "refs"];
/// The files of a repository that make git run programs or say where such files are.
const SETTINGS: [&str; 3] = ["config", "config.worktree", "commondir"];
/// The folder of a repository in which each file is a program.
const HOOKS: &str = "hooks";
/// The file of a repository that chooses which programs of the settings run.
const ATTRIBUTES: [&str; 2] = ["info", "attributes"];
/// Longest beginning of a `HEAD` that git looks at, in bytes.
const LONGEST_HEAD: u64 = 256;

/// Sees the paths of a workspace before a change and after it.
pub(in crate::files) trait ChangeView {
    /// Returns whether something was at a path.
    fn was(&self, path: &Path) -> bool;

    /// Returns whether something will be at a path.
    fn will_be(&self, path: &Path) -> bool;

    /// Returns whether a `HEAD` that git accepts was at a path.
    fn was_head(&self, path: &Path) -> bool;

    /// Returns the name of a path by which it may be protected.
    fn place(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// Judges the paths of one change, and remembers what it saw.
#[derive(Debug, Default)]
pub(in crate::files) struct RepositoryJudge {
    /// Which folders git would take for a repository, and no name protects.
    repositories: RefCell<HashMap<PathBuf, bool>>,
}

impl RepositoryJudge {
    /// Returns the repository that a new or changed path plants, if it does.
    pub(in crate::files) fn planted(&self, sight: &dyn ChangeView, path: &Path) -> Option<PathBuf> {
        let parts: Vec<String> = path.iter().map(guarded::folded_name).collect();
        let beginning = |length: usize| path.iter().take(length).collect::<PathBuf>();
        let completes = |depth: usize| {
            let part = beginning(depth + 1);
            let was_part = if is_head(&part) { sight.was_head(&part) } else { sight.was(&part) };
            !was_part && has_settings(sight, &beginning(depth))
        };
        let is_repository = |depth: &usize| self.is_repository(sight, &beginning(*depth));
        let setting = setting_depths(&parts).find(is_repository);
        let part = || part_depths(&parts).filter(is_repository).find(|depth| completes(*depth));
        setting.or_else(part).map(beginning)
    }

    fn is_repository(&self, sight: &dyn ChangeView, folder: &Path) -> bool {
        if let Some(known) = self.repositories.borrow().get(folder) {
            return *known;
        }
        let is_protected_name = |name: &&str| {
            let place = sight.place(&folder.join(name));
            guarded::refused_from_commands(&place, FileKind::File).is_some()
        };
        let is_left_to_names = || SETTINGS.iter().chain([&HOOKS]).all(is_protected_name);
        let is_one = is_repository(folder, &|path| sight.will_be(path)) && !is_left_to_names();
        self.repositories.borrow_mut().insert(folder.to_owned(), is_one);
        is_one
    }
}

/// Returns whether git would take a folder for a repository.
///
/// One that lacks nothing but `HEAD`, which is made in a moment, counts. With `commondir`, everything else is elsewhere.
pub(crate) fn is_repository(folder: &Path, has: &dyn Fn(&Path) -> bool) -> bool {
    let has = |name: &str| has(&folder.join(name));
    let has_data = || has("objects") && has("refs");
    if has("HEAD") { has("commondir") || has_data() } else { has_data() && (has("config") || has(HOOKS)) }
}

/// Returns whether a path is a part of the repository in a folder, or one of its settings and hooks.
pub(crate) fn concerns(repository: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(repository) else { return false };
    let parts: Vec<String> = below.iter().map(guarded::folded_name).collect();
    let is_part = || parts.len() == 1 && PARTS.iter().any(|part| parts[0].eq_ignore_ascii_case(part));
    setting_depths(&parts).any(|depth| depth == 0) || is_part()
}

/// Returns how deep the folders are of which a path is a setting or a hook.
fn setting_depths(parts: &[String]) -> impl Iterator<Item = usize> {
    let hooks = parts.iter().enumerate().filter(|(_, part)| *part == HOOKS).map(|(depth, _)| depth);
    let last = parts.last().filter(|last| SETTINGS.contains(&last.as_str())).map(|_| parts.len() - 1);
    let attributes = parts.ends_with(&ATTRIBUTES.map(str::to_owned)).then(|| parts.len() - ATTRIBUTES.len());
    hooks.chain(last).chain(attributes)
}

/// Returns how deep the folders are of which a path is a part, or lies in one.
fn part_depths(parts: &[String]) -> impl Iterator<Item = usize> {
    let is_part = move |(depth, part): &(usize, &String)| {
        let is_last = depth + 1 == parts.len();
        PART_FOLDERS.contains(&part.as_str()) || (is_last && part.eq_ignore_ascii_case(PARTS[0]))
    };
    parts.iter().enumerate().filter(is_part).map(|(depth, _)| depth)
}

fn has_settings(sight: &dyn ChangeView, folder: &Path) -> bool {
    let attributes = ATTRIBUTES.iter().collect::<PathBuf>();
    let names = SETTINGS.iter().chain([&HOOKS]).map(Path::new).chain([attributes.as_path()]);
    names.into_iter().any(|name| sight.was(&folder.join(name)))
}

fn is_head(path: &Path) -> bool {
    path.file_name().is_some_and(|name| guarded::folded_name(name).eq_ignore_ascii_case(PARTS[0]))
}

/// Returns whether git accepts the beginning of a file as a `HEAD`.
pub(in crate::files) fn is_valid_head(content: impl Read) -> bool {
    let mut bytes = Vec::new();
    if content.take(LONGEST_HEAD).read_to_end(&mut bytes).is_err() {
        return false;
    }
    let is_reference = |name: &[u8]| name.trim_ascii_start().starts_with(b"refs/");
    let is_object = bytes.len() >= 40 && bytes[..40].iter().all(u8::is_ascii_hexdigit);
    bytes.strip_prefix(b"ref:").map_or(is_object, is_reference)
}

/// Sees a workspace and what is to be changed in it.
pub(in crate::files) struct Upcoming<'a> {
    root: &'a WorkspaceRoot,
    /// Whether something will be at a path that is changed.
    changed: HashMap<PathBuf, bool>,
}

impl<'a> Upcoming<'a> {
    /// Sees the workspace before anything is changed.
    pub(in crate::files) fn new(root: &'a WorkspaceRoot) -> Self {
        Self { root, changed: HashMap::new() }
    }

    /// Adds a path that will exist.
    pub(in crate::files) fn add(&mut self, path: PathBuf) {
        self.changed.insert(path, true);
    }

    /// Adds a path at which nothing will be.
    pub(in crate::files) fn remove(&mut self, path: PathBuf) {
        self.changed.insert(path, false);
    }

    /// Returns the first of the paths that will exist and plants a repository, and that repository.
    pub(in crate::files) fn planted(&self, is_admitted: &dyn Fn(&Path, &Path) -> bool) -> Option<(PathBuf, PathBuf)> {
        let judge = RepositoryJudge::default();
        let coming = self.changed.iter().filter(|(_, exists)| **exists).map(|(path, _)| path);
        let planted = coming.filter_map(|path| Some((path.clone(), judge.planted(self, path)?)));
        planted.filter(|(path, repository)| !is_admitted(path, repository)).min()
    }
}

impl ChangeView for Upcoming<'_> {
    fn was(&self, path: &Path) -> bool {
        self.root.open_place(path, OFlags::PATH | OFlags::NOFOLLOW).is_ok()
    }

    fn will_be(&self, path: &Path) -> bool {
        self.changed.get(path).copied().unwrap_or_else(|| self.was(path))
    }

    fn was_head(&self, path: &Path) -> bool {
        match self.root.open_place(path, OFlags::RDONLY | OFlags::NOFOLLOW) {
            Ok(opened) => is_valid_head(std::fs::File::from(opened)),
            // Git follows a link there; where it leads may change.
            Err(_) => false,
        }
    }
}

/// Returns the repositories that changes of targets would plant.
pub(in crate::files) fn planted_by(root: &WorkspaceRoot, changed: &[&Target]) -> Vec<PathBuf> {
    let mut upcoming = Upcoming::new(root);
    for target in changed.iter().filter(|target| target.is_inside()) {
        let place = target.place().path();
        let above = place.ancestors().skip(1).take_while(|above| !root.is_root(above) && !upcoming.was(above));
        let above: Vec<PathBuf> = above.map(Path::to_owned).collect();
        above.into_iter().for_each(|above| upcoming.add(above));
        upcoming.add(place.to_owned());
    }
    let planted = RefCell::new(std::collections::BTreeSet::new());
    upcoming.planted(&|_, repository| {
        planted.borrow_mut().insert(repository.to_owned());
        true
    });
    planted.into_inner().into_iter().collect()
}
