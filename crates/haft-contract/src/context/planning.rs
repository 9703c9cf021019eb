//! The context that a tool gets while it plans: eyes, no hands.

use std::sync::{Arc, Mutex, PoisonError};

use super::ReadHistory;
use crate::call::CallOrigin;
use crate::doors::door::{Doors, FileCopy, Look, ReadVersion, SessionName};
use crate::doors::history::{History, PastChange, Reversal, ReversalReport, SessionRun};
use crate::doors::job::{Jobs, NoJobs};
use crate::doors::net::Net;
use crate::doors::process::Confinement;
use crate::doors::web::{SearchAccess, WebUrl};
use crate::files::path::{Extent, RawPath, Target};
use crate::files::stamp::FileVersion;
use crate::limits::Limits;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;
use crate::text::hidden::{Hides, NothingHidden};

/// What a tool has while it plans: it may look, never change.
pub struct PlanContext<'a> {
    doors: &'a Doors,
    look: &'a dyn Look,
    net: &'a dyn Net,
    seen: &'a dyn ReadHistory,
    origin: CallOrigin,
    limits: &'a Limits,
    history: &'a dyn History,
    session: Option<(&'a SessionName, &'a Arc<str>)>,
    read: Mutex<Vec<(Target, FileVersion)>>,
    hides: &'a dyn Hides,
    jobs: &'a dyn Jobs,
}

impl<'a> PlanContext<'a> {
    /// Gives a tool its eyes.
    pub fn new(doors: &'a Doors, seen: &'a dyn ReadHistory, origin: CallOrigin, limits: &'a Limits) -> Self {
        let Doors { look, net, history, .. } = doors;
        let (look, net, history) = (&**look, &**net, &**history);
        Self {
            doors,
            look,
            net,
            seen,
            origin,
            limits,
            history,
            session: None,
            read: Mutex::default(),
            hides: &NothingHidden,
            jobs: &NoJobs,
        }
    }

    /// Says in which session the call is made.
    pub fn in_session(mut self, name: &'a SessionName, run: &'a Arc<str>) -> Self {
        self.session = Some((name, run));
        self
    }

    /// Says which commands the session keeps running.
    pub fn knowing_jobs(mut self, jobs: &'a dyn Jobs) -> Self {
        self.jobs = jobs;
        self
    }

    /// Returns the commands that the session keeps running.
    pub fn jobs(&self) -> &'a dyn Jobs {
        self.jobs
    }

    /// Says what hides secrets from the caller.
    pub fn hiding_by(mut self, hides: &'a dyn Hides) -> Self {
        self.hides = hides;
        self
    }

    /// Returns what hides secrets from the caller.
    pub fn hides(&self) -> &'a dyn Hides {
        self.hides
    }

    fn session_run(&self) -> Option<SessionRun> {
        self.session.map(|(name, run)| SessionRun { name: name.clone(), run: run.clone() })
    }

    /// Returns the changes of the session that the call is made in, the newest first.
    pub fn past_changes(&self) -> Result<Vec<PastChange>, ToolError> {
        self.session_run().map_or_else(|| Ok(Vec::new()), |session| self.history.of_session(&session))
    }

    /// Says what it would do to take a change of the session back.
    pub fn preview_reversal(&self, request: &Reversal) -> Result<ReversalReport, ToolError> {
        match self.session_run() {
            Some(session) => self.history.preview(&session, request),
            None => Err(ToolError::of(ErrorKind::Unavailable, "There is no session whose changes could be undone.")),
        }
    }

    /// Says how well commands are confined here.
    pub fn confinement(&self) -> Confinement {
        self.doors.confinement()
    }

    /// Reads a whole file of at most so many bytes; what the plan rests on is noted.
    pub fn read(&self, target: &Target, most: u64) -> Result<FileCopy, ToolError> {
        let copy = self.look.read(target, most)?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push((target.clone(), copy.version));
        Ok(copy)
    }

    /// Returns which versions of which files the plan rests on.
    pub fn into_read(self) -> Vec<(Target, FileVersion)> {
        self.read.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the address of a document of the web, once.
    pub fn read_url(&self, text: &str) -> Result<WebUrl, ToolError> {
        self.net.read_url(text)
    }

    /// Returns what the user has set up to search the web; nothing where that is nothing.
    pub fn search_access(&self) -> Result<Option<SearchAccess>, ToolError> {
        self.net.search_access()
    }

    /// Says where the path of one entry leads.
    pub fn locate(&self, raw: &RawPath) -> Result<Target, ToolError> {
        self.look.locate(raw, Extent::Entry)
    }

    /// Says where the path of a tree leads.
    pub fn locate_tree(&self, raw: &RawPath) -> Result<Target, ToolError> {
        self.look.locate(raw, Extent::Tree)
    }

    /// Looks at what is there.
    pub fn look(&self) -> &dyn Look {
        self.look
    }

    /// Returns the version of the file that was read in this session.
    pub fn when_read(&self, target: &Target) -> Option<ReadVersion> {
        self.seen.when_read(target)
    }

    /// Returns whether the session has read or written this content of the file, now or earlier.
    pub fn has_seen(&self, target: &Target, content: &[u8]) -> bool {
        self.seen.has_seen(target, content)
    }

    /// Returns who made the call.
    pub fn origin(&self) -> CallOrigin {
        self.origin
    }

    /// Returns the limits of the session's profile.
    pub fn limits(&self) -> &Limits {
        self.limits
    }
}
