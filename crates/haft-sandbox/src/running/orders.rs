//! Defines the messages on the socket between haft and the launcher: orders from haft, reports (one per line) in reply.
//!
//! haft sends orders first, with descriptors in order: roots, watched roots, input or caller's streams, worker. Later it
//! sends only [`ASK_TO_END`], [`TERMINAL_READY`] and [`SIGNAL`]. If haft is gone, the stream ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::exact;
use crate::reporting::layer_cost::SandboxLayer;

/// The name under which haft starts itself as a launcher; on its standard input it is told of each command.
pub(crate) const NAME: &str = "haft-launcher";
/// The byte that asks every process of the command to end by itself.
pub(crate) const ASK_TO_END: u8 = b't';
/// The byte that says that the terminal of the command is connected, and that the command gets hold of it.
pub(crate) const TERMINAL_READY: u8 = b'g';
/// The byte with which a launcher that stands by is told of a command, whose descriptors come with it.
pub(crate) const COPY: u8 = b'd';
/// The byte that asks a launcher that stands by for sockets on its network.
pub(crate) const LEND_SOCKETS: u8 = b's';
/// The bit of a byte that sends a signal, whose number is in the other bits, to every process of the command.
pub(crate) const SIGNAL: u8 = 0x80;

/// The network in which a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CommandNetwork {
    /// That of the machine.
    Host,
    /// One of its own, which has only a loopback.
    Own,
}

/// What the launcher is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// The program and its arguments. Without any, everything is prepared and nothing is run.
    #[serde(with = "exact")]
    pub(crate) words: Vec<OsString>,
    #[serde(with = "exact")]
    pub(crate) folder: PathBuf,
    /// The whole environment of the command.
    #[serde(with = "exact")]
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) confine: Confine,
    /// Most processes and threads.
    pub(crate) processes: u32,
    /// Most bytes of memory of all processes together.
    pub(crate) memory: Option<u64>,
    pub(crate) network: CommandNetwork,
    /// The one port that a command without a network of its own may connect to.
    pub(crate) proxy: Option<u16>,
    /// Whether it may run in a root that is kept for the commands of the session.
    pub(crate) is_of_session: bool,
    /// Whether a descriptor of what it reads from its input comes behind those of the roots.
    pub(crate) has_input: bool,
    /// Whether it serves one call after the other; then two sockets come last: for its messages, and for its grounds.
    pub(crate) serves: bool,
    /// Whether it goes on while others change the folders. Then its layers come with a report, so that haft can show it
    /// the changes.
    pub(crate) stays: bool,
    /// The roots, by their real paths, in which contents are kept when the command first touches them. Behind the
    /// descriptors of the roots comes a folder for each.
    #[serde(with = "exact")]
    pub(crate) watched: Vec<PathBuf>,
    /// Paths in these that the command cannot change.
    #[serde(with = "exact")]
    pub(crate) own: Vec<PathBuf>,
    /// Its standard streams, where its caller brings them along.
    pub(crate) streams: Option<OrderedStreams>,
    /// The numbers that its streams have in the launcher, where they are no terminal: a program may open them by name.
    #[serde(skip)]
    pub(crate) given: [Option<i32>; 3],
}

/// The standard streams that the caller of a command passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderedStreams {
    /// Which of the three are the terminal. The descriptors of the others come behind those of the roots.
    pub(crate) terminals: [bool; 3],
    /// Whether the command has hold of the terminal from the start.
    pub(crate) foreground: bool,
}

/// How the command is confined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Confine {
    /// Not at all.
    No,
    /// By Landlock and seccomp alone, with a private folder for what is temporary.
    Partly(Visible, #[serde(with = "exact")] PathBuf),
    /// By namespaces, too.
    Fully(Visible),
    /// Nothing is run: the root that commands see is built and kept for them, with what it shares with earlier ones.
    Keep(Visible, KeptShares),
    /// In a root that was kept, with these folders.
    Kept(Vec<VisibleRoot>),
    /// Nothing is run: each part of the sandbox is tried by itself.
    Tried,
}

/// What a kept root shares with earlier ones of the session. The descriptors come behind those of the roots: the mounts of
/// caches, then, for an earlier network, its user namespace and the network itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptShares {
    pub(crate) network: KeptNetwork,
    /// The numbers of the caches that are mounted already.
    pub(crate) caches: Vec<usize>,
}

/// Which network the commands of a kept root have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeptNetwork {
    /// That of the machine.
    Host,
    /// A new one. If a supervisor accepts connections to these ports, its sockets come with the answer.
    New(Vec<u16>),
    /// The one of an earlier root.
    Earlier,
}

/// What came of building a root to be kept, or why there is none. Descriptors come with it: the user namespace and the
/// network, then a mount for each cache.
pub(crate) type KeptAnswer = Result<KeptParts, String>;

/// What there is in a kept root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptParts {
    /// The numbers of the caches that are mounted.
    pub(crate) caches: Vec<usize>,
    /// The numbers of those over which no layer is possible.
    pub(crate) refused: Vec<usize>,
}

/// How a command has the home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum HomeAccess {
    /// As the folders say: that of the session, or a private one.
    #[default]
    AsGiven,
    /// Nothing can be written to it.
    ReadOnly,
    /// An empty one for this command alone: the root is not kept for others.
    ForOneCommand,
}

/// What a command sees of the file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Visible {
    pub(crate) roots: Vec<VisibleRoot>,
    /// Folders and files of the system and of toolchains: read-only. What does not exist is passed over.
    #[serde(with = "exact")]
    pub(crate) readable: Vec<PathBuf>,
    /// Folders and files that this command may read, too, by their real paths: also in something hidden.
    #[serde(with = "exact")]
    pub(crate) shown: Vec<PathBuf>,
    /// Where the layers of a worker's later calls lie.
    #[serde(with = "exact")]
    pub(crate) layers: Vec<PathBuf>,
    /// Never visible, wherever it lies.
    #[serde(with = "exact")]
    pub(crate) hidden: Vec<PathBuf>,
    /// The user's home, of which nothing but what else is listed is visible.
    #[serde(with = "exact")]
    pub(crate) home: PathBuf,
    /// Folders of the session, with their paths inside and outside. Without one, a private folder is in memory.
    #[serde(with = "exact")]
    pub(crate) folders: Vec<(PathBuf, PathBuf)>,
    /// How the command has the home.
    pub(crate) home_access: HomeAccess,
    /// Whether names are looked up inside, where a supervisor answers.
    pub(crate) is_supervised: bool,
    /// Small files that are put into the private home, by their place in it.
    #[serde(with = "exact")]
    pub(crate) home_files: Vec<(PathBuf, String)>,
    /// Where tools keep what they download; only roots that are kept have layers there.
    pub(crate) caches: Vec<VisibleCache>,
    /// The trusted copy of code of a root.
    pub(crate) code: Option<VisibleCode>,
}

/// A folder in which a tool keeps what it downloads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct VisibleCache {
    /// Where it lies, inside and outside.
    #[serde(with = "exact")]
    pub(crate) path: PathBuf,
    /// What haft has kept of it; it need not exist.
    #[serde(with = "exact")]
    pub(crate) own: PathBuf,
    /// The folder with the two folders of its layer.
    #[serde(with = "exact")]
    pub(crate) layer: PathBuf,
    /// Folders in it in which the shell looks for programs; they stay the user's.
    #[serde(with = "exact")]
    pub(crate) programs: Vec<PathBuf>,
    /// The variable that leads the tool elsewhere if no layer is possible.
    #[serde(with = "exact")]
    pub(crate) instead: Vec<(OsString, OsString)>,
}

/// A copy of trusted code, which lies in the place of the files of a root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct VisibleCode {
    /// Where the copy is.
    #[serde(with = "exact")]
    pub(crate) folder: PathBuf,
    /// The path of the root.
    #[serde(with = "exact")]
    pub(crate) root: PathBuf,
    /// The files and folders, by their paths in both.
    #[serde(with = "exact")]
    pub(crate) places: Vec<PathBuf>,
}

impl Visible {
    /// Returns whether something hidden is a private folder inside, because it holds something that is visible.
    pub(crate) fn is_emptied(&self, hidden: &Path) -> bool {
        let visible = self.roots.iter().map(|root| &root.path).chain(&self.shown);
        visible.into_iter().any(|path| path.starts_with(hidden))
    }
}

/// One folder that the command may write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct VisibleRoot {
    #[serde(with = "exact")]
    pub(crate) path: PathBuf,
    /// Whether there is a layer. For each root, in order, the descriptors are: the folder, then upper and work if so.
    pub(crate) layered: bool,
    #[serde(with = "exact")]
    pub(crate) read_only: Vec<PathBuf>,
    /// Whether only what `shown` lists can be read in it.
    pub(crate) covers_rest: bool,
    #[serde(with = "exact")]
    pub(crate) shown: Vec<PathBuf>,
}

/// A message from the launcher to haft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LauncherReport {
    /// The process that everything runs under, as haft sees it: pid 1 of the namespace, or the launcher itself.
    Watcher(i32),
    /// The command is being started: from now on it may run.
    Starting,
    /// The layers of a command that stays come with this.
    Layers,
    /// The other end of the command's terminal comes with this. The command is started when it is connected.
    Terminal,
    /// This signal stopped the command.
    Suspended(i32),
    /// The command waits for the terminal.
    WantsTerminal,
    /// The number of a worker, as its watcher sees it.
    Worker(i32),
    /// The command has started; what could not be had that is not required, a sentence each.
    Ready(Vec<String>),
    /// The command is being ended because it used up too much, a sentence.
    Exceeded(String),
    /// Nothing was run: a layer was refused.
    NoLayer(String),
    /// Nothing was run: this is missing.
    Missing(String),
    /// Nothing was run: this could not be had just now.
    Passing(String),
    /// Nothing was run: the program could not be started.
    NotStarted(NotStarted),
    /// Nothing was run: this came of trying each part of the sandbox.
    Tried(Vec<LayerTrial>),
    /// The command ended, and this many processes were left behind and have been ended.
    Exited { status: i32, left_behind: usize },
    /// A signal ended it.
    Killed { signal: i32, left_behind: usize },
}

/// What haft asks of the one who keeps the ground of a worker. Descriptors come with it as they do with orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum GroundOrder {
    /// To put the worker on this ground.
    Enter(Vec<VisibleRoot>),
    /// To take its ground away, and to end everybody but the worker of this number.
    Leave(i32),
}

/// What that one answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GroundReport {
    /// The worker is on the ground.
    Entered,
    /// It is not: a layer was refused.
    NoLayer(String),
    /// It is not: this is missing, or could not be had just now.
    NotEntered(String),
    /// The ground is gone; so many processes were left behind and have been ended.
    Left(usize),
    /// Something is still at work on the ground, for this reason; the worker must end.
    Held(String),
}

/// The result of trying one part of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerTrial {
    /// The layer.
    pub layer: SandboxLayer,
    /// What is to be said of it where it works, else why it does not.
    pub outcome: Result<String, String>,
}

/// Why a program could not be started, with the number of the error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NotStarted {
    /// No process could be made.
    Fork(i32),
    /// No terminal could be made.
    Terminal(i32),
    /// The folder it should start in cannot be entered.
    Folder(i32),
    /// The program cannot be executed.
    Program(i32),
    /// It could not be confined, a sentence.
    Unconfined(String),
    /// What it changes could not be watched, for this reason.
    Unwatched(String),
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn names_that_are_no_text_come_back_byte_for_byte() {
        let odd = || OsString::from_vec((1..=255).collect());
        let root = VisibleRoot {
            path: odd().into(),
            layered: true,
            read_only: vec![odd().into()],
            covers_rest: true,
            shown: vec![odd().into()],
        };
        let code = VisibleCode { folder: odd().into(), root: odd().into(), places: vec![odd().into()] };
        let cache = VisibleCache {
            path: odd().into(),
            own: odd().into(),
            layer: odd().into(),
            programs: vec![odd().into()],
            instead: vec![(odd(), odd())],
        };
        let visible = Visible {
            caches: vec![cache],
            roots: vec![root],
            readable: vec![odd().into()],
            shown: vec![odd().into()],
            layers: vec![odd().into()],
            hidden: vec![odd().into()],
            home: odd().into(),
            folders: vec![(odd().into(), odd().into())],
            home_access: HomeAccess::ReadOnly,
            is_supervised: true,
            home_files: vec![(odd().into(), "text ü".into())],
            code: Some(code),
        };
        let orders = Orders {
            words: vec![odd(), "ä".into()],
            folder: odd().into(),
            environment: vec![(odd(), odd())],
            confine: Confine::Partly(visible, odd().into()),
            processes: 7,
            network: CommandNetwork::Own,
            proxy: Some(8080),
            is_of_session: true,
            has_input: true,
            serves: false,
            stays: false,
            streams: Some(OrderedStreams { terminals: [true, false, true], foreground: true }),
            given: [None; 3],
            memory: None,
            watched: vec![odd().into()],
            own: vec![odd().into()],
        };
        let written = serde_json::to_string(&orders).unwrap();
        assert_eq!(serde_json::from_str::<Orders>(&written).unwrap(), orders);
    }
}
