//! Replaces a file as a whole: a new file in the same folder, synced, then renamed over the old.
//!
//! At any moment the name holds the old or the new content. Nothing is ever written in place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use haft::door::{Receipt, Receipts};
use haft::effect::Change;
use haft::error::{Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};

use super::open::Root;
use super::{facts, system_error};

/// Puts new content under the name of the target, and notes it the moment it is there.
pub(super) fn write(
    root: &Root,
    (target, change): (&Target, Change),
    content: &[u8],
    receipts: &Receipts,
) -> Result<(), ToolError> {
    let path = target.to_string();
    let (folder, name) = root.open_parent(target)?;
    let temporary = format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple());
    let replaced = write_beside(folder.as_fd(), &temporary, content, mode_of(folder.as_fd(), name))
        .and_then(|()| rename(&folder, &temporary, name, change));
    if let Err(error) = replaced {
        // Only our own half-written file goes; the old content was never touched.
        let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
        return Err(not_written(error, &path));
    }
    receipts.note(Receipt::Changed(target.clone(), change));
    if let Some(stamp) = facts::stamp(root, target) {
        receipts.note(Receipt::Read(target.clone(), stamp));
    }
    // The new content is there; only whether it outlives a power cut is open.
    rustix::fs::fsync(&folder).map_err(|errno| {
        let what = format!("{path} has its new content, but the system could not make its folder durable: {errno}.");
        ToolError::of(ErrorKind::Io, what).about_file(path, Operation::Write)
    })
}

/// A file that was to be new is never put over one that has appeared since.
fn rename(folder: &OwnedFd, temporary: &str, name: &OsStr, change: Change) -> io::Result<()> {
    let flags = if change == Change::Create { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
    Ok(rustix::fs::renameat_with(folder, temporary, folder, name, flags)?)
}

fn not_written(error: io::Error, path: &str) -> ToolError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            ToolError::of(ErrorKind::Stale, format!("{path} appeared after the call was planned. It was not touched."))
                .about_file(path, Operation::Write)
        }
        _ => system_error(error, path, Operation::Write),
    }
}

fn mode_of(folder: impl AsFd, name: &OsStr) -> Option<Mode> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(Mode::from_raw_mode(stat.st_mode & 0o7777))
}

fn write_beside(folder: impl AsFd, name: &str, content: &[u8], mode: Option<Mode>) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666))?);
    if let Some(mode) = mode {
        // Set, not passed to the opening: there the mask of the process would take bits away.
        rustix::fs::fchmod(&file, mode)?;
    }
    file.write_all(content)?;
    file.sync_all()
}
