//! Rewrites a command of an agent to one that haft runs, in the field that the agent reads.
//!
//! All other arguments of the call stay unchanged: its time limit, its background flag, its folder. The command is quoted
//! as one word, which a shell reads back exactly.

use std::path::Path;

use haft_runtime::redact::Redactor;
use serde_json::{Map, Value};

use super::event::Event;
use super::form::Form;
use super::setup_lines::quoted;

/// Where agents have the text of a command.
const COMMAND: &str = "command";
/// A longer command is only in the ticket: the system accepts no word of more than 128 KiB, and quoting makes it longer.
const LONGEST: usize = 32 * 1024;
/// The flag before a ticket.
const TICKET: &str = " --ticket ";

/// The words before the command: the program with its flags, quoted for a shell.
#[derive(Debug)]
pub(super) struct Prefix {
    /// The program.
    pub(super) program: String,
    /// The session of haft.
    pub(super) session: String,
    /// The workspace, and folders that count as part of it.
    pub(super) workspace: (String, Vec<String>),
    /// The name of the ticket.
    pub(super) ticket: String,
    /// Whether the line is written out.
    pub(super) spelling: Spelling,
}

/// Whether the answer has the line that runs. The ticket has it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    Written,
    /// It holds a secret.
    OnlyInTicket,
}

impl Spelling {
    pub(super) fn of(line: &str, redactor: &Redactor) -> Self {
        if redactor.redact_known(line) == line { Self::Written } else { Self::OnlyInTicket }
    }
}

/// Returns the arguments of the call with the command that haft runs. Nothing if the call has no text to replace.
pub(super) fn rewritten(event: &Event, line: &str, prefix: &Prefix) -> Option<Map<String, Value>> {
    let old = event.input.get(COMMAND)?;
    let command = prefix.before(event, line);
    let new = match old {
        Value::String(text) => {
            let (going, _) = lasting_folder(event.recipient.form, text);
            Value::from(format!("{going}{command}"))
        }
        Value::Array(words) => {
            let mut words = words.clone();
            *words.last_mut()? = Value::from(command);
            Value::from(words)
        }
        _ => return None,
    };
    let mut input = event.input.clone();
    input.insert(COMMAND.to_owned(), new);
    Some(input)
}

impl Prefix {
    fn before(&self, event: &Event, line: &str) -> String {
        let (workspace, added) = &self.workspace;
        // The ticket comes first: the exception in the rules of Codex is for commands that begin like this.
        let mut command = format!("{} exec{TICKET}{} --session {}", quoted(&self.program), self.ticket, self.session);
        command += &format!(" -C {}", quoted(workspace));
        for folder in added {
            command += &format!(" --add-dir {}", quoted(folder));
        }
        if let Some(word) = word_of(event.recipient.form, line).filter(|_| self.spelling == Spelling::Written) {
            command += &format!(" -c {word}");
        }
        command
    }
}

/// Returns the line as one word; nothing if the agent would not read it as one. The ticket has the line, too.
fn word_of(form: Form, line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return None;
    }
    // The rules of Codex know a word with one pair of quotes, and no joined ones.
    if form == Form::Codex && line.contains('\'') {
        let is_plain = !line.contains(['"', '$', '`', '\\', '!']);
        return is_plain.then(|| format!("\"{line}\""));
    }
    Some(format!("'{}'", line.replace('\'', r"'\''")))
}

/// Returns the beginning of a command that changes the folder for the commands after it, and the rest. Agents with one
/// shell remember that folder, and haft cannot change it for them.
pub(super) fn lasting_folder(form: Form, text: &str) -> (&str, &str) {
    let none = ("", text);
    if !form.keeps_folder() {
        return none;
    }
    let Some(behind) = text.strip_prefix("cd ") else { return none };
    let word = match behind.chars().next() {
        Some(quote @ ('\'' | '"')) => behind[1..].find(quote).map(|end| &behind[..end + 2]),
        _ => behind.find([' ', '\t']).map(|end| &behind[..end]),
    };
    let Some(word) = word else { return none };
    let letters = word.trim_matches(['\'', '"']);
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%, ".contains(letter);
    let rest = behind[word.len()..].trim_start_matches([' ', '\t']);
    match rest.strip_prefix("&&") {
        Some(rest) if !letters.is_empty() && letters.chars().all(is_plain) && !rest.trim().is_empty() => {
            text.split_at(text.len() - rest.trim_start_matches([' ', '\t']).len())
        }
        _ => none,
    }
}

/// Returns whether a command only changes the folder for the commands after it: haft leaves it to the agent's shell.
pub(super) fn only_goes(form: Form, text: &str) -> bool {
    let word = text.trim().strip_prefix("cd").map(str::trim_start);
    form.keeps_folder() && word.is_some_and(|word| word.chars().all(|c| c.is_alphanumeric() || "/._-~".contains(c)))
}

/// Returns the ticket in a command that haft has rewritten.
pub(super) fn ticket_in(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once(TICKET).filter(|(before, _)| before.ends_with(" exec"))?;
    behind.split([' ', '\n']).next()
}

/// Returns a path as text, for words of a command.
pub(super) fn text_of(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a real shell reads the words back, from a file because they are long"
)]
mod tests;
