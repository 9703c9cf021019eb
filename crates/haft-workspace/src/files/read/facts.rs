//! Reads what the kernel reports about a file.

use haft_contract::doors::door::{FileFacts, FileKind};
use haft_contract::files::path::Target;
use haft_contract::files::stamp::FileStamp;
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::{FileType, OFlags, Stat};

use super::missing;
use super::open::WorkspaceRoot;
use crate::files::system_error;

/// Describes what is at a target.
pub(in crate::files) fn facts(root: &WorkspaceRoot, target: &Target) -> Result<FileFacts, ToolError> {
    let opened = match root.open_target(target, OFlags::PATH) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let stat = rustix::fs::fstat(&opened)
        .map_err(|errno| system_error(errno.into(), &target.to_string(), FailedOperation::Access))?;
    Ok(FileFacts { kind: kind_of(&stat), stamp: stamp_of(&stat) })
}

/// Returns the version of what is at a target, be it a link, without a word on why there is none.
pub(in crate::files) fn stamp(root: &WorkspaceRoot, target: &Target) -> Option<FileStamp> {
    let opened = root.open_target(target, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
    rustix::fs::fstat(&opened).ok().map(|stat| stamp_of(&stat))
}

pub(in crate::files) fn kind_of(stat: &Stat) -> FileKind {
    kind_of_type(FileType::from_raw_mode(stat.st_mode))
}

pub(in crate::files) fn kind_of_type(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Special,
    }
}

pub(in crate::files) fn stamp_of(stat: &Stat) -> FileStamp {
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    FileStamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: nanoseconds(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        changed_ns: nanoseconds(stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        inode: stat.st_ino,
    }
}

/// The error for what is neither file nor folder.
pub(in crate::files) fn special(path: &str) -> ToolError {
    ToolError::of(ErrorKind::SpecialFile, format!("{path} is a pipe, a socket or a device, not a regular file."))
        .about_file(path, FailedOperation::Access)
}
