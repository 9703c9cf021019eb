//! Finds the names in the commands of a project's hooks that decide what these do, whether they exist or not.
//!
//! `[ -f skip.flag ] && exit 0` switches a hook off with a file that did not exist when the project was trusted. So each
//! argument of a hook's command counts that may be the name of a file. Words that are a command are none: a file `sh` in the
//! workspace changes nothing.
//!
//! Not here: what the scripts of a hook load (`loads`).

use std::collections::BTreeSet;
use std::path::Path;

use super::loads::literal;
use super::named::straight;
use super::shell_words::{ShellCommand, commands};

/// The file that has hooks.
pub(super) const CONFIG: &str = ".haft/config.toml";
/// How deep a text in a text is read.
const DEEPEST: usize = 4;
/// Most names of one file.
const MOST_NAMES: usize = 2_000;
/// Programs whose arguments are no names of files, or files that they make.
const TAKES_NO_FILES: &[&str] = &[
    "echo", "printf", "exit", "return", "set", "shift", "sleep", "true", "false", ":", "kill", "trap", "export",
    "local", "unset", "touch", "mkdir", "tee", "break", "continue", "umask",
];
/// Programs for which a folder of a name decides as much as a file.
const TAKES_FOLDERS: &[&str] =
    &["[", "[[", "test", "ls", "find", "cd", "pushd", "stat", "readlink", "realpath", "make", "run-parts", "$"];

/// The names in the commands of hooks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HookNames {
    /// Names whose file or folder decides.
    pub(super) any: BTreeSet<String>,
    /// Names whose file decides.
    pub(super) files: BTreeSet<String>,
    /// Patterns.
    pub(super) patterns: BTreeSet<String>,
}

impl HookNames {
    /// Reads the commands of the hooks in a file; other files have none.
    pub(super) fn of(file: &str, text: &str, workspace: &Path) -> Self {
        let mut names = Self::default();
        if file == CONFIG {
            let workspace = workspace.to_string_lossy();
            command_texts(text).iter().for_each(|command| names.read(command, (&workspace, DEEPEST)));
        }
        names
    }

    fn read(&mut self, text: &str, (workspace, deeper): (&str, usize)) {
        for command in commands(text) {
            let takes_folders = TAKES_FOLDERS.contains(&command.program());
            for (word, is_pattern) in arguments(&command) {
                let is_text = word.contains(char::is_whitespace);
                if is_text && deeper > 0 {
                    self.read(word, (workspace, deeper - 1));
                }
                if is_text && !takes_folders {
                    continue;
                }
                if is_pattern && !is_text {
                    self.patterns.extend(name_of(word, workspace));
                    continue;
                }
                let Some(name) = name_of(word, workspace).filter(|_| self.any.len() + self.files.len() < MOST_NAMES)
                else {
                    continue;
                };
                let is_path = word.contains(['/', '.', '$']);
                _ = if takes_folders || is_path { self.any.insert(name) } else { self.files.insert(name) };
            }
        }
    }
}

/// The words of a command that may be names of files, each with whether it is a pattern.
fn arguments(command: &ShellCommand) -> Vec<(&str, bool)> {
    let after_sign = |word: &'_ str| -> Option<usize> { word.find('=').map(|at| at + 1) };
    let values = command.assignments.iter().filter_map(|word| Some((&word[after_sign(word)?..], false)));
    let inputs = command.inputs.iter().map(|word| (word.text.as_str(), word.is_pattern));
    let mut arguments: Vec<(&str, bool)> = values.chain(inputs).collect();
    let takes_none = TAKES_NO_FILES.contains(&command.program());
    let skipped = if command.program() == "for" { 3 } else { 1 };
    for word in command.words.iter().skip(skipped).filter(|_| !takes_none) {
        let text = word.text.trim_start_matches('@');
        match (text.starts_with('-'), after_sign(text)) {
            (false, _) => arguments.push((text, word.is_pattern)),
            (true, Some(at)) => arguments.push((&text[at..], word.is_pattern)),
            (true, None) => {}
        }
    }
    arguments
}

/// The path that a word means in the workspace; none where it means no file there.
fn name_of(word: &str, workspace: &str) -> Option<String> {
    let is_number = word.chars().all(|c| c.is_ascii_digit());
    let below = word.strip_prefix(workspace).filter(|below| below.starts_with('/'));
    // "/h.sh" at the end of "$(pwd)/h.sh" is a word of its own.
    let is_elsewhere = below.is_none() && (word.starts_with('~') || word.starts_with('/') && Path::new(word).exists());
    if is_number || is_elsewhere || !word.contains(char::is_alphanumeric) {
        return None;
    }
    straight(literal(below.unwrap_or(word))?)
}

/// Returns the texts of all keys "command" of a file in TOML.
fn command_texts(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for (at, key) in text.match_indices("command") {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else { continue };
        let quoted = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| value.starts_with(quote));
        match quoted {
            Some(quote) => texts.push(string_of(&value[quote.len()..], quote)),
            // A list of words, or what this does not know: all of the line.
            None => texts.push(value.split(['\n', ']']).next().unwrap_or_default().replace(['[', ','], " ")),
        }
    }
    texts
}

/// The string that ends at a quote.
fn string_of(text: &str, quote: &str) -> String {
    let (mut string, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next().filter(|_| !rest.starts_with(quote)) {
        rest = &rest[letter.len_utf8()..];
        let escaped = rest.chars().next().filter(|_| letter == '\\' && quote.starts_with('"'));
        match escaped {
            Some(escaped) => {
                rest = &rest[escaped.len_utf8()..];
                match escaped {
                    'n' | 't' | 'r' => string.push(if escaped == 'n' { '\n' } else { ' ' }),
                    '"' | '\\' => string.push(escaped),
                    // Names have no other escapes; these stay.
                    _ => string.extend(['\\', escaped]),
                }
            }
            None => string.push(letter),
        }
    }
    string
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command, the names that may be anything, the files and the patterns.
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);

    #[test]
    fn arguments_that_may_be_files_are_names_and_programs_texts_and_outputs_are_not() {
        let table: &[Row<'_>] = &[
            ("[ -f skip.flag ] && exit 0; exit 2", &["skip.flag"], &[], &[]),
            ("test -e ./allow && exit 0", &["allow"], &[], &[]),
            ("[ -d allow ]", &["allow"], &[], &[]),
            ("if test -f .skip; then exit 0; fi", &[".skip"], &[], &[]),
            ("[ -f \\\"$PWD/allow\\\" ] && exit 0", &["allow"], &[], &[]),
            ("[ -f $(pwd)/allow ] && exit 0", &["allow"], &[], &[]),
            ("[ -f /ws/sub/allow ]", &["sub/allow"], &[], &[]),
            ("sh -c 'test -f allow && exit 0'", &["allow"], &[], &[]),
            ("F=allow; cat $F >log.txt; echo no >&2; touch seen", &[], &["allow"], &[]),
            ("grep -q x <deny", &[], &["deny", "x"], &[]),
            ("sh h*.sh; for f in hooks/*.sh; do sh $f; done", &[], &[], &["h*.sh", "hooks/*.sh"]),
            ("grep -q 'a.*b' /etc/passwd; sleep 3", &["a.*b"], &[], &[]),
        ];
        for (command, any, files, patterns) in table {
            let text = format!("[[hooks.PreToolUse]]\nmatcher = \"*\"\ncommand = \"{command}\"\n");
            let names = HookNames::of(CONFIG, &text, Path::new("/ws"));
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
            let expected = HookNames { any: set(any), files: set(files), patterns: set(patterns) };
            assert_eq!(names, expected, "{command}");
        }
    }

    #[test]
    fn commands_are_found_in_every_form_of_text() {
        for text in [
            "command = 'test -f a'",
            "command = '''test -f a'''",
            "x = { \"command\" = \"test -f a\" }",
            "command = [\"test\", \"-f\", \"a\"]",
            "command = \"\"\"\ntest -f a\n\"\"\"",
        ] {
            let names = HookNames::of(CONFIG, text, Path::new("/ws"));
            assert!(names.any.contains("a"), "{text}: {names:?}");
        }
    }
}
