//! Starts a worker: until its program runs.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_contract::door::Permit;
use haft_contract::error::ToolError;
use haft_contract::kinds::ErrorKind;
use haft_contract::process::{Command, Ground, NotRun};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::pieces::Pieces;
use super::{Life, Served, Terms};
use crate::attend::NoFinish;
use crate::orders::{Orders, Report};
use crate::sandbox::{Launch, ran};
use crate::standby::{Launchers, Streams};
use crate::started::Started;
use crate::wake::{AbandonWhenDropped, Wake, Wish};
use crate::{input, refusal};

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
    pub(crate) async fn start(self, permit: &Permit, command: &Command, ground: &dyn Ground) -> Result<Served, NotRun> {
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
                abandon.0.tell(Wish::Stop);
                begins.await
            }
        };
        let broken = |_| ToolError::of(ErrorKind::Bug, "The thread that starts the worker broke down.");
        let begun = begun.map_err(broken)?;
        permit.go_on()?;
        let begun = begun.map_err(|why| refusal::of_finish(why, command))?;
        permit.receipts().note(ran(terms.level, ground));
        let Sockets { messages, grounds } = sockets;
        Ok(Served {
            life: Some(Life { started: begun.started, mark, _private: private }),
            how: None,
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
    started: Started,
    streams: Streams,
    number: i32,
    notes: Vec<String>,
}

/// Starts it and returns when its program runs.
fn begin(launchers: &Launchers, orders: &Orders, descriptors: Vec<OwnedFd>, wake: &Wake) -> Result<Begun, NoFinish> {
    let launcher = &launchers.launcher;
    let broken = |what: &str| NoFinish::Broken(format!("The launcher {launcher} {what}."));
    let (mut started, streams) = Started::start(launchers, orders, &descriptors).map_err(|error| {
        let what = format!("The launcher {launcher} could not be started: {error}.");
        NoFinish::NoLauncher(what, error.raw_os_error())
    })?;
    drop(descriptors);
    let until = Instant::now() + TO_START;
    let mut number = None;
    let why = loop {
        let descriptors = started.news().map(AsFd::as_fd).chain([wake.as_fd()]);
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let _ = poll(&mut polled, left.as_ref());
        let mut refused = None;
        for report in started.take_news() {
            match (report, number) {
                (Report::Worker(pid), _) => number = Some(pid),
                (Report::Ready(notes), Some(number)) => return Ok(Begun { started, streams, number, notes }),
                (Report::NoLayer(why), _) => refused = Some(NoFinish::NoLayer(why)),
                (Report::Missing(what), _) => refused = Some(NoFinish::Missing(what)),
                (Report::Passing(what), _) => refused = Some(NoFinish::Passing(what)),
                (Report::NotStarted(why), _) => refused = Some(NoFinish::NotStarted(why)),
                _ => {}
            }
        }
        if let Some(why) = refused {
            break why;
        }
        if started.is_gone() {
            break broken("ended before it ran anything");
        }
        if wake.wish() != Wish::GoOn || Instant::now() >= until {
            break broken("did not carry out its orders in time");
        }
    };
    Life { started, mark: None, _private: None }.end();
    Err(why)
}
