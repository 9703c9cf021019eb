//! Writes a new file so that the disk starts immediately and the final sync has less to wait for.

use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU64;

use rustix::fs::{Advice, fadvise};

/// How many bytes are written in one step.
const STEP: usize = 1024 * 1024;
/// Less is not worth a call.
const LEAST: usize = 64 * 1024;

/// A file that is being written from its beginning.
pub(crate) struct Eager<'f> {
    file: &'f File,
    written: u64,
}

impl<'f> Eager<'f> {
    pub(crate) fn new(file: &'f File) -> Self {
        Self { file, written: 0 }
    }
}

impl Write for Eager<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(&bytes[..bytes.len().min(STEP)])?;
        if written >= LEAST {
            // What was just written is dirty, so it stays in memory; the system only begins to put it on the disk.
            let _ = fadvise(self.file, self.written, NonZeroU64::new(written as u64), Advice::DontNeed);
        }
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
