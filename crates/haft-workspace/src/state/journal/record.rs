//! The records of the journal: what a change is about to do, and whether it was done.
//!
//! An intent carries everything that is needed to undo the change: the state before it and after it. So haft notices a later
//! change by another program. These types are the file format: fields may be added, but never change their meaning.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use haft_contract::doors::connection::HostOutcome;
use haft_contract::doors::door::{Provenance, Receipts};
use serde::{Deserialize, Serialize};

use crate::state::sessions::SessionId;

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum Record {
    /// A process is about to do this. Synced before anything is done.
    Intent(Box<Intent>),
    /// How it ended.
    Outcome(IntentOutcome),
    /// Everything up to here was dropped to keep within the room.
    Dropped {
        /// The highest change set that is gone.
        up_to: u64,
    },
}

/// What a process is about to do: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// The change set. All changes of one call are one.
    pub(crate) set: u64,
    /// The how-manieth intent of the change set, from 0.
    pub(crate) part: u32,
    /// When, in milliseconds since the epoch.
    pub(crate) at: u64,
    pub(crate) by: ChangeAuthor,
    /// Which change sets it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) takes_back: Option<TakesBack>,
    /// Folders that are opened for it, with the modes that they have before and afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) opened: Vec<(PathText, u32)>,
    pub(crate) steps: Vec<IntentStep>,
}

/// The call, session, run and agent that a change is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeAuthor {
    pub(crate) tool: String,
    pub(crate) call: String,
    pub(crate) session: String,
    pub(crate) run: String,
    pub(crate) turn: u64,
    /// A person, a script, a model, or the name of the program that made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The command that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// What was done, where no command was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The hosts that the command reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
}

impl ChangeAuthor {
    /// Notes the hosts that the commands of the call have reached.
    pub(crate) fn having_reached(mut self, receipts: &Receipts) -> Self {
        let reached = receipts.run_facts().reached;
        let reached = reached.into_iter().filter(|host| host.outcome == HostOutcome::Reached);
        self.hosts = reached.map(|host| host.host).collect();
        self.hosts.sort_unstable();
        self.hosts.dedup();
        self
    }

    /// Returns when the run began, in milliseconds since the epoch, where its name says so.
    pub(super) fn run_began_ms(&self) -> Option<u64> {
        let name = uuid::Uuid::try_parse(&self.run).ok()?;
        let (seconds, nanoseconds) = name.get_timestamp()?.to_unix();
        Some(seconds.checked_mul(1_000)? + u64::from(nanoseconds) / 1_000_000)
    }

    /// Returns whether both belong to one session. That of an agent has a name of its own and may be taken up by another
    /// process; all others end with theirs.
    pub(crate) fn is_of_session(&self, other: &ChangeAuthor) -> bool {
        let is_agents = || self.session.parse::<SessionId>().is_ok();
        self.run == other.run || self.session == other.session && is_agents()
    }
}

impl From<&Provenance> for ChangeAuthor {
    fn from(errand: &Provenance) -> Self {
        Self {
            tool: errand.tool.clone(),
            call: errand.call.to_string(),
            session: errand.session.as_str().to_owned(),
            run: errand.run.to_string(),
            turn: errand.turn,
            agent: errand.purpose.agent.clone(),
            command: errand.purpose.command.clone(),
            description: errand.purpose.description.clone(),
            hosts: Vec::new(),
        }
    }
}

/// Says that a change set takes others back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TakesBack {
    pub(crate) how: UndoDirection,
    pub(crate) sets: Vec<u64>,
    /// Only the changes of these paths; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) only: Vec<PathText>,
    /// Whether it took back only parts of contents, or restored them beside: then the change sets still hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partly: bool,
}

/// Whether changes are undone or redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UndoDirection {
    Undo,
    Redo,
}

/// One step of an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStep {
    /// A path goes from one state to another.
    Change {
        path: PathText,
        before: PathState,
        after: PathState,
        /// The name of the file beside it that holds the new content until it is in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Box<str>>,
    },
    /// A file or folder gets another name.
    Move { from: PathText, to: PathText },
    /// Entries of an ignored tree change places with entries of a store, by rename.
    Tree { path: PathText, tree: TreeRecord },
}

/// One exchange between an ignored tree and its store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeRecord {
    pub(crate) store: StoreName,
    /// The number of the exchange, from 0: a commit, its undo, its redo and so on.
    pub(crate) exchange: u32,
    /// How many entries the exchange created, replaced and removed in the workspace.
    #[serde(default)]
    pub(crate) counts: [u64; 3],
}

/// Names the folder that holds one side of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreName {
    pub(crate) base: StoreBase,
    pub(crate) id: String,
}

/// The folder that holds the stores: it is on the file system of the workspace, because a rename does not leave one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoreBase {
    /// The workspace's state folder.
    State,
    /// A hidden folder at this place of the workspace.
    Workspace(PathText),
}

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PathState {
    Absent,
    File {
        mode: u32,
        size: u64,
        hash: ContentHash,
        content: ContentLocation,
        /// Nothing in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<FileOwner>,
    },
    Link {
        to: PathText,
    },
    Folder {
        mode: u32,
    },
}

impl PathState {
    /// Returns whether both describe the same bytes, link or folder, whatever the mode and wherever it is kept.
    pub(crate) fn is_same_content(&self, other: &PathState) -> bool {
        match (self, other) {
            (PathState::Absent, PathState::Absent) | (PathState::Folder { .. }, PathState::Folder { .. }) => true,
            (PathState::File { hash, .. }, PathState::File { hash: other, .. }) => hash == other,
            (PathState::Link { to }, PathState::Link { to: other }) => to == other,
            _ => false,
        }
    }

    /// Returns who may do what with a file.
    pub(crate) fn rights(&self) -> Option<Rights> {
        match self {
            PathState::File { mode, owner, .. } => Some(Rights { mode: *mode, owner: *owner }),
            PathState::Absent | PathState::Link { .. } | PathState::Folder { .. } => None,
        }
    }

    /// Returns the same with other permission bits, where there are any.
    pub(crate) fn with_mode(&self, mode: u32) -> Option<PathState> {
        let mut state = self.clone();
        match &mut state {
            PathState::File { mode: old, .. } | PathState::Folder { mode: old } => *old = mode,
            PathState::Absent | PathState::Link { .. } => return None,
        }
        Some(state)
    }

    /// Returns whether only the permission bits differ.
    pub(crate) fn differs_in_mode(&self, other: &PathState) -> bool {
        self.is_same_content(other) && self.mode() != other.mode()
    }

    /// Returns the permission bits, where there are any.
    pub(crate) fn mode(&self) -> Option<u32> {
        match self {
            PathState::File { mode, .. } | PathState::Folder { mode } => Some(*mode),
            PathState::Absent | PathState::Link { .. } => None,
        }
    }
}

/// The owner and the group of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileOwner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Who may do what with a file: the bits mean nothing without the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) mode: u32,
    /// Nothing when it is not known.
    pub(crate) owner: Option<FileOwner>,
}

/// The location where a content is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ContentLocation {
    /// Behind the record itself.
    Inline { at: u32, length: u32 },
    /// In a file named by its hash.
    Object { hash: ContentHash },
    /// Made of the content before: its beginning, something new, its end.
    Splice { begin: u64, middle: Box<ContentLocation>, end: u64 },
    /// Not at all; it can only be recognised.
    No,
}

impl IntentStep {
    /// Returns the paths that it concerns.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathText> {
        let (one, other) = match self {
            IntentStep::Change { path, .. } | IntentStep::Tree { path, .. } => (path, None),
            IntentStep::Move { from, to } => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }
}

/// The outcome of an intended change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntentOutcome {
    pub(crate) set: u64,
    pub(crate) part: u32,
    pub(crate) happened: bool,
    /// Where it failed and could be taken back only in part: the steps that stand, by their place. Empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) standing: Vec<usize>,
}

impl Intent {
    /// Returns the outcome when all of it was done.
    pub(crate) fn happened(&self) -> IntentOutcome {
        IntentOutcome { set: self.set, part: self.part, happened: true, standing: Vec::new() }
    }

    /// Returns the outcome when it failed, and these of its steps stand all the same.
    pub(crate) fn failed(&self, standing: Vec<usize>) -> IntentOutcome {
        IntentOutcome { happened: !standing.is_empty(), standing, ..self.happened() }
    }

    /// Forgets the names of files that hold new contents until they are in place.
    pub(super) fn forget_names_beside(&mut self) {
        for step in &mut self.steps {
            if let IntentStep::Change { beside, .. } = step {
                *beside = None;
            }
        }
    }

    /// Forgets the steps that did not happen, and claims to take back only what the others did.
    pub(super) fn keep_only(&mut self, standing: &[usize]) {
        let mut place = 0..;
        self.steps.retain(|_| place.next().is_some_and(|place| standing.contains(&place)));
        if let Some(takes_back) = &mut self.takes_back {
            takes_back.only = self.steps.iter().flat_map(IntentStep::paths).cloned().collect();
        }
    }
}

/// The hash of a content, as hexadecimal digits in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ContentHash(pub(crate) [u8; 32]);

impl ContentHash {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        blake3::Hash::from(hash.0).to_hex().to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self(*blake3::Hash::from_hex(text)?.as_bytes()))
    }
}

/// A path in a record: text where it is text, else its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum PathText {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl PathText {
    pub(crate) fn as_path(&self) -> &Path {
        match self {
            PathText::Text(text) => Path::new(text),
            PathText::Bytes { bytes } => Path::new(OsStr::from_bytes(bytes)),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self {
            PathText::Text(text) => text.into(),
            PathText::Bytes { bytes } => OsString::from_vec(bytes.clone()).into(),
        }
    }
}

impl From<&Path> for PathText {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => PathText::Bytes { bytes: path.as_os_str().as_bytes().to_vec() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_an_earlier_version_is_read_without_command_and_agent() {
        let text = r#"{"record":"intent","set":1,"part":0,"at":5,"steps":[],
            "by":{"tool":"bash","call":"1","session":"s","run":"r","turn":2}}"#;
        let by = ChangeAuthor {
            tool: "bash".into(),
            call: "1".into(),
            session: "s".into(),
            run: "r".into(),
            turn: 2,
            ..ChangeAuthor::default()
        };
        match serde_json::from_str(text).expect("it is a record") {
            Record::Intent(intent) => assert_eq!(intent.by, by),
            other => panic!("{other:?}"),
        }
        let written = serde_json::to_string(&by).expect("it can be written");
        assert!(!written.contains("command") && !written.contains("agent"), "{written}");
    }
}
