//! Copies the content of a file piece by piece, to allow a stop inside a large file.
//!
//! If the disk can let two files share their content, it does; holes stay holes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rustix::fs::{SeekFrom as Towards, seek};
use rustix::io::Errno;

/// How many bytes the system copies in one call, before haft asks whether to continue.
const PIECE: u64 = 16 * 1024 * 1024;

/// The outcome of copying the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentCopyOutcome {
    Whole,
    Stopped,
}

/// Copies everything from one file to an empty one.
pub(super) fn copy(source: &mut File, target: &mut File, stopped: &dyn Fn() -> bool) -> io::Result<ContentCopyOutcome> {
    let mut at = 0;
    while let Some((start, end)) = next_data(source, at)? {
        at = start;
        source.seek(SeekFrom::Start(start))?;
        target.seek(SeekFrom::Start(start))?;
        while at < end {
            if stopped() {
                return Ok(ContentCopyOutcome::Stopped);
            }
            match io::copy(&mut source.take(PIECE.min(end - at)), target)? {
                // It has become shorter meanwhile, or its length is unknown.
                0 => return Ok(ContentCopyOutcome::Whole),
                copied => at += copied,
            }
        }
    }
    let whole = source.metadata()?.len();
    if whole > at {
        target.set_len(whole)?;
    }
    Ok(ContentCopyOutcome::Whole)
}

/// Returns where the next bytes are that are no hole; nothing where there are none.
fn next_data(source: &File, from: u64) -> io::Result<Option<(u64, u64)>> {
    let start = match seek(source, Towards::Data(from)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // A system without holes: everything is read to the end.
        Err(_) if from == 0 => return Ok(Some((0, u64::MAX))),
        Err(errno) => return Err(errno.into()),
    };
    let end = seek(source, Towards::Hole(start))?;
    Ok((end > start).then_some((start, end)))
}
