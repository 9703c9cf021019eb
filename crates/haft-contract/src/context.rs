//! What a tool is given: eyes while it plans, hands while it runs.

mod line_part;
mod serving;

pub use serving::{Broken, Serving};

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::call::Origin;
use crate::door::{
    ChangeSetId, Doors, FileCopy, Look, Page, PageLine, PageRequest, Permit, ReadVersion, SessionName, Spill, Spilling,
    Written,
};
use crate::error::{Next, ToolError};
use crate::history::{History, PastChange, Reversal, Reversed, SessionRun};
use crate::kinds::ErrorKind;
use crate::limits::Limits;
use crate::net::{Request, Response};
use crate::output::Image;
use crate::path::{Extent, RawPath, Target};
use crate::process::{
    Command, Confinement, Ended, Ground, Heard, HowEnded, Keeps, Level, NotRun, Processes, Ran, Reads, Settle, Settled,
    Wanted,
};
use crate::search::{FindRequest, Found, FoundLine, ListRequest, Listing, SearchRequest, Searched, SearchedSoFar};
use crate::session_state::{AgentState, NoState, Storage};
use crate::stamp::Version;
use crate::wrapping::Wrapping;
use line_part::{LinePart, part_of};

/// What the session knows of files it has read.
pub trait Seen: Send + Sync {
    /// Returns the version of the file that was read in this session.
    fn when_read(&self, target: &Target) -> Option<ReadVersion>;
}

/// Takes pieces of output while a call runs.
pub trait Progress: Send + Sync {
    /// Passes on a piece of text.
    fn chunk(&self, text: &str);

    /// Returns the text without secrets. Whoever cuts a text asks first: half a secret is not found again.
    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// Hides secrets in a text that comes in pieces.
    fn hiding(&self) -> Box<dyn Hiding>;
}

/// Hides secrets in a text that comes in pieces, also when one lies across two of them.
pub trait Hiding: Send {
    /// Takes a piece; returns what can be shown so far.
    fn take(&mut self, piece: &str) -> String;

    /// Returns what is left at the end.
    fn rest(&mut self) -> String;
}

/// Where nobody hears what a tool says while it works, as on an errand that is no call. Nothing is hidden.
pub struct Unheard;

impl Progress for Unheard {
    fn chunk(&self, _text: &str) {}

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    fn hiding(&self) -> Box<dyn Hiding> {
        Box::new(Self)
    }
}

impl Hiding for Unheard {
    fn take(&mut self, piece: &str) -> String {
        piece.to_owned()
    }

    fn rest(&mut self) -> String {
        String::new()
    }
}

/// How much more of a line is read than shown, so that a secret across the cut is seen as a whole.
const SEEN_BEYOND_THE_CUT: usize = 512;

/// What a tool has while it plans: it may look, never change.
pub struct PlanContext<'a> {
    look: &'a dyn Look,
    processes: &'a dyn Processes,
    seen: &'a dyn Seen,
    origin: Origin,
    limits: &'a Limits,
    history: &'a dyn History,
    session: Option<(&'a SessionName, &'a Arc<str>)>,
    read: Mutex<Vec<(Target, Version)>>,
}

impl<'a> PlanContext<'a> {
    /// Gives a tool its eyes.
    pub fn new(doors: &'a Doors, seen: &'a dyn Seen, origin: Origin, limits: &'a Limits) -> Self {
        let Doors { look, processes, history, .. } = doors;
        let (look, processes, history) = (&**look, &**processes, &**history);
        Self { look, processes, seen, origin, limits, history, session: None, read: Mutex::default() }
    }

    /// Says in which session the call is made.
    pub fn in_session(mut self, name: &'a SessionName, run: &'a Arc<str>) -> Self {
        self.session = Some((name, run));
        self
    }

    fn session_run(&self) -> Option<SessionRun> {
        self.session.map(|(name, run)| SessionRun { name: name.clone(), run: run.clone() })
    }

    /// Returns the changes of the session that the call is made in, the newest first.
    pub fn past_changes(&self) -> Result<Vec<PastChange>, ToolError> {
        self.session_run().map_or_else(|| Ok(Vec::new()), |session| self.history.of_session(&session))
    }

    /// Says what it would do to take a change of the session back.
    pub fn preview_reversal(&self, request: &Reversal) -> Result<Reversed, ToolError> {
        match self.session_run() {
            Some(session) => self.history.preview(&session, request),
            None => Err(ToolError::of(ErrorKind::Unavailable, "There is no session whose changes could be undone.")),
        }
    }

    /// Says how well commands are confined here.
    pub fn confinement(&self) -> Confinement {
        self.processes.confinement()
    }

    /// Reads a whole file of at most so many bytes; what the plan rests on is noted.
    pub fn read(&self, target: &Target, most: u64) -> Result<FileCopy, ToolError> {
        let copy = self.look.read(target, most)?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push((target.clone(), copy.version));
        Ok(copy)
    }

    /// Returns which versions of which files the plan rests on.
    pub fn into_read(self) -> Vec<(Target, Version)> {
        self.read.into_inner().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns who made the call.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the limits of the session's profile.
    pub fn limits(&self) -> &Limits {
        self.limits
    }
}

/// What a tool has while it runs: the doors, opened by the permit of this call.
pub struct RunContext<'a> {
    permit: &'a Permit,
    doors: &'a Doors,
    progress: &'a dyn Progress,
    session: &'a SessionName,
    limits: &'a Limits,
    settle: Settle,
    storage: &'a dyn Storage,
    agent_state: &'a dyn AgentState,
}

impl<'a> RunContext<'a> {
    /// Gives a tool its hands.
    pub fn new(
        permit: &'a Permit,
        doors: &'a Doors,
        progress: &'a dyn Progress,
        (session, limits): (&'a SessionName, &'a Limits),
    ) -> Self {
        let (settle, storage, agent_state) = (Settle::Keep, &NoState, &NoState);
        Self { permit, doors, progress, session, limits, settle, storage, agent_state }
    }

    /// Lets the tool have what the session shares.
    pub fn sharing(mut self, storage: &'a dyn Storage, agent_state: &'a dyn AgentState) -> Self {
        self.storage = storage;
        self.agent_state = agent_state;
        self
    }

    /// Lets what commands change come to this.
    pub fn settling(mut self, settle: Settle) -> Self {
        self.settle = settle;
        self
    }

    /// Reads some lines of a file.
    pub async fn page(&self, target: &Target, request: PageRequest) -> Result<Page, ToolError> {
        let page = self.doors.files.page(self.permit, target, seen_beyond(request)).await?;
        Ok(self.cut(page, request))
    }

    /// Reads an image of at most so many bytes; nothing when it is none that models take, or is larger.
    pub async fn image(&self, target: &Target, most: u64) -> Result<Option<Image>, ToolError> {
        self.doors.files.image(self.permit, target, most).await
    }

    /// Sends a request to another machine.
    pub async fn request(&self, request: &Request) -> Result<Response, ToolError> {
        self.doors.net.request(self.permit, request).await
    }

    /// Lists a folder.
    pub async fn list(&self, target: &Target, request: ListRequest) -> Result<Listing, ToolError> {
        self.doors.files.list(self.permit, target, request).await
    }

    /// Finds names below a folder.
    pub async fn find(&self, target: &Target, request: FindRequest) -> Result<Found, ToolError> {
        self.doors.files.find(self.permit, target, request).await
    }

    /// Searches the content of files, and passes on how far it is.
    pub async fn search(&self, target: &Target, request: SearchRequest) -> Result<Searched, ToolError> {
        let length = request.line_length;
        let request = SearchRequest { line_length: length.saturating_add(2 * SEEN_BEYOND_THE_CUT), ..request };
        let progress = self.progress;
        let told = |so_far: SearchedSoFar| {
            progress.chunk(&format!("searched {} files, {} matches\n", so_far.files, so_far.matches));
        };
        let mut searched = self.doors.files.search(self.permit, target, request, &told).await?;
        for line in searched.files.iter_mut().flat_map(|file| &mut file.lines) {
            self.cut_around(line, length);
        }
        Ok(searched)
    }

    /// Cuts a line at both ends.
    fn cut_around(&self, line: &mut FoundLine, length: usize) {
        if line.cut_before == 0 && line.text.len() <= length {
            return;
        }
        // Behind a cut there may be the rest of a secret, which nobody recognises.
        let unsafe_lead = if line.cut_before > 0 { SEEN_BEYOND_THE_CUT } else { 0 };
        let all = line.text.chars().count();
        let centred = line.match_at.saturating_sub(length / 2).min(all.saturating_sub(length));
        let part = self.part_of(&line.text, (centred.max(unsafe_lead).min(all), length));
        line.cut_before += part.before;
        line.cut_after += part.behind;
        line.match_at = line.match_at.saturating_sub(part.before);
        line.text = part.text;
    }

    fn part_of(&self, text: &str, part: (usize, usize)) -> LinePart {
        part_of(text, part, &|text| self.progress.hide(text))
    }

    /// Cuts a line behind so many characters, or before a secret that lies there.
    pub fn shorten(&self, line: &mut PageLine, length: usize) {
        let part = self.part_of(&line.text, (0, length));
        line.cut += part.behind;
        line.text = part.text;
    }

    /// Creates or replaces a file.
    pub async fn write(&self, target: &Target, content: &[u8]) -> Result<Written, ToolError> {
        let written = self.write_all(&[(target.clone(), Bytes::copy_from_slice(content))]).await?;
        written.into_iter().next().ok_or_else(|| ToolError::of(ErrorKind::Bug, "The file door wrote nothing."))
    }

    /// Creates or replaces several files: all of them or none.
    pub async fn write_all(&self, contents: &[(Target, Bytes)]) -> Result<Vec<Written>, ToolError> {
        self.doors.files.write(self.permit, contents).await
    }

    /// Removes a file, a link or an empty folder.
    pub async fn remove(&self, target: &Target) -> Result<(), ToolError> {
        self.doors.files.remove(self.permit, target).await
    }

    /// Gives a file or a folder another name, where nothing is yet.
    pub async fn rename(&self, from: &Target, to: &Target) -> Result<(), ToolError> {
        self.doors.files.rename(self.permit, from, to).await
    }

    /// Runs a command, and brings what it changed into the workspace.
    ///
    /// Without a layer its changes happen at once; that is said. What a stopped command changed is thrown away.
    pub async fn run(&self, command: &Command, heard: Heard<'_>) -> Result<Ran, ToolError> {
        let mut wanted = self.first_wanted();
        loop {
            let ground = self.ground(wanted.clone(), command).await?;
            let uncovered = ground.uncovered().map(str::to_owned);
            match self.doors.processes.run(self.permit, command, &*ground, heard).await {
                Ok(ended) => return self.settled(ended, ground, uncovered).await,
                Err(NotRun::Failed(error)) => return Err(error),
                Err(NotRun::NoLayer(reason)) => wanted = wanted.without_layer(reason)?,
            }
        }
    }

    /// Says which ground is asked for first.
    fn first_wanted(&self) -> Wanted {
        let confinement = self.doors.processes.confinement();
        match confinement.reached {
            // Nothing is given up for what is not known: the door tries again, or refuses.
            _ if confinement.untried.is_some() => Wanted::Layered,
            Level::Full => Wanted::Layered,
            Level::Partial | Level::None => {
                Wanted::Open(format!("the sandbox reaches only the level \"{}\" here", confinement.reached))
            }
        }
    }

    /// Prepares what a command works on; refuses one that could not be kept to what was said of it.
    async fn ground(&self, wanted: Wanted, command: &Command) -> Result<Box<dyn Ground>, ToolError> {
        let mut ground = self.doors.files.ground(self.permit, wanted).await?;
        if let Reads::Only(paths) = &command.reads {
            ground.show_only(paths);
        }
        match (ground.uncovered(), &command.keeps) {
            (Some(reason), _) if self.settle == Settle::Show => return Err(cannot_be_tried(reason)),
            (Some(reason), _) if self.permit.needs_layer() => return Err(not_as_promised(reason)),
            (Some(reason), Keeps::Only(_)) => return Err(not_as_declared(reason)),
            (None, Keeps::Only(targets)) => ground.keep_only(Arc::clone(targets)),
            (_, Keeps::All) => {}
        }
        Ok(ground)
    }

    async fn settled(
        &self,
        ended: Ended,
        ground: Box<dyn Ground>,
        uncovered: Option<String>,
    ) -> Result<Ran, ToolError> {
        let settled = match ended.how {
            HowEnded::Stopped => Settled::default(),
            HowEnded::Exited(_) | HowEnded::Killed(_) | HowEnded::TimedOut => {
                ground.settle(self.permit, self.settle).await?
            }
        };
        self.permit.receipts().note_run(ended.left_behind, &settled.undeclared);
        Ok(Ran { ended, settled, uncovered, how: self.settle })
    }

    /// Returns the path of the first of these programs that commands find.
    pub fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        self.doors.processes.find_program(names)
    }

    /// Begins to keep an output that comes in pieces, as much as the limits allow; its long lines are broken.
    pub fn spilling(&self) -> Result<Box<dyn Spilling>, ToolError> {
        let kept = self.doors.store.spilling(self.session, self.limits.command_output)?;
        Ok(Box::new(WrappedSpilling { kept, wrapping: Wrapping::at(self.limits.kept_line_length()) }))
    }

    /// Hides secrets in a text that comes in pieces.
    pub fn hiding(&self) -> Box<dyn Hiding> {
        self.progress.hiding()
    }

    /// Returns the number under which the journal has what this call changed so far.
    pub fn change_set(&self) -> Option<ChangeSetId> {
        self.permit.receipts().change_set()
    }

    /// Reads some lines of an output of this session that was too long to show.
    pub async fn spilled(&self, id: &str, request: PageRequest) -> Result<Page, ToolError> {
        let spill = Spill { session: self.session, id };
        let page = self.doors.store.spilled(self.permit, spill, seen_beyond(request)).await?;
        Ok(self.cut(page, request))
    }

    /// Cuts the lines at their length, and the first one where it shall begin.
    fn cut(&self, mut page: Page, PageRequest { line_length, column, .. }: PageRequest) -> Page {
        if let Some(line) = page.lines.first_mut().filter(|_| column > 1) {
            let lead = usize::try_from(column - 1).unwrap_or(usize::MAX).saturating_sub(line.before);
            let part = self.part_of(&line.text, (lead, line_length));
            line.before += part.before;
            line.cut += part.behind;
            line.text = part.text;
        }
        for line in page.lines.iter_mut().filter(|line| line.text.len() > line_length) {
            self.shorten(line, line_length);
        }
        page
    }

    /// Looks at what is there. What a call finds while it runs is checked like what it named.
    pub fn look(&self) -> &dyn Look {
        &*self.doors.look
    }

    /// Takes a change of the session back.
    pub async fn take_back(&self, request: &Reversal) -> Result<Reversed, ToolError> {
        self.doors.history.take_back(self.permit, request).await
    }

    /// Returns the text as it will be shown, without secrets.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.progress.hide(text)
    }

    /// Passes on a piece of output while the call is running.
    pub fn chunk(&self, text: &str) {
        self.progress.chunk(text);
    }

    /// Fails once the call was told to stop. Long work asks between its steps.
    pub fn go_on(&self) -> Result<(), ToolError> {
        self.permit.go_on()
    }

    /// Waits until the call is told to stop.
    pub async fn stopped(&self) {
        self.permit.stop().cancelled().await;
    }

    /// Returns what the tools of this session keep for each other.
    pub fn storage(&self) -> &dyn Storage {
        self.storage
    }

    /// Returns what may be known of the agent that made the call.
    pub fn agent_state(&self) -> &dyn AgentState {
        self.agent_state
    }

    /// Returns the limits of the session's profile.
    pub fn limits(&self) -> &Limits {
        self.limits
    }
}

/// Breaks long lines before they are kept, so that every part of them can be read again.
struct WrappedSpilling {
    kept: Box<dyn Spilling>,
    wrapping: Wrapping,
}

impl Spilling for WrappedSpilling {
    fn keep(&mut self, text: &str) {
        self.kept.keep(&self.wrapping.take(text));
    }

    fn finish(self: Box<Self>) -> Result<(String, u64), ToolError> {
        self.kept.finish()
    }
}

fn not_as_promised(reason: &str) -> ToolError {
    let what = format!("The changes of this command could not be undone: {reason}. The command was not run.");
    let next = "call it again: haft now knows this and asks the user";
    ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(next.into()))
}

fn not_as_declared(reason: &str) -> ToolError {
    let what = format!(
        "The tool declares what it changes, but haft cannot enforce that here: {reason}. The tool was not run, \
         because it could change everything in the workspace."
    );
    let next = "ask the user to run \"haft doctor\", or to remove the effects from the tool's definition: haft then \
                asks about it as about any program that may do anything";
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next.into()))
}

fn cannot_be_tried(reason: &str) -> ToolError {
    let what = format!("haft cannot try the command without keeping its changes: {reason}. The command was not run.");
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser("ask the user to run it without --plan or --try".into()))
}

fn seen_beyond(request: PageRequest) -> PageRequest {
    let column = request.column.saturating_sub(SEEN_BEYOND_THE_CUT as u64).max(1);
    PageRequest { line_length: request.line_length.saturating_add(2 * SEEN_BEYOND_THE_CUT), column, ..request }
}
