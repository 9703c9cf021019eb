//! The list of operations of one exchange; haft writes it to the store before the first operation.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::state::journal::PathText;

/// One operation of an exchange. Paths start at the tree; the empty path is the tree itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExchangeOperation {
    /// Moves an entry of the store into the workspace, where nothing is.
    Bring { path: PathText, comes: Identity },
    /// Moves an entry of the workspace into the store.
    Take { path: PathText, goes: Identity },
    /// Swaps an entry of the store with one of the workspace.
    Exchange { path: PathText, comes: Identity, goes: Identity },
    /// Makes a folder in the workspace, for what comes into it.
    Make { path: PathText, mode: u32 },
    /// Gives a folder of the workspace another mode and another time.
    Folder { path: PathText, before: FolderFacts, after: FolderFacts },
}

impl ExchangeOperation {
    pub(super) fn path(&self) -> &PathText {
        match self {
            ExchangeOperation::Bring { path, .. }
            | ExchangeOperation::Take { path, .. }
            | ExchangeOperation::Exchange { path, .. }
            | ExchangeOperation::Make { path, .. }
            | ExchangeOperation::Folder { path, .. } => path,
        }
    }

    /// Returns what it brings into the workspace.
    pub(super) fn comes(&self) -> Option<Identity> {
        match self {
            ExchangeOperation::Bring { comes, .. } | ExchangeOperation::Exchange { comes, .. } => Some(*comes),
            ExchangeOperation::Take { .. } | ExchangeOperation::Make { .. } | ExchangeOperation::Folder { .. } => None,
        }
    }

    /// Returns whether it moves an entry.
    pub(super) fn moves(&self) -> bool {
        matches!(
            self,
            ExchangeOperation::Bring { .. } | ExchangeOperation::Take { .. } | ExchangeOperation::Exchange { .. }
        )
    }
}

/// Recognises an entry again after it was moved: a rename changes nothing of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) inode: u64,
    /// Size and time of a file or link; nothing of a folder, whose entries come and go.
    pub(super) content: Option<(i64, i64, u64)>,
}

impl Identity {
    pub(super) fn of(stat: &Stat) -> Self {
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let content = (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
        Self { inode: stat.st_ino, content: (!is_folder).then_some(content) }
    }
}

/// Mode and time of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderFacts {
    pub(super) mode: u32,
    pub(super) modified: (i64, u64),
}

impl FolderFacts {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { mode: stat.st_mode & 0o7777, modified: (stat.st_mtime, stat.st_mtime_nsec) }
    }
}

/// What one exchange did.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) operations: Vec<ExchangeOperation>,
    /// The moment when it was done, in nanoseconds by the clock of the file system.
    pub(super) end: Option<i64>,
}

/// One line of a manifest.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ManifestLine {
    Operation(ExchangeOperation),
    End(i64),
}

impl Manifest {
    /// Writes the operations of an exchange.
    pub(super) fn write(file: &File, operations: &[ExchangeOperation]) -> io::Result<()> {
        let mut writer = BufWriter::new(file);
        for operation in operations {
            serde_json::to_writer(&mut writer, &ManifestLine::Operation(operation.clone()))?;
            writer.write_all(b"\n")?;
        }
        writer.flush()?;
        drop(writer);
        file.sync_data()
    }

    /// Adds the moment when the exchange was done.
    pub(super) fn write_end(mut file: &File, end: i64) -> io::Result<()> {
        let mut line = serde_json::to_vec(&ManifestLine::End(end))?;
        line.push(b'\n');
        file.write_all(&line)
    }

    /// Reads the operations of an exchange.
    pub(super) fn read(file: File) -> io::Result<Self> {
        let mut manifest = Self::default();
        for line in BufReader::new(file).split(b'\n') {
            match serde_json::from_slice(&line?)? {
                ManifestLine::Operation(operation) => manifest.operations.push(operation),
                ManifestLine::End(end) => manifest.end = Some(end),
            }
        }
        Ok(manifest)
    }
}
