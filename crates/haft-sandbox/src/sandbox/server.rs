//! A process that serves haft over its standard streams for as long as haft wants, such as an MCP server.
//!
//! It is no command of a session: it has a separate home, a few variables and the hosts that the user granted to it. It
//! reads the workspace and what its command line names, and writes only below its home. haft keeps the end of its standard
//! error. When the value is dropped, or haft ends in any way, all its processes end.
//!
//! Not here: its messages (`haft-mcp`), whether it may be started (`haft-host`).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::door::{Receipt, Receipts};
use haft_contract::doors::process::{
    CallerSide, CallerStreams, CommandSpec, ConfinementLevel, Foreground, HowEnded, NotRun, Processes,
};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::signals::{PendingSignals, signal_words};
use rustix::fs::{Mode, OFlags};
use tokio::sync::{mpsc, watch};

use super::{Sandbox, network, ordered, shown};
use crate::environment::Variables;
use crate::reporting::refusal;
use crate::running::attend::{Finish, NoFinish, Task, attend};
use crate::running::orders::{Confine, Orders, Visible, VisibleRoot};
use crate::running::strays::Mark;
use crate::running::wake::{ThreadRequest, Wake};
use crate::session::private::PrivateFolder;
use crate::settings::Network;

/// How much of the end of its errors is kept.
const ERRORS: usize = 8 * 1024;
/// How long haft waits for the end of its errors when it has ended.
const LAST_ERRORS: Duration = Duration::from_millis(500);
/// The folder in its own one that is its home.
const HOME: &str = "home";

/// What is started, and what is around it.
#[derive(Clone, Debug)]
pub struct ServerCommand {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// Its variables, beside those that find its home.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may read beside what every command may.
    pub readable: Vec<PathBuf>,
    /// A folder that belongs to it, with the folder `home` in it.
    pub own_folder: PathBuf,
}

/// A process that serves haft.
#[derive(Debug)]
pub struct ServerProcess {
    pipes: Option<(OwnedFd, OwnedFd)>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    ended: watch::Receiver<Option<String>>,
    wake: Arc<Wake>,
    level: ConfinementLevel,
}

impl ServerProcess {
    /// Takes the pipes: the one to write to it, the one to read from it. They can be taken once.
    pub fn take_pipes(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        self.pipes.take()
    }

    /// Returns the end of what it wrote to its errors.
    pub fn last_errors(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = errors.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns how strongly it is confined.
    pub fn level(&self) -> ConfinementLevel {
        self.level
    }

    /// Waits until all its processes have ended; returns how it ended, as a sentence.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let how = ended.wait_for(Option::is_some).await;
        how.ok().and_then(|how| how.clone()).unwrap_or_else(|| "Its end was not observed.".to_owned())
    }

    /// Returns how it ended, if it has.
    pub fn how_it_ended(&self) -> Option<String> {
        self.ended.borrow().clone()
    }

    /// Asks all its processes to end, and kills those that do not end soon.
    pub fn stop(&self) {
        self.wake.tell(ThreadRequest::Stop);
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.wake.tell(ThreadRequest::Abandon);
    }
}

/// How a server is confined.
struct ServerConfinement {
    level: ConfinementLevel,
    confine: Confine,
    environment: Variables,
    descriptors: Vec<OwnedFd>,
    network: Network,
    proxy: Option<u16>,
    mark: Option<Mark>,
    private: Option<PrivateFolder>,
}

impl Sandbox {
    /// Starts a process that serves haft. Returns before it is known whether its program exists.
    ///
    /// # Errors
    ///
    /// Fails where processes cannot be confined as the settings require.
    pub fn start_server(&self, command: &ServerCommand) -> Result<ServerProcess, ToolError> {
        let failed =
            |error: std::io::Error| ToolError::of(ErrorKind::Io, format!("The server cannot be started now: {error}."));
        let confined = self.confine_server(command)?;
        let (input, to_server) = std::io::pipe().map_err(failed)?;
        let (from_server, output) = std::io::pipe().map_err(failed)?;
        let (errors_from, errors_to) = std::io::pipe().map_err(failed)?;
        let (news, _) = mpsc::unbounded_channel();
        let streams = CallerStreams::new(CallerSide {
            descriptors: [Some(input.into()), Some(output.into()), Some(errors_to.into())],
            foreground: Foreground::AtOnce,
            news,
            signals: PendingSignals::default(),
            time: None,
            environment: Vec::new(),
        });
        let level = confined.level;
        let task = self.server_task(command, confined, streams);
        let (errors, read) = keep_errors(errors_from).map_err(failed)?;
        let (wake, ended) = run(task, command, read).map_err(failed)?;
        Ok(ServerProcess { pipes: Some((to_server.into(), from_server.into())), errors, ended, wake, level })
    }

    fn server_task(&self, command: &ServerCommand, confined: ServerConfinement, streams: CallerStreams) -> Task {
        let ServerConfinement { level, confine, environment, descriptors, network, proxy, mark, private } = confined;
        let uses = self.network.as_ref().filter(|_| network.is_supervised());
        let orders = Orders {
            words: command.words.clone(),
            folder: command.folder.clone(),
            environment,
            network: network.of_command(),
            proxy,
            is_of_session: level == ConfinementLevel::Full,
            streams: Some(ordered(&streams)),
            ..self.orders(confine)
        };
        Task {
            launchers: Arc::clone(&self.launchers),
            orders,
            descriptors,
            input: Bytes::new(),
            streams: Some(streams),
            time: Duration::MAX,
            receipts: Receipts::default(),
            ran: Receipt::Ran { level, uncovered: None },
            mark,
            disk: None,
            network: uses.map(|network| network.join(None)),
            _private: private,
            _guest: None,
        }
    }

    fn confine_server(&self, command: &ServerCommand) -> Result<ServerConfinement, ToolError> {
        if self.launchers.launcher.program().is_none() {
            return Err(refusal::no_launcher());
        }
        let confinement = self.confinement();
        if let Some(why) = &confinement.untried {
            return Err(refusal::untried(why));
        }
        let level = confinement.reached;
        if level < confinement.required {
            return Err(refusal::below_required(&confinement));
        }
        let network = self.network_of_server(level);
        let mut environment = command.environment.clone();
        environment.push(("HOME".into(), self.settings.home.clone().into()));
        let mark = (level != ConfinementLevel::Full).then(Mark::fresh);
        environment.extend(mark.as_ref().map(Mark::variable));
        let proxy = self.proxy_for(network, &mut environment)?;
        let (mut descriptors, mut private) = (Vec::new(), None);
        let confine = match level {
            ConfinementLevel::None => Confine::No,
            ConfinementLevel::Partial => {
                let folder = PrivateFolder::make(&self.furniture(None)).map_err(|error| no_folder(&error))?;
                folder.settle_in(&mut environment);
                let confine = Confine::Partly(self.seen_by_server(command)?, folder.path().to_owned());
                private = Some(folder);
                confine
            }
            ConfinementLevel::Full => {
                let visible = self.seen_by_server(command)?;
                descriptors.push(opened(&command.own_folder)?);
                let root = VisibleRoot { path: command.own_folder.clone(), ..VisibleRoot::default() };
                let home = (self.settings.home.clone(), command.own_folder.join(HOME));
                let is_supervised = network == Network::Supervised;
                Confine::Fully(Visible { roots: vec![root], folders: vec![home], is_supervised, ..visible })
            }
        };
        Ok(ServerConfinement { level, confine, environment, descriptors, network, proxy, mark, private })
    }

    fn seen_by_server(&self, command: &ServerCommand) -> Result<Visible, ToolError> {
        Ok(Visible { shown: shown(&command.readable)?, ..self.visible_without_ground() })
    }

    fn network_of_server(&self, level: ConfinementLevel) -> Network {
        let is_supervised = self.network.is_some() && network::is_supervised_at(level);
        match (self.settings.network, level) {
            (Network::On, _) => Network::On,
            (_, ConfinementLevel::Full) if is_supervised => Network::Supervised,
            (_, ConfinementLevel::Partial) if is_supervised => Network::Proxied,
            _ => Network::Off,
        }
    }
}

/// Lets a thread attend to the server. Its end is told when its errors are read to their end too.
fn run(
    task: Task,
    command: &ServerCommand,
    read: Receiver<()>,
) -> std::io::Result<(Arc<Wake>, watch::Receiver<Option<String>>)> {
    let wake = Arc::new(Wake::new()?);
    let (tell_end, ended) = watch::channel(None);
    let (of_thread, command) = (Arc::clone(&wake), command.clone());
    std::thread::Builder::new().name("haft-server".into()).spawn(move || {
        // It has streams of its own, so no piece ever comes; the channel is there as long as the server.
        let (tell, _pieces) = mpsc::channel(1);
        let how = told_end(attend(task, tell, &of_thread), &command);
        // Nothing is sent: the sender goes with the reader. A process that left the sandbox may keep the pipe open.
        let _ = read.recv_timeout(LAST_ERRORS);
        tell_end.send_replace(Some(how));
    })?;
    Ok((wake, ended))
}

/// Says how it ended.
fn told_end(outcome: Result<Finish, NoFinish>, command: &ServerCommand) -> String {
    let finish = match outcome {
        Ok(finish) => finish,
        Err(why) => {
            let line = command.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            let words = CommandSpec::new(command.words.clone(), line, command.folder.clone(), Duration::MAX);
            return match refusal::of_finish(why, &words) {
                NotRun::NoLayer(why) => why,
                NotRun::Failed(error) => error.what.clone(),
            };
        }
    };
    let mut told = match finish.how {
        HowEnded::Exited(status) => format!("It ended with status {status}."),
        HowEnded::Killed(signal) => format!("It was ended by {}.", signal_words(signal)),
        HowEnded::TimedOut | HowEnded::Stopped => "haft ended it.".to_owned(),
    };
    for note in finish.notes {
        told.push(' ');
        told.push_str(&note);
    }
    told
}

/// The end of what a server wrote to its errors.
type KeptErrors = Arc<Mutex<VecDeque<u8>>>;

/// Keeps the end of what the server writes to its errors, in a thread that ends with the last writer. The receiver is
/// closed then.
fn keep_errors(mut from: std::io::PipeReader) -> std::io::Result<(KeptErrors, Receiver<()>)> {
    let (reading, read) = channel();
    let errors = Arc::new(Mutex::new(VecDeque::new()));
    let kept = Arc::clone(&errors);
    std::thread::Builder::new().name("haft-server-err".into()).spawn(move || {
        let _reading: Sender<()> = reading;
        let mut room = [0; 4096];
        loop {
            let piece = match from.read(&mut room) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
                Ok(many) => &room[..many],
            };
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(piece);
            let surplus = kept.len().saturating_sub(ERRORS);
            kept.drain(..surplus);
        }
    })?;
    Ok((errors, read))
}

fn opened(folder: &std::path::Path) -> Result<OwnedFd, ToolError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty()).map_err(|error| no_folder(&error.into()))
}

fn no_folder(error: &std::io::Error) -> ToolError {
    ToolError::of(ErrorKind::Io, format!("The server was not started: it has no folder of its own ({error})."))
}
