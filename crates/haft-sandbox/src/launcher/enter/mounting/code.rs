//! Puts the trusted copy of a project's code in the place of the project's own files.
//!
//! The command reads and runs the copy under the usual paths, so scripts find each other. The copy is mounted read-only.
//! A folder of the copy replaces the whole folder, so the command does not see files that were added to the original.
//!
//! Not here: which files belong to the copy (`haft_workspace::project`).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::mounts::{MountTree, PLAIN, READ_ONLY, find};
use super::new_root::kind;
use crate::launcher::enter::{NotEntered, OrMissing};
use crate::running::orders::VisibleCode;

/// The opened trusted copy of a project's code, and the places where its parts are mounted.
pub(in crate::launcher::enter) struct CodeMount {
    folder: OwnedFd,
    root: PathBuf,
    places: Vec<PathBuf>,
}

impl CodeMount {
    /// Takes the folder of the copy, and where its parts belong.
    pub(in crate::launcher::enter) fn new(folder: OwnedFd, visible: &VisibleCode) -> Self {
        Self { folder, root: visible.root.clone(), places: visible.places.clone() }
    }

    /// Returns the folder of the copy.
    pub(in crate::launcher::enter) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Returns the same with the folder at another place.
    pub(in crate::launcher::enter) fn moved_to(&self, folder: OwnedFd) -> Self {
        Self { folder, root: self.root.clone(), places: self.places.clone() }
    }

    /// Mounts the parts of the copy that belong to a root, which lies at this place.
    pub(in crate::launcher::enter) fn put(
        &self,
        root: &Path,
        (base, place): (BorrowedFd<'_>, &Path),
    ) -> Result<(), NotEntered> {
        if root != self.root {
            return Ok(());
        }
        for path in &self.places {
            let what = format!("The trusted copy of {:?}", root.join(path));
            let source = find(self.folder.as_fd(), path).or_missing(&what)?;
            let over = find(base, &place.join(path)).or_missing(&what)?;
            if kind(source.as_fd()) != kind(over.as_fd()) {
                let why = "the project has something else in its place; to trust the current project: haft trust";
                return Err(NotEntered::Missing(format!("{what} cannot be shown: {why}.")));
            }
            let tree = MountTree::of(source.as_fd()).or_missing(&what)?;
            tree.restrict(READ_ONLY | PLAIN).or_missing(&what)?;
            tree.attach_over(over.as_fd()).or_missing(&what)?;
        }
        Ok(())
    }
}
