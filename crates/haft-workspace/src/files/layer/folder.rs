//! Makes the folders that collect what a command changes: new for each command, private, and removed with it.
//!
//! Beside each folder is a file that its maker keeps locked. The next process removes folders whose maker has ended.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::read::FOLDER_MODE;
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::state::own_files::private;

/// How many left-over layers are removed in one sweep at most.
const MOST_SWEPT: usize = 64;
/// How often another name is tried when another process takes ours for a left-over.
const MOST_TRIES: usize = 8;

/// The folders of all layers of one command.
#[derive(Debug)]
pub(super) struct LayerFolder {
    pub(super) path: PathBuf,
    pub(super) lock_path: PathBuf,
    /// Held as long as the folder is in use.
    pub(super) lock: File,
}

/// One layer: what takes the changes, and what the kernel needs beside it.
#[derive(Debug)]
pub(super) struct LayerPair {
    pub(super) upper: OwnedFd,
    pub(super) work: OwnedFd,
}

impl LayerFolder {
    /// Makes a folder beneath a private one, which is there.
    pub(super) fn make(beneath: &Path) -> io::Result<Self> {
        for _ in 0..MOST_TRIES {
            let name = uuid::Uuid::now_v7().simple().to_string();
            let lock_path = beneath.join(format!("{name}.lock"));
            let lock = private::create_file(&lock_path)?;
            // Between the two calls another process may have taken it for a left-over.
            let is_locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if !is_locked || rustix::fs::fstat(&lock)?.st_nlink == 0 {
                continue;
            }
            let path = beneath.join(name);
            if let Err(error) = DirBuilder::new().mode(0o700).create(&path) {
                let _ = std::fs::remove_file(&lock_path);
                return Err(error);
            }
            return Ok(Self { path, lock_path, lock });
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other programs remove the folders that haft makes there"))
    }

    /// Returns the folder that it lies in.
    pub(super) fn beneath(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Returns the path of the folder.
    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a layer for a folder, which belongs to whom that belongs.
    pub(super) fn add(&self, number: usize, of: &Stat) -> io::Result<LayerPair> {
        let make = |path: &Path, mode: u32| -> io::Result<OwnedFd> {
            DirBuilder::new().mode(0o700).create(path)?;
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::open(path, flags, Mode::empty())?;
            let has = rustix::fs::fstat(&made)?;
            if (has.st_uid, has.st_gid) != (of.st_uid, of.st_gid) {
                let (uid, gid) = (Uid::from_raw(of.st_uid), Gid::from_raw(of.st_gid));
                // A user that may not give it away keeps it; the kernel reports whether it accepts that.
                let _ = rustix::fs::fchown(&made, Some(uid), Some(gid));
            }
            rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
            Ok(made)
        };
        // The owner of the workspace mounts the two, and must be able to enter them. The folders above let other users
        // through only if they know the names; the folder above all layers belongs to this user alone.
        if rustix::process::geteuid().is_root() && of.st_uid != 0 {
            for above in self.path.parent().into_iter().chain([&*self.path]) {
                rustix::fs::chmod(above, Mode::from_raw_mode(0o711))?;
            }
        }
        let folder = self.path.join(number.to_string());
        make(&folder, 0o700)?;
        let upper = make(&folder.join("upper"), of.st_mode & FOLDER_MODE)?;
        Ok(LayerPair { upper, work: make(&folder.join("work"), 0o700)? })
    }

    /// Opens a layer that was made before.
    pub(super) fn pair(&self, number: usize) -> io::Result<LayerPair> {
        let folder = self.path.join(number.to_string());
        let open = |name: &str| {
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::open(folder.join(name), flags, Mode::empty())
        };
        Ok(LayerPair { upper: open("upper")?, work: open("work")? })
    }

    /// Removes everything.
    pub(super) fn remove(self) {
        let _ = remove_tree(&self.path);
        let _ = std::fs::remove_file(&self.lock_path);
        drop(self.lock);
    }
}

/// Removes what others left behind who are gone.
pub(super) fn sweep(beneath: &Path) {
    let Ok(entries) = std::fs::read_dir(beneath) else { return };
    let locks =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "lock"));
    for lock_path in locks.take(MOST_SWEPT) {
        let Ok(lock) = private::read_file(&lock_path) else { continue };
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            LayerFolder { path: lock_path.with_extension(""), lock_path, lock }.remove();
        }
    }
}

/// Returns whether others left something behind; a look at the names alone.
pub(super) fn has_other(beneath: &Path, own: &LayerFolder) -> bool {
    let entries = std::fs::read_dir(beneath).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path != own.path && path != own.lock_path)
}

/// Removes a tree, also folders that do not let their owner in.
fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let parent = rustix::fs::open(parent, flags, Mode::empty())?;
    Ok(remove_name(parent.as_fd(), name.as_bytes(), 0)?)
}

/// Deeper trees are flattened on the way, because every level holds a descriptor.
const DEEPEST: usize = 128;

pub(in crate::files) fn remove_name(folder: BorrowedFd<'_>, name: &[u8], depth: usize) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        removed => return removed,
    }
    let opened = open_anyway(folder, name)?;
    let mut names = FolderNameList::default();
    // What lies too deep comes up while the rest is removed, so the names are read again until there are none.
    loop {
        rustix::fs::seek(&opened, rustix::fs::SeekFrom::Start(0))?;
        names.read(&opened)?;
        if names.at(0).is_none() {
            break;
        }
        let mut index = 0;
        while let Some((inner, kind)) = names.at(index) {
            index += 1;
            if depth >= DEEPEST && kind == FileType::Directory {
                let up = uuid::Uuid::now_v7().simple().to_string();
                rustix::fs::renameat(&opened, inner, folder, &*up)?;
                continue;
            }
            remove_name(opened.as_fd(), inner, depth + 1)?;
        }
    }
    drop(opened);
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Opens a folder of a layer, also one that does not let its owner in.
pub(in crate::files) fn open_anyway(folder: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty());
    let is_open = |stat: &Stat| stat.st_mode & 0o700 == 0o700;
    match opened {
        Ok(opened) if rustix::fs::fstat(&opened).is_ok_and(|stat| is_open(&stat)) => Ok(opened),
        Ok(opened) => {
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(0o700))?;
            Ok(opened)
        }
        Err(Errno::ACCESS) => {
            let stat = stat_name(folder, name)?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                return Err(Errno::ACCESS);
            }
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
            rustix::fs::openat(folder, name, flags, Mode::empty())
        }
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).expect("it is there").count()
    }

    #[test]
    fn the_owner_of_the_workspace_is_let_in_to_both_folders() {
        let beneath = tempfile::tempdir().expect("a temporary folder can be made");
        let layer = LayerFolder::make(beneath.path()).expect("it can be made");
        let mut of = rustix::fs::stat(beneath.path()).expect("it is there");
        if rustix::process::geteuid().is_root() {
            of.st_uid = 65_534;
        }
        layer.add(0, &of).expect("it can be made");
        for name in ["0", "0/upper", "0/work"] {
            let made = rustix::fs::stat(layer.path().join(name)).expect("it was made");
            assert_eq!(made.st_uid, of.st_uid, "{name}");
        }
    }

    #[test]
    fn a_layer_goes_with_everything_in_it_also_what_is_closed_or_deep() {
        let beneath = tempfile::tempdir().expect("a temporary folder can be made");
        let layer = LayerFolder::make(beneath.path()).expect("it can be made");
        let stat = rustix::fs::stat(beneath.path()).expect("it is there");
        layer.add(0, &stat).expect("it can be made");
        let closed = layer.path().join("0/work/closed");
        std::fs::create_dir_all(closed.join("inner")).expect("it is new");
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o0)).expect("it is ours");
        let mut deep = layer.path().join("0/upper");
        for _ in 0..DEEPEST * 2 {
            deep.push("d");
        }
        std::fs::create_dir_all(&deep).expect("it is new");
        std::fs::write(deep.join("file"), "a").expect("it can be written");
        layer.remove();
        assert_eq!(names(beneath.path()), 0);
    }

    #[test]
    fn what_somebody_left_behind_is_removed_and_what_is_in_use_is_not() {
        let beneath = tempfile::tempdir().expect("a temporary folder can be made");
        let used = LayerFolder::make(beneath.path()).expect("it can be made");
        let left = LayerFolder::make(beneath.path()).expect("it can be made");
        assert!(has_other(beneath.path(), &used));
        let LayerFolder { lock, .. } = left;
        drop(lock);
        sweep(beneath.path());
        assert!(!has_other(beneath.path(), &used));
        assert!(used.path().is_dir());
    }
}
