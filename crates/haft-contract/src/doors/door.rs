//! The doors: the only ways in which a tool touches anything outside itself.
//!
//! They are traits: this crate does no I/O, and a test can replace the disk. Every method that acts takes a [`Permit`],
//! which contains the approved effects. A door refuses anything else, and notes what it did; `did` comes from these notes.
//! In-process tools are trusted code: the doors catch mistakes, not malice.
//!
//! Not here: how a door acts (`haft-workspace`), whether it may (`haft-policy`).

mod file_bytes;
mod file_op;
mod permit;

pub use file_bytes::{FileBytes, OpeningFile};
pub use file_op::FileOp;
pub use permit::{
    ChangeSetId, ConsentKind, OldChanges, Permit, PermitIssuer, Provenance, Purpose, ReadVersion, Receipt, Receipts,
    RunFacts,
};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::history::History;
use super::idle_workers::IdleWorkers;
use super::net::Net;
use super::process::{Confinement, Processes, Staging, StagingMode};
use crate::BoxFuture;
use crate::effect::{Change, Effect, StateKey};
use crate::files::guarded::{SecretKind, refused_from_commands, secret_kind};
use crate::files::path::{Extent, RawPath, Target};
use crate::files::search::{
    FindRequest, FindResult, FolderListing, ListRequest, SearchRequest, SearchResult, SearchedSoFar,
};
use crate::files::stamp::{FileStamp, FileVersion};
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;
use crate::outcome::output::Image;
use crate::text::encoding::TextForm;
use crate::text::lines::LineEnds;

/// All doors of one workspace.
#[derive(Clone)]
pub struct Doors {
    /// Looks, never changes; used while planning.
    pub look: Arc<dyn Look>,
    /// Reads and changes the user's files.
    pub files: Arc<dyn Files>,
    /// Runs commands.
    pub processes: Arc<dyn Processes>,
    /// Sends requests to other machines.
    pub net: Arc<dyn Net>,
    /// Keeps what belongs to haft.
    pub store: Arc<dyn Store>,
    /// Knows what was changed, and takes it back.
    pub history: Arc<dyn History>,
    /// The workers that tools keep between calls.
    pub idle_workers: IdleWorkers,
}

impl Doors {
    /// Lets commands be run through this door.
    pub fn with_processes(mut self, processes: impl Processes + 'static) -> Self {
        self.processes = Arc::new(processes);
        self.idle_workers = IdleWorkers::default();
        self
    }

    /// Returns how well commands are confined on these files.
    pub fn confinement(&self) -> Confinement {
        let confinement = self.processes.confinement();
        match self.files.layerless() {
            Some(why) => confinement.without_layer(&why),
            None => confinement,
        }
    }

    /// Returns the doors for another session, whose commands and workers share no home, no temporary folder and no network
    /// with those of this one. Its place is made with its first command, and removed with the last clone of the doors.
    pub fn for_another_session(&self) -> Self {
        let processes = self.processes.for_another_session().unwrap_or_else(|| Arc::clone(&self.processes));
        Self { processes, idle_workers: IdleWorkers::default(), ..self.clone() }
    }

    /// Lets requests be sent through this door.
    pub fn with_net(mut self, net: impl Net + 'static) -> Self {
        self.net = Arc::new(net);
        self
    }
}

/// Looks at the file system while a call is planned. Never changes anything, needs no permit.
pub trait Look: Send + Sync {
    /// Says where a path leads; links are followed, nothing needs to exist.
    fn locate(&self, raw: &RawPath, extent: Extent) -> Result<Target, ToolError>;

    /// Describes what is there; a missing file is an error with the nearest names.
    fn facts(&self, target: &Target) -> Result<FileFacts, ToolError>;

    /// Returns the stamp of a file inside the workspace, if there is one.
    fn stamp(&self, target: &Target) -> Option<FileStamp>;

    /// Reads a whole file of at most so many bytes. Larger ones are an error.
    fn read(&self, target: &Target, most: u64) -> Result<FileCopy, ToolError>;

    /// Returns the names in a folder inside the workspace; of very many not all.
    fn names_in(&self, _folder: &Target) -> Vec<String> {
        Vec::new()
    }

    /// Returns the files of the workspace that are neither hidden nor ignored, by their paths below its root; at most so
    /// many. May take a while in a large workspace.
    fn file_names(&self, _most: usize) -> Vec<String> {
        Vec::new()
    }

    /// Returns what no tool knows of its own changes: that git takes a folder for a repository from then on, whose
    /// settings or hooks run programs, and that a protected name leads to what is changed.
    fn planted(&self, _changed: &[(&Target, Change)]) -> Vec<Effect> {
        Vec::new()
    }

    /// Returns the real path of a target inside: where a command can start.
    fn real_path(&self, _target: &Target) -> Option<PathBuf> {
        None
    }

    /// Returns whether there is a file at a real path, in any folder: for a program that a trusted source names.
    fn is_file(&self, _path: &Path) -> bool {
        false
    }

    /// Returns whether anything is at a real path, wherever it lies; yes where that is not known.
    fn is_there(&self, _path: &Path) -> bool {
        true
    }

    /// Returns the paths that a path leads through by links, itself first and the real one last, wherever they lie.
    fn way_to(&self, path: &Path) -> Vec<PathBuf> {
        vec![path.to_owned()]
    }

    /// Looks for files whose names say that they are secret, and returns those that changed since the last look. May
    /// take a while in a large workspace.
    fn secrets(&self, _breadth: Breadth) -> SecretLook {
        SecretLook { changed: Vec::new(), stores: Vec::new(), is_whole: true }
    }

    /// Returns what an index of git lists under names that are secret or protected; the index by its real path. Nothing
    /// where only git itself can read it.
    fn staged(&self, _index: &Path) -> Option<StagedEntries> {
        Some(StagedEntries::default())
    }

    /// Returns the user's home, where it is known: what `~` means in a command.
    fn home(&self) -> Option<PathBuf> {
        None
    }

    /// Names the workspace when it is so wide (the home, the system) that a person must agree, once, to commands in it.
    fn wide_workspace(&self) -> Option<String> {
        None
    }
}

/// How much of the workspace a look covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// At the entries of the workspace's own folder.
    FirstLevel,
    /// Everywhere in the workspace.
    Whole,
}

/// What a look for secret files found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretLook {
    /// The files that are new or changed since the last look, with the settings of git.
    pub changed: Vec<SecretFile>,
    /// What git keeps for the repositories that were met.
    pub stores: Vec<GitStore>,
    /// Whether all of them could be looked at: there may be too many, or one may be too large.
    pub is_whole: bool,
}

/// What git keeps for one repository, as far as one can see without git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitStore {
    /// The real path of git's folder, which all worktrees share.
    pub git_dir: PathBuf,
    /// What changes whenever a reference does.
    pub state: String,
    /// Objects that git's own files name, which no reference may reach.
    pub named: Vec<String>,
    /// Trees that they name.
    pub trees: Vec<String>,
    /// The index of each worktree, by its real path, and what changes whenever it does.
    pub indexes: Vec<(PathBuf, String)>,
}

/// The entries of a git index, in all stages, for secret files and for files that no command may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StagedEntries {
    /// The objects of secret files, with their paths.
    pub secrets: Vec<(String, String)>,
    /// The modes and objects of files that no command may change, with their paths.
    pub guarded: Vec<(String, String)>,
}

impl StagedEntries {
    /// Adds one file of an index, if its name means something.
    pub fn note(&mut self, mode_and_object: &dyn Fn() -> (String, String), path: &Path) {
        if secret_kind(path).is_some() {
            self.secrets.push((mode_and_object().1, path.display().to_string()));
        }
        if refused_from_commands(path, FileKind::File).is_some() {
            let (mode, object) = mode_and_object();
            self.guarded.push((format!("{mode} {object}"), path.display().to_string()));
        }
    }
}

/// A file that holds secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretFile {
    /// Its path, as people know it.
    pub path: String,
    /// How it holds them.
    pub kind: SecretKind,
    /// What it holds.
    pub text: String,
}

impl SecretFile {
    /// Makes a file of its bytes, in whatever encoding they are text.
    pub fn of(path: String, bytes: &[u8]) -> Self {
        let plain = String::from_utf8_lossy(bytes);
        let text = match crate::text::encoding::decode(bytes) {
            Ok(decoded) if decoded.text != plain => format!("{}\n{plain}", decoded.text),
            // Programs that know no encoding print what they read.
            Ok(_) | Err(_) => plain.into_owned(),
        };
        let kind = secret_kind(Path::new(&path)).unwrap_or(SecretKind::Data);
        Self { path, kind, text }
    }

    /// Says that the file holds other things besides, whatever its name.
    pub fn with_other_content(mut self) -> Self {
        self.kind = SecretKind::Source;
        self
    }
}

impl std::fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The whole content of a file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCopy {
    /// The content.
    pub bytes: Bytes,
    /// Which version it is.
    pub version: FileVersion,
}

/// What the kernel says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// What it is.
    pub kind: FileKind,
    /// Which version it is.
    pub stamp: FileStamp,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// Reads and changes the user's files.
pub trait Files: Send + Sync {
    /// Reads some lines of a text file.
    fn page<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>>;

    /// Reads an image of at most so many bytes; nothing when it is none that models take, or is larger.
    fn image<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        most: u64,
    ) -> BoxFuture<'a, Result<Option<Image>, ToolError>>;

    /// Opens a file to read parts of it. The session does not know its content afterwards.
    fn open<'a>(&'a self, _permit: &'a Permit, _target: &'a Target) -> OpeningFile<'a> {
        Box::pin(async { Err(ToolError::of(ErrorKind::Unavailable, "Parts of files cannot be read here.")) })
    }

    /// Lists a folder.
    fn list<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: ListRequest,
    ) -> BoxFuture<'a, Result<FolderListing, ToolError>>;

    /// Finds names below a folder.
    fn find<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: FindRequest,
    ) -> BoxFuture<'a, Result<FindResult, ToolError>>;

    /// Searches the content of a file, or of all files below a folder; tells once a second how far it is.
    fn search<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: SearchRequest,
        told: &'a (dyn Fn(SearchedSoFar) + Send + Sync),
    ) -> BoxFuture<'a, Result<SearchResult, ToolError>>;

    /// Makes these changes: afterwards all of them are made, or none is. Returns what became of each.
    ///
    /// What was there is in the journal before anything changes.
    fn change<'a>(
        &'a self,
        permit: &'a Permit,
        ops: &'a [FileOp],
    ) -> BoxFuture<'a, Result<Vec<FileOpResult>, ToolError>>;

    /// Says why what commands change could not be taken back, as far as that is known before one runs.
    fn uncovered(&self) -> Option<String>;

    /// Says why commands have no layer over the workspace and work on the real folders, as far as that is known before one
    /// runs.
    fn layerless(&self) -> Option<String> {
        None
    }

    /// Prepares what a command works on.
    fn ground<'a>(
        &'a self,
        permit: &'a Permit,
        wanted: StagingMode,
    ) -> BoxFuture<'a, Result<Box<dyn Staging>, ToolError>>;
}

/// The result of changing one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOpResult {
    /// Whether it was created, replaced or removed; a renamed one was created.
    pub change: Change,
    /// What could not be kept, or is otherwise worth knowing, a sentence each.
    pub notes: Vec<String>,
}

/// Which lines to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first line, from 1.
    pub first_line: u64,
    /// Most lines.
    pub lines: usize,
    /// The first character of the first line, from 1.
    pub column: u64,
    /// Most characters of a line that are kept.
    pub line_length: usize,
}

/// Some lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The lines, without their ends.
    pub lines: Vec<PageLine>,
    /// The number of the first line of the page, from 1.
    pub first_line: u64,
    /// Whether there are lines behind the page.
    pub more: bool,
    /// How many lines there are in all, where the end was reached or is near enough to count them.
    pub total_lines: Option<u64>,
    /// How the bytes are text.
    pub form: TextForm,
    /// How the lines end, as far as they were seen.
    pub line_ends: LineEnds,
    /// Whether bytes that are not text are shown as U+FFFD.
    pub lossy: bool,
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    /// The text, cut at the requested length.
    pub text: String,
    /// How many characters were left out at its beginning.
    pub before: usize,
    /// How many characters were left out at its end.
    pub cut: usize,
}

/// Keeps what belongs to haft and not to the user: outputs too long to show, and results that may serve again.
pub trait Store: Send + Sync {
    /// Keeps a whole output and returns the id under which it can be read again.
    fn spill<'a>(&'a self, session: &'a SessionName, text: &'a str) -> BoxFuture<'a, Result<String, ToolError>>;

    /// Begins to keep an output that comes in pieces, up to so many bytes.
    fn spilling(&self, session: &SessionName, most: u64) -> Result<Box<dyn Spilling>, ToolError>;

    /// Reads some lines of a kept output of the same session.
    fn spilled<'a>(
        &'a self,
        permit: &'a Permit,
        spill: Spill<'a>,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>>;

    /// Returns what was kept for whatever has this key, where it is no older than this.
    fn recall<'a>(&'a self, _key: &'a [u8], _no_older: Duration) -> BoxFuture<'a, Option<RecalledEntry>> {
        Box::pin(async { None })
    }

    /// Keeps data under this key, after secrets were hidden in it. No caller may rely on finding it later.
    fn remember<'a>(&'a self, _key: &'a [u8], _kept: Bytes) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// An entry that was kept for a later call, and its age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecalledEntry {
    /// What was kept.
    pub kept: Bytes,
    /// How long ago.
    pub age: Duration,
}

/// An output that is being kept. Dropped before it is finished, it is gone.
pub trait Spilling: Send {
    /// Keeps a piece of text, from which secrets were hidden. What is beyond the room, or fails, is counted and left out.
    fn keep(&mut self, text: &str);

    /// Finishes; returns the id under which it can be read again, and how many bytes were left out.
    fn finish(self: Box<Self>) -> Result<(String, u64), ToolError>;
}

/// Names a kept output of a session.
#[derive(Clone, Copy, Debug)]
pub struct Spill<'a> {
    /// The session.
    pub session: &'a SessionName,
    /// The id that its result named.
    pub id: &'a str,
}

impl Spill<'_> {
    /// Returns the effect of reading it.
    pub fn effect(&self) -> Effect {
        Effect::Session(StateKey(format!("spill:{}", self.id)))
    }
}

/// Names a session; only letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionName(String);

impl SessionName {
    /// Takes a name; every other character becomes `_`, so that a name is always a file name.
    pub fn new(name: &str) -> Self {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        Self(name.chars().take(64).map(safe).collect())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
