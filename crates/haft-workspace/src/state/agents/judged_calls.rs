//! Keeps the calls of other agents that haft has judged, until `haft exec` runs them.
//!
//! The guard answers with the call rewritten to `haft exec --ticket ID`. The ticket says which command was judged and what
//! the agent's answer covers, so haft does not ask a second time. A ticket is valid for one command.
//!
//! Not here: judging (`haft-host`).

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::state::AgentProcess;
use crate::state::own_files::private;
use crate::state::own_files::registry::Claim;

/// A ticket that is older is removed: its call was refused, or its agent has ended.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How many letters the name of a ticket has.
const LETTERS: usize = 12;

/// A call of another agent that haft has judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCall {
    /// The command, as the agent wrote it.
    pub line: String,
    /// The folder in which it starts, for which haft judged it.
    pub folder: PathBuf,
    /// The agent.
    pub agent: String,
    /// The agent's name for the call.
    pub call: String,
    /// The session of haft that the call belongs to.
    pub session: String,
    /// The agent's own name for its session.
    pub run: String,
    /// The number of the turn.
    pub turn: u64,
    /// Which questions the agent's answer covers.
    pub covers: Covers,
    /// The process of the agent, with which the session ends.
    pub owner: Option<AgentProcess>,
}

/// Which questions about a command need no second answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// Those about changes that undo can revert.
    Undoable,
    /// All: without haft the agent would run the command without a sandbox.
    All,
}

/// The judged calls of a workspace.
#[derive(Clone, Debug)]
pub struct JudgedCalls {
    folder: PathBuf,
    claim: Option<Claim>,
}

impl JudgedCalls {
    pub(in crate::state) fn new(folder: PathBuf) -> Self {
        Self { folder, claim: None }
    }

    /// Records whose state this is when the first call is kept.
    pub(in crate::state) fn claiming(mut self, claim: Claim) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Keeps a call; returns the name of its ticket.
    pub fn add(&self, call: &JudgedCall) -> io::Result<String> {
        private::create_folder(&self.folder)?;
        self.claim.iter().for_each(Claim::stake);
        self.remove_old();
        let hash = blake3::hash(uuid::Uuid::now_v7().as_bytes()).to_hex();
        let id = hash[..LETTERS].to_owned();
        private::create_file(&self.folder.join(&id))?.write_all(&serde_json::to_vec(call)?)?;
        Ok(id)
    }

    /// Returns the call of a ticket.
    pub fn find(&self, id: &str) -> Option<JudgedCall> {
        let mut bytes = Vec::new();
        private::read_file(&self.path(id)?).ok()?.read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Uses a ticket up. Fails if another command has used it, or if the folder cannot be written here.
    pub fn use_up(&self, id: &str) -> io::Result<()> {
        std::fs::remove_file(self.path(id).ok_or(io::ErrorKind::NotFound)?)
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        let is_id = id.len() == LETTERS && id.bytes().all(|letter| letter.is_ascii_hexdigit());
        is_id.then(|| self.folder.join(id))
    }

    fn remove_old(&self) {
        let is_old = |path: &Path| {
            let changed = path.symlink_metadata().and_then(|facts| facts.modified());
            changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LONGEST))
        };
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| is_old(path)).for_each(|path| drop(std::fs::remove_file(path)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_for_one_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let calls = JudgedCalls::new(folder.path().join("judged"));
        let call = JudgedCall {
            line: "make".into(),
            folder: "/w".into(),
            agent: "Claude Code".into(),
            call: "1".into(),
            session: "k3f9-q2bx".into(),
            run: "r".into(),
            turn: 1,
            covers: Covers::Undoable,
            owner: None,
        };
        let id = calls.add(&call).expect("it is kept");
        assert_eq!(calls.find(&id), Some(call));
        calls.use_up(&id).expect("it is there");
        assert!(calls.use_up(&id).is_err());
        assert_eq!((calls.find(&id), calls.find("../../secret")), (None, None));
    }
}
