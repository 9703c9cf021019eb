//! Commits ignored trees that programs fill by themselves, such as `target` and `node_modules`, by rename.
//!
//! A tree counts if its name is listed, ignore rules exclude it (outside a repository only `.ignore`), git tracks nothing in
//! it, and it has no history. Other files are journalled one by one; undo can merge these with later work.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};

use crate::files::layer::settling::settle::OpenRoot;
use crate::files::read::open::open_name;
use crate::files::searching::rules::{IgnoreVerdict, Present, Rules};
use crate::files::searching::tracked::GitTracking;

/// Names of folders that programs fill by themselves.
const NAMES: &[&str] = &[
    "target",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".eggs",
    "build",
    "dist",
    "out",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".dart_tool",
    ".terraform",
    ".zig-cache",
    "zig-out",
    "_build",
    "deps",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "vendor/bundle",
];

/// Remembers which folders beneath one root are ignored trees, and what git tracks there.
#[derive(Default)]
pub(in crate::files::layer) struct GeneratedTreeCache {
    verdicts: RefCell<HashMap<PathBuf, bool>>,
    /// What git tracks in each repository.
    tracked: RefCell<HashMap<PathBuf, GitTracking>>,
}

impl OpenRoot {
    /// Returns whether a folder is an ignored tree that programs fill by themselves.
    pub(in crate::files::layer) fn is_generated(&self, path: &Path) -> bool {
        if !NAMES.iter().any(|name| path.ends_with(name)) {
            return false;
        }
        if let Some(known) = self.generated.verdicts.borrow().get(path) {
            return *known;
        }
        let verdict = self.look_whether_generated(path);
        self.generated.verdicts.borrow_mut().insert(path.to_owned(), verdict);
        verdict
    }

    fn look_whether_generated(&self, path: &Path) -> bool {
        // In a folder of version control the same names mean something else.
        let is_in_a_repository = || path.ancestors().skip(1).any(|folder| self.is_repository(folder));
        let has_history =
            || self.stat_below(&path.join(".git")).is_some() || self.stat_layered(&path.join(".git")).is_some();
        haft_contract::files::guarded::protected(&self.place_of(path)).is_none()
            && !self.holds_off_limits(path)
            && is_ignored((self.folder.as_fd(), &self.real), path)
            && !is_in_a_repository()
            && !has_history()
            && !self.is_tracked(path)
    }

    fn is_tracked(&self, path: &Path) -> bool {
        let real = self.real.join(path);
        let mut tracked = self.generated.tracked.borrow_mut();
        real.ancestors().skip(1).any(|repository| {
            let tracked = tracked.entry(repository.to_owned()).or_insert_with(|| GitTracking::by(repository));
            // What is not clear counts as tracked, because what is tracked gets the better protection.
            let holds = |folder: &Path| tracked.holds(folder.as_os_str().as_bytes()).unwrap_or(true);
            real.strip_prefix(repository).is_ok_and(holds)
        })
    }
}

/// Returns whether the rules leave a folder out, which need not exist.
fn is_ignored((root, real): (BorrowedFd<'_>, &Path), place: &Path) -> bool {
    let mut rules = Rules::beneath(real, b"");
    let mut path: Vec<u8> = Vec::new();
    let mut folder = open_name(root, b".", OFlags::DIRECTORY | OFlags::RDONLY).ok();
    rules.enter(root, Present::PERHAPS, b"");
    for part in place.iter() {
        path.extend_from_slice(part.as_bytes());
        // What lies in an ignored folder is ignored, whatever else is said of it; whether it is tracked is asked later.
        if matches!(rules.verdict(&path, FileType::Directory), IgnoreVerdict::Ignored(_)) {
            return true;
        }
        path.push(b'/');
        let above = folder.as_ref().map(|folder: &OwnedFd| folder.as_fd());
        // Below a folder that is not there nothing is, and there are no rules.
        folder = above.and_then(|above| open_name(above, part.as_bytes(), OFlags::DIRECTORY | OFlags::RDONLY).ok());
        if let Some(opened) = &folder {
            rules.enter(opened.as_fd(), Present::PERHAPS, &path);
        }
    }
    false
}
