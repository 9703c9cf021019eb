//! Starts a worker and waits until its program runs.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_contract::doors::door::Permit;
use haft_contract::doors::process::{CommandSpec, HowEnded, NotRun, Staging};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::pieces::Pieces;
use super::{Life, Terms, WorkerProcess};
use crate::reporting::refusal;
use crate::running::attend::NoFinish;
use crate::running::input;
use crate::running::orders::{LauncherReport, Orders};
use crate::running::standby::{Launchers, Streams};
use crate::running::started::LaunchedCommand;
use crate::running::wake::{AbandonWhenDropped, ThreadRequest, Wake};
use crate::sandbox::{Launch, ran};

/// How long it may take until the program runs.
const TO_START: Duration = Duration::from_secs(10);
/// How long the one who keeps the ground may take to read what it is asked.
const TO_READ: Duration = Duration::from_secs(5);

/// A worker that is to be started.
pub(crate) struct Hire {
    pub(crate) launchers: Arc<Launchers>,
    pub(crate) launch: Launch,
    pub(crate) terms: Terms,
}

/// haft's ends of the sockets of a worker.
struct Sockets {
    messages: OwnedFd,
    grounds: OwnedFd,
}

impl Hire {
    /// Starts it on a ground.
    pub(crate) async fn start(
        self,
        permit: &Permit,
        command: &CommandSpec,
        ground: &dyn Staging,
    ) -> Result<WorkerProcess, NotRun> {
        let began = Instant::now();
        let Self { launchers, launch, terms } = self;
        let Launch { mut orders, mut descriptors, mark, private, .. } = launch;
        let failed = |error: io::Error| ToolError::of(ErrorKind::Io, format!("No worker can be started now: {error}."));
        orders.serves = true;
        if orders.has_input {
            descriptors.push(input::sealed(&command.input).map_err(failed)?);
        }
        let sockets = sockets(&mut descriptors).map_err(failed)?;
        let wake = Arc::new(Wake::new().map_err(io::Error::from).map_err(failed)?);
        let abandon = AbandonWhenDropped(Arc::clone(&wake));
        let mut begins = tokio::task::spawn_blocking(move || begin(&launchers, &orders, descriptors, &wake));
        let begun = tokio::select! {
            biased;
            begun = &mut begins => begun,
            () = permit.stop().cancelled() => {
                abandon.0.tell(ThreadRequest::Stop);
                begins.await
            }
        };
        let broken = |_| ToolError::of(ErrorKind::Bug, "The thread that starts the worker broke down.");
        let begun = begun.map_err(broken)?;
        permit.go_on()?;
        let begun = begun.map_err(|why| refusal::of_finish(why, command))?;
        permit.receipts().note(ran(terms.level, ground));
        let Sockets { messages, grounds } = sockets;
        Ok(WorkerProcess {
            life: Some(Life { started: begun.started, mark, _private: private }),
            how: begun.how,
            ended: None,
            messages,
            grounds,
            printed: [Pieces::of(begun.streams.out), Pieces::of(begun.streams.err)],
            unread: Vec::new(),
            looked_at: 0,
            unread_of_grounds: Vec::new(),
            number: begun.number,
            terms,
            is_on_ground: true,
            is_cut_off: false,
            began,
            notes: begun.notes,
        })
    }
}

/// Makes the two sockets of a worker, and puts its ends behind the other descriptors.
fn sockets(descriptors: &mut Vec<OwnedFd>) -> io::Result<Sockets> {
    let pair = || socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let ((messages, its_messages), (grounds, its_grounds)) = (pair()?, pair()?);
    set_socket_timeout(&grounds, Timeout::Send, Some(TO_READ))?;
    descriptors.extend([its_messages, its_grounds]);
    Ok(Sockets { messages, grounds })
}

struct Begun {
    started: LaunchedCommand,
    streams: Streams,
    number: i32,
    notes: Vec<String>,
    /// How it has ended, if that was said together with its beginning.
    how: Option<HowEnded>,
}

/// The launcher's messages about the start of a worker.
#[derive(Default)]
struct StartupReport {
    number: Option<i32>,
    ready: Option<Vec<String>>,
    how: Option<HowEnded>,
    refused: Option<NoFinish>,
}

impl StartupReport {
    /// Takes a report. Several may arrive together: a worker can have ended when its beginning is read.
    fn note(&mut self, report: LauncherReport) {
        match report {
            LauncherReport::Worker(pid) => self.number = Some(pid),
            LauncherReport::Ready(notes) => self.ready = Some(notes),
            LauncherReport::Exited { status, .. } => self.how = Some(HowEnded::Exited(status)),
            LauncherReport::Killed { signal, .. } => self.how = Some(HowEnded::Killed(signal)),
            LauncherReport::NoLayer(why) => self.refused = Some(NoFinish::NoLayer(why)),
            LauncherReport::Missing(what) => self.refused = Some(NoFinish::Missing(what)),
            LauncherReport::Passing(what) => self.refused = Some(NoFinish::Passing(what)),
            LauncherReport::NotStarted(why) => self.refused = Some(NoFinish::NotStarted(why)),
            LauncherReport::Watcher(_)
            | LauncherReport::Starting
            | LauncherReport::Tried(_)
            | LauncherReport::Layers
            | LauncherReport::Exceeded(_) => {}
            // A worker has no terminal.
            LauncherReport::Terminal | LauncherReport::Suspended(_) | LauncherReport::WantsTerminal => {}
        }
    }
}

/// Starts it and returns when its program runs.
fn begin(launchers: &Launchers, orders: &Orders, descriptors: Vec<OwnedFd>, wake: &Wake) -> Result<Begun, NoFinish> {
    let launcher = &launchers.launcher;
    let broken = |what: &str| NoFinish::Broken(format!("The launcher {launcher} {what}."));
    let (mut started, streams) = LaunchedCommand::start(launchers, orders, &descriptors).map_err(|error| {
        let what = format!("The launcher {launcher} could not be started: {error}.");
        NoFinish::NoLauncher(what, error.raw_os_error())
    })?;
    drop(descriptors);
    let until = Instant::now() + TO_START;
    let mut said = StartupReport::default();
    let why = loop {
        let descriptors = started.news().map(AsFd::as_fd).chain([wake.as_fd()]);
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let _ = poll(&mut polled, left.as_ref());
        started.take_news().into_iter().for_each(|report| said.note(report));
        if let (Some(number), Some(notes)) = (said.number, said.ready.take()) {
            return Ok(Begun { started, streams, number, notes, how: said.how });
        }
        if let Some(why) = said.refused {
            break why;
        }
        if started.is_gone() {
            break broken("ended before it ran anything");
        }
        if wake.wish() != ThreadRequest::GoOn || Instant::now() >= until {
            break broken("did not carry out its orders in time");
        }
    };
    Life { started, mark: None, _private: None }.end();
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_told_together_with_the_beginning_is_not_lost() {
        for (end, how) in [
            (LauncherReport::Exited { status: 7, left_behind: 0 }, HowEnded::Exited(7)),
            (LauncherReport::Killed { signal: 9, left_behind: 0 }, HowEnded::Killed(9)),
        ] {
            let mut said = StartupReport::default();
            for report in
                [LauncherReport::Starting, LauncherReport::Worker(5), LauncherReport::Ready(vec!["a note".into()]), end]
            {
                said.note(report);
            }
            assert_eq!((said.number, said.how), (Some(5), Some(how)));
            assert_eq!(said.ready, Some(vec!["a note".to_owned()]));
            assert!(said.refused.is_none());
        }
    }
}
