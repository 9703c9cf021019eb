//! Attends to one command from haft's side, in a separate thread, until all its processes are gone.
//!
//! The thread passes on the output in pieces. While no reader takes them, it reads no more and the command waits. The time
//! of the command keeps running.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use haft_contract::doors::connection::NetworkUse;
use haft_contract::doors::door::{Receipt, Receipts};
use haft_contract::doors::process::{CallerStreams, HowEnded, Stream, StreamNews};
use haft_contract::signals::{LOOK_AGAIN, TERMINAL_READY};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc::Sender;

use super::input;
use super::orders::{LauncherReport, NotStarted, Orders};
use super::source::{OutputSource, StreamTail};
use super::standby::Launchers;
use super::started::LaunchedCommand;
use super::strays;
use super::strays::Mark;
use super::wake::{ThreadRequest, Wake};
use crate::session::disk::DiskBound;
use crate::session::private::PrivateFolder;

/// How long a command may take to end by itself when its time is up.
const GRACE_AFTER_TIME: Duration = Duration::from_millis(300);
/// The same when the call was stopped.
const GRACE_AFTER_STOP: Duration = Duration::from_millis(100);
/// How long its streams may stay open when all its processes are gone.
const DRAIN: Duration = Duration::from_millis(200);
/// How long the kernel may take to end what was killed.
const TO_DIE: Duration = Duration::from_secs(5);
/// How often ending is repeated.
const AGAIN: Duration = Duration::from_millis(50);

/// A piece of the output of a command, and the stream that it came from.
pub(crate) type OutputPiece = (Stream, Vec<u8>);

/// What is to be run, and what is noted then.
pub(crate) struct Task {
    pub(crate) launchers: Arc<Launchers>,
    pub(crate) orders: Orders,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// What the command reads.
    pub(crate) input: Bytes,
    /// The streams that its caller passes.
    pub(crate) streams: Option<CallerStreams>,
    pub(crate) time: Duration,
    pub(crate) receipts: Receipts,
    /// What is noted as soon as the command runs.
    pub(crate) ran: Receipt,
    /// By what its processes are recognised where there is no namespace.
    pub(crate) mark: Option<Mark>,
    /// What it may take on disk.
    pub(crate) disk: Option<DiskBound>,
    /// The use it makes of the session's network.
    pub(crate) network: Option<Arc<dyn NetworkUse>>,
    /// Lives as long as the command, even after its caller stops waiting.
    pub(crate) _private: Option<PrivateFolder>,
    /// Shows that a command in the home of the session may leave files there.
    pub(crate) _guest: Option<Arc<()>>,
}

/// How it went.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) how: HowEnded,
    pub(crate) took: Duration,
    pub(crate) left_behind: usize,
    pub(crate) notes: Vec<String>,
    /// The end of what it printed.
    pub(crate) tails: [StreamTail; 2],
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoFinish {
    NoLayer(String),
    Missing(String),
    /// Something could not be had just now; a sentence.
    Passing(String),
    NotStarted(NotStarted),
    /// The launcher could not be started.
    NoLauncher(String, Option<i32>),
    /// It did not do what launchers do; a sentence.
    Broken(String),
    /// Processes do not end although they were killed.
    Stuck,
}

/// Runs a command and returns when nothing of it is left.
pub(crate) fn attend(mut task: Task, pieces: Sender<OutputPiece>, wake: &Wake) -> Result<Finish, NoFinish> {
    let began = Instant::now();
    if wake.wish() != ThreadRequest::GoOn {
        let tails = Default::default();
        return Ok(Finish { how: HowEnded::Stopped, took: Duration::ZERO, left_behind: 0, notes: Vec::new(), tails });
    }
    if task.orders.has_input {
        let failed = |error| NoFinish::Passing(format!("The input of the command cannot be passed on: {error}."));
        task.descriptors.push(input::sealed(&std::mem::take(&mut task.input)).map_err(failed)?);
    }
    if let Some(streams) = &task.streams {
        let failed = |error| NoFinish::Passing(format!("The streams of the command cannot be passed on: {error}."));
        task.descriptors.extend(streams.copies().map_err(failed)?);
        // Before it runs: its first words may come to its caller before anything else does.
        streams.tell(StreamNews::Started);
    }
    let (started, streams) =
        LaunchedCommand::start(&task.launchers, &task.orders, &task.descriptors).map_err(|error| {
            let what = format!("The launcher {} could not be started: {error}.", task.launchers.launcher);
            NoFinish::NoLauncher(what, error.raw_os_error())
        })?;
    // They belong to the command now; an unmount would wait for us.
    let task = Task { descriptors: Vec::new(), ..task };
    let sources = [OutputSource::new(Stream::Out, streams.out), OutputSource::new(Stream::Err, streams.err)];
    let phase = Phase::Running { until: began.checked_add(task.time) };
    let mut attendance = Attendance {
        task,
        started,
        sources,
        pieces,
        phase,
        course: Course::Preparing,
        verdict: None,
        gone: None,
        exceeded: None,
    };
    loop {
        attendance.wait(wake);
        if let Some(result) = attendance.step(wake) {
            return attendance.finished(result, began);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Until its time is up.
    Running { until: Option<Instant> },
    /// It was asked to end.
    Asked { why: HowEnded, until: Instant },
    /// It is being killed.
    Ending { why: Option<HowEnded>, since: Instant },
}

/// The launcher's message about the end of a command.
#[derive(Debug)]
enum LauncherVerdict {
    Ended(HowEnded, usize),
    NotRun(NoFinish),
}

struct Attendance {
    task: Task,
    started: LaunchedCommand,
    sources: [OutputSource; 2],
    pieces: Sender<OutputPiece>,
    phase: Phase,
    course: Course,
    verdict: Option<LauncherVerdict>,
    /// When its processes were found to be gone.
    gone: Option<Instant>,
    /// Why it was ended that used up too much, a sentence.
    exceeded: Option<String>,
}

/// How far a command has come, as the launcher said.
#[derive(Debug)]
enum Course {
    /// Nothing was run.
    Preparing,
    /// It may run.
    Starting,
    /// It runs, with these notes.
    Ready(Vec<String>),
}

impl Attendance {
    fn wait(&self, wake: &Wake) {
        let sources = self.sources.iter().filter_map(OutputSource::awaited);
        let descriptors = sources.chain(self.started.news()).map(AsFd::as_fd).chain([wake.as_fd()]);
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let left = self.next_moment().map(|moment| moment.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let _ = poll(&mut polled, left.as_ref());
    }

    /// Returns when something is to be done even if nothing happens.
    fn next_moment(&self) -> Option<Instant> {
        if let Some(gone) = self.gone {
            // With pieces in hand we wait for room, without limit: nothing that was printed is lost.
            return self.sources.iter().all(|source| !source.holds_piece()).then(|| gone + DRAIN);
        }
        match self.phase {
            Phase::Running { until } => {
                let until = until.and_then(|until| until.checked_add(self.waited()));
                let measured = self.task.disk.as_ref().map(DiskBound::next);
                until.into_iter().chain(measured).min()
            }
            Phase::Asked { until, .. } => Some(until),
            Phase::Ending { .. } => Some(Instant::now() + AGAIN),
        }
    }

    /// Does what is to be done now; returns something when all is over.
    fn step(&mut self, wake: &Wake) -> Option<Result<(), NoFinish>> {
        wake.clear();
        for report in self.started.take_news() {
            self.note(report);
        }
        for signal in wake.take_signals() {
            match signal {
                LOOK_AGAIN => self.started.show_changes(),
                TERMINAL_READY => self.started.terminal_is_ready(),
                signal => self.started.signal(signal),
            }
        }
        for source in &mut self.sources {
            source.pass_on(&self.pieces, wake, self.gone);
        }
        if self.gone.is_none() && self.started.is_gone() {
            self.gone = Some(Instant::now());
            self.started.let_go_of_layers();
            self.end_strays();
        }
        if let Some(gone) = self.gone {
            let is_abandoned = wake.wish() == ThreadRequest::Abandon;
            let is_drained = self.sources.iter().all(|source| source.is_drained(gone + DRAIN));
            return (is_abandoned || is_drained).then_some(Ok(()));
        }
        self.move_on(wake.wish())
    }

    fn note(&mut self, report: LauncherReport) {
        match report {
            LauncherReport::Watcher(_)
            | LauncherReport::Worker(_)
            | LauncherReport::Tried(_)
            | LauncherReport::Layers => {}
            LauncherReport::Terminal => {
                let terminal = self.started.take_terminal();
                terminal.into_iter().for_each(|terminal| self.tell_caller(StreamNews::Terminal(terminal)));
            }
            LauncherReport::Suspended(signal) => self.tell_caller(StreamNews::Suspended(signal)),
            LauncherReport::WantsTerminal => self.tell_caller(StreamNews::WantsTerminal),
            LauncherReport::Starting => self.course = Course::Starting,
            LauncherReport::Exceeded(why) => self.exceeded = Some(why),
            LauncherReport::Ready(notes) => {
                self.course = Course::Ready(notes);
                self.task.receipts.note(self.task.ran.clone());
            }
            LauncherReport::NoLayer(why) => self.verdict = Some(LauncherVerdict::NotRun(NoFinish::NoLayer(why))),
            LauncherReport::Missing(what) => self.verdict = Some(LauncherVerdict::NotRun(NoFinish::Missing(what))),
            LauncherReport::Passing(what) => self.verdict = Some(LauncherVerdict::NotRun(NoFinish::Passing(what))),
            LauncherReport::NotStarted(why) => self.verdict = Some(LauncherVerdict::NotRun(NoFinish::NotStarted(why))),
            LauncherReport::Exited { status, left_behind } => {
                self.verdict = Some(LauncherVerdict::Ended(HowEnded::Exited(status), left_behind));
            }
            LauncherReport::Killed { signal, left_behind } => {
                self.verdict = Some(LauncherVerdict::Ended(HowEnded::Killed(signal), left_behind));
            }
        }
    }

    fn tell_caller(&self, news: StreamNews) {
        if let Some(streams) = &self.task.streams {
            streams.tell(news);
        }
    }

    /// Goes from one phase to the next when its time has come.
    fn move_on(&mut self, wish: ThreadRequest) -> Option<Result<(), NoFinish>> {
        let now = Instant::now();
        match self.phase {
            Phase::Running { .. } | Phase::Asked { .. } if wish == ThreadRequest::Abandon => self.end(None),
            Phase::Running { .. } if wish == ThreadRequest::Stop => self.ask(HowEnded::Stopped, now + GRACE_AFTER_STOP),
            Phase::Running { until: Some(until) } if now >= until + self.waited() => {
                self.ask(HowEnded::TimedOut, now + GRACE_AFTER_TIME);
            }
            Phase::Running { .. } => {
                if let Some(why) = self.task.disk.as_mut().and_then(DiskBound::exceeded) {
                    self.exceeded = Some(why);
                    self.end(Some(HowEnded::Killed(libc::SIGKILL)));
                }
            }
            // A stop of the call cuts the rest of the command's time short.
            Phase::Asked { why: HowEnded::TimedOut, until } if wish == ThreadRequest::Stop => {
                self.phase = Phase::Asked { why: HowEnded::Stopped, until: until.min(now + GRACE_AFTER_STOP) };
            }
            Phase::Asked { why, until } if now >= until => self.end(Some(why)),
            Phase::Asked { .. } => {}
            Phase::Ending { since, .. } => {
                self.started.end();
                if now >= since + TO_DIE {
                    self.started.kill_launcher();
                    self.end_strays();
                    return Some(Err(NoFinish::Stuck));
                }
            }
        }
        None
    }

    /// Returns how long connections have waited for an answer, which does not count as time of the command.
    fn waited(&self) -> Duration {
        self.task.network.as_ref().map_or(Duration::ZERO, |network| network.waited())
    }

    fn ask(&mut self, why: HowEnded, until: Instant) {
        self.started.ask_to_end();
        self.phase = Phase::Asked { why, until };
    }

    fn end(&mut self, why: Option<HowEnded>) {
        self.started.end();
        self.phase = Phase::Ending { why, since: Instant::now() };
    }

    /// Ends what a watcher without a namespace left alone because it was killed itself.
    fn end_strays(&mut self) {
        if let (Some(mark), None, false) = (&self.task.mark, &self.verdict, self.started.has_namespace()) {
            strays::end(mark);
        }
    }

    fn finished(self, result: Result<(), NoFinish>, began: Instant) -> Result<Finish, NoFinish> {
        if let Some(LauncherVerdict::NotRun(why)) = self.verdict {
            return Err(why);
        }
        let why = match self.phase {
            Phase::Asked { why, .. } | Phase::Ending { why: Some(why), .. } => Some(why),
            Phase::Running { .. } | Phase::Ending { why: None, .. } => None,
        };
        if let Course::Starting = self.course {
            // It may have run; no process is left that could tell.
            self.task.receipts.note(self.task.ran.clone());
        }
        result?;
        let launcher = self.task.launchers.launcher.to_string();
        let (how, left_behind, mut notes) = ending(why, self.verdict, self.course).map_err(|why| match why {
            NoFinish::Broken(what) => NoFinish::Broken(format!("The launcher {launcher} {what}.")),
            other => other,
        })?;
        notes.extend(self.exceeded);
        let tails = self.sources.map(OutputSource::into_tail);
        Ok(Finish { how, took: began.elapsed(), left_behind, notes, tails })
    }
}

/// Says how a command ended that was not refused: by whose wish, by what the launcher said, and how far it had come.
///
/// Who did not say that the command is being started has not run it, whatever else was said.
fn ending(
    why: Option<HowEnded>,
    verdict: Option<LauncherVerdict>,
    course: Course,
) -> Result<(HowEnded, usize, Vec<String>), NoFinish> {
    match (why, verdict, course) {
        (None, Some(LauncherVerdict::Ended(how, left_behind)), Course::Ready(notes)) => Ok((how, left_behind, notes)),
        (Some(why), Some(LauncherVerdict::Ended(_, left_behind)), Course::Ready(notes)) => {
            Ok((why, left_behind, notes))
        }
        (Some(why), _, Course::Ready(notes)) => Ok((why, 0, notes)),
        (None, _, Course::Ready(mut notes)) => {
            notes.push("The process that watched over the command was killed, and the command with it.".into());
            Ok((HowEnded::Killed(libc::SIGKILL), 0, notes))
        }
        (Some(HowEnded::TimedOut), _, Course::Preparing) => {
            Err(NoFinish::Broken("did not carry out its orders in time".into()))
        }
        (Some(why), _, Course::Preparing | Course::Starting) => Ok((why, 0, Vec::new())),
        (None, _, Course::Starting) => {
            let note =
                "The process that watched over the command was killed while it started it; the command may have run.";
            Ok((HowEnded::Killed(libc::SIGKILL), 0, vec![note.into()]))
        }
        (None, _, Course::Preparing) => Err(NoFinish::Broken("ended before it ran anything".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_dies_before_the_command_runs_has_not_run_it() {
        let ended = || Some(LauncherVerdict::Ended(HowEnded::Exited(0), 0));
        let broken = Err(NoFinish::Broken("ended before it ran anything".into()));
        assert_eq!(ending(None, None, Course::Preparing), broken);
        assert_eq!(ending(None, ended(), Course::Preparing), broken);
        assert!(ending(Some(HowEnded::TimedOut), None, Course::Preparing).is_err());
    }

    #[test]
    fn who_dies_while_the_command_runs_or_may_run_has_ended_it() {
        for course in [Course::Starting, Course::Ready(Vec::new())] {
            let killed = ending(None, None, course);
            assert!(
                matches!(&killed, Ok((HowEnded::Killed(libc::SIGKILL), 0, notes)) if notes.len() == 1),
                "{killed:?}"
            );
        }
        let stopped = ending(Some(HowEnded::Stopped), None, Course::Ready(Vec::new()));
        assert_eq!(stopped, Ok((HowEnded::Stopped, 0, Vec::new())));
    }
}
