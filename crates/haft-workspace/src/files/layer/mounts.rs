//! Which other file systems lie below a folder: the kernel does not lay a layer over those.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns a place below the folder where another file system is mounted, if there is one.
pub(super) fn mount_below(folder: &Path) -> Option<PathBuf> {
    // Where this cannot be read, the kernel will say so itself.
    let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
    first_below(&mounts, folder)
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
    format!("another file system is mounted below the workspace, at {}", haft::path::one_line(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_below_a_folder_is_found_whatever_its_name() {
        let mounts = b"22 1 8:1 / / rw - ext4 /dev/a rw\n23 22 0:5 / /ws\\040a/\\134b\\012 rw - tmpfs x rw\n";
        assert_eq!(first_below(mounts, Path::new("/ws a")), Some(PathBuf::from("/ws a/\\b\n")));
        assert_eq!(first_below(mounts, Path::new("/ws")), None);
        assert_eq!(first_below(mounts, Path::new("/ws a/\\b\n")), None);
    }
}
