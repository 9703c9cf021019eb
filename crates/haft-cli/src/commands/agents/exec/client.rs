//! The person's side of `haft exec`: sends the command, connects the terminals, answers questions.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use anyhow::bail;
use haft_net::exec::{CommandRequest, ExecConnection, ExecOutcome, FromClient, Receiver, Sender, ToClient, VERSION};
use rustix::fs::FileType;
use rustix::process::{Signal, kill_current_process_group};

use super::suspending::{ExecSignal, OwnSignals, has_job_control};
use crate::screen;
use crate::terminal::input::of_command::{CommandTerminal, KeystrokeReader, OwnTerminal};

/// A command on its way to the process that runs it.
pub(super) struct Client {
    request: CommandRequest,
    terminal: Option<OwnTerminal>,
    owner: Option<OwnedFd>,
    notes: NoteVisibility,
}

/// Whether haft shows notes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoteVisibility {
    Shown,
    LeftOut,
}

/// How the conversation ended.
#[derive(Debug)]
pub(super) enum ClientEnd {
    /// The command has ended, or was refused.
    Ended(Box<ExecOutcome>),
    /// The process that ran it is gone.
    Lost,
    /// It was not taken: the session was just ending.
    NotServed,
    /// It was not taken: the holder is another version of haft.
    OtherVersion,
}

impl Client {
    /// Brings a command along.
    pub(super) fn new(
        request: CommandRequest,
        terminal: Option<OwnTerminal>,
        notes: NoteVisibility,
    ) -> anyhow::Result<Self> {
        for (name, stream) in ["stdin", "stdout", "stderr"].into_iter().zip(standard_streams()) {
            let found = rustix::fs::fstat(stream)?;
            // With a folder a command could leave the sandbox.
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                bail!("{name} is a folder; give the command a file, a pipe or a terminal");
            }
        }
        Ok(Self { request, terminal, owner: None, notes })
    }

    /// Returns whether haft says nothing of its own.
    pub(super) fn is_quiet(&self) -> bool {
        self.notes == NoteVisibility::LeftOut
    }

    /// Lets the session end with a process.
    pub(super) fn belongs_to(&mut self, owner: OwnedFd) {
        self.request.has_owner = true;
        self.owner = Some(owner);
    }

    /// Lets the command run, and stays with it until it has ended.
    pub(super) async fn talk(&mut self, connection: ExecConnection) -> io::Result<ClientEnd> {
        let (sender, receiver) = connection.split();
        let signals = OwnSignals::listen()?;
        let keys = self.terminal.as_ref().map(OwnTerminal::keys).transpose()?;
        let streams = standard_streams().into_iter().zip(self.request.terminals);
        let given = streams.filter(|(_, is_terminal)| !is_terminal).map(|(stream, _)| stream);
        let descriptors: Vec<BorrowedFd<'_>> = self.owner.iter().map(AsFd::as_fd).chain(given).collect();
        let run = FromClient::Run(VERSION, Box::new(self.request.clone()));
        if sender.send(&run, &descriptors).await.is_err() {
            return Ok(ClientEnd::NotServed);
        }
        drop(descriptors);
        let talking = Talking {
            sender,
            receiver,
            terminal: self.terminal.as_mut(),
            keys,
            others: None,
            has_keys: false,
            lost_keys: false,
            is_foreground: self.request.foreground,
            typed: Vec::new(),
            answer: None,
            own_stops: 0,
            was_served: false,
            notes: self.notes,
        };
        talking.until_end(signals).await
    }
}

fn standard_streams() -> [BorrowedFd<'static>; 3] {
    [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()]
}

/// The conversation while a command runs.
struct Talking<'a> {
    sender: Sender,
    receiver: Receiver,
    terminal: Option<&'a mut OwnTerminal>,
    keys: Option<KeystrokeReader>,
    /// The terminal of the command.
    others: Option<CommandTerminal>,
    /// Whether the command gets the keys.
    has_keys: bool,
    /// Whether it had them until this process was stopped.
    lost_keys: bool,
    /// Whether it gets them from the start.
    is_foreground: bool,
    /// Keys that the command has not taken yet.
    typed: Vec<u8>,
    /// What was typed so far as the answer to a question.
    answer: Option<Vec<u8>>,
    /// How many stops of the command will be told that are this side's own.
    own_stops: usize,
    was_served: bool,
    notes: NoteVisibility,
}

impl Talking<'_> {
    async fn until_end(mut self, mut signals: OwnSignals) -> io::Result<ClientEnd> {
        loop {
            let wants_keys = self.answer.is_some() || (self.has_keys && self.typed.is_empty());
            tokio::select! {
                message = self.receiver.next::<ToClient>() => match message {
                    Ok(Some(ToClient::Ended(outcome))) => {
                        self.show_rest();
                        return Ok(ClientEnd::Ended(outcome));
                    }
                    Ok(Some(ToClient::OtherVersion(_))) => return Ok(ClientEnd::OtherVersion),
                    Ok(Some(message)) => self.take(message).await?,
                    Ok(None) if self.was_served => {
                        self.show_rest();
                        return Ok(ClientEnd::Lost);
                    }
                    Ok(None) => return Ok(ClientEnd::NotServed),
                    Err(error) => return Err(error),
                },
                printed = printed(self.others.as_ref()) => match (&printed[..], &self.terminal) {
                    (b"", _) => self.others = None,
                    (printed, Some(terminal)) => terminal.show(printed),
                    (_, None) => {}
                },
                came = signals.next() => self.hear(came, &mut signals).await,
                keys = keys(self.keys.as_ref()), if wants_keys => self.take_keys(keys).await,
                taken = typed(self.others.as_ref(), &self.typed), if !self.typed.is_empty() => {
                    self.typed.drain(..taken);
                }
            }
        }
    }

    async fn take(&mut self, message: ToClient) -> io::Result<()> {
        self.was_served = true;
        match message {
            ToClient::Terminal => {
                let end = self.receiver.descriptor().ok_or(io::ErrorKind::InvalidData)?;
                let end = CommandTerminal::new(end)?;
                if let Some(terminal) = &self.terminal {
                    terminal.modes_to(&end);
                    terminal.size_to(&end);
                }
                self.others = Some(end);
                if self.is_foreground {
                    self.give_keys();
                }
                self.say(&FromClient::TerminalReady).await;
            }
            ToClient::WantsTerminal => {
                self.give_keys();
                self.say(&FromClient::TerminalReady).await;
            }
            ToClient::Suspended(_) if self.own_stops > 0 => self.own_stops -= 1,
            ToClient::Suspended(_) if !has_job_control() => self.say(&FromClient::Signal(Signal::CONT.as_raw())).await,
            // As the terminal would do it: this process gets its part of it, too.
            ToClient::Suspended(_) => {
                self.own_stops = 0;
                let _ = kill_current_process_group(Signal::TSTP);
            }
            ToClient::Say(text) => self.show(&text),
            ToClient::Read => {
                if let Some(terminal) = self.terminal.as_mut() {
                    terminal.set_raw(false);
                }
                self.answer = Some(Vec::new());
            }
            ToClient::Note(_) | ToClient::OtherBuild(_) if self.notes == NoteVisibility::LeftOut => {}
            ToClient::Note(text) => screen::talk(&text),
            ToClient::OtherBuild(build) => screen::talk(&format!(
                "haft: version {} of haft holds this session; it ends as soon as nothing in it runs",
                screen::safe(&build)
            )),
            ToClient::Taken | ToClient::Ended(_) | ToClient::OtherVersion(_) => {}
        }
        Ok(())
    }

    /// Lets the command have the keys.
    fn give_keys(&mut self) {
        self.has_keys = self.keys.is_some();
        if let Some(terminal) = self.terminal.as_mut() {
            terminal.set_raw(true);
        }
    }

    /// Shows a piece of a question.
    fn show(&mut self, text: &str) {
        let was_raw = self.terminal.as_ref().is_some_and(|terminal| terminal.is_raw());
        if let Some(terminal) = self.terminal.as_mut() {
            terminal.set_raw(false);
            // What was typed before a question was shown is no answer; what is typed from now on may be.
            terminal.forget_keys();
        }
        let _ = io::stderr().write_all(text.as_bytes());
        if let Some(terminal) = self.terminal.as_mut() {
            terminal.set_raw(was_raw);
        }
    }

    async fn take_keys(&mut self, keys: Vec<u8>) {
        let Some(answer) = &mut self.answer else {
            self.has_keys &= !keys.is_empty();
            self.typed.extend(keys);
            return;
        };
        answer.extend_from_slice(&keys);
        if !keys.is_empty() && !answer.ends_with(b"\n") {
            return;
        }
        let line = String::from_utf8_lossy(answer).trim_end_matches('\n').to_owned();
        let line = (!keys.is_empty()).then_some(line);
        self.answer = None;
        self.say(&FromClient::Typed(line)).await;
        if self.has_keys {
            self.give_keys();
            // What was on the screen before the question is shown again.
            self.say(&FromClient::Signal(Signal::WINCH.as_raw())).await;
        }
    }

    async fn hear(&mut self, came: ExecSignal, signals: &mut OwnSignals) {
        match came {
            // Also while a question is open: who stops the call has not answered it.
            ExecSignal::ForCommand(number) => self.say(&FromClient::Signal(number)).await,
            ExecSignal::Size => {
                if let (Some(terminal), Some(others)) = (&self.terminal, &self.others) {
                    terminal.size_to(others);
                }
            }
            ExecSignal::Stop => self.stop(signals).await,
            ExecSignal::Resumed => self.take_terminal_back(),
        }
    }

    /// Stops the command and this process until the user lets both go on.
    async fn stop(&mut self, signals: &mut OwnSignals) {
        let was_raw = self.terminal.as_ref().is_some_and(|terminal| terminal.is_raw());
        if let Some(terminal) = self.terminal.as_mut() {
            terminal.set_raw(false);
        }
        // In front of its terminal the command was stopped by its own keys.
        if !was_raw {
            self.own_stops += usize::from(self.others.is_some());
            self.say(&FromClient::Signal(Signal::STOP.as_raw())).await;
        }
        signals.stop_here().await;
        self.lost_keys |= was_raw;
        self.has_keys &= !was_raw;
        self.take_terminal_back();
        if let (Some(terminal), Some(others)) = (&self.terminal, &self.others) {
            terminal.size_to(others);
        }
        self.say(&FromClient::Signal(Signal::CONT.as_raw())).await;
    }

    /// Gives the command its keys back, if this process is in front of the terminal again.
    fn take_terminal_back(&mut self) {
        if self.lost_keys && self.terminal.as_ref().is_some_and(|terminal| terminal.is_ours()) {
            self.lost_keys = false;
            self.give_keys();
        }
    }

    fn show_rest(&mut self) {
        if let (Some(terminal), Some(others)) = (&self.terminal, &self.others) {
            terminal.show(&others.rest());
        }
        if let Some(terminal) = self.terminal.as_mut() {
            terminal.set_raw(false);
        }
    }

    async fn say(&self, message: &FromClient) {
        // The code that reads from the other side notices when that side is gone.
        let _ = self.sender.send(message, &[]).await;
    }
}

async fn printed(others: Option<&CommandTerminal>) -> Vec<u8> {
    match others {
        Some(others) => others.printed().await,
        None => std::future::pending().await,
    }
}

async fn keys(keys: Option<&KeystrokeReader>) -> Vec<u8> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

async fn typed(others: Option<&CommandTerminal>, keys: &[u8]) -> usize {
    match others {
        Some(others) => others.typed(keys).await,
        // No terminal exists that could take them.
        None => keys.len(),
    }
}
