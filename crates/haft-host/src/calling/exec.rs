//! Runs the commands of `haft exec`, which other processes send together with their standard streams.
//!
//! A command is an ordinary call of the tool `bash`: rules, questions, sandbox, journal, one record. Only its streams
//! belong to its caller. The caller is at the other end of a connection, in this process or in another one.
//!
//! Not here: the messages (`haft-net`), the terminal (`haft-cli`), when a session ends (`holder`).

pub mod dialogue;
pub mod holder;
pub mod joining;
pub mod line;
mod outcome;
pub mod ticket;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

use haft_contract::call::{CallId, CallOrigin, ToolCall};
use haft_contract::doors::process::{CallerSide, CallerStreams, Foreground, StreamNews};
use haft_contract::doors::reader::Audience;
use haft_contract::outcome::error::AdvanceYes;
use haft_contract::signals::{PendingSignals, TERMINAL_READY};
use haft_net::exec::{CommandRequest, FromClient, Receiver, Sender, ToClient};
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::Approver;
use haft_runtime::state::session::{Readers, Session};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::host::{Host, nobody};
use crate::texts::for_person::for_reader;

/// Time for a command to end by itself after its caller has disconnected.
const TO_HANG_UP: Duration = Duration::from_secs(1);

const HANG_UP: i32 = 1;
const KILL: i32 = 9;
/// Signals that cancel a command that has not started: HUP, INT, QUIT, KILL, TERM.
const THAT_STOP: [i32; 5] = [HANG_UP, 2, 3, KILL, 15];

/// Runs the commands of one session.
pub struct CommandServer {
    host: Host,
    session: Session,
    stop: CancellationToken,
}

/// Both directions of a connection.
pub type Talk = (Sender, Receiver);

/// Provides the approver for each command.
pub trait Approvers: Send + Sync {
    /// Returns the approver for this command, which asks over the connection to its caller.
    fn approver(&self, request: &CommandRequest, dialogue: Dialogue) -> Box<dyn Approver>;
}

/// The channels for questions to a caller.
pub struct Dialogue {
    /// Sends text to show.
    pub say: UnboundedSender<ToClient>,
    /// Receives typed lines; `None` at the end of input.
    pub typed: std::sync::mpsc::Receiver<Option<String>>,
}

impl CommandServer {
    /// Creates a server for a session of this name.
    pub fn new(host: Host, name: &str) -> Self {
        let session = host.session(name, Box::new(nobody())).with_readers(Readers::Several);
        Self { host, session, stop: CancellationToken::new() }
    }

    /// Creates a server for a session with a single command.
    pub fn for_one_command(host: Host, name: &str) -> Self {
        let server = Self::new(host, name);
        let session = server.session.without_jobs();
        Self { session, ..server }
    }

    /// Runs a command to its end, and reports the outcome to its caller.
    ///
    /// # Errors
    ///
    /// Fails if the caller has disconnected or its request is invalid.
    pub async fn serve(&self, request: CommandRequest, talk: Talk, approvers: &dyn Approvers) -> io::Result<()> {
        let (sender, mut receiver) = talk;
        let (say, said) = unbounded_channel();
        let (type_line, typed) = std::sync::mpsc::channel();
        let approver = approvers.approver(&request, Dialogue { say, typed });
        let mut session = self.session.joined(approver);
        if let Some(by) = &request.agent {
            session = session.in_turn_of(&by.run, by.turn);
            session.set_agent(&by.name);
        }
        session.set_mode(mode(&request.mode));
        let (news, told) = unbounded_channel();
        let signals = PendingSignals::default();
        let origin = match request.paper {
            Some(_) if request.yes.is_none() => CallOrigin::Person,
            _ => CallOrigin::Script,
        };
        let streams = streams(&request, &mut receiver, (news, signals.clone()))?;
        let mut call = ToolCall::new("bash", self.arguments(&request)?.into()).by(origin).with_streams(streams);
        if let Some(by) = &request.agent {
            call = call.with_id(&by.call);
        }
        let conversation = Conversation {
            session: &session,
            call: call.id.clone(),
            sender: &sender,
            receiver,
            signals,
            type_line: Some(type_line),
            is_running: false,
            kill_at: None,
        };
        let result = {
            let calling = self.host.runtime.call(&session, call);
            conversation.hold(calling, (told, said), &self.stop).await
        };
        let result = for_reader(result, Audience::of(origin));
        self.host.note_call(&result);
        sender.send(&ToClient::Ended(Box::new(outcome::of(&result))), &[]).await
    }

    /// Returns whether the session has running jobs.
    pub fn runs_jobs(&self) -> bool {
        self.session.runs_jobs()
    }

    /// Stops all commands.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends the jobs of the session.
    pub async fn end_jobs(&self) {
        self.session.end_jobs().await;
    }

    fn arguments(&self, request: &CommandRequest) -> io::Result<serde_json::Value> {
        let mut arguments = json!({ "command": request.line });
        let folder = Path::new(std::ffi::OsStr::from_bytes(&request.folder));
        if folder.starts_with(&self.host.workspace) && folder != self.host.workspace {
            let not_text = || io::Error::new(io::ErrorKind::InvalidInput, "the name of the folder is not valid UTF-8");
            arguments["working_dir"] = folder.to_str().ok_or_else(not_text)?.into();
        }
        if request.background {
            arguments["background"] = true.into();
            arguments["name"] = request.name.clone().into();
        }
        Ok(arguments)
    }
}

fn mode(name: &str) -> Mode {
    match name {
        "plan" => Mode::Plan,
        "try" => Mode::Try,
        _ => Mode::Normal,
    }
}

/// Returns the name of a mode in a request.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "normal",
        Mode::Plan => "plan",
        Mode::Try => "try",
    }
}

/// Returns the yes that a request gives in advance.
pub fn given_yes(request: &CommandRequest) -> Option<AdvanceYes> {
    match request.yes.as_deref() {
        None if request.agent.is_some() => Some(AdvanceYes::ToUndoable),
        Some("all") => Some(AdvanceYes::ToAll),
        Some(_) => Some(AdvanceYes::ToUndoable),
        None => None,
    }
}

/// Returns the name of a yes in a request.
pub fn yes_name(yes: AdvanceYes) -> &'static str {
    match yes {
        AdvanceYes::ToAll => "all",
        AdvanceYes::ToUndoable => "undoable",
    }
}

fn streams(
    request: &CommandRequest,
    receiver: &mut Receiver,
    (news, signals): (UnboundedSender<StreamNews>, PendingSignals),
) -> io::Result<CallerStreams> {
    let mut descriptors: [Option<OwnedFd>; 3] = Default::default();
    for (descriptor, is_terminal) in descriptors.iter_mut().zip(request.terminals) {
        if !is_terminal {
            *descriptor = Some(receiver.descriptor().ok_or(io::ErrorKind::InvalidData)?);
        }
    }
    let text = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
    Ok(CallerStreams::new(CallerSide {
        descriptors,
        foreground: if request.foreground { Foreground::AtOnce } else { Foreground::OnDemand },
        news,
        signals,
        time: request.time.map(Duration::from_millis),
        environment: request.environment.iter().map(|(name, value)| (text(name), text(value))).collect(),
    }))
}

/// The conversation with the caller of a command while it runs.
struct Conversation<'a> {
    session: &'a Session,
    call: CallId,
    sender: &'a Sender,
    receiver: Receiver,
    signals: PendingSignals,
    type_line: Option<std::sync::mpsc::Sender<Option<String>>>,
    is_running: bool,
    /// When to kill the command because its caller has disconnected.
    kill_at: Option<Instant>,
}

impl Conversation<'_> {
    async fn hold<T>(
        mut self,
        calling: impl Future<Output = T>,
        (mut told, mut said): (UnboundedReceiver<StreamNews>, UnboundedReceiver<ToClient>),
        stop: &CancellationToken,
    ) -> T {
        tokio::pin!(calling);
        let (mut is_gone, mut is_stopped) = (false, false);
        loop {
            tokio::select! {
                result = &mut calling => {
                    // The caller gets pending messages before the outcome.
                    while let Ok(message) = said.try_recv() {
                        let _ = self.sender.send(&message, &[]).await;
                    }
                    return result;
                }
                Some(news) = told.recv() => self.pass_on(news).await,
                Some(message) = said.recv() => drop(self.sender.send(&message, &[]).await),
                message = self.receiver.next::<FromClient>(), if !is_gone => match message {
                    Ok(Some(message)) => self.take(message),
                    Ok(None) | Err(_) => {
                        is_gone = true;
                        self.hang_up();
                    }
                },
                () = until(self.kill_at) => {
                    self.kill_at = None;
                    self.signals.send(KILL);
                }
                () = stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    self.session.stop_turn();
                }
            }
        }
    }

    async fn pass_on(&mut self, news: StreamNews) {
        let message = match news {
            StreamNews::Started => {
                self.is_running = true;
                return;
            }
            StreamNews::Terminal(terminal) => {
                let _ = self.sender.send(&ToClient::Terminal, &[terminal.as_fd()]).await;
                return;
            }
            StreamNews::Suspended(signal) => ToClient::Suspended(signal),
            StreamNews::WantsTerminal => ToClient::WantsTerminal,
        };
        // The receiving side notices if the caller has disconnected.
        let _ = self.sender.send(&message, &[]).await;
    }

    fn take(&mut self, message: FromClient) {
        match message {
            FromClient::Signal(signal) if self.is_running => self.signals.send(signal),
            FromClient::Signal(signal) if THAT_STOP.contains(&signal) => drop(self.session.cancel(&self.call)),
            FromClient::TerminalReady => self.signals.send(TERMINAL_READY),
            FromClient::Typed(line) => {
                if let Some(type_line) = &self.type_line {
                    let _ = type_line.send(line);
                }
            }
            FromClient::Signal(_) | FromClient::Run(..) | FromClient::EndWhenIdle => {}
        }
    }

    /// Ends the command after its caller has disconnected: its terminal is gone, and no answer will come.
    fn hang_up(&mut self) {
        self.type_line = None;
        if self.is_running {
            self.signals.send(HANG_UP);
            self.kill_at = Some(Instant::now() + TO_HANG_UP);
        } else {
            self.session.cancel(&self.call);
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
