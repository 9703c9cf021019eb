//! Asks one of the user's programs about its settings. The program reads the home, writes nothing, and has no network.
//!
//! The program runs as the user and outside any project, so no project can influence its answer. haft takes only its output.
//!
//! Not here: which programs, and what their answers mean (`haft-host`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::door::{Receipt, Receipts};
use haft_contract::doors::process::{HowEnded, Stream};
use tokio::sync::mpsc;

use crate::launcher::Launcher;
use crate::programs::is_program;
use crate::running::attend::{Task, attend};
use crate::running::orders::{CommandNetwork, Confine, HomeAccess, Orders, Visible};
use crate::running::standby::Launchers;
use crate::running::wake::Wake;

/// Most bytes of an answer.
const LONGEST: usize = 1024 * 1024;
/// Pieces of output that wait.
const PIECES: usize = 4;
/// Most processes of one program.
const PROCESSES: u32 = 1024;

/// Asks programs of the user's.
pub struct Inquirer {
    launchers: Arc<Launchers>,
    settings: InquirySettings,
}

/// What programs that are asked find around themselves.
#[derive(Clone, Debug)]
pub struct InquirySettings {
    /// The user's home, which they may read.
    pub home: PathBuf,
    /// Folders beside it that they may read.
    pub readable: Vec<PathBuf>,
    /// Their environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders from which no program is asked: projects.
    pub left_out: Vec<PathBuf>,
    /// How long one may take.
    pub time: Duration,
}

impl Inquirer {
    /// Gets ready; nothing is started yet. A program that is asked finds no other program of a project either.
    pub fn new(launcher: Launcher, mut settings: InquirySettings) -> Self {
        let is_own = |folder: &PathBuf| {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            folder.is_absolute() && !settings.left_out.iter().any(|left| real.starts_with(left))
        };
        for (_, path) in settings.environment.iter_mut().filter(|(name, _)| name == "PATH") {
            let own = std::env::join_paths(std::env::split_paths(path).filter(is_own));
            *path = own.unwrap_or_default();
        }
        Self { launchers: Arc::new(Launchers::new(launcher)), settings }
    }

    /// Returns the first program of this name in the user's `PATH` that does not come from a project.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.folders().map(|folder| folder.join(name)).find(|path| is_program(path))
    }

    /// Runs a program and returns what it printed; nothing where it failed, was too slow or could not be confined.
    ///
    /// Blocks this thread until the program has ended.
    pub fn ask(&self, program: &Path, arguments: &[&OsStr]) -> Option<String> {
        self.launchers.launcher.program()?;
        let words = [program.as_os_str()].iter().chain(arguments).map(|word| OsString::from(*word)).collect();
        let task = Task {
            launchers: Arc::clone(&self.launchers),
            orders: self.orders(words),
            descriptors: Vec::new(),
            input: Bytes::new(),
            streams: None,
            time: self.settings.time,
            receipts: Receipts::default(),
            ran: Receipt::Exited(0),
            mark: None,
            disk: None,
            network: None,
            _private: None,
            _guest: None,
        };
        // A thread of its own: the caller's may belong to a runtime, which must not be blocked by a channel.
        std::thread::scope(|scope| scope.spawn(|| answer(task)).join().ok().flatten())
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let path = self.settings.environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
        path.into_iter().flat_map(std::env::split_paths)
    }

    fn orders(&self, words: Vec<OsString>) -> Orders {
        let InquirySettings { home, readable, environment, .. } = &self.settings;
        let readable = [home.clone()].into_iter().chain(readable.iter().cloned()).chain(self.folders());
        let is_there = |path: &PathBuf| path.is_absolute() && path.symlink_metadata().is_ok();
        let visible = Visible {
            roots: Vec::new(),
            readable: readable.filter(is_there).collect(),
            shown: Vec::new(),
            layers: Vec::new(),
            hidden: Vec::new(),
            home: home.clone(),
            folders: Vec::new(),
            is_supervised: false,
            home_access: HomeAccess::AsGiven,
            caches: Vec::new(),
            home_files: Vec::new(),
            code: None,
        };
        Orders {
            words,
            folder: "/".into(),
            environment: environment.clone(),
            confine: Confine::Fully(visible),
            processes: PROCESSES,
            proxy: None,
            network: CommandNetwork::Own,
            memory: None,
            stays: false,
            watched: Vec::new(),
            own: Vec::new(),
            streams: None,
            given: [None; 3],
            is_of_session: false,
            has_input: false,
            serves: false,
        }
    }
}

/// Waits for the end of a program, and returns what it printed.
fn answer(task: Task) -> Option<String> {
    let wake = Wake::new().ok()?;
    let (tell, mut pieces) = mpsc::channel(PIECES);
    std::thread::scope(|scope| {
        let attending = scope.spawn(|| attend(task, tell, &wake));
        let mut printed = Vec::new();
        while let Some((stream, piece)) = pieces.blocking_recv() {
            wake.there_is_room();
            if stream == Stream::Out && printed.len() < LONGEST {
                printed.extend_from_slice(&piece);
            }
        }
        let finish = attending.join().ok()?.ok()?;
        (finish.how == HowEnded::Exited(0)).then(|| String::from_utf8_lossy(&printed).into_owned())
    })
}
