//! One change of a file by a tool; a tool makes several together.

use bytes::Bytes;

use crate::files::path::Target;

/// One change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// Creates or replaces a file. Missing folders above a new one are made.
    Put(Target, Bytes),
    /// Removes a file, a link or an empty folder.
    Remove(Target),
    /// Gives a file or a folder another name, where nothing is yet.
    Rename(Target, Target),
    /// Gives a file another name, where nothing is yet, and this content. It keeps its mode.
    RenameAs(Target, Target, Bytes),
}
