//! An open file that a caller can read at any position.

use crate::BoxFuture;
use crate::outcome::error::ToolError;

/// Reads an open file at any place, so that a look at a large file does not read all of it.
///
/// It stays the same file, whatever its path leads to meanwhile. Reading may wait for the disk: read on a thread that may.
pub trait FileBytes: Send {
    /// Returns how many bytes the file had when it was opened.
    fn size(&self) -> u64;

    /// Reads bytes from a place on; fewer than asked for only at the end of the file.
    ///
    /// # Errors
    ///
    /// Fails where the system cannot read, and once the call was told to stop.
    fn read_at(&mut self, place: u64, into: &mut [u8]) -> Result<usize, ToolError>;
}

/// A file that is being opened.
pub type OpeningFile<'a> = BoxFuture<'a, Result<Box<dyn FileBytes>, ToolError>>;
