//! Runs commands without haft's sandbox.
//!
//! There are three kinds. One is a command of an agent whose own sandbox keeps haft from its state: the agent confines it.
//! Another is the agent's hook, haft itself, when a person tries it out. The last is the pager, the user's own program.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::ignored::IgnoredInterrupts;

/// The pager of a user who has set none. Without `less`, the text is printed without stops.
const USUAL_PAGER: &str = "if command -v less > /dev/null; then less; else cat; fi";
/// What is sensible for `less` if the user has not said so: colours, no other screen, and no stop for a short text. A
/// pager that is missing has read nothing, so `cat` prints everything.
const START_PAGER: &str = r#": "${LESS=FRX}"; export LESS; eval "$1"; case $? in 126 | 127) exec cat ;; esac"#;

/// A pager that runs: text that is written to it, the user reads page by page.
pub struct RunningPager {
    process: Child,
    // The pager has the keys; Ctrl-C belongs to it.
    _interrupts: IgnoredInterrupts,
}

impl RunningPager {
    /// Starts the user's pager, a line for the shell.
    ///
    /// # Errors
    ///
    /// Fails if there is no shell.
    pub fn start(command: Option<&str>) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", START_PAGER, "haft", command.unwrap_or(USUAL_PAGER)]).stdin(Stdio::piped());
        let process = shell.spawn()?;
        // Now, so that the pager does not inherit it.
        Ok(Self { process, _interrupts: IgnoredInterrupts::begin() })
    }

    /// Waits until the user has left the pager.
    ///
    /// # Errors
    ///
    /// Fails if the system does not say how the pager ended.
    pub fn wait(mut self) -> io::Result<()> {
        // Waiting closes the input first.
        self.process.wait().map(drop)
    }
}

impl Write for RunningPager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.process.stdin {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Replaces this process with a shell that runs the line; returns only if that fails.
pub fn run_in_place(line: &str) -> io::Error {
    Command::new("bash").args(["-c", "--"]).arg(line).exec()
}

/// Gives an event to the command of a hook; returns what it answers.
///
/// # Errors
///
/// Fails if the command cannot be started, or fails itself.
pub fn try_hook(command: &str, event: &str) -> io::Result<String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "--"]).arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = shell.spawn()?;
    // A hook that ends early has closed its input; its answer says why.
    let _ = started.stdin.take().map(|mut input| input.write_all(event.as_bytes()));
    let ended = started.wait_with_output()?;
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => Err(io::Error::other(String::from_utf8_lossy(&ended.stderr).trim().to_owned())),
    }
}
