//! The doors: the only ways in which a tool touches anything outside itself.
//!
//! They are traits so that this crate does no I/O and a test can stand in for the disk. Every
//! method that acts takes a [`Permit`], which knows what was planned and approved; a door refuses
//! what is not in it, and notes what it did. So `did` never depends on what a tool says.
//!
//! In-process tools are trusted code: the doors catch a mistake, not malice.
//!
//! Not here: how (`haft-workspace`), whether (`haft-policy`).

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::BoxFuture;
use crate::call::CallId;
use crate::effect::{Change, Effect, StateKey};
use crate::error::ToolError;
use crate::kinds::ErrorKind;
use crate::path::{Extent, RawPath, Target};
use crate::search::{FindRequest, Found, ListRequest, Listing, SearchRequest, Searched, SearchedSoFar};
use crate::stamp::Stamp;

/// All doors of one workspace.
#[derive(Clone)]
pub struct Doors {
    /// Looks, never changes; used while planning.
    pub look: Arc<dyn Look>,
    /// Reads and changes the user's files.
    pub files: Arc<dyn Files>,
    /// Keeps what belongs to haft.
    pub store: Arc<dyn Store>,
}

/// Looks at the file system while a call is planned. Never changes anything, needs no permit.
pub trait Look: Send + Sync {
    /// Says where a path leads; links are followed, nothing needs to exist.
    fn locate(&self, raw: &RawPath, extent: Extent) -> Result<Target, ToolError>;

    /// Describes what is there; a missing file is an error with the nearest names.
    fn facts(&self, target: &Target) -> Result<FileFacts, ToolError>;

    /// Returns the stamp of a file inside the workspace, if there is one.
    fn stamp(&self, target: &Target) -> Option<Stamp>;
}

/// What the kernel says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// What it is.
    pub kind: FileKind,
    /// Which version it is.
    pub stamp: Stamp,
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

    /// Lists a folder.
    fn list<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: ListRequest,
    ) -> BoxFuture<'a, Result<Listing, ToolError>>;

    /// Finds names below a folder.
    fn find<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: FindRequest,
    ) -> BoxFuture<'a, Result<Found, ToolError>>;

    /// Searches the content of a file, or of all files below a folder; tells once a second how far it is.
    fn search<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: SearchRequest,
        told: &'a (dyn Fn(SearchedSoFar) + Send + Sync),
    ) -> BoxFuture<'a, Result<Searched, ToolError>>;

    /// Creates or replaces a file as a whole: afterwards it has the old or the new content.
    fn write<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        content: &'a [u8],
    ) -> BoxFuture<'a, Result<Change, ToolError>>;
}

/// Which lines to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first line, from 1.
    pub first_line: u64,
    /// Most lines.
    pub lines: usize,
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
    /// How many lines there are in all, where the end was reached.
    pub total_lines: Option<u64>,
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    /// The text, cut at the requested length.
    pub text: String,
    /// How many characters were left out at its end.
    pub cut: usize,
}

/// Keeps what belongs to haft and not to the user: outputs too long to show.
pub trait Store: Send + Sync {
    /// Keeps a whole output and returns the id under which it can be read again.
    fn spill<'a>(&'a self, session: &'a SessionName, text: &'a str) -> BoxFuture<'a, Result<String, ToolError>>;

    /// Reads some lines of a kept output of the same session.
    fn spilled<'a>(
        &'a self,
        permit: &'a Permit,
        spill: Spill<'a>,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>>;
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

/// The permission of one call: what was planned and approved, and the notes of what was done.
#[derive(Debug)]
pub struct Permit {
    call: CallId,
    effects: Arc<[Effect]>,
    stop: CancellationToken,
    receipts: Receipts,
}

/// What doors have done under one permit. Shared, so that work on another thread notes what it did when it did it.
#[derive(Clone, Debug, Default)]
pub struct Receipts(Arc<Mutex<Vec<Receipt>>>);

impl Receipts {
    /// Notes what a door did. Only doors do so.
    pub fn note(&self, receipt: Receipt) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }

    /// Returns what was done so far.
    pub fn so_far(&self) -> Vec<Receipt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a door did under a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It read this version of a file.
    Read(Target, Stamp),
    /// It changed a file.
    Changed(Target, Change),
}

impl Permit {
    /// Issues the permit of a call. Only the stage that executes calls does so.
    pub fn issue(call: CallId, effects: Arc<[Effect]>, stop: CancellationToken) -> Self {
        Self { call, effects, stop, receipts: Receipts::default() }
    }

    /// Refuses what was not planned, and any new work after the call was told to stop.
    pub fn admit(&self, effect: &Effect) -> Result<(), ToolError> {
        self.go_on()?;
        if self.effects.iter().any(|planned| planned.covers(effect)) {
            return Ok(());
        }
        Err(ToolError::of(ErrorKind::Bug, format!("The tool tried to {effect}, which it had not planned.")))
    }

    /// Fails once the call was told to stop. Long work asks between its steps.
    pub fn go_on(&self) -> Result<(), ToolError> {
        if self.stop.is_cancelled() {
            return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped."));
        }
        Ok(())
    }

    /// Returns the token that is cancelled when the call shall stop.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns the call that the permit is for.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Returns the notes of what was done.
    pub fn receipts(&self) -> &Receipts {
        &self.receipts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Place;

    fn permit(effects: &[Effect]) -> Permit {
        Permit::issue(CallId::new("1"), effects.into(), CancellationToken::new())
    }

    fn file(path: &str) -> Target {
        Target::Inside(Place::new(path, Extent::Entry))
    }

    #[test]
    fn a_permit_admits_what_was_planned_and_nothing_else() {
        let permit = permit(&[Effect::Change(file("a"), Change::Replace)]);
        assert!(permit.admit(&Effect::Change(file("a"), Change::Replace)).is_ok());
        assert!(permit.admit(&Effect::Read(file("a"))).is_ok());
        let refused = permit.admit(&Effect::Change(file("b"), Change::Replace)).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Bug);
    }

    #[test]
    fn a_planned_tree_covers_what_lies_below_it() {
        let permit = permit(&[Effect::Read(Target::Inside(Place::new("src", Extent::Tree)))]);
        assert!(permit.admit(&Effect::Read(file("src/a/b.rs"))).is_ok());
        assert!(permit.admit(&Effect::Read(file("docs/a"))).is_err());
        assert!(permit.admit(&Effect::Change(file("src/a"), Change::Create)).is_err());
    }

    #[test]
    fn after_the_stop_signal_a_permit_admits_nothing() {
        let permit = permit(&[Effect::Read(file("a"))]);
        permit.stop().cancel();
        assert_eq!(permit.admit(&Effect::Read(file("a"))).unwrap_err().kind, ErrorKind::Cancelled);
    }
}
