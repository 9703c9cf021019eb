//! Mounts by descriptor: copies of trees and fresh file systems, attached at places of a new root.
//!
//! Every step goes by descriptor and follows no link. So names with commas and colons are harmless, and a link in the
//! workspace leads no mount elsewhere.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

/// What a mount does not allow.
pub(in crate::launcher::enter) type Without = MountAttrFlags;

pub(in crate::launcher::enter) const READ_ONLY: Without = MountAttrFlags::MOUNT_ATTR_RDONLY;
pub(in crate::launcher::enter) const NO_SUID: Without = MountAttrFlags::MOUNT_ATTR_NOSUID;
pub(in crate::launcher::enter) const NO_DEV: Without = MountAttrFlags::MOUNT_ATTR_NODEV;
pub(in crate::launcher::enter) const NO_EXEC: Without = MountAttrFlags::MOUNT_ATTR_NOEXEC;
/// What holds for everything that is no device.
pub(in crate::launcher::enter) const PLAIN: Without = NO_SUID.union(NO_DEV);

/// A tree of mounts that is attached nowhere yet.
#[derive(Debug)]
pub(in crate::launcher::enter) struct MountTree(OwnedFd);

impl MountTree {
    /// Copies what is at a path, with everything mounted below.
    pub(in crate::launcher::enter) fn at(path: &Path) -> io::Result<Self> {
        Self::copied(CWD, path, OpenTreeFlags::AT_SYMLINK_NOFOLLOW)
    }

    /// Takes a mount that is attached already.
    pub(in crate::launcher::enter) fn attached(place: OwnedFd) -> Self {
        Self(place)
    }

    /// Copies what a descriptor stands for, with everything mounted below.
    pub(in crate::launcher::enter) fn of(place: BorrowedFd<'_>) -> io::Result<Self> {
        Self::copied(place, Path::new(""), OpenTreeFlags::AT_EMPTY_PATH)
    }

    fn copied(place: BorrowedFd<'_>, path: &Path, how: OpenTreeFlags) -> io::Result<Self> {
        // Copy the mounts below too, or the kernel refuses: a process with more rights made them, and they cover something.
        let how = how | OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        Ok(Self(open_tree(place, path, how)?))
    }

    /// Makes a fresh file system.
    pub(in crate::launcher::enter) fn fresh(
        kind: &str,
        options: &[(&str, &str)],
        without: Without,
    ) -> io::Result<Self> {
        let file_system = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (name, value) in options {
            if value.is_empty() {
                fsconfig_set_flag(&file_system, *name)?;
            } else {
                fsconfig_set_string(&file_system, *name, *value)?;
            }
        }
        Self::made(file_system.as_fd(), without)
    }

    /// Makes the file system that was described to the kernel.
    pub(in crate::launcher::enter) fn made(file_system: BorrowedFd<'_>, without: Without) -> io::Result<Self> {
        fsconfig_create(file_system)?;
        Ok(Self(fsmount(file_system, FsMountFlags::FSMOUNT_CLOEXEC, without)?))
    }

    /// Takes rights away from every mount of the tree.
    pub(in crate::launcher::enter) fn restrict(&self, without: Without) -> io::Result<()> {
        restrict(self.0.as_fd(), without, libc::AT_RECURSIVE)
    }

    /// Attaches the tree over what is at a place of the new root.
    pub(in crate::launcher::enter) fn attach(&self, root: BorrowedFd<'_>, place: &Path) -> io::Result<()> {
        self.attach_over(find(root, place)?.as_fd())
    }

    /// Attaches the tree over what a descriptor stands for.
    pub(in crate::launcher::enter) fn attach_over(&self, place: BorrowedFd<'_>) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&self.0, "", place, "", flags)?)
    }
}

impl From<MountTree> for OwnedFd {
    fn from(tree: MountTree) -> Self {
        tree.0
    }
}

impl AsFd for MountTree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Takes rights away from one mount.
pub(in crate::launcher::enter) fn restrict_one(mount: BorrowedFd<'_>, without: Without) -> io::Result<()> {
    restrict(mount, without, 0)
}

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn restrict(mount: BorrowedFd<'_>, without: Without, how: libc::c_int) -> io::Result<()> {
    change(mount, how, &MountAttributes { set: without.bits().into(), clear: 0, propagation: 0, user_namespace: 0 })
}

/// Keeps what is mounted here from everybody else, and the other way round.
pub(in crate::launcher::enter) fn make_all_private() -> io::Result<()> {
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let attributes = MountAttributes { set: 0, clear: 0, propagation: libc::MS_PRIVATE, user_namespace: 0 };
    change(root.as_fd(), libc::AT_RECURSIVE, &attributes)
}

#[allow(unsafe_code)]
fn change(mount: BorrowedFd<'_>, how: libc::c_int, attributes: &MountAttributes) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open, the path is an empty C string, and the structure is as long as is said.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            how | libc::AT_EMPTY_PATH,
            std::ptr::from_ref(attributes),
            size_of::<MountAttributes>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Finds what is at a place of the new root, without following links.
pub(in crate::launcher::enter) fn find(root: BorrowedFd<'_>, place: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        match rustix::fs::openat2(root, place, flags, Mode::empty(), within) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::PERM) => return find_stepwise(root, place),
            answer => return Ok(answer?),
        }
    }
}

/// Where the kernel has no `openat2`: nothing is found behind a link, because a link has no entries.
fn find_stepwise(root: BorrowedFd<'_>, place: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut found = rustix::fs::openat(root, ".", flags, Mode::empty())?;
    for part in place.components() {
        match part {
            Component::Normal(name) => found = rustix::fs::openat(&found, name, flags, Mode::empty())?,
            Component::ParentDir => return Err(Errno::XDEV.into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(found)
}

/// Makes a folder and those above it, as far as they are missing.
pub(in crate::launcher::enter) fn make_folder(root: BorrowedFd<'_>, place: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::openat(root, ".", flags, Mode::empty())?;
    for part in place.components() {
        let Component::Normal(name) = part else { continue };
        folder = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o755))?;
                rustix::fs::openat(&folder, name, flags, Mode::empty())?
            }
            answer => answer?,
        };
    }
    Ok(folder)
}

/// Makes an empty file, with the folders above it, unless there is something already.
pub(in crate::launcher::enter) fn make_file(root: BorrowedFd<'_>, place: &Path) -> io::Result<()> {
    if find(root, place).is_ok() {
        return Ok(());
    }
    write_file(root, place, b"")
}

/// Writes a new file, with the folders above it.
pub(in crate::launcher::enter) fn write_file(root: BorrowedFd<'_>, place: &Path, content: &[u8]) -> io::Result<()> {
    let name = place.file_name().ok_or(Errno::INVAL)?;
    let folder = make_folder(root, place.parent().unwrap_or(Path::new("")))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o644))?;
    io::Write::write_all(&mut std::fs::File::from(file), content)
}

/// Makes a link, with the folders above it, unless there is something already.
pub(in crate::launcher::enter) fn make_link(root: BorrowedFd<'_>, place: &Path, target: &Path) -> io::Result<()> {
    let name = place.file_name().ok_or(Errno::INVAL)?;
    let folder = make_folder(root, place.parent().unwrap_or(Path::new("")))?;
    match rustix::fs::symlinkat(target, &folder, name) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
