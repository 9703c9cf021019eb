//! Rewrites a command of an agent to one that haft runs, in the field that the agent reads.
//!
//! All other arguments of the call stay unchanged: its time limit, its background flag, its folder. The command is quoted
//! as one word, which a shell reads back exactly.

use std::path::{Component, Path, PathBuf};

use haft_runtime::redaction::redact::Redactor;
use serde_json::{Map, Value};

use super::events::event::GuardEvent;
use super::events::form::GuardEventForm;
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
    /// What the agent's own shell does before.
    pub(super) going: String,
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
pub(super) fn rewritten(event: &GuardEvent, line: &str, prefix: &Prefix) -> Option<Map<String, Value>> {
    let old = event.input.get(COMMAND)?;
    let command = prefix.before(event, line);
    let new = match old {
        Value::String(_) => Value::from(format!("{}{command}", prefix.going)),
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
    fn before(&self, event: &GuardEvent, line: &str) -> String {
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
fn word_of(form: GuardEventForm, line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return None;
    }
    // The rules of Codex know a word with one pair of quotes, and no joined ones.
    if form == GuardEventForm::Codex && line.contains('\'') {
        let is_plain = !line.contains(['"', '$', '`', '\\', '!']);
        return is_plain.then(|| format!("\"{line}\""));
    }
    Some(format!("'{}'", line.replace('\'', r"'\''")))
}

/// A command that first changes the folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CdCommand<'t> {
    /// The change of the folder, up to the rest.
    pub(super) before: &'t str,
    /// Where it leads.
    pub(super) folder: &'t str,
    /// What runs there.
    pub(super) rest: &'t str,
}

/// Returns how a command changes the folder for the commands after it, if the rest is the same without that beginning.
/// Agents with one shell remember that folder, and haft cannot change it for them.
pub(super) fn lasting_folder(form: GuardEventForm, text: &str) -> Option<CdCommand<'_>> {
    let behind = text.strip_prefix("cd ").filter(|_| form.keeps_folder())?;
    let word = match behind.chars().next() {
        Some(quote @ ('\'' | '"')) => &behind[..behind[1..].find(quote)? + 2],
        _ => &behind[..behind.find([' ', '\t', '&'])?],
    };
    let folder = word.trim_matches(['\'', '"']);
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%, ".contains(letter);
    let is_folder = !folder.is_empty() && !folder.starts_with('-') && folder.chars().all(is_plain);
    let rest = behind[word.len()..].trim_start_matches([' ', '\t']).strip_prefix("&&")?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let is_same = !rest.trim().is_empty() && !knows_where_it_came_from(rest) && !goes_on_beside(rest);
    (is_folder && is_same).then(|| CdCommand { before: &text[..text.len() - rest.len()], folder, rest })
}

/// Returns whether a text may ask for the folder before the last one.
fn knows_where_it_came_from(text: &str) -> bool {
    ["OLDPWD", "~-", "cd -", "pushd", "dirs", "DIRSTACK", "~+"].iter().any(|sign| text.contains(sign))
}

/// Returns whether a text may run something in the background, and the change of the folder with it.
fn goes_on_beside(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_joined = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| b"&<>|".contains(byte));
    let mut ampersands = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'&').map(|(at, _)| at);
    ampersands.any(|at| !is_joined(at.checked_sub(1)) && !is_joined(Some(at + 1)))
}

/// Joins a folder and the words of `cd`, without `.` and `..`.
pub(super) fn joined(folder: &Path, words: &str) -> PathBuf {
    folder.join(words).components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            _ => path.push(part),
        }
        path
    })
}

/// Returns whether a command only changes the folder for the commands after it: haft leaves it to the agent's shell.
pub(super) fn only_goes(form: GuardEventForm, text: &str) -> bool {
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
