//! Finds the other file systems below a folder: the kernel does not put a layer over them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// All mounts, as the kernel lists them. They are read again only when it says that they have changed.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    listed: Mutex<Option<MountTable>>,
}

/// The list of mounts of the kernel, held open, and its text when it was read last.
#[derive(Debug)]
struct MountTable {
    list: File,
    text: Vec<u8>,
}

impl Mounts {
    /// Returns a place below the folder where another file system is mounted, if there is one.
    pub(super) fn below(&self, folder: &Path) -> Option<PathBuf> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.as_ref().is_none_or(MountTable::has_changed) {
            // Where this cannot be read, the kernel will say so itself.
            *listed = MountTable::read();
        }
        first_below(&listed.as_ref()?.text, folder)
    }
}

impl MountTable {
    fn read() -> Option<Self> {
        // What changes from now on is told, also while it is read.
        let mut list = File::open("/proc/self/mountinfo").ok()?;
        let mut text = Vec::with_capacity(16 * 1024);
        list.read_to_end(&mut text).ok()?;
        Some(Self { list, text })
    }

    fn has_changed(&self) -> bool {
        let mut polled = [PollFd::new(&self.list, PollFlags::PRI)];
        !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(0))
    }
}

fn first_below(mounts: &[u8], folder: &Path) -> Option<PathBuf> {
    let points = mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points.map(unescaped).find(|point| point != folder && point.starts_with(folder))
}

/// Takes the kernel's way to write blanks and line ends out of a path: `\040`.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match digits {
            Some(digits) => {
                bytes.push(digits.iter().fold(0_u8, |byte, digit| byte.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = &behind[3..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Says why no layer lies over a folder with a mount below.
pub(super) fn reason(mount: &Path) -> String {
    let shown = String::from_utf8_lossy(mount.as_os_str().as_bytes());
    format!("another file system is mounted below the workspace, at {}", haft_contract::files::path::one_line(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_not_read_again_as_long_as_nothing_was_mounted() {
        let mounts = Mounts::default();
        let found = mounts.below(Path::new("/"));
        assert_eq!(found, Mounts::default().below(Path::new("/")));
        let listed = mounts.listed.lock().expect("nobody else has it");
        let listed = listed.as_ref().expect("it can be read");
        assert!(!listed.text.is_empty());
    }

    #[test]
    fn a_mount_below_a_folder_is_found_whatever_its_name() {
        let mounts = b"22 1 8:1 / / rw - ext4 /dev/a rw\n23 22 0:5 / /ws\\040a/\\134b\\012 rw - tmpfs x rw\n";
        assert_eq!(first_below(mounts, Path::new("/ws a")), Some(PathBuf::from("/ws a/\\b\n")));
        assert_eq!(first_below(mounts, Path::new("/ws")), None);
        assert_eq!(first_below(mounts, Path::new("/ws a/\\b\n")), None);
    }
}
