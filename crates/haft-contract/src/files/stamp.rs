//! The state of a file when it was read, for noticing later changes.

/// Identifies one version of a file's content as the kernel describes it.
///
/// Two equal stamps mean that the file has not been written since, as far as the file system can
/// tell. A call whose file has another stamp than its plan saw is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Time of the last change of content or metadata, nanoseconds since the epoch.
    pub changed_ns: i128,
    /// Number of the inode; a replaced file has another one.
    pub inode: u64,
}

/// One version of a file: how the kernel describes it, and the hash of its content.
///
/// A stamp notices a change at the price of one look; the hash tells whether the content is really
/// another one, for instance after a mere `touch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileVersion {
    /// How the kernel describes it.
    pub stamp: FileStamp,
    /// The hash of the content, as the file door computes it.
    pub content: [u8; 32],
}

/// What a plan found at a target that it would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpectedVersion {
    /// Nothing.
    Nothing,
    /// Something with this stamp.
    Stamped(FileStamp),
    /// A file whose content was read.
    Read(FileVersion),
}

impl ExpectedVersion {
    /// Returns the stamp of what was found.
    pub fn stamp(&self) -> Option<FileStamp> {
        match self {
            ExpectedVersion::Nothing => None,
            ExpectedVersion::Stamped(stamp) => Some(*stamp),
            ExpectedVersion::Read(version) => Some(version.stamp),
        }
    }
}
