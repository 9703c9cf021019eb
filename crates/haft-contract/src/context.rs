//! Contexts that a tool gets: eyes while it plans, hands while it runs.

mod line_part;
mod planning;
mod serving;

pub use planning::PlanContext;
pub use serving::{Serving, WorkerFailure};

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::doors::command_run::{AtOnce, CommandRun, CommitTurn, cannot_be_tried};
use crate::doors::door::{
    ChangeSetId, Doors, FileBytes, FileOp, FileOpResult, Look, Page, PageLine, PageRequest, Permit, ReadVersion,
    Receipt, SessionName, Spill, Spilling,
};
use crate::doors::history::{Reversal, ReversalReport};
use crate::doors::job::{JobSync, Jobs, NewJob, NoJobs};
use crate::doors::net::{HttpRequest, Response};
use crate::doors::process::{CallerStreams, CommandSpec, Disposition, OutputListener, SettledCommand};
use crate::doors::session_state::{AgentState, NoState, Storage};
use crate::doors::user_questions::{NoUser, UserDesk, UserQuestion, UserReply};
use crate::doors::web::{Fetch, FetchedDocument};
use crate::effect::{Claim, Effect, Host, RemoteClaim};
use crate::files::path::Target;
use crate::files::search::{
    FindRequest, FindResult, FolderListing, FoundLine, ListRequest, SearchRequest, SearchResult, SearchedSoFar,
};
use crate::limits::Limits;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;
use crate::outcome::output::Image;
use crate::text::wrapping::LineWrapper;
use line_part::{LinePart, part_of};

/// Knows which contents of files the session has read or written.
pub trait ReadHistory: Send + Sync {
    /// Returns the version of the file that was read in this session.
    fn when_read(&self, target: &Target) -> Option<ReadVersion>;

    /// Returns whether the session has read or written this content of the file, now or earlier.
    fn has_seen(&self, _target: &Target, _content: &[u8]) -> bool {
        false
    }
}

/// Takes pieces of output while a call runs.
pub trait ProgressSink: Send + Sync {
    /// Passes on a piece of text.
    fn chunk(&self, text: &str);

    /// Returns the text without secrets. Call this before you cut a text: half a secret cannot be found again.
    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// Hides secrets in a text that comes in pieces.
    fn hiding(&self) -> Box<dyn Hiding>;

    /// Notes that the reader is given this hint; returns whether it is the first time in the session.
    fn is_first_hint(&self, _hint: &str) -> bool {
        true
    }
}

/// Hides secrets in a text that comes in pieces, also when one lies across two of them.
pub trait Hiding: Send {
    /// Takes a piece; returns what can be shown so far.
    fn take(&mut self, piece: &str) -> String;

    /// Returns what is left at the end.
    fn rest(&mut self) -> String;
}

/// Drops the messages of a tool while it works, as for an errand that is no call. It hides nothing.
pub struct Unheard;

impl ProgressSink for Unheard {
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

/// What a tool has while it runs: the doors, opened by the permit of this call.
pub struct RunContext<'a> {
    permit: &'a Permit,
    doors: &'a Doors,
    progress: &'a dyn ProgressSink,
    session: &'a SessionName,
    limits: &'a Limits,
    settle: Disposition,
    storage: &'a dyn Storage,
    agent_state: &'a dyn AgentState,
    jobs: &'a dyn Jobs,
    commit_turn: &'a dyn CommitTurn,
    streams: Option<&'a CallerStreams>,
    user: &'a dyn UserDesk,
}

impl<'a> RunContext<'a> {
    /// Gives a tool its hands.
    pub fn new(permit: &'a Permit, doors: &'a Doors, session: &'a SessionName, limits: &'a Limits) -> Self {
        let (settle, storage, agent_state, jobs) = (Disposition::Commit, &NoState, &NoState, &NoJobs);
        let (progress, commit_turn, streams, user) = (&Unheard, &AtOnce, None, &NoUser);
        Self {
            permit,
            doors,
            progress,
            session,
            limits,
            settle,
            storage,
            agent_state,
            jobs,
            commit_turn,
            streams,
            user,
        }
    }

    /// Reports the tool's progress.
    pub fn reporting(mut self, progress: &'a dyn ProgressSink) -> Self {
        self.progress = progress;
        self
    }

    /// Lets the tool ask the user.
    pub fn asking(mut self, user: &'a dyn UserDesk) -> Self {
        self.user = user;
        self
    }

    /// Asks the user, and waits for the answers. Time that the user needs is not time of the call.
    pub async fn ask_user(&self, questions: &[UserQuestion]) -> UserReply {
        self.user.ask(questions).await
    }

    /// Lets the command of the call have the standard streams of its caller.
    pub fn with_streams(mut self, streams: Option<&'a CallerStreams>) -> Self {
        self.streams = streams;
        self
    }

    /// Returns the standard streams that the caller provides for the command of the call.
    pub fn streams(&self) -> Option<&'a CallerStreams> {
        self.streams
    }

    /// Returns what the tool keeps under this type between calls: workers, which end with the session's place.
    pub fn idle_workers<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.doors.idle_workers.of()
    }

    /// Returns the session in which the call is made.
    pub fn session(&self) -> &'a SessionName {
        self.session
    }

    /// Lets commands commit what they changed when their turn has come.
    pub fn committing(mut self, commit_turn: &'a dyn CommitTurn) -> Self {
        self.commit_turn = commit_turn;
        self
    }

    /// Lets commands outlive the call.
    pub fn keeping_jobs(mut self, jobs: &'a dyn Jobs) -> Self {
        self.jobs = jobs;
        self
    }

    /// Lets the tool have what the session shares.
    pub fn sharing(mut self, storage: &'a dyn Storage, agent_state: &'a dyn AgentState) -> Self {
        self.storage = storage;
        self.agent_state = agent_state;
        self
    }

    /// Lets what commands change come to this.
    pub fn settling(mut self, settle: Disposition) -> Self {
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

    /// Opens a file to read parts of it.
    pub async fn open(&self, target: &Target) -> Result<Box<dyn FileBytes>, ToolError> {
        self.doors.files.open(self.permit, target).await
    }

    /// Sends a request to another machine.
    pub async fn request(&self, request: &HttpRequest) -> Result<Response, ToolError> {
        self.doors.net.request(self.permit, request).await
    }

    /// Fetches a document of the web.
    pub async fn fetch(&self, fetch: &Fetch) -> Result<FetchedDocument, ToolError> {
        self.doors.net.fetch(self.permit, fetch).await
    }

    /// Lists a folder.
    pub async fn list(&self, target: &Target, request: ListRequest) -> Result<FolderListing, ToolError> {
        self.doors.files.list(self.permit, target, request).await
    }

    /// Finds names below a folder.
    pub async fn find(&self, target: &Target, request: FindRequest) -> Result<FindResult, ToolError> {
        self.doors.files.find(self.permit, target, request).await
    }

    /// Searches the content of files, and passes on how far it is.
    pub async fn search(&self, target: &Target, request: SearchRequest) -> Result<SearchResult, ToolError> {
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
        // The rest of a secret may follow a cut, and haft cannot recognise it.
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
    pub async fn write(&self, target: &Target, content: &[u8]) -> Result<FileOpResult, ToolError> {
        let written = self.write_all(&[(target.clone(), Bytes::copy_from_slice(content))]).await?;
        written.into_iter().next().ok_or_else(|| ToolError::of(ErrorKind::Bug, "The file door wrote nothing."))
    }

    /// Creates or replaces several files: all of them or none.
    pub async fn write_all(&self, contents: &[(Target, Bytes)]) -> Result<Vec<FileOpResult>, ToolError> {
        let put = |(target, bytes): &(Target, Bytes)| FileOp::Put(target.clone(), bytes.clone());
        self.change_all(&contents.iter().map(put).collect::<Vec<_>>()).await
    }

    /// Makes several changes of files: all of them or none.
    pub async fn change_all(&self, ops: &[FileOp]) -> Result<Vec<FileOpResult>, ToolError> {
        self.doors.files.change(self.permit, ops).await
    }

    /// Removes a file, a link or an empty folder.
    pub async fn remove(&self, target: &Target) -> Result<(), ToolError> {
        self.change_all(&[FileOp::Remove(target.clone())]).await.map(drop)
    }

    /// Gives a file or a folder another name, where nothing is yet.
    pub async fn rename(&self, from: &Target, to: &Target) -> Result<(), ToolError> {
        self.change_all(&[FileOp::Rename(from.clone(), to.clone())]).await.map(drop)
    }

    /// Runs a command, and brings what it changed into the workspace.
    ///
    /// Without a layer its changes are immediate, and the report says so. haft discards the changes of a stopped command.
    pub async fn run(&self, command: &CommandSpec, heard: OutputListener<'_>) -> Result<SettledCommand, ToolError> {
        self.command_run().run(command, heard).await
    }

    fn command_run(&self) -> CommandRun<'_> {
        let Self { permit, doors, settle, commit_turn, .. } = *self;
        CommandRun { permit, doors, settle, commit_turn }
    }

    /// Starts a command that the session keeps running after the call; returns its number as soon as it runs.
    pub async fn start_job(&self, job: NewJob) -> Result<u64, ToolError> {
        if self.settle == Disposition::Discard {
            return Err(cannot_be_tried("a background job would go on after the trial"));
        }
        self.jobs.start(self.permit, job).await
    }

    /// Notes that the reader is given this hint; returns whether it is the first time in the session.
    pub fn is_first_hint(&self, hint: &str) -> bool {
        self.progress.is_first_hint(hint)
    }

    /// Returns the commands that the session keeps running.
    pub fn jobs(&self) -> &dyn Jobs {
        self.jobs
    }

    /// Notes that this call tells how a job ended, and so what it changed.
    pub fn tell_job_end(&self, job: u64) {
        if let Some(receipts) = self.jobs.note_told(job) {
            self.permit.receipts().note_end_of_job(&receipts);
        }
    }

    /// Commits what a job has changed so far, and notes that this call tells of it.
    ///
    /// # Errors
    ///
    /// Fails where the job has ended, or where its changes could not be committed.
    pub async fn sync_job(&self, job: u64) -> Result<JobSync, ToolError> {
        let sync = self.jobs.sync(job).await?;
        self.permit.receipts().note_end_of_job(&sync.receipts);
        Ok(sync)
    }

    /// Returns at which addresses programs listen on this port of the network that commands have, where that is known.
    pub fn listeners(&self, port: u16) -> Option<Vec<IpAddr>> {
        self.doors.processes.listeners(port)
    }

    /// Returns the path of the first of these programs that commands find.
    pub fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        self.doors.processes.find_program(names)
    }

    /// Begins to keep an output that comes in pieces, as much as the limits allow; its long lines are broken.
    pub fn spilling(&self) -> Result<Box<dyn Spilling>, ToolError> {
        let kept = self.doors.store.spilling(self.session, self.limits.command_output)?;
        Ok(Box::new(WrappedSpilling { kept, wrapping: LineWrapper::at(self.limits.kept_line_length()) }))
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

    /// Notes what the caller knows of a file because the result shows a part of it.
    pub fn note_shown(&self, target: &Target, known: ReadVersion) -> Result<(), ToolError> {
        self.permit.admit(&Effect::Read(target.clone()))?;
        self.permit.receipts().note(Receipt::Read(target.clone(), known));
        Ok(())
    }

    /// Notes that a tool of another server is called now: what it may change there is unknown from then on.
    pub fn note_remote_call(&self, claim: &RemoteClaim) -> Result<(), ToolError> {
        self.permit.admit(&Effect::Remote(claim.clone()))?;
        if claim.claims == Claim::MayChange {
            self.permit.receipts().note(Receipt::Sent(Host(claim.server.clone())));
        }
        Ok(())
    }

    /// Looks at what is there. What a call finds while it runs is checked like what it named.
    pub fn look(&self) -> &dyn Look {
        &*self.doors.look
    }

    /// Takes a change of the session back.
    pub async fn take_back(&self, request: &Reversal) -> Result<ReversalReport, ToolError> {
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
    wrapping: LineWrapper,
}

impl Spilling for WrappedSpilling {
    fn keep(&mut self, text: &str) {
        self.kept.keep(&self.wrapping.take(text));
    }

    fn finish(self: Box<Self>) -> Result<(String, u64), ToolError> {
        self.kept.finish()
    }
}

fn seen_beyond(request: PageRequest) -> PageRequest {
    let column = request.column.saturating_sub(SEEN_BEYOND_THE_CUT as u64).max(1);
    PageRequest { line_length: request.line_length.saturating_add(2 * SEEN_BEYOND_THE_CUT), column, ..request }
}
