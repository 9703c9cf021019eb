//! What haft and the launcher say to each other over the socket between them.
//!
//! First come the orders, with all descriptors; afterwards haft says nothing but [`ASK_TO_END`], and
//! the end of the stream means that haft is gone. The launcher answers with one report per line.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The name under which haft starts itself as a launcher; its standard input is the socket.
pub(crate) const NAME: &str = "haft-launcher";
/// The byte that asks every process of the command to end by itself.
pub(crate) const ASK_TO_END: u8 = b't';

/// What the launcher is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) words: Vec<OsString>,
    pub(crate) folder: PathBuf,
    /// The whole environment of the command.
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) confine: Confine,
    /// Most processes and threads.
    pub(crate) processes: u32,
    pub(crate) network: bool,
}

/// How the command is confined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Confine {
    /// Not at all.
    No,
    /// By Landlock and seccomp alone, with a private folder for what is temporary.
    Partly(Visible, PathBuf),
    /// By namespaces, too.
    Fully(Visible),
}

/// What a command sees of the file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Visible {
    pub(crate) roots: Vec<VisibleRoot>,
    /// Folders and files of the system and of toolchains: read-only. What does not exist is passed over.
    pub(crate) readable: Vec<PathBuf>,
    /// Never visible, wherever it lies.
    pub(crate) hidden: Vec<PathBuf>,
    /// The user's home, of which nothing but what else is listed is visible.
    pub(crate) home: PathBuf,
    /// Small files that are put into the private home, by their place in it.
    pub(crate) home_files: Vec<(PathBuf, String)>,
}

/// One folder that the command may write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct VisibleRoot {
    pub(crate) path: PathBuf,
    /// Whether there is a layer. For each root, in order, the descriptors are: the folder, then upper and work if so.
    pub(crate) layered: bool,
    pub(crate) through: Vec<PathBuf>,
    pub(crate) read_only: Vec<PathBuf>,
}

/// What the launcher says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The process that everything runs under, as haft sees it: pid 1 of the namespace, or the launcher itself.
    Watcher(i32),
    /// The command is about to start; what could not be had that is not required, a sentence each.
    Ready(Vec<String>),
    /// Nothing was run: a layer was refused.
    NoLayer(String),
    /// Nothing was run: this is missing.
    Missing(String),
    /// The command ended, and this many processes were left behind and have been ended.
    Exited { status: i32, left_behind: usize },
    /// A signal ended it.
    Killed { signal: i32, left_behind: usize },
}
