//! Lists the contents of an archive: names and sizes, as the archive declares them.

/// Most entries that are kept by name.
const MOST_KEPT: usize = 2_000;

/// The content of an archive, as the archive declares it.
#[derive(Debug, Default)]
pub(super) struct ArchiveListing {
    pub(super) count: u64,
    pub(super) files: u64,
    /// What all files have together when they are unpacked.
    pub(super) size: u64,
    /// The first entries.
    pub(super) entries: Vec<ArchiveEntry>,
    /// Whether there are no others.
    pub(super) is_whole: bool,
    /// Names that lead outside the folder that the archive is unpacked into.
    pub(super) outside: u64,
    pub(super) problems: Vec<String>,
}

/// One entry of an archive.
#[derive(Clone, Debug)]
pub(super) struct ArchiveEntry {
    pub(super) name: String,
    pub(super) size: u64,
    /// How much it takes in the archive, where that is known.
    pub(super) packed: Option<u64>,
    pub(super) kind: EntryKind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    Link,
    Special,
    /// A file that only a password opens.
    Encrypted,
}

impl ArchiveListing {
    pub(super) fn add(&mut self, entry: ArchiveEntry) {
        self.count += 1;
        if matches!(entry.kind, EntryKind::File | EntryKind::Encrypted) {
            self.files += 1;
            self.size = self.size.saturating_add(entry.size);
        }
        let mut parts = entry.name.split(['/', '\\']);
        if entry.name.starts_with(['/', '\\']) || parts.any(|part| part == "..") {
            self.outside += 1;
        }
        if self.entries.len() < MOST_KEPT {
            self.entries.push(entry);
        }
    }
}
