//! Runs the jobs of a session: commands that continue between its calls.
//!
//! Each job has its own task. The task runs the command under a permit for what its call was allowed, keeps the end of
//! the output, and brings the changes into the workspace after the command ends. All jobs end with the session.

mod log;

use std::io;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_contract::doors::command_run::{AtOnce, CommandRun, SyncRequest};
use haft_contract::doors::door::{Permit, Receipts};
use haft_contract::doors::job::{
    JobEnd, JobFacts, JobOutput, JobService, JobSync, Jobs, NewJob, Publication, no_session,
};
use haft_contract::doors::process::{CommandSpec, CommitReport, Disposition, HowEnded, SettledCommand};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::signals::{LOOK_AGAIN, PendingSignals};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::runtime::RuntimeCore;
use log::JobLog;

/// Most jobs that run at a time.
const MOST_RUNNING: usize = 16;
/// Most jobs that are remembered after their end.
const MOST_ENDED: usize = 32;
/// Built-in commands that stand before the program of a job.
const PREPARE: [&str; 6] = ["cd", "echo", "exec", "export", "set", "source"];
/// Most changed files that are named.
const MOST_FILES: usize = 20;
/// Most bytes of the last lines of a job whose end is told beside a result.
const LAST_LINES: usize = 600;

/// The signal that ends a process without a word.
const SIGKILL: i32 = 9;

/// The jobs of one session, which end when this is dropped, also if another thread still asks about them.
pub(crate) struct HeldJobs(Arc<SessionJobs>);

/// The jobs of one session.
pub(crate) struct SessionJobs {
    /// Itself, for work that outlives the caller.
    own: Weak<SessionJobs>,
    ground: Arc<RuntimeCore>,
    inner: Mutex<JobTable>,
}

impl HeldJobs {
    pub(crate) fn new(ground: Arc<RuntimeCore>) -> Self {
        Self(Arc::new_cyclic(|own| SessionJobs { own: own.clone(), ground, inner: Mutex::default() }))
    }

    /// Publishes the jobs of the session of this name with its first one.
    pub(crate) fn publish_with(&self, service: Arc<dyn JobService>, session: &str) {
        let jobs: Weak<SessionJobs> = Arc::downgrade(&self.0);
        let session = session.to_owned();
        self.inner().publish = Some(Box::new(move || service.publish(&session, jobs).ok()));
    }
}

impl Deref for HeldJobs {
    type Target = SessionJobs;

    fn deref(&self) -> &SessionJobs {
        &self.0
    }
}

impl Drop for HeldJobs {
    fn drop(&mut self) {
        let mut inner = self.inner();
        inner.jobs.iter().for_each(|job| job.stop.cancel());
        let publication = inner.publication.take();
        drop(inner);
        drop(publication);
    }
}

#[derive(Default)]
struct JobTable {
    jobs: Vec<Arc<BackgroundJob>>,
    /// The number of the last one.
    last: u64,
    /// Whether the session ends with the call that would start a job.
    is_one_call: bool,
    /// Publishes the jobs, once.
    publish: Option<Box<dyn FnOnce() -> Option<Publication> + Send>>,
    publication: Option<Publication>,
}

struct BackgroundJob {
    number: u64,
    name: Option<String>,
    command: CommandSpec,
    /// Runs its task, and starts it again.
    runtime: Handle,
    began: Instant,
    stop: CancellationToken,
    signals: PendingSignals,
    /// What it may do, and what is done for it.
    permit: Permit,
    syncs: mpsc::UnboundedSender<SyncRequest>,
    state: Mutex<JobState>,
    /// Wakes who waits for output or the end.
    news: Notify,
}

struct JobState {
    log: JobLog,
    read: u64,
    end: Option<(JobEnd, Duration)>,
    /// Whether the model knows how it ended.
    is_told: bool,
}

impl SessionJobs {
    /// Refuses jobs: the session ends with the call.
    pub(crate) fn refuse(&self) {
        self.inner().is_one_call = true;
    }

    /// Says how jobs have ended of which the model was not told yet.
    pub(crate) fn ended_untold(&self) -> Vec<String> {
        let jobs = self.inner().jobs.clone();
        jobs.iter().filter_map(|job| job.tell_end()).collect()
    }

    /// Shows running jobs what others have changed in the workspace.
    pub(crate) fn show_changes(&self) {
        self.inner().jobs.iter().filter(|job| job.is_running()).for_each(|job| job.signals.send(LOOK_AGAIN));
    }

    /// Ends all jobs, and waits until what they changed is in the workspace.
    pub(crate) async fn end(&self) {
        let jobs = self.inner().jobs.clone();
        for job in &jobs {
            job.stop.cancel();
        }
        for job in &jobs {
            job.ended().await;
        }
    }

    fn inner(&self) -> MutexGuard<'_, JobTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, number: u64) -> Option<Arc<BackgroundJob>> {
        self.inner().jobs.iter().find(|job| job.number == number).cloned()
    }

    /// Makes room for a job, and returns its number.
    fn number(&self, name: Option<&str>) -> Result<u64, ToolError> {
        let mut inner = self.inner();
        if inner.is_one_call {
            return Err(no_session());
        }
        let running: Vec<&Arc<BackgroundJob>> = inner.jobs.iter().filter(|job| job.is_running()).collect();
        if let Some(job) = running.iter().find(|job| name.is_some() && job.name.as_deref() == name) {
            let what = format!("{} runs already. Nothing was run.", capital(&job.facts().title()));
            let next = "choose another \"name\", or stop it first: jobs(action=\"stop\", job=…)";
            return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
        }
        if running.len() >= MOST_RUNNING {
            let what = format!("{MOST_RUNNING} jobs run already, and no more are allowed. Nothing was run.");
            let next = "stop one first: jobs(action=\"stop\", job=…)";
            return Err(ToolError::new(ErrorKind::TooLarge, what, Next::FixArguments(next.into())));
        }
        let ended = inner.jobs.len() - running.len();
        if let Some(oldest) = inner.jobs.iter().position(|job| !job.is_running()).filter(|_| ended >= MOST_ENDED) {
            inner.jobs.remove(oldest);
        }
        inner.last += 1;
        Ok(inner.last)
    }

    /// Returns the name of a job that was given none: its program, with its number where another job has that name.
    fn name_of_program(&self, effects: &[Effect], number: u64) -> Option<String> {
        let programs = effects.iter().filter_map(|effect| match effect {
            Effect::Step(step) => step.words.first()?.rsplit('/').next(),
            _ => None,
        });
        let is_usual = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let is_name = |name: &str| name.chars().all(is_usual) && name.chars().any(char::is_alphabetic);
        let program = programs.filter(|name| !PREPARE.contains(name)).find(|name| is_name(name))?;
        let is_taken = self.inner().jobs.iter().any(|job| job.is_running() && job.name.as_deref() == Some(program));
        Some(if is_taken { format!("{program}-{number}") } else { program.to_owned() })
    }
}

impl Jobs for SessionJobs {
    fn start<'a>(&'a self, permit: &'a Permit, new: NewJob) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async move {
            let NewJob { command, name } = new;
            let number = self.number(name.as_deref())?;
            let name = name.or_else(|| self.name_of_program(permit.effects(), number));
            let stop = CancellationToken::new();
            let own = permit.outliving(stop.clone());
            let (receipts, signals) = (own.receipts().clone(), own.signals().clone());
            let (syncs, requests) = mpsc::unbounded_channel();
            let job = Arc::new(BackgroundJob {
                number,
                name,
                command: command.clone(),
                runtime: Handle::current(),
                began: Instant::now(),
                stop: stop.clone(),
                signals,
                permit: own,
                syncs,
                state: Mutex::new(JobState {
                    log: JobLog::new(self.ground.redactor.clone()),
                    read: 0,
                    end: None,
                    is_told: false,
                }),
                news: Notify::new(),
            });
            // A caller that gives up the call here gives up the job.
            let given_up = stop.drop_guard();
            let (refuse, refused) = oneshot::channel();
            let command = CommandSpec { time: Duration::MAX, stays: true, ..command };
            let running = keep_running(Arc::clone(&job), Arc::clone(&self.ground), command, requests);
            tokio::spawn(async { running.await.map_err(|error| refuse.send(error)) });
            tokio::select! {
                biased;
                () = permit.stop().cancelled() => {
                    return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped."));
                }
                ran = receipts.ran() => permit.receipts().note(ran),
                Ok(error) = refused => return Err(error),
            }
            permit.receipts().note_job(&job.name.clone().unwrap_or_else(|| number.to_string()));
            let publish = {
                let mut inner = self.inner();
                inner.jobs.push(job);
                inner.publish.take()
            };
            given_up.disarm();
            // A job stays useful to its session even if other processes cannot see it.
            if let Some(publication) = publish.and_then(|publish| publish()) {
                self.inner().publication = Some(publication);
            }
            Ok(number)
        })
    }

    fn all(&self) -> Vec<JobFacts> {
        let jobs = self.inner().jobs.clone();
        jobs.iter().map(|job| job.facts()).collect()
    }

    fn output(&self, job: u64, from: u64, most: usize) -> Option<JobOutput> {
        self.find(job).map(|job| job.state().log.from(from, most))
    }

    fn note_read(&self, job: u64, position: u64) {
        if let Some(job) = self.find(job) {
            let mut state = job.state();
            state.read = state.read.max(position);
        }
    }

    fn news<'a>(&'a self, job: u64, position: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(job) = self.find(job) {
                job.until(|state| state.end.is_some() || state.log.printed() > position).await;
            }
        })
    }

    fn signal(&self, job: u64, signal: i32) -> bool {
        let job = self.find(job).filter(|job| job.is_running());
        job.inspect(|job| job.signals.send(signal)).is_some()
    }

    fn stop<'a>(&'a self, job: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(job) = self.find(job) {
                job.stop.cancel();
                job.ended().await;
            }
        })
    }

    fn sync<'a>(&'a self, job: u64) -> BoxFuture<'a, Result<JobSync, ToolError>> {
        Box::pin(async move {
            let job = self.find(job).ok_or_else(lost)?;
            // The sync has its own change set, and no caller can stop it.
            let permit = job.permit.outliving(CancellationToken::new());
            let receipts = permit.receipts().clone();
            let (reply, answer) = oneshot::channel();
            let _ = job.syncs.send(SyncRequest { permit, reply });
            let settled = answer.await.map_err(|_| has_ended(&job.facts()))??;
            let (changes, notes) = (changes_of(&settled, &receipts), settled.notes);
            Ok(JobSync { change_set: receipts.change_set(), changes, notes, receipts })
        })
    }

    fn command(&self, job: u64) -> Option<CommandSpec> {
        self.find(job).map(|job| job.command.clone())
    }

    fn restart<'a>(&'a self, job: u64) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async move {
            let (job, jobs) = self.find(job).zip(self.own.upgrade()).ok_or_else(lost)?;
            // A client that goes away in between must not leave the job stopped.
            let runtime = job.runtime.clone();
            let started = runtime.spawn(async move {
                jobs.stop(job.number).await;
                let permit = job.permit.outliving(CancellationToken::new());
                let new = NewJob { command: job.command.clone(), name: job.name.clone() };
                let number = jobs.start(&permit, new).await?;
                if let Some((end, _)) = &mut job.state().end {
                    end.notes.push(format!("it was restarted as job {number}"));
                }
                Ok(number)
            });
            started.await.unwrap_or_else(|_| Err(lost()))
        })
    }

    fn note_told(&self, job: u64) -> Option<Receipts> {
        let job = self.find(job)?;
        let was_told = std::mem::replace(&mut job.state().is_told, true);
        (!was_told).then(|| job.permit.receipts().clone())
    }

    fn is_listening(&self, port: u16) -> Option<bool> {
        self.ground.doors.processes.listeners(port).map(|addresses| !addresses.is_empty())
    }

    fn connect(&self, port: u16) -> io::Result<OwnedFd> {
        self.ground.doors.processes.connect(port)
    }
}

impl BackgroundJob {
    fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self) -> bool {
        self.state().end.is_none()
    }

    fn facts(&self) -> JobFacts {
        let state = self.state();
        JobFacts {
            number: self.number,
            name: self.name.clone(),
            line: self.command.line.clone(),
            took: state.end.as_ref().map_or_else(|| self.began.elapsed(), |(_, took)| *took),
            printed: state.log.printed(),
            read: state.read,
            end: state.end.as_ref().map(|(end, _)| end.clone()),
        }
    }

    async fn until(&self, is_so: impl Fn(&JobState) -> bool) {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if is_so(&self.state()) {
                return;
            }
            news.await;
        }
    }

    async fn ended(&self) {
        self.until(|state| state.end.is_some()).await;
    }

    /// Says how it ended, once.
    fn tell_end(&self) -> Option<String> {
        let title = self.facts().title();
        let mut state = self.state();
        if state.is_told {
            return None;
        }
        let (end, took) = state.end.as_ref()?;
        let words = format!("{} {}", capital(&title), end.words(*took));
        let last = state.log.from(0, LAST_LINES).text;
        state.is_told = true;
        let last = last.trim_end();
        Some(if last.is_empty() { words } else { format!("{words}. Its last lines:\n{last}") })
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Runs a job to its end, and brings what it changed into the workspace. Fails where nothing was run, or where it is unknown
/// how the command ended.
async fn keep_running(
    job: Arc<BackgroundJob>,
    ground: Arc<RuntimeCore>,
    command: CommandSpec,
    mut requests: mpsc::UnboundedReceiver<SyncRequest>,
) -> Result<(), ToolError> {
    let heard = |stream, piece: &[u8]| {
        job.state().log.take(stream, piece);
        job.news.notify_waiters();
    };
    let permit = &job.permit;
    let run = CommandRun { permit, doors: &ground.doors, settle: Disposition::Commit, commit_turn: &AtOnce };
    let outcome = run.ended_with_syncs(&command, &heard, &mut requests).await;
    job.state().log.finish();
    let (end, result) = match outcome {
        Ok((ended, on)) => {
            let how = ended.how;
            // Its end is no reason to lose what it changed.
            let to_finish = permit.to_finish();
            let kept = CommandRun { permit: &to_finish, ..run }.kept(ended, on).await;
            (kept.map_or_else(|error| not_kept(how, &error), |ran| end_of(&ran, permit)), Ok(()))
        }
        Err(error) => (not_kept(HowEnded::Killed(SIGKILL), &error), Err(error)),
    };
    job.state().end = Some((end, job.began.elapsed()));
    job.news.notify_waiters();
    result
}

fn end_of(ran: &SettledCommand, permit: &Permit) -> JobEnd {
    let uncovered = ran.uncovered.as_ref();
    let mut notes: Vec<String> = uncovered
        .map(|reason| format!("its changes are not known and cannot be undone: {reason}"))
        .into_iter()
        .collect();
    notes.extend(ran.settled.notes.iter().chain(&ran.ended.notes).cloned());
    let changes = changes_of(&ran.settled, permit.receipts());
    JobEnd { how: ran.ended.how, change_set: permit.receipts().change_set(), changes, notes }
}

/// Says what was changed, and notes how much that is.
fn changes_of(settled: &CommitReport, receipts: &Receipts) -> String {
    if settled.changes.is_empty() {
        return String::new();
    }
    let summary = settled.summary();
    receipts.note_counts(summary.counts);
    summary.sentence(MOST_FILES)
}

fn lost() -> ToolError {
    ToolError::of(ErrorKind::Bug, "The session has lost a job.")
}

fn has_ended(job: &JobFacts) -> ToolError {
    let what = format!("{} has ended; haft commits all changes of a job when it ends.", capital(&job.title()));
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments("list the jobs: jobs(action=\"list\")".into()))
}

fn not_kept(how: HowEnded, error: &ToolError) -> JobEnd {
    let notes = vec![format!("haft could not commit its changes: {}", error.what)];
    JobEnd { how, change_set: None, changes: String::new(), notes }
}
