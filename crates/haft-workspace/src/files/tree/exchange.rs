//! Does and reverts the operations of an exchange: each is a single rename, so a kill leaves none half done.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use super::manifest::{ExchangeOperation, FolderFacts, Identity};
use super::store::{TREE, TreeStore};
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::change::replace::Trouble;
use crate::files::read::folder::stat_name;
use crate::files::read::open::{WorkspaceRoot, open_beneath, open_name};
use crate::state::journal::PathText;

/// A tree and its store, held open.
pub(super) struct Exchange {
    /// The folder that holds the tree, where it is there, and the name of the tree in it.
    workspace: (Option<OwnedFd>, OsString),
    store: OwnedFd,
    /// The folders of the last operation; most often the next one is about the same ones.
    last: RefCell<Option<(PathBuf, Rc<ExchangeFolders>)>>,
}

/// The two folders that an entry moves between.
struct ExchangeFolders {
    workspace: OwnedFd,
    store: OwnedFd,
}

/// The names of one entry in the workspace and in the store.
struct ExchangeEntry {
    pair: Rc<ExchangeFolders>,
    in_workspace: OsString,
    in_store: OsString,
}

impl Exchange {
    pub(super) fn open(root: &WorkspaceRoot, store: &TreeStore, place: &Path) -> io::Result<Self> {
        let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let parent = match root.open_parent(place) {
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            parent => Some(parent?.0),
        };
        let (workspace, store) = ((parent, name), store.folder.try_clone()?);
        Ok(Self { workspace, store, last: RefCell::default() })
    }

    /// Does all operations; returns how many entries stay because another program changed them in that moment.
    pub(super) fn apply(&self, operations: &[ExchangeOperation]) -> Result<usize, Trouble> {
        let mut overtaken = 0;
        for (index, operation) in operations.iter().enumerate() {
            #[cfg(test)]
            crate::files::change::crash_points::point();
            match self.apply_one(operation) {
                Ok(()) => {}
                Err(Trouble::Overtaken) => overtaken += 1,
                Err(Trouble::System(error)) => {
                    self.revert(&operations[..=index])?;
                    return Err(Trouble::System(error));
                }
            }
        }
        self.sync()?;
        Ok(overtaken)
    }

    /// Reverts those of the operations that were done, the last one first.
    pub(super) fn revert(&self, operations: &[ExchangeOperation]) -> io::Result<()> {
        for operation in operations.iter().rev().filter(|operation| operation.moves()) {
            #[cfg(test)]
            crate::files::change::crash_points::point();
            if self.is_done(operation) {
                self.revert_one(operation)?;
            }
        }
        for operation in operations.iter().rev() {
            match operation {
                ExchangeOperation::Make { path, .. } => drop(self.unmake(path)),
                ExchangeOperation::Folder { path, before, .. } => drop(self.set_folder(path, before)),
                _ => {}
            }
        }
        self.sync()
    }

    /// Returns whether an operation was done.
    pub(super) fn is_done(&self, operation: &ExchangeOperation) -> bool {
        let there = self.in_store(&operation.path().path());
        match operation {
            // It was in the store when the list was written.
            ExchangeOperation::Bring { .. } => there.is_none(),
            ExchangeOperation::Take { goes, .. } | ExchangeOperation::Exchange { goes, .. } => {
                there.is_some_and(|stat| Identity::of(&stat) == *goes)
            }
            ExchangeOperation::Make { .. } | ExchangeOperation::Folder { .. } => false,
        }
    }

    /// Gives folders the modes and times that they should have, where a kill came before that.
    pub(super) fn finish(&self, operations: &[ExchangeOperation]) {
        for operation in operations {
            if let ExchangeOperation::Folder { path, after, .. } = operation {
                let _ = self.set_folder(path, after);
            }
        }
    }

    /// Returns what is in the store at a path; a mark that something was removed is nothing.
    fn in_store(&self, path: &Path) -> Option<Stat> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let opened = open_beneath(self.store.as_fd(), &store_path(path), flags).ok()?;
        rustix::fs::fstat(&opened).ok().filter(|stat| !is_removal_mark(stat))
    }

    /// Returns what is in the workspace and in the store at a path, for a plan.
    pub(super) fn both(&self, path: &PathText) -> (Option<EntryStat>, Option<EntryStat>) {
        let Ok(entry) = self.entry(path) else { return (None, None) };
        let found = |stat: Option<Stat>, folder: &OwnedFd, name: &OsStr| {
            let folder = open_name(folder, b".", OFlags::DIRECTORY | OFlags::RDONLY).ok()?;
            Some(EntryStat { folder, name: name.to_owned(), stat: stat? })
        };
        let in_workspace = found(entry.workspace_stat(), &entry.pair.workspace, &entry.in_workspace);
        (in_workspace, found(entry.store_stat(), &entry.pair.store, &entry.in_store))
    }

    /// Returns what recognises the entry of the workspace at a path, where there is one.
    pub(super) fn in_workspace(&self, path: &Path) -> Option<Identity> {
        let Some(name) = path.file_name() else {
            return self.both(&PathText::from(path)).0.map(|found| Identity::of(&found.stat));
        };
        let folder = self.open_workspace(path.parent()?).ok()?;
        stat_name(folder.as_fd(), name.as_encoded_bytes()).ok().map(|stat| Identity::of(&stat))
    }

    /// Returns whether the folder in the workspace that holds a path is there.
    pub(super) fn has_parent(&self, path: &Path) -> bool {
        match path.parent() {
            None => true,
            Some(parent) => self.open_workspace(parent).is_ok(),
        }
    }

    fn apply_one(&self, operation: &ExchangeOperation) -> Result<(), Trouble> {
        #[cfg(test)]
        crate::files::change::crash_points::fault()?;
        match operation {
            ExchangeOperation::Bring { path, .. } => self.entry(path)?.bring(),
            ExchangeOperation::Take { path, goes } => self.entry_to_take(path)?.take(goes),
            ExchangeOperation::Exchange { path, goes, .. } => self.entry(path)?.exchange(goes),
            ExchangeOperation::Make { path, mode } => self.make(path, *mode),
            ExchangeOperation::Folder { path, after, .. } => {
                // A time or mode that cannot be set loses nothing.
                let _ = self.set_folder(path, after);
                Ok(())
            }
        }
    }

    fn revert_one(&self, operation: &ExchangeOperation) -> io::Result<()> {
        let reverted = match operation {
            ExchangeOperation::Bring { path, comes } => self.entry_to_take(path)?.take(comes),
            ExchangeOperation::Take { path, .. } => self.entry(path)?.bring(),
            ExchangeOperation::Exchange { path, comes, .. } => self.entry(path)?.exchange(comes),
            ExchangeOperation::Make { .. } | ExchangeOperation::Folder { .. } => Ok(()),
        };
        match reverted {
            // Another program has put something there since, which stays.
            Ok(()) | Err(Trouble::Overtaken) => Ok(()),
            Err(Trouble::System(error)) => Err(error),
        }
    }

    fn entry(&self, path: &PathText) -> Result<ExchangeEntry, Errno> {
        let path = path.path();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            let again = |folder: &OwnedFd| open_name(folder, b".", OFlags::DIRECTORY | OFlags::RDONLY);
            let pair = Rc::new(ExchangeFolders { workspace: again(self.parent()?)?, store: again(&self.store)? });
            return Ok(ExchangeEntry { pair, in_workspace: self.workspace.1.clone(), in_store: TREE.into() });
        };
        let known = self.last.borrow().as_ref().filter(|(known, _)| known == parent).map(|(_, pair)| pair.clone());
        let pair = match known {
            Some(pair) => pair,
            None => {
                let store = open_beneath(self.store.as_fd(), &Path::new(TREE).join(parent), folder_flags())?;
                let pair = Rc::new(ExchangeFolders { workspace: self.open_workspace(parent)?, store });
                *self.last.borrow_mut() = Some((parent.to_owned(), pair.clone()));
                pair
            }
        };
        Ok(ExchangeEntry { pair, in_workspace: name.to_owned(), in_store: name.to_owned() })
    }

    /// The same, with the folders of the store that an entry needs.
    fn entry_to_take(&self, path: &PathText) -> Result<ExchangeEntry, Errno> {
        match self.entry(path) {
            Err(Errno::NOENT | Errno::NOTDIR) => {
                let (mut folder, inner) = (self.store.as_fd(), store_path(&path.path()));
                let mut opened;
                for part in inner.parent().into_iter().flat_map(Path::iter) {
                    // A folder of which only a part goes was removed as a whole in the layer.
                    if stat_name(folder, part.as_encoded_bytes()).is_ok_and(|stat| is_removal_mark(&stat)) {
                        rustix::fs::unlinkat(folder, part, AtFlags::empty())?;
                    }
                    match rustix::fs::mkdirat(folder, part, Mode::from_raw_mode(0o700)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno),
                    }
                    opened = open_name(folder, part.as_encoded_bytes(), folder_flags())?;
                    folder = opened.as_fd();
                }
                self.entry(path)
            }
            entry => entry,
        }
    }

    fn open_workspace(&self, path: &Path) -> Result<OwnedFd, Errno> {
        open_beneath(self.parent()?.as_fd(), &Path::new(&self.workspace.1).join(path), folder_flags())
    }

    fn parent(&self) -> Result<&OwnedFd, Errno> {
        self.workspace.0.as_ref().ok_or(Errno::NOENT)
    }

    fn make(&self, path: &PathText, mode: u32) -> Result<(), Trouble> {
        let (folder, name) = self.parent_in_workspace(&path.path())?;
        rustix::fs::mkdirat(&folder, &*name, Mode::from_raw_mode(0o700))?;
        let made = open_name(&folder, name.as_encoded_bytes(), folder_flags())?;
        let around = rustix::fs::fstat(&folder)?;
        // A folder that cannot be given away belongs to this user.
        let _ = rustix::fs::fchown(&made, Some(Uid::from_raw(around.st_uid)), Some(Gid::from_raw(around.st_gid)));
        Ok(rustix::fs::fchmod(&made, Mode::from_raw_mode(mode | 0o700))?)
    }

    fn unmake(&self, path: &PathText) -> Result<(), Errno> {
        let (folder, name) = self.parent_in_workspace(&path.path())?;
        rustix::fs::unlinkat(&folder, &*name, AtFlags::REMOVEDIR)
    }

    fn parent_in_workspace(&self, path: &Path) -> Result<(OwnedFd, OsString), Errno> {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok((self.open_workspace(parent)?, name.to_owned())),
            _ => Ok((open_name(self.parent()?, b".", folder_flags())?, self.workspace.1.clone())),
        }
    }

    fn set_folder(&self, path: &PathText, facts: &FolderFacts) -> Result<(), Errno> {
        let folder = self.open_workspace(&path.path())?;
        rustix::fs::fchmod(&folder, Mode::from_raw_mode(facts.mode))?;
        let (seconds, rest) = facts.modified;
        let time = Timespec { tv_sec: seconds, tv_nsec: i64::try_from(rest).unwrap_or(0) };
        rustix::fs::futimens(&folder, &Timestamps { last_access: time, last_modification: time })
    }

    /// Makes the renames outlive a power cut, as far as a file system keeps their order.
    fn sync(&self) -> io::Result<()> {
        if let Some(parent) = &self.workspace.0 {
            rustix::fs::fsync(parent)?;
        }
        Ok(rustix::fs::fsync(&self.store)?)
    }
}

/// An entry that a plan looks at: its folder, its name and its stat.
pub(super) struct EntryStat {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    pub(super) stat: Stat,
}

/// Returns the path of an entry in a store.
pub(super) fn store_path(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { TREE.into() } else { Path::new(TREE).join(path) }
}

fn folder_flags() -> OFlags {
    OFlags::DIRECTORY | OFlags::RDONLY
}

impl ExchangeEntry {
    fn workspace_stat(&self) -> Option<Stat> {
        stat_name(&self.pair.workspace, self.in_workspace.as_encoded_bytes()).ok()
    }

    /// Returns what is in the store; a mark that something was removed is nothing.
    fn store_stat(&self) -> Option<Stat> {
        let stat = stat_name(&self.pair.store, self.in_store.as_encoded_bytes()).ok()?;
        (!is_removal_mark(&stat)).then_some(stat)
    }

    fn is_in_store(&self, identity: &Identity) -> bool {
        self.store_stat().is_some_and(|stat| Identity::of(&stat) == *identity)
    }

    fn bring(&self) -> Result<(), Trouble> {
        let (from, to) = ((&self.pair.store, &*self.in_store), (&self.pair.workspace, &*self.in_workspace));
        match rename(from, to, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST | Errno::NOENT) => Err(Trouble::Overtaken),
            moved => Ok(moved?),
        }
    }

    fn take(&self, goes: &Identity) -> Result<(), Trouble> {
        if stat_name(&self.pair.store, self.in_store.as_encoded_bytes()).is_ok_and(|stat| is_removal_mark(&stat)) {
            rustix::fs::unlinkat(&self.pair.store, &*self.in_store, AtFlags::empty())?;
        }
        let (from, to) = ((&self.pair.workspace, &*self.in_workspace), (&self.pair.store, &*self.in_store));
        match rename(from, to, RenameFlags::NOREPLACE) {
            Err(Errno::NOENT) => return Err(Trouble::Overtaken),
            moved => moved?,
        }
        if self.is_in_store(goes) {
            return Ok(());
        }
        rename(to, from, RenameFlags::NOREPLACE)?;
        Err(Trouble::Overtaken)
    }

    fn exchange(&self, goes: &Identity) -> Result<(), Trouble> {
        let (one, other) = ((&self.pair.store, &*self.in_store), (&self.pair.workspace, &*self.in_workspace));
        match rename(one, other, RenameFlags::EXCHANGE) {
            Err(Errno::NOENT) => return Err(Trouble::Overtaken),
            moved => moved?,
        }
        if self.is_in_store(goes) {
            return Ok(());
        }
        rename(one, other, RenameFlags::EXCHANGE)?;
        Err(Trouble::Overtaken)
    }
}

/// An open folder, and the old or the new name of an entry in it.
type RenameEndpoint<'a> = (&'a OwnedFd, &'a OsStr);

/// Renames, also in and of folders whose mode does not let their owner.
fn rename(from: RenameEndpoint<'_>, to: RenameEndpoint<'_>, flags: RenameFlags) -> Result<(), Errno> {
    let try_it = || rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags);
    match try_it() {
        Err(Errno::ACCESS) => {}
        renamed => return renamed,
    }
    let _around = [WriteAccessGuard::folder(from.0), WriteAccessGuard::folder(to.0)];
    let items = [WriteAccessGuard::entry(from), WriteAccessGuard::entry(to)];
    let renamed = try_it();
    drop(items);
    renamed
}

/// Gives the owner of a folder all rights to it until this is dropped.
struct WriteAccessGuard {
    folder: OwnedFd,
    mode: u32,
}

impl WriteAccessGuard {
    fn folder(folder: &OwnedFd) -> Option<Self> {
        Self::of(open_name(folder, b".", folder_flags()).ok()?)
    }

    fn entry((folder, name): RenameEndpoint<'_>) -> Option<Self> {
        Self::of(open_name(folder, name.as_encoded_bytes(), folder_flags()).ok()?)
    }

    fn of(folder: OwnedFd) -> Option<Self> {
        let mode = rustix::fs::fstat(&folder).ok()?.st_mode & 0o7777;
        if mode & 0o700 == 0o700 {
            return None;
        }
        rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode | 0o700)).ok()?;
        Some(Self { folder, mode })
    }
}

impl Drop for WriteAccessGuard {
    fn drop(&mut self) {
        // The folder is held open, so this reaches it under any name.
        let _ = rustix::fs::fchmod(&self.folder, Mode::from_raw_mode(self.mode));
    }
}
