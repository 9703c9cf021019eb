//! Finds the scripts that a command line in the settings of git names.
//!
//! The reading is wide: a file that the text may run counts. A word without `/` is found on the path of the shell and not
//! in the workspace, unless an interpreter reads it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Programs that run the file which follows them.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "python",
    "python2",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "lua",
    "tsx",
    "ts-node",
    "osascript",
    "pwsh",
    "source",
    ".",
    "run",
];
/// Words that a command follows.
const BEFORE_COMMANDS: &[&str] = &["env", "exec", "command", "nice", "time", "sudo", "then", "do", "else"];
/// Letters that end a word and begin a command.
const BEGIN: &[char] = &[';', '|', '&', '(', '{', '!', '\n', '`'];
/// Letters that end a word.
const END: &[char] = &['"', '\'', ')', '}', '<', '>', '$', '=', ',', ' ', '\t', '\r'];

/// What the next word of a command line is.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// A program.
    Command,
    /// A file that an interpreter runs.
    Script,
    Operand,
}

/// Returns the paths of scripts in a text, from a folder on or as they stand; `is_inside` says what is in the workspace.
pub(super) fn scripts(text: &str, top: &Path, is_inside: impl Fn(&Path) -> bool) -> Vec<String> {
    let (mut scripts, mut next) = (Vec::new(), Next::Command);
    let mut is_value = false;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| BEGIN.contains(&letter) || END.contains(&letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if !word.is_empty() && !word.starts_with('-') {
            // What stands before a path may be known only when it runs: `$(git rev-parse --show-toplevel)/a`.
            let is_elsewhere = word.starts_with('/') && !is_inside(Path::new(word));
            let path = if is_elsewhere { word.trim_start_matches('/') } else { word };
            let is_meant = match next {
                _ if is_elsewhere => top.join(path).is_file(),
                Next::Command => path.contains('/'),
                Next::Script => true,
                Next::Operand => is_executable(&top.join(path)),
            };
            scripts.extend((is_meant && !path.is_empty()).then(|| path.to_owned()));
            // A variable that is set for a command stands before it.
            let sets_variable = behind.starts_with('=') || is_value;
            is_value = behind.starts_with('=');
            if !sets_variable {
                next = next_after(word);
            }
        }
        let mut letters = behind.chars();
        if letters.next().is_some_and(|letter| BEGIN.contains(&letter)) {
            next = Next::Command;
        }
        rest = letters.as_str();
    }
    scripts
}

fn next_after(word: &str) -> Next {
    match word.rsplit('/').next().unwrap_or(word) {
        name if INTERPRETERS.contains(&name) => Next::Script,
        name if BEFORE_COMMANDS.contains(&name) => Next::Command,
        _ => Next::Operand,
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}
