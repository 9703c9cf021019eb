//! Gives voices the outcome of a command: its streams, its exit code, and haft's notes.

use haft_contract::description::dialect::CallOutcome;
use serde_json::Value;

/// A command that was run.
pub(super) struct CommandTold<'a> {
    pub(super) command: &'a str,
    pub(super) out: &'a str,
    pub(super) err: &'a str,
    /// Nothing when it was ended.
    pub(super) exit_code: Option<i64>,
    /// Lines in brackets, and what differs where it was only tried; without the exit code.
    pub(super) said: &'a str,
}

impl<'a> CommandTold<'a> {
    /// Takes the facts of `bash` from an outcome; nothing when no command was run.
    pub(super) fn of(outcome: &CallOutcome<'a>) -> Option<Self> {
        if outcome.native != Some("bash") {
            return None;
        }
        let data = outcome.data?;
        let text_of = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
        // What goes on in the background has one output.
        let out = if data.get("job").is_some() { text_of("output") } else { text_of("stdout") };
        let err = text_of("stderr");
        let command = outcome.arguments.get("command").and_then(Value::as_str).unwrap_or_default();
        let exit_code = data.get("exit_code").and_then(Value::as_i64);
        Some(Self { command, out, err, exit_code, said: outcome.said })
    }

    /// Returns the exit code; a command that was ended has -1.
    pub(super) fn return_code(&self) -> i64 {
        self.exit_code.unwrap_or(-1)
    }

    /// Returns the exit code if it is one of a command that failed.
    pub(super) fn failing_code(&self) -> Option<i64> {
        self.exit_code.filter(|code| *code != 0)
    }
}

/// Ends a text with its line, if there is one.
pub(super) fn with_line_end(text: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}")
}
