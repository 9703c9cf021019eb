//! Runs commands without haft's sandbox, as another agent would run them.
//!
//! There are two kinds. One is a command of an agent whose own sandbox keeps haft from its state: the agent confines it.
//! The other is the agent's hook, haft itself, when a person tries it out.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

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
