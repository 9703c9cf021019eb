//! Builds the layer over a root that takes all changes of a command, and explains why the kernel refuses one.
//!
//! The kernel writes its reasons only to its log. So haft looks into each refusal, and its sentence names the obstacle.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsconfig_set_fd, fsconfig_set_flag, fsconfig_set_string, fsopen};
use rustix::rand::GetRandomFlags;

use super::mounts::{MountTree, PLAIN};
use crate::launcher::enter::NotEntered;

/// What the kernel calls the file system of layers in `statfs`.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

/// The three folders of a layer, opened in the namespace in which it is mounted.
pub(in crate::launcher::enter) struct OverlayFolders<'a> {
    pub(in crate::launcher::enter) lower: BorrowedFd<'a>,
    pub(in crate::launcher::enter) upper: BorrowedFd<'a>,
    pub(in crate::launcher::enter) work: BorrowedFd<'a>,
}

/// What a layer lies over: the first of them lies on top of the rest.
pub(in crate::launcher::enter) struct Lowers<'a> {
    pub(in crate::launcher::enter) first: BorrowedFd<'a>,
    pub(in crate::launcher::enter) rest: &'a [BorrowedFd<'a>],
}

/// Puts a layer over several folders.
pub(in crate::launcher::enter) fn over_several(
    path: &Path,
    lowers: &Lowers<'_>,
    (upper, work): (BorrowedFd<'_>, BorrowedFd<'_>),
) -> Result<MountTree, NotEntered> {
    over_with(path, &OverlayFolders { lower: lowers.first, upper, work }, lowers.rest)
}

/// Puts a layer over a folder.
///
/// Only what would be the same the next time is [`NotEntered::NoLayer`]: without a layer a command works on the real
/// files, and nothing that a command can bring about may lead there.
pub(in crate::launcher::enter) fn over(path: &Path, folders: &OverlayFolders<'_>) -> Result<MountTree, NotEntered> {
    over_with(path, folders, &[])
}

fn over_with(path: &Path, folders: &OverlayFolders<'_>, rest: &[BorrowedFd<'_>]) -> Result<MountTree, NotEntered> {
    let by_name =
        |error| if is_lasting(&error) { mount_over(folders, rest, FolderReference::Name) } else { Err(error) };
    let tree = mount_over(folders, rest, FolderReference::Descriptor)
        .or_else(by_name)
        .map_err(|error| why_refused(&error, &LayerDiagnosis::of(path, folders)))?;
    try_to_write(tree.as_fd()).map_err(|error| why_not_writable(&error, folders))?;
    Ok(tree)
}

/// Puts a layer over a folder where one of the same kind has taken changes before.
pub(in crate::launcher::enter) fn again(path: &Path, folders: &OverlayFolders<'_>) -> Result<MountTree, NotEntered> {
    match mount(folders, FolderReference::Descriptor) {
        Ok(tree) => Ok(tree),
        Err(_) => over(path, folders),
    }
}

/// How the folders of a layer are named to the kernel.
#[derive(Clone, Copy)]
pub(in crate::launcher::enter) enum FolderReference {
    Descriptor,
    /// Older kernels take only names; these contain nothing that would need to be quoted.
    Name,
}

pub(in crate::launcher::enter) fn mount(folders: &OverlayFolders<'_>, by: FolderReference) -> io::Result<MountTree> {
    mount_over(folders, &[], by)
}

fn mount_over(folders: &OverlayFolders<'_>, rest: &[BorrowedFd<'_>], by: FolderReference) -> io::Result<MountTree> {
    let file_system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // Without it, removing a folder fails later.
    fsconfig_set_flag(&file_system, "userxattr")?;
    // Without it, the unmount waits for the whole file system to be synced.
    fsconfig_set_flag(&file_system, "volatile")?;
    let name = |folder: BorrowedFd<'_>| format!("/proc/self/fd/{}", folder.as_raw_fd());
    match by {
        FolderReference::Descriptor => {
            for lower in [&folders.lower].into_iter().chain(rest) {
                fsconfig_set_fd(&file_system, "lowerdir+", *lower)?;
            }
            fsconfig_set_fd(&file_system, "upperdir", folders.upper)?;
            fsconfig_set_fd(&file_system, "workdir", folders.work)?;
        }
        FolderReference::Name => {
            let lowers: Vec<String> = [&folders.lower].into_iter().chain(rest).map(|lower| name(*lower)).collect();
            fsconfig_set_string(&file_system, "lowerdir", lowers.join(":"))?;
            fsconfig_set_string(&file_system, "upperdir", name(folders.upper))?;
            fsconfig_set_string(&file_system, "workdir", name(folders.work))?;
        }
    }
    MountTree::made(file_system.as_fd(), PLAIN)
}

/// A layer over an upper folder of another owner is mounted without an error, but takes no changes.
///
/// The name is random, so no earlier process can know it: a name that exists already counts as a refusal.
fn try_to_write(folder: BorrowedFd<'_>) -> io::Result<()> {
    let mut random = [0_u8; 16];
    if rustix::rand::getrandom(&mut random, GetRandomFlags::empty())? != random.len() {
        return Err(Errno::AGAIN.into());
    }
    let name = format!(".haft-{:032x}", u128::from_ne_bytes(random));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o600))?;
    Ok(rustix::fs::unlinkat(folder, &name, AtFlags::empty())?)
}

fn why_not_writable(error: &io::Error, folders: &OverlayFolders<'_>) -> NotEntered {
    // A layer for which there was no room when it was mounted is a read-only one, too; so the folders are asked.
    let is_refused = |error: io::Error| {
        matches!(error.raw_os_error(), Some(libc::EROFS | libc::EACCES | libc::EPERM | libc::EOVERFLOW))
    };
    if [folders.upper, folders.work].into_iter().any(|folder| try_to_write(folder).is_err_and(is_refused)) {
        // Inside the namespace all foreign owners look the same, so it is not said whose it is.
        return NotEntered::NoLayer(
            "the folder for the changes belongs to another user or group than the command".into(),
        );
    }
    NotEntered::Passing(match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "There is no space on the file system for the changes.".into(),
        _ => format!("The layer takes no changes: {error}."),
    })
}

/// Whether the kernel gives this error for what a layer is asked to lie on, and never for want of something.
fn is_lasting(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM | libc::EACCES | libc::ENODEV | libc::EOPNOTSUPP))
}

/// The facts that explain why the kernel refused a layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LayerDiagnosis {
    path: PathBuf,
    mounted_below: Option<PathBuf>,
    upper_on_overlay: bool,
    lower_on_overlay: bool,
    upper_and_work_apart: bool,
    upper_read_only: bool,
    known_to_the_kernel: bool,
}

impl LayerDiagnosis {
    fn of(path: &Path, folders: &OverlayFolders<'_>) -> Self {
        let on_overlay = |folder| rustix::fs::fstatfs(folder).is_ok_and(|found| found.f_type == OVERLAY_MAGIC);
        let device = |folder| rustix::fs::fstat(folder).map(|found| found.st_dev).ok();
        let read_only = rustix::fs::fstatvfs(folders.upper)
            .is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY));
        let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let systems = std::fs::read_to_string("/proc/filesystems");
        Self {
            path: path.to_owned(),
            mounted_below: mount_points(&mounts).into_iter().find(|point| point.starts_with(path) && point != path),
            upper_on_overlay: on_overlay(folders.upper),
            lower_on_overlay: on_overlay(folders.lower),
            upper_and_work_apart: device(folders.upper) != device(folders.work),
            upper_read_only: read_only,
            known_to_the_kernel: systems.map_or(true, |all| all.lines().any(|line| line.ends_with("\toverlay"))),
        }
    }
}

fn why_refused(error: &io::Error, facts: &LayerDiagnosis) -> NotEntered {
    let is_lacking = error.raw_os_error() == Some(libc::ENODEV) && facts.known_to_the_kernel;
    if !is_lasting(error) || is_lacking {
        return NotEntered::Passing(format!("The layer over {} cannot be mounted now: {error}.", shown(&facts.path)));
    }
    if let Some(below) = &facts.mounted_below {
        let what = format!("another file system is mounted in the workspace, at {}", shown(below));
        return NotEntered::NoLayer(what);
    }
    NotEntered::NoLayer(match error.raw_os_error() {
        _ if facts.upper_and_work_apart => "the two folders for the changes are on different file systems".into(),
        _ if facts.upper_read_only => "the file system for the changes is read-only".into(),
        Some(libc::ENODEV) => "this kernel has no overlay file system".into(),
        Some(libc::EINVAL) if facts.upper_on_overlay => {
            "the folder for the changes is on an overlay itself, as in a container".into()
        }
        Some(libc::EINVAL) if facts.lower_on_overlay => {
            format!("{} is on an overlay that takes no further layer", shown(&facts.path))
        }
        Some(libc::EPERM | libc::EACCES) => "this kernel does not let users mount an overlay".into(),
        _ => format!("the kernel refuses a layer over {}: {error}", shown(&facts.path)),
    })
}

fn shown(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}

/// Returns the mount points that the kernel lists.
pub(in crate::launcher::enter) fn mount_points(mounts: &[u8]) -> Vec<PathBuf> {
    let point = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
    mounts.split(|byte| *byte == b'\n').filter_map(point).collect()
}

/// The kernel writes blanks, line ends and backslashes in names as three octal digits.
fn unescaped(name: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, behind @ ..] = rest {
        let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then_some(u32::from(byte - b'0'));
        let code = match (first, behind) {
            (b'\\', [a, b, c, ..]) => digit(*a).zip(digit(*b)).zip(digit(*c)).map(|((a, b), c)| a * 64 + b * 8 + c),
            _ => None,
        };
        match code.and_then(|code| u8::try_from(code).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Opens a folder again in this namespace and refuses another one under the same name.
pub(in crate::launcher::enter) fn open_again(
    from: BorrowedFd<'_>,
    path: &Path,
    known: BorrowedFd<'_>,
) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(from, path, flags, Mode::empty())?;
    let (one, other) = (rustix::fs::fstat(&opened)?, rustix::fs::fstat(known)?);
    if (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) { Ok(opened) } else { Err(Errno::STALE.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mount_points_are_read_as_they_are() {
        let mounts = b"22 27 0:21 / /proc rw - proc proc rw\n23 27 0:3 / /a\\040b\\134c\\x rw - tmpfs t rw\n";
        assert_eq!(mount_points(mounts), [Path::new("/proc"), Path::new("/a b\\c\\x")]);
    }

    #[test]
    fn a_refusal_names_what_stands_in_the_way() {
        let refused = |facts: LayerDiagnosis| why_refused(&io::Error::from_raw_os_error(libc::EINVAL), &facts);
        let no_layer = |what: &str| NotEntered::NoLayer(what.into());
        let facts = LayerDiagnosis { path: "/w".into(), ..LayerDiagnosis::default() };
        assert_eq!(
            refused(LayerDiagnosis { mounted_below: Some("/w/data".into()), ..facts.clone() }),
            no_layer("another file system is mounted in the workspace, at \"/w/data\"")
        );
        assert_eq!(
            refused(LayerDiagnosis { upper_on_overlay: true, ..facts.clone() }),
            no_layer("the folder for the changes is on an overlay itself, as in a container")
        );
        assert_eq!(
            refused(LayerDiagnosis { lower_on_overlay: true, ..facts }),
            no_layer("\"/w\" is on an overlay that takes no further layer")
        );
    }

    #[test]
    fn what_may_pass_never_means_that_there_is_no_layer() {
        let facts = LayerDiagnosis {
            path: "/w".into(),
            known_to_the_kernel: true,
            lower_on_overlay: true,
            ..LayerDiagnosis::default()
        };
        let mounted = LayerDiagnosis { mounted_below: Some("/w/data".into()), ..facts.clone() };
        for passing in [libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::EIO, libc::ENOSPC, libc::ESTALE, libc::ENODEV] {
            let error = io::Error::from_raw_os_error(passing);
            for facts in [&facts, &mounted] {
                assert!(matches!(why_refused(&error, facts), NotEntered::Passing(_)), "{error}");
            }
        }
    }
}
