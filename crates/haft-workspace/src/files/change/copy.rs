//! Reads a whole file of a bounded size.

use std::fs::File;
use std::io::{self, Read};

use haft_contract::doors::door::{FileCopy, FileKind};
use haft_contract::files::path::Target;
use haft_contract::files::stamp::FileVersion;
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::OFlags;

use crate::files::read::facts::{kind_of, special, stamp_of};
use crate::files::read::open::WorkspaceRoot;
use crate::files::read::{missing, page};
use crate::files::system_error;

/// Reads a file of at most so many bytes, with the version it is.
pub(in crate::files) fn copy(root: &WorkspaceRoot, target: &Target, most: u64) -> Result<FileCopy, ToolError> {
    let path = target.to_string();
    let opened = match root.open_target(target, OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let broken = |error: io::Error| system_error(error, &path, FailedOperation::Read);
    let stat = rustix::fs::fstat(&opened).map_err(|errno| broken(errno.into()))?;
    match kind_of(&stat) {
        FileKind::File => {}
        FileKind::Folder => return Err(page::folder(&path)),
        FileKind::Link | FileKind::Special => return Err(special(&path)),
    }
    let stamp = stamp_of(&stat);
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size.min(most)).unwrap_or(0));
    // What is read counts, not what the file says of itself: a pseudo file has no size and no end.
    let file = File::from(opened);
    (&file).take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > most {
        return Err(too_large(&path, most));
    }
    let after = rustix::fs::fstat(&file).map_err(|errno| broken(errno.into()))?;
    if stamp_of(&after) != stamp {
        let what = format!("Another program is changing {path} at this moment.");
        return Err(ToolError::of(ErrorKind::Stale, what).about_file(path, FailedOperation::Read));
    }
    let content = *blake3::hash(&bytes).as_bytes();
    Ok(FileCopy { bytes: bytes.into(), version: FileVersion { stamp, content } })
}

fn too_large(path: &str, most: u64) -> ToolError {
    let next = Next::DoNotRetry("use a command that works on a stream, or split the file".into());
    let what = format!("{path} is larger than {} MiB, the maximum for one change.", most / 1024 / 1024);
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, FailedOperation::Read)
}
