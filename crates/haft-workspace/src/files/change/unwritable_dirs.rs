//! Opens folders whose own mode allows no work in them for a transaction, and shuts them after it.
//!
//! A command may open a folder, work in it and shut it again; its layer has that as one change of the content. The journal
//! gets the modes before the first folder is opened. After a kill, the next process shuts the folder.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::transaction::{FileAction, FileMutation};
use crate::files::read::open::WorkspaceRoot;
use crate::files::searching::order::{WORKABLE, is_workable};
use crate::files::structure;
use crate::state::journal::PathText;

/// What becomes of folders in which one cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// They stay as they are, and so does what is in them.
    Stays,
    /// Those that are ours are opened as long as it takes.
    Opens,
}

/// The folders in which one cannot work.
#[derive(Default)]
pub(in crate::files) struct ShutFolders {
    /// Those that are opened, with their modes.
    pub(in crate::files) opened: BTreeMap<PathBuf, u32>,
    /// Those that another user has shut.
    closed: HashSet<PathBuf>,
}

impl ShutFolders {
    /// Finds the folders that deeds need and whose mode allows no work in them.
    pub(in crate::files) fn of(root: &WorkspaceRoot, deeds: &[FileMutation]) -> Self {
        let mut found = Self::default();
        let comes_open = |deed: &&FileMutation| match deed.action {
            FileAction::MakeFolder(_) => true,
            FileAction::SetMode(mode) => is_workable(mode),
            _ => false,
        };
        let open: HashSet<&Path> = deeds.iter().filter(comes_open).map(|deed| deed.place.as_path()).collect();
        let needed: BTreeSet<&Path> = deeds.iter().flat_map(folders_of).collect();
        for folder in needed.into_iter().filter(|folder| !open.contains(folder) && !root.is_root(folder)) {
            match state_of(root, folder) {
                Some(ShutFolderOwner::Ours(mode)) => drop(found.opened.insert(folder.to_owned(), mode)),
                Some(ShutFolderOwner::Others) => drop(found.closed.insert(folder.to_owned())),
                None => {}
            }
        }
        found
    }

    /// Says whether a deed cannot be done because of its folder.
    pub(in crate::files) fn refuse(&self, deed: &FileMutation) -> io::Result<()> {
        if folders_of(deed).any(|folder| self.closed.contains(folder)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }

    /// Lets us work in them.
    pub(in crate::files) fn open(&self, root: &WorkspaceRoot) -> Result<(), (PathBuf, io::Error)> {
        for (folder, mode) in &self.opened {
            let failed = |errno: Errno| (folder.clone(), errno.into());
            let held = held(root, folder).map_err(failed)?;
            change(&held, mode | WORKABLE).map_err(failed)?;
        }
        Ok(())
    }

    /// Gives them the modes that they had.
    pub(in crate::files) fn close(&self, root: &WorkspaceRoot) {
        for (folder, mode) in self.opened.iter().rev() {
            // It may be gone, and another program's later change counts more.
            let _ = structure::narrow(root, folder, *mode);
        }
    }

    /// Returns how the journal has them.
    pub(in crate::files) fn recorded(&self) -> Vec<(PathText, u32)> {
        self.opened.iter().map(|(folder, mode)| (PathText::from(folder.as_path()), *mode)).collect()
    }
}

/// The owner of a folder whose mode allows no work in it; for our own folder also its mode.
enum ShutFolderOwner {
    Ours(u32),
    Others,
}

fn state_of(root: &WorkspaceRoot, folder: &Path) -> Option<ShutFolderOwner> {
    let held = held(root, folder).ok()?;
    let stat = rustix::fs::fstat(&held).ok()?;
    let mode = stat.st_mode & 0o7777;
    if stat.st_uid == rustix::process::geteuid().as_raw() {
        return (!is_workable(mode)).then_some(ShutFolderOwner::Ours(mode));
    }
    let access =
        rustix::fs::accessat(rustix::fs::CWD, name_of(&held), Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty());
    matches!(access, Err(Errno::ACCESS)).then_some(ShutFolderOwner::Others)
}

fn held(root: &WorkspaceRoot, folder: &Path) -> Result<OwnedFd, Errno> {
    root.open_place(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)
}

/// The name of a folder among our descriptors leads to it and nowhere else.
fn name_of(held: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", held.as_raw_fd())
}

fn change(held: &OwnedFd, mode: u32) -> Result<(), Errno> {
    rustix::fs::chmodat(rustix::fs::CWD, name_of(held), Mode::from_raw_mode(mode), AtFlags::empty())
}

/// Returns the folders that a deed changes names in.
fn folders_of(deed: &FileMutation) -> impl Iterator<Item = &Path> {
    let (here, there) = match &deed.action {
        FileAction::SetMode(_) => (None, None),
        FileAction::Rename(to) => (deed.place.parent(), to.parent()),
        FileAction::Put(..)
        | FileAction::Remove
        | FileAction::MakeFolder(_)
        | FileAction::MakeLink(_)
        | FileAction::Bring(_)
        | FileAction::Tree(_) => (deed.place.parent(), None),
    };
    here.into_iter().chain(there)
}
