//! Commands that mean something else in another shell than bash, or in the POSIX mode of bash.
//!
//! Not here: how the text is written (`dialect`).

use crate::act::RawEffect;
use crate::dialect::ShellDialect;
use crate::interpret::Interpreter;
use crate::interpret::builtins::declaring::declares;
use crate::syntax::{Assignment, Quoting, Word, WordPart};
use crate::value::ShellValue;

/// Why a command is asked about that another shell reads in another way.
const OTHERWISE: &str = "it is code for a shell that haft reads as bash, and some of it means something else there";
/// Built-ins of bash that other shells do not have, or have with another meaning.
const OF_BASH: &[&str] = &[
    "declare",
    "typeset",
    "local",
    "builtin",
    "source",
    "let",
    "shopt",
    "pushd",
    "popd",
    "dirs",
    "mapfile",
    "readarray",
    "enable",
    "disown",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "bind",
    "history",
    "suspend",
    "logout",
    "coproc",
    "help",
    "alias",
];
/// Built-ins before which an assignment stays, as POSIX wants it.
const SPECIAL: &[&str] = &[
    ":", ".", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times",
    "trap", "unset", "source", "command",
];

impl Interpreter<'_> {
    /// Asks about a text that the shell which runs just now reads otherwise than bash.
    pub(crate) fn doubt_text(&mut self, text: &str) {
        if !self.shell.dialect.agrees_on(text) {
            self.emit(RawEffect::Unknown(OTHERWISE.to_owned()));
        }
    }

    /// Asks about a built-in that the shell which runs just now may not have, or that takes other words there.
    pub(crate) fn doubt_builtin(&mut self, name: &str, words: &[ShellValue]) {
        if self.shell.dialect != ShellDialect::Bash && (OF_BASH.contains(&name) || takes_other_words(name, words)) {
            self.emit(RawEffect::Unknown(OTHERWISE.to_owned()));
        }
    }

    /// Asks about assignments that stay in the shell, or are split, where bash does neither.
    pub(crate) fn doubt_assignments(&mut self, assignments: &[Assignment], words: &[Word], lines: &[Vec<ShellValue>]) {
        if self.shell.dialect == ShellDialect::Bash {
            return;
        }
        let stays = |line: &Vec<ShellValue>| match line.first().map(ShellValue::known) {
            Some(Some(name)) => SPECIAL.contains(&name) || self.shell.function(name).is_some(),
            _ => true,
        };
        let is_split = |word: &Word| {
            word.parts.iter().any(|part| {
                matches!(part, WordPart::Parameter(_, Quoting::Bare) | WordPart::Substitution(_, Quoting::Bare))
            })
        };
        if !assignments.is_empty() && lines.iter().any(stays) || declares(words) && words.iter().any(is_split) {
            self.emit(RawEffect::Unknown(OTHERWISE.to_owned()));
        }
    }
}

/// Returns whether a built-in gets words that only bash takes as haft does.
fn takes_other_words(name: &str, words: &[ShellValue]) -> bool {
    let flags: Vec<String> =
        words.iter().map(ShellValue::shown).take_while(|word| word.starts_with(['-', '+'])).collect();
    let has_other = |usual: &[&str]| flags.iter().any(|flag| !usual.contains(&flag.as_str()));
    let operands = words.len() - flags.len();
    match name {
        "read" => has_other(&["-r"]) || operands == 0,
        "printf" => has_other(&["--"]) || words.first().is_some_and(|format| has_own_format(&format.shown())),
        "export" | "readonly" => has_other(&["-p"]),
        "unset" => has_other(&["-v", "-f"]),
        "cd" => has_other(&["-L", "-P", "-", "--"]) || operands > 1,
        "exec" | "jobs" | "hash" | "wait" | "trap" | "." => has_other(&["--", "-p", "-l", "-r", "-"]),
        "set" => {
            let is_usual = |flag: &String| flag == "--" || flag[1..].chars().all(|letter| "aefuvxC".contains(letter));
            !flags.iter().all(is_usual)
        }
        _ => false,
    }
}

/// Returns whether a format has directives or escapes that not every `printf` has.
fn has_own_format(format: &str) -> bool {
    let escapes = format.split('\\').skip(1).filter(|rest| !rest.starts_with(['n', 't', 'r', '0', '1']));
    let is_escaped = escapes.filter(|rest| !rest.is_empty()).count() > 0;
    is_escaped || ["%q", "%(", "%Q", "%n"].iter().any(|directive| format.contains(directive))
}
