//! Finds the files that a command line in the settings of git names.
//!
//! It reads broadly, because interpreters and wrappers accept scripts after any options: each word after a program counts as
//! a file that it runs or loads, even one that does not exist yet. Programs that are known to do neither with their words
//! are the exception. The shell finds a program without `/` in its name on its path, not in the workspace.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Programs that neither run nor load what their words name.
const LOOKERS: &[&str] = &[
    "[",
    "aws",
    "az",
    "bat",
    "batcat",
    "basename",
    "cargo",
    "cat",
    "cd",
    "cmp",
    "column",
    "cp",
    "cut",
    "date",
    "delta",
    "diff",
    "diff-so-fancy",
    "difft",
    "dirname",
    "docker",
    "echo",
    "egrep",
    "exit",
    "export",
    "fgrep",
    "file",
    "fold",
    "gcloud",
    "gh",
    "git",
    "glab",
    "go",
    "gpg",
    "gpg2",
    "grep",
    "head",
    "jq",
    "keychain",
    "less",
    "ls",
    "meld",
    "mkdir",
    "more",
    "most",
    "mv",
    "npm",
    "npx",
    "op",
    "pass",
    "pnpm",
    "printf",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rev",
    "rg",
    "rm",
    "set",
    "shift",
    "sleep",
    "sort",
    "tac",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "true",
    "uniq",
    "unset",
    "wc",
    "yarn",
];
/// Words of the shell that a command follows.
const BEFORE_COMMANDS: &[&str] =
    &["exec", "command", "builtin", "eval", "time", "if", "then", "elif", "else", "while", "until", "do", "not"];
/// Letters that end a word and begin a command.
const BEGIN: &[char] = &[';', '|', '&', '(', '{', '!', '\n', '`'];
/// Letters that end a word.
const END: &[char] = &['"', '\'', ')', '}', '<', '>', '$', '=', ',', ':', ' ', '\t', '\r'];

/// What the next word of a command line is.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// A program.
    Command,
    /// A word for a program that may run or load it.
    Loaded,
    /// A word for a program that does neither.
    LookedAt,
}

/// Returns the paths of files in a text, from a folder on or as they stand; `is_inside` says what is in the workspace.
pub(super) fn scripts(text: &str, top: &Path, is_inside: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut reader = CommandPathCollector { top, is_inside, scripts: Vec::new(), folder: None, is_behind_gap: false };
    let (mut next, mut before) = (Next::Command, ' ');
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| BEGIN.contains(&letter) || END.contains(&letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let after = behind.chars().next().unwrap_or(' ');
        // The value of a variable is known only when it runs; what stands behind it is a path from some folder on.
        let (name, word) = if before == '$' { word.split_at(word.find('/').unwrap_or(word.len())) } else { ("", word) };
        let is_quote = matches!(before, '"' | '\'');
        reader.is_behind_gap =
            !name.is_empty() || matches!(before, ')' | '}' | '$') || (reader.is_behind_gap && is_quote);
        // A variable that is set for a command stands before it: the name is no file, the value may be one.
        let is_name_of_value = after == '=' && !word.contains('/');
        if !word.is_empty() && !is_name_of_value {
            let is_value = matches!(before, '=' | ':') && next == Next::Command;
            reader.take(word, if is_value { Next::Loaded } else { next });
            next = if is_value { next } else { next_after(word, next) };
        }
        if BEGIN.contains(&after) {
            next = Next::Command;
        }
        before = after;
        rest = &behind[behind.chars().next().map_or(0, char::len_utf8)..];
    }
    reader.scripts
}

/// Collects the paths in a text.
struct CommandPathCollector<'a, Inside> {
    top: &'a Path,
    is_inside: Inside,
    scripts: Vec<String>,
    /// The folder that a command in the text changes to; an empty one where the next word names it.
    folder: Option<String>,
    /// Whether the value of a variable stands before the word.
    is_behind_gap: bool,
}

impl<Inside: Fn(&Path) -> bool> CommandPathCollector<'_, Inside> {
    fn take(&mut self, word: &str, next: Next) {
        if word == "cd" && next == Next::Command {
            self.folder = Some(String::new());
            return;
        }
        if self.folder.as_ref().is_some_and(String::is_empty) && !word.starts_with('-') {
            self.folder = Some(word.to_owned());
            return;
        }
        // A value may be attached to its option, as in `awk -fscript`.
        let word = match word.strip_prefix('-') {
            Some(long) if long.starts_with('-') => return,
            Some(short) => short.get(1..).unwrap_or_default(),
            None => word,
        };
        let is_elsewhere = word.starts_with('/') && !(self.is_inside)(Path::new(word));
        let path = if is_elsewhere { word.trim_start_matches('/').trim_start_matches("../") } else { word };
        let is_meant = match next {
            _ if path.is_empty() || path.starts_with('%') || path.bytes().all(|byte| byte.is_ascii_digit()) => false,
            _ if is_elsewhere => self.is_behind_gap || self.top.join(path).is_file(),
            Next::Command => path.contains('/'),
            Next::Loaded => !matches!(path, "." | ".."),
            Next::LookedAt => is_executable(&self.top.join(path)),
        };
        if is_meant {
            self.scripts.extend(self.folder.as_ref().map(|folder| format!("{folder}/{path}")));
            self.scripts.push(path.to_owned());
        }
    }
}

fn next_after(word: &str, next: Next) -> Next {
    match next {
        Next::Command if word.starts_with('-') => Next::Command,
        Next::Command if BEFORE_COMMANDS.contains(&word) => Next::Command,
        Next::Command if is_looker(word) => Next::LookedAt,
        Next::Command => Next::Loaded,
        next => next,
    }
}

fn is_looker(program: &str) -> bool {
    // A program of the workspace is none of those that are known.
    let is_of_the_system = !program.contains('/') || program.starts_with("/usr/") || program.starts_with("/bin/");
    let name = program.rsplit('/').next().unwrap_or(program);
    is_of_the_system && (LOOKERS.contains(&name) || name.starts_with("git-"))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}
