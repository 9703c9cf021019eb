//! Remembers which workspace a state folder belongs to: the path of its root, and the identity of that folder.
//!
//! A path alone does not identify a folder: the folder can be moved, and another one made in its place. Device, inode and
//! birth time do; an inode number alone is not enough, because the next folder may reuse it.

use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::private;
use crate::state::journal::PathText;

/// The name of the file in a state folder.
pub(in crate::state) const NAME: &str = "root.json";
/// No record is longer: a path has at most 4 KiB, and JSON may need four characters for a byte.
const LONGEST: u64 = 64 * 1024;

/// Which folder the root of a workspace is, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RootIdentity {
    device: u64,
    inode: u64,
    /// When the folder was made, in nanoseconds since 1970.
    born_ns: u64,
}

impl RootIdentity {
    /// Identifies a folder; nothing where the file system records no birth time.
    pub(in crate::state) fn of(root: &Path) -> Option<Self> {
        let facts = root.metadata().ok().filter(|facts| facts.is_dir())?;
        let born = facts.created().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        let born_ns = u64::try_from(born).ok().filter(|born| *born > 0)?;
        Some(Self { device: facts.dev(), inode: facts.ino(), born_ns })
    }

    /// Returns whether both are one folder, seen at one path. Device numbers change when a disk is mounted again.
    fn is_same_at_one_path(self, other: Self) -> bool {
        self.born_ns == other.born_ns && (self.inode == other.inode || self.device != other.device)
    }
}

/// What is known of the root of a workspace. This is a file format: a field is added, never given another meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RootRecord {
    path: PathText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<RootIdentity>,
    /// The name of the state folder, where that is another one: the workspace was moved here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::state) lives_in: Option<String>,
}

impl RootRecord {
    /// Describes a root as it is now.
    pub(in crate::state) fn of(root: &Path) -> Self {
        Self { path: PathText::from(root), identity: RootIdentity::of(root), lives_in: None }
    }

    /// Reads the record of a state folder; nothing where there is none that can be understood.
    pub(in crate::state) fn read(state: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        private::read_file(&state.join(NAME)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes the record into a state folder. Another process may write the same one at the same time.
    pub(in crate::state) fn write(&self, state: &Path) -> io::Result<()> {
        private::create_folder(state)?;
        let begun = state.join(format!(".{}", uuid::Uuid::now_v7().simple()));
        let mut file = private::create_file(&begun)?;
        let written = file.write_all(&serde_json::to_vec(self)?).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| std::fs::rename(&begun, state.join(NAME)));
        if placed.is_err() {
            let _ = std::fs::remove_file(&begun);
        }
        placed
    }

    /// Returns the last path of the root.
    pub(in crate::state) fn path(&self) -> PathBuf {
        self.path.path()
    }

    /// Returns a record that leads to another state folder.
    pub(in crate::state) fn leading_to(&self, state: &Path) -> Self {
        let name = state.file_name().map(|name| name.to_string_lossy().into_owned());
        Self { lives_in: name, ..self.clone() }
    }

    /// Returns whether this is the record of a root that is found under a name made of its path.
    pub(in crate::state) fn is_of(&self, root: &RootRecord) -> bool {
        match (self.identity, root.identity) {
            (Some(one), Some(other)) => one.is_same_at_one_path(other),
            _ => self.path == root.path,
        }
    }

    /// Returns whether this root was moved to where the other one is: it is the same folder, and its old path is not.
    /// Another process may have recorded the new path already.
    pub(in crate::state) fn moved_to(&self, root: &RootRecord) -> bool {
        let is_same = self.identity.is_some() && self.identity == root.identity;
        is_same && (self.path == root.path || !self.is_there())
    }

    /// Returns whether the root is still at its path.
    pub(in crate::state) fn is_there(&self) -> bool {
        let path = self.path();
        match (self.identity, RootIdentity::of(&path)) {
            (Some(recorded), Some(found)) => recorded.is_same_at_one_path(found),
            _ => path.is_dir(),
        }
    }

    /// Returns a few characters for the identity, for names.
    pub(in crate::state) fn short_identity(&self) -> String {
        let Some(RootIdentity { inode, born_ns, .. }) = self.identity else { return "0".to_owned() };
        blake3::hash(format!("{inode} {born_ns}").as_bytes()).to_hex()[..8].to_owned()
    }
}
