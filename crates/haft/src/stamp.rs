//! What a file looked like when it was read, so that a later change is noticed.

/// Identifies one version of a file's content as the kernel describes it.
///
/// Two equal stamps mean that the file has not been written since, as far as the file system can
/// tell. A call whose file has another stamp than its plan saw is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Time of the last change of content or metadata, nanoseconds since the epoch.
    pub changed_ns: i128,
    /// Number of the inode; a replaced file has another one.
    pub inode: u64,
}
