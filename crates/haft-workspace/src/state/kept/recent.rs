//! Keeps the last calls of a workspace, to show how a tool performed.
//!
//! Not here: sessions and the journal, which keep everything.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::state::own_files::private;
use crate::state::own_files::registry::Claim;

/// When the file is larger, a new one starts and the old one is kept beside it.
const LARGEST: u64 = 512 * 1024;

/// The last calls of a workspace.
#[derive(Clone, Debug)]
pub struct RecentCalls {
    path: PathBuf,
    claim: Claim,
    /// The file, open: looking at all folders on the way to it for each call costs more than the record.
    open: Arc<Mutex<Option<File>>>,
}

impl RecentCalls {
    pub(in crate::state) fn new(path: PathBuf, claim: Claim) -> Self {
        Self { path, claim, open: Arc::default() }
    }

    /// Adds the record of a call.
    pub fn add(&self, record: &Value) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match open.take() {
            Some(file) => file,
            None => self.opened()?,
        };
        let mut file = self.locked(file)?;
        if file.metadata()?.len() > LARGEST {
            std::fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            file = self.opened()?;
        }
        // One write, so that a reader without the lock sees whole lines.
        file.write_all(format!("{record}\n").as_bytes())?;
        flock(&file, FlockOperation::Unlock)?;
        *open = Some(file);
        Ok(())
    }

    /// Locks the file that is at the path: another process may have begun a new one, or removed the folder.
    fn locked(&self, file: File) -> io::Result<File> {
        flock(&file, FlockOperation::LockExclusive)?;
        let own = file.metadata()?;
        if self.path.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino())) {
            return Ok(file);
        }
        let file = self.opened()?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    fn opened(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            private::create_folder(folder)?;
        }
        self.claim.stake();
        private::append_file(&self.path)
    }

    /// Returns the newest record of a tool.
    pub fn last_of(&self, tool: &str) -> Option<Value> {
        let newest = |path: &PathBuf| {
            let file = private::read_file(path).ok()?;
            // A record is small, and so is the file; whatever else lies there is not read.
            let lines = BufReader::new(file.take(4 * LARGEST)).lines().map_while(Result::ok);
            // A line that a crash cut off is no record and is passed over.
            let records = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
            records.filter(|record| record["tool"] == tool).last()
        };
        newest(&self.path).or_else(|| newest(&self.path.with_extension("old.jsonl")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::state::WorkspaceState;

    #[test]
    fn records_go_to_the_file_that_is_there_also_when_it_or_its_folder_was_removed_since() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path().join("root");
        std::fs::create_dir(&root).expect("it is new");
        let state = WorkspaceState::new(&folder.path().join("state"), &root);
        let add = |tool: &str| state.recent_calls().add(&json!({ "tool": tool })).expect("it can be written");
        let has = |tool: &str| state.recent_calls().last_of(tool).is_some();
        add("first");
        let path = state.recent_calls().path;
        std::fs::remove_file(&path).expect("it is there");
        add("second");
        assert_eq!((has("first"), has("second")), (false, true));
        std::fs::remove_dir_all(path.parent().expect("it is in a folder")).expect("it is there");
        add("third");
        assert_eq!((has("second"), has("third")), (false, true));
    }
}
