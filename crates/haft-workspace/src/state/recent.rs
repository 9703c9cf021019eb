//! The last calls of a workspace, so that one can ask how a tool went.
//!
//! Not here: sessions and the journal, which keep everything.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::private;
use super::registry::Claim;

/// When the file is larger, it starts anew and the old one is kept beside it.
const LARGEST: u64 = 512 * 1024;

/// The last calls of a workspace.
#[derive(Clone, Debug)]
pub struct RecentCalls {
    path: PathBuf,
    claim: Claim,
}

impl RecentCalls {
    pub(super) fn new(path: PathBuf, claim: Claim) -> Self {
        Self { path, claim }
    }

    /// Adds the record of a call.
    pub fn add(&self, record: &Value) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            private::create_folder(folder)?;
        }
        self.claim.stake();
        let mut file = private::append_file(&self.path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        if file.metadata()?.len() > LARGEST {
            std::fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            file = private::append_file(&self.path)?;
        }
        // One write, so that a reader without the lock sees whole lines.
        file.write_all(format!("{record}\n").as_bytes())
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
