//! A command to run, and the surroundings in which it runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::CallerStreams;
use crate::files::path::Target;

/// A command to run, with its folder, limits and surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The text of the command as it was planned and judged.
    pub line: String,
    /// The folder it starts in, by its real path.
    pub folder: PathBuf,
    /// How long it may run.
    pub time: Duration,
    /// What it reads from its input; nothing is there beyond that.
    pub input: Bytes,
    /// Variables beside those that every command has.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders and files that it may read beside those that every command may, by their real paths, also hidden ones.
    pub readable: Vec<PathBuf>,
    /// What of its changes comes into the workspace.
    pub keeps: Keeps,
    /// Which files of the workspace it can read.
    pub reads: ReadScope,
    /// The copy of the trusted code that it runs, where it is code of a project.
    pub code: Option<TrustedCode>,
    /// Which home and temporary folders it has.
    pub home: Home,
    /// Whether it goes on while others change the workspace, so that it is shown what they change.
    pub stays: bool,
    /// Its standard streams, where its caller brings them along.
    pub streams: Option<CallerStreams>,
}

/// Which home and temporary folders a command has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Fresh ones of its own, and no network but what was planned. Hooks and tools have them: what a command of the model
    /// leaves behind must not change what they do.
    #[default]
    Fresh,
    /// Those of the session, which commands share, and its network.
    Session,
}

impl CommandSpec {
    /// Runs these words in this folder for so long; the line is how it was planned and judged.
    pub fn new(words: Vec<OsString>, line: impl Into<String>, folder: PathBuf, time: Duration) -> Self {
        Self {
            words,
            line: line.into(),
            folder,
            time,
            input: Bytes::new(),
            environment: Vec::new(),
            readable: Vec::new(),
            keeps: Keeps::All,
            reads: ReadScope::All,
            code: None,
            home: Home::default(),
            stays: false,
            streams: None,
        }
    }
}

/// The files of the workspace that a command can read. Names stay visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadScope {
    /// Every file.
    All,
    /// Only these files and folders, by their real paths.
    Only(Arc<[PathBuf]>),
}

/// A copy of trusted code. The command sees it, read-only, in the place of the project's own files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrustedCode {
    /// The folder with the copy.
    pub folder: PathBuf,
    /// The workspace that it was taken from, by its real path.
    pub workspace: PathBuf,
    /// The files and folders of the copy that are shown, by their paths in both folders.
    pub places: Vec<PathBuf>,
}

/// What of a command's changes comes into the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that rules let in.
    All,
    /// Only what it had said that it would change; the rest is left out and named.
    Only(Arc<[Target]>),
}

impl Keeps {
    /// Returns whether something was said that it would change.
    pub fn names_changes(&self) -> bool {
        matches!(self, Keeps::Only(targets) if !targets.is_empty())
    }

    /// Returns whether a change of this target comes in.
    pub fn holds(&self, changed: &Target) -> bool {
        match self {
            Keeps::All => true,
            Keeps::Only(targets) => targets.iter().any(|target| target.holds(changed)),
        }
    }
}
