//! Replaces a file as a whole: a new file in the same folder, synced, then renamed over the old.
//!
//! At any moment the name holds the old or the new content. Nothing is ever written in place.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use haft::error::{Operation, ToolError};
use haft::path::Target;
use rustix::fs::{AtFlags, Mode, OFlags};

use super::open::Root;
use super::system_error;

/// Puts new content under the name of the target.
pub(super) fn replace(root: &Root, target: &Target, content: &[u8]) -> Result<(), ToolError> {
    let path = target.to_string();
    let (folder, name) = root.open_parent(target)?;
    let temporary = format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple());
    let written = write_beside(folder.as_fd(), &temporary, content, mode_of(folder.as_fd(), name))
        .and_then(|()| Ok(rustix::fs::renameat(&folder, temporary.as_str(), &folder, name)?));
    if written.is_err() {
        // Only our own half-written file goes; the old content was never touched.
        let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
    }
    written.and_then(|()| Ok(rustix::fs::fsync(&folder)?)).map_err(|error| system_error(error, &path, Operation::Write))
}

fn mode_of(folder: impl AsFd, name: &std::ffi::OsStr) -> Mode {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Mode::from_raw_mode(stat.st_mode & 0o7777),
        Err(_) => Mode::from_raw_mode(0o666),
    }
}

fn write_beside(folder: impl AsFd, name: &str, content: &[u8], mode: Mode) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, mode)?);
    file.write_all(content)?;
    file.sync_all()
}
