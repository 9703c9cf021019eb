//! A home and a workspace in a temporary folder, and the command `haft` run in them.
//!
//! Every test of the command needs the output as text, and an environment with only this home, so no test sees the real
//! one. The workspace is `ws`, the home is `home`.
//!
//! Not here: scenes without a process (`scene`).

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
#[expect(clippy::disallowed_types, reason = "the command is what is tested")]
use std::process::Command;
use std::process::{Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

/// The variable with the words that the tests put in front of haft, separated by blanks.
const AROUND: &str = "HAFT_TEST_AROUND";

/// Where a command with its own folders finds the programs of the system.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A home, a workspace, and the command in it. Its copies share the folder, which goes with the last of them.
#[derive(Clone, Debug)]
pub struct ScratchHome {
    folder: Arc<TempDir>,
    binary: PathBuf,
    variables: Vec<(String, String)>,
}

/// The standard output, the standard error and the exit status of a command.
#[derive(Clone, Debug)]
pub struct CapturedOutput {
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// Its exit status; 128 and the signal for a command that a signal ended.
    pub code: i32,
}

#[expect(clippy::disallowed_types, reason = "the command is what is tested")]
impl ScratchHome {
    /// Makes an empty workspace for a command; its home does not exist yet.
    pub fn new(binary: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(folder.path().join("ws")).expect("it is new");
        Self { folder: Arc::new(folder), binary: binary.into(), variables: Vec::new() }
    }

    /// Keeps state and settings in `state` and `config`, beside the home, and lets the command find programs.
    pub fn with_own_folders(self) -> Self {
        for name in ["home", "state", "config"] {
            std::fs::create_dir(self.path(name)).expect("it is new");
        }
        let (state, config) = (self.path("state"), self.path("config"));
        let with_path = self.with_variable("PATH", PATH);
        let with_state = with_path.with_variable("XDG_STATE_HOME", &state.to_string_lossy());
        with_state.with_variable("XDG_CONFIG_HOME", &config.to_string_lossy())
    }

    /// Sets a variable for every command.
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the folder of everything.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns where something is, in the folder of everything.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file, with its folders.
    pub fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        std::fs::write(path, content).expect("a file can be written");
    }

    /// Returns the content of a file, or nothing where there is none.
    pub fn get(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// Returns the command in the workspace, with pipes for its streams, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_behind(&[], arguments)
    }

    /// Returns the command with another program in front of it, which may run it as another user.
    pub fn command_behind(&self, around: &[&str], arguments: &[&str]) -> Command {
        let tested = tested_around();
        let around: Vec<&str> =
            tested.split(' ').filter(|word| !word.is_empty()).chain(around.iter().copied()).collect();
        let [program, words @ ..] = &around[..] else { return self.surrounded(Command::new(&self.binary), arguments) };
        let mut command = Command::new(program);
        command.args(words).arg(self.binary_for_others());
        self.surrounded(command, arguments)
    }

    fn surrounded(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.path("ws"));
        command.env_clear().env("HOME", self.path("home")).env("TMPDIR", self.root());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns a copy of the command that another user can reach, wherever it was built.
    fn binary_for_others(&self) -> PathBuf {
        let copy = self.path("haft");
        // A file that is open for writing cannot be started, and what other tests start meanwhile inherits what is open
        // here: so a second name first, and else a copy by another process.
        if !copy.exists() && std::fs::hard_link(&self.binary, &copy).is_err() {
            let copied = Command::new("cp").arg(&self.binary).arg(&copy).status();
            assert!(copied.is_ok_and(|status| status.success()), "the command can be copied");
        }
        copy
    }
}

/// Returns what the person who runs the tests puts in front of haft, so that all of them run without some layer.
#[expect(clippy::disallowed_methods, reason = "the person who runs the tests sets the variable")]
pub fn tested_around() -> String {
    std::env::var(AROUND).unwrap_or_default()
}

/// Runs a command to its end with this input.
#[expect(clippy::disallowed_types, reason = "the command is what is tested")]
pub fn output_of(mut command: Command, input: impl AsRef<[u8]>) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it can be started");
    let mut pipe = child.stdin.take().expect("it is piped");
    let input = input.as_ref();
    std::thread::scope(|scope| {
        // It may print before it has read everything, and it may end without reading everything.
        scope.spawn(move || pipe.write_all(input).is_ok());
        child.wait_with_output().expect("it ends")
    })
}

/// Runs a command to its end with this input; returns what it said.
#[expect(clippy::disallowed_types, reason = "the command is what is tested")]
pub fn said(command: Command, input: impl AsRef<[u8]>) -> CapturedOutput {
    output_of(command, input).into()
}

/// Reads lines of records.
pub fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect()
}

impl From<Output> for CapturedOutput {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let signal = output.status.signal().map(|signal| 128 + signal);
        let code = output.status.code().or(signal).expect("it ended");
        Self { out: text(&output.stdout), err: text(&output.stderr), code }
    }
}
