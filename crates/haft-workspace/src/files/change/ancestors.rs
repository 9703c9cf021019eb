//! Temporarily opens ancestors that their owner cannot traverse.
//!
//! A command can put files into a folder and shut it for every user; haft has to look at them to undo that.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::files::read::open::WorkspaceRoot;

/// What the owner of a folder must be allowed to look at what is in it.
const PASSABLE: u32 = 0o500;

/// An open way. It is shut when this is dropped.
pub(in crate::files) struct OpenWay {
    /// The folders that were opened, with their modes.
    opened: Vec<(OwnedFd, u32)>,
}

impl OpenWay {
    /// Opens the folders above a place that are ours.
    pub(in crate::files) fn to(root: &WorkspaceRoot, place: &Path) -> Result<Self, Errno> {
        let mut way = Self { opened: Vec::new() };
        let above: Vec<&Path> = place.ancestors().skip(1).take_while(|folder| !root.is_root(folder)).collect();
        for folder in above.into_iter().rev() {
            let held = root.open_place(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)?;
            let stat = rustix::fs::fstat(&held)?;
            let mode = stat.st_mode & 0o7777;
            if mode & PASSABLE != PASSABLE && stat.st_uid == rustix::process::geteuid().as_raw() {
                set_mode(&held, mode | PASSABLE)?;
                way.opened.push((held, mode));
            }
        }
        Ok(way)
    }
}

impl Drop for OpenWay {
    fn drop(&mut self) {
        for (folder, mode) in self.opened.iter().rev() {
            // The process that opened it can shut it.
            let _ = set_mode(folder, *mode);
        }
    }
}

/// The name of a folder among our descriptors leads to it and nowhere else.
fn set_mode(held: &OwnedFd, mode: u32) -> Result<(), Errno> {
    let name = format!("/proc/self/fd/{}", held.as_raw_fd());
    rustix::fs::chmodat(rustix::fs::CWD, name, Mode::from_raw_mode(mode), AtFlags::empty())
}
