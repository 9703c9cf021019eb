//! Runs a process that serves one call after the other, from haft's side.
//!
//! haft starts it once and it stays warm, but each call has a fresh view of the workspace and a separate layer: a second
//! process beside the worker keeps its ground (`launcher/keeper.rs`). No part of a worker runs in a thread here. Its
//! answers come within a fraction of a millisecond or take long. So haft first waits a moment in place, and then in a
//! thread for blocking work.

mod beginning;
mod pieces;
mod waiting;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_contract::doors::door::Permit;
use haft_contract::doors::process::{
    CommandEnd, ConfinementLevel, HowEnded, NotRun, OutputListener, Staging, Stream, Worker,
};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

pub(crate) use self::beginning::Hire;
use self::pieces::Pieces;
use self::waiting::wait;
use super::orders::{GroundOrder, GroundReport, LauncherReport};
use super::started::LaunchedCommand;
use super::strays;
use super::strays::Mark;
use super::wire;
use crate::reporting::refusal;
use crate::sandbox::{descriptors, ran, visible_roots};
use crate::session::private::PrivateFolder;
use crate::settings::Network;

/// Most bytes of one message.
const LONGEST_MESSAGE: usize = 128 * 1024 * 1024;
/// How much one `recv` receives.
const AT_ONCE: usize = 64 * 1024;
/// How long an answer is waited for in place.
const MOMENT: Duration = Duration::from_micros(500);
/// How long it may take to change the ground.
const TO_CHANGE: Duration = Duration::from_secs(5);
/// How long a worker that talks no more may take to end.
const TO_END: Duration = Duration::from_secs(2);
/// How long the kernel may take to end what was killed.
const TO_DIE: Duration = Duration::from_secs(5);

const KILLED: HowEnded = HowEnded::Killed(libc::SIGKILL);

/// On which terms a worker serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) level: ConfinementLevel,
    /// Whether it has the network.
    pub(crate) network: Network,
    /// Whether every command has it.
    pub(crate) always: Network,
}

/// A worker's process and its streams.
pub(crate) struct WorkerProcess {
    /// Until it has ended.
    life: Option<Life>,
    /// How its process has ended, as soon as that is known.
    how: Option<HowEnded>,
    /// How all of it has ended.
    ended: Option<CommandEnd>,
    messages: OwnedFd,
    grounds: OwnedFd,
    printed: [Pieces; 2],
    /// What came over the sockets after the last whole line, and how much of it was looked at.
    unread: Vec<u8>,
    looked_at: usize,
    unread_of_grounds: Vec<u8>,
    /// Its number, as its watcher sees it.
    number: i32,
    terms: Terms,
    is_on_ground: bool,
    /// Whether a caller stopped waiting in the middle of a message, or of a change of the ground.
    is_cut_off: bool,
    began: Instant,
    notes: Vec<String>,
}

/// What a worker runs in.
struct Life {
    started: LaunchedCommand,
    mark: Option<Mark>,
    _private: Option<PrivateFolder>,
}

impl Life {
    /// Ends everything and waits until it is gone; returns whether it is.
    fn end(mut self) -> bool {
        let until = Instant::now() + TO_DIE;
        let mut is_told = false;
        while !self.started.is_gone() && Instant::now() < until {
            self.started.end();
            if !self.started.has_watcher() {
                self.started.kill_launcher();
            }
            let news: Vec<_> = self.started.news().map(|news| (news.as_fd(), PollFlags::IN)).collect();
            waiting::is_there_soon(&news, Duration::from_millis(50));
            let said = self.started.take_news();
            is_told |= said
                .iter()
                .any(|report| matches!(report, LauncherReport::Exited { .. } | LauncherReport::Killed { .. }));
        }
        if let (Some(mark), false, false) = (&self.mark, is_told, self.started.has_namespace()) {
            strays::end(mark);
        }
        self.started.is_gone()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if let Some(life) = self.life.take() {
            // The caller that drops it does not wait. Without a thread it ends all the same, and no process waits for it.
            let _ = std::thread::Builder::new().name("haft-worker".into()).spawn(move || life.end());
        }
    }
}

impl WorkerProcess {
    /// Ends it, unless it has ended, and says how.
    async fn finish(&mut self, how: HowEnded, note: Option<String>) -> CommandEnd {
        if let Some(life) = self.life.take() {
            self.notes.extend(note);
            let gone = tokio::task::spawn_blocking(move || life.end()).await;
            if !matches!(gone, Ok(true)) {
                self.notes.push("Processes of the worker do not end although they were killed.".into());
            }
            let (took, level, notes) = (self.began.elapsed(), self.terms.level, std::mem::take(&mut self.notes));
            self.ended = Some(CommandEnd { how, took, level, left_behind: 0, notes, refused_hosts: Vec::new() });
        }
        let gone = || CommandEnd {
            how,
            took: self.began.elapsed(),
            level: self.terms.level,
            left_behind: 0,
            notes: Vec::new(),
            refused_hosts: Vec::new(),
        };
        self.ended.clone().unwrap_or_else(gone)
    }

    /// Ends it, and passes on what it printed until its end.
    async fn finish_heard(&mut self, how: HowEnded, note: Option<String>, heard: OutputListener<'_>) -> CommandEnd {
        let ended = self.finish(how, note).await;
        self.hear(heard);
        ended
    }

    /// Takes what the launcher said; returns how the worker has ended, if it has.
    fn look(&mut self) -> Option<HowEnded> {
        let Some(life) = &mut self.life else { return Some(self.how.unwrap_or(KILLED)) };
        for report in life.started.take_news() {
            match report {
                LauncherReport::Exited { status, .. } => self.how = Some(HowEnded::Exited(status)),
                LauncherReport::Killed { signal, .. } => self.how = Some(HowEnded::Killed(signal)),
                _ => {}
            }
        }
        self.how.or_else(|| life.started.is_gone().then_some(KILLED))
    }

    /// Waits for something of the worker, at most until then.
    async fn wait_for(&self, awaited: &[(BorrowedFd<'_>, PollFlags)], until: Option<Instant>) {
        let news = self.life.iter().flat_map(|life| life.started.news()).map(|news| (news.as_fd(), PollFlags::IN));
        let all: Vec<(BorrowedFd<'_>, PollFlags)> = news.chain(awaited.iter().copied()).collect();
        if !waiting::is_there_soon(&all, MOMENT) {
            let own = |(one, what): &(BorrowedFd<'_>, PollFlags)| (one.try_clone_to_owned(), *what);
            wait(all.iter().map(own).collect(), until).await;
        }
    }

    /// Waits for its socket, or for something that it prints.
    async fn wait_for_talk(&self, what: PollFlags) {
        let mut awaited = vec![(self.messages.as_fd(), what)];
        awaited.extend(self.printed.iter().filter_map(Pieces::awaited).map(|pipe| (pipe, PollFlags::IN)));
        self.wait_for(&awaited, None).await;
    }

    /// It talks no more: it has ended, or ends.
    async fn end_of_talk(&mut self, note: &str) -> CommandEnd {
        let until = Instant::now() + TO_END;
        loop {
            if let Some(how) = self.look() {
                return self.finish(how, None).await;
            }
            if Instant::now() >= until {
                return self.finish(KILLED, Some(note.to_owned())).await;
            }
            self.wait_for(&[], Some(until)).await;
        }
    }

    /// It talks no more. What it printed until its end is passed on.
    async fn hung_up(&mut self, heard: OutputListener<'_>) -> CommandEnd {
        let ended = self.end_of_talk("It had closed the socket for its messages.").await;
        self.hear(heard);
        ended
    }

    /// Asks the one who keeps its ground for something.
    async fn ask(&mut self, order: &GroundOrder, descriptors: &[OwnedFd]) -> Option<GroundReport> {
        if std::mem::replace(&mut self.is_cut_off, true) {
            return None;
        }
        let report = self.answer_to(order, descriptors).await;
        self.is_cut_off = false;
        report
    }

    async fn answer_to(&mut self, order: &GroundOrder, descriptors: &[OwnedFd]) -> Option<GroundReport> {
        wire::send_orders(&self.grounds, order, descriptors).ok()?;
        let until = Instant::now() + TO_CHANGE;
        loop {
            let mut room = [0; 4096];
            match recv(&self.grounds, &mut room, RecvFlags::DONTWAIT) {
                Ok((received @ 1.., _)) => self.unread_of_grounds.extend(&room[..received]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(_) | Err(_) => return None,
            }
            if let Some(end) = self.unread_of_grounds.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread_of_grounds.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            if Instant::now() >= until || self.life.as_ref().is_none_or(|life| life.started.is_gone()) {
                return None;
            }
            self.wait_for(&[(self.grounds.as_fd(), PollFlags::IN)], Some(until)).await;
            self.look();
        }
    }

    /// Passes on what it has printed.
    fn hear(&mut self, heard: OutputListener<'_>) {
        for (pieces, stream) in self.printed.iter_mut().zip([Stream::Out, Stream::Err]) {
            pieces.read(|piece| heard(stream, piece));
        }
    }

    /// Takes the next message, if it is there. The error says what is wrong with it.
    fn next_message(&mut self) -> Result<Option<Vec<u8>>, NoMessage> {
        loop {
            if let Some(end) = self.unread[self.looked_at..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=self.looked_at + end).collect();
                line.pop();
                self.looked_at = 0;
                return Ok(Some(line));
            }
            self.looked_at = self.unread.len();
            if self.looked_at > LONGEST_MESSAGE {
                return Err(NoMessage::TooLong);
            }
            self.unread.reserve(AT_ONCE);
            match recv(&self.messages, rustix::buffer::spare_capacity(&mut self.unread), RecvFlags::DONTWAIT) {
                Ok((1.., _)) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Ok(_) | Err(_) => return Err(NoMessage::HungUp),
            }
        }
    }

    /// Refuses a call that was not permitted to run this, or on other terms.
    fn refuse_other_terms(&self, permit: &Permit) -> Result<(), ToolError> {
        permit.go_on()?;
        if !permit.effects().iter().any(|effect| matches!(effect, Effect::Run(_))) {
            return Err(ToolError::of(ErrorKind::Bug, "The tool tried to run a command, which it had not planned."));
        }
        let is_wanted = permit.effects().iter().any(Effect::gives_network);
        let wanted = if is_wanted { Network::On } else { self.terms.always };
        if wanted != self.terms.network {
            let has = if self.terms.network == Network::On { "with" } else { "without" };
            let what = format!("This worker was started {has} the network, and the call needs the opposite.");
            return Err(ToolError::of(ErrorKind::Unavailable, what));
        }
        if self.life.is_none() || self.is_on_ground {
            return Err(not_free());
        }
        Ok(())
    }
}

/// Why there is no message.
enum NoMessage {
    TooLong,
    HungUp,
}

fn not_free() -> ToolError {
    let next = Next::RetryAfter(Duration::from_secs(1), "try again: another one is started".into());
    ToolError::new(ErrorKind::Unavailable, "The worker has ended, or serves another call.", next)
}

impl Worker for WorkerProcess {
    fn enter<'a>(&'a mut self, permit: &'a Permit, ground: &'a dyn Staging) -> BoxFuture<'a, Result<(), NotRun>> {
        Box::pin(async move {
            self.refuse_other_terms(permit)?;
            if self.look().is_some() {
                self.end_of_talk("").await;
                return Err(not_free().into());
            }
            self.printed.iter_mut().for_each(|pieces| pieces.read(|_| {}));
            let descriptors = match self.terms.level {
                ConfinementLevel::None | ConfinementLevel::Partial => Vec::new(),
                ConfinementLevel::Full => descriptors(ground.roots())?,
            };
            let order = GroundOrder::Enter(visible_roots(ground));
            match self.ask(&order, &descriptors).await {
                Some(GroundReport::Entered) => {
                    self.is_on_ground = true;
                    permit.receipts().note(ran(self.terms.level, ground));
                    Ok(())
                }
                Some(GroundReport::NoLayer(why)) => Err(NotRun::NoLayer(why)),
                Some(GroundReport::NotEntered(what)) => Err(refusal::not_now(&what).into()),
                Some(GroundReport::Left(_) | GroundReport::Held(_)) | None => {
                    self.finish(KILLED, None).await;
                    Err(not_free().into())
                }
            }
        })
    }

    fn send<'a>(&'a mut self, message: &'a [u8], heard: OutputListener<'a>) -> BoxFuture<'a, Result<(), CommandEnd>> {
        Box::pin(async move {
            if std::mem::replace(&mut self.is_cut_off, true) {
                let note = Some("A message to it broke off in the middle.".to_owned());
                return Err(self.finish_heard(KILLED, note, heard).await);
            }
            let line = [message, b"\n"].concat();
            let mut rest = &line[..];
            while !rest.is_empty() {
                match send(&self.messages, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                    Ok(sent) => rest = &rest[sent..],
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => {
                        if let Some(how) = self.look() {
                            return Err(self.finish_heard(how, None, heard).await);
                        }
                        self.wait_for_talk(PollFlags::OUT).await;
                        // A worker that waits for a reader of its output does not read messages.
                        self.hear(heard);
                    }
                    Err(_) => return Err(self.hung_up(heard).await),
                }
            }
            self.is_cut_off = false;
            Ok(())
        })
    }

    fn receive<'a>(&'a mut self, heard: OutputListener<'a>) -> BoxFuture<'a, Result<Vec<u8>, CommandEnd>> {
        Box::pin(async move {
            loop {
                let how = self.look();
                self.hear(heard);
                match self.next_message() {
                    Ok(Some(message)) => {
                        // What it printed before it sent the message.
                        self.hear(heard);
                        return Ok(message);
                    }
                    Ok(None) => {}
                    Err(NoMessage::HungUp) if how.is_none() => return Err(self.hung_up(heard).await),
                    Err(NoMessage::HungUp) => {}
                    Err(NoMessage::TooLong) => {
                        let note = format!("It sent a message of more than {LONGEST_MESSAGE} bytes.");
                        return Err(self.finish_heard(KILLED, Some(note), heard).await);
                    }
                }
                if let Some(how) = how {
                    return Err(self.finish_heard(how, None, heard).await);
                }
                self.wait_for_talk(PollFlags::IN).await;
            }
        })
    }

    fn leave(&mut self) -> BoxFuture<'_, Result<usize, CommandEnd>> {
        Box::pin(async move {
            if self.life.is_none() {
                return Err(self.finish(KILLED, None).await);
            }
            if !self.is_on_ground {
                return Ok(0);
            }
            self.is_on_ground = false;
            match self.ask(&GroundOrder::Leave(self.number), &[]).await {
                Some(GroundReport::Left(left_behind)) => Ok(left_behind),
                Some(GroundReport::Held(why)) => {
                    let note = format!("The worker was ended after its call: {why}.");
                    Err(self.finish(KILLED, Some(note)).await)
                }
                _ => Err(self.end_of_talk("Its workspace could not be unmounted in time, so haft ended it.").await),
            }
        })
    }

    fn end(mut self: Box<Self>, how: HowEnded) -> BoxFuture<'static, CommandEnd> {
        Box::pin(async move { self.finish(how, None).await })
    }
}
