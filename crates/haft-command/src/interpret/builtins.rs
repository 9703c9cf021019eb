//! Commands of the shell itself: they print, move, set, or run text.

pub(crate) mod assigning;
mod cd;
pub(crate) mod declaring;
mod dialects;
mod options;
mod read;
mod trap;

use std::sync::Arc;

use crate::act::{PathEffect, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::builtins::declaring::DECLARING;
use crate::interpret::builtins::options::BuiltinOptions;
use crate::interpret::run_program::CommandCaller;
use crate::interpret::shell::variable::AssignmentValue;
use crate::interpret::streams::pipes;
use crate::value::{ShellValue, ValuePiece};
use crate::{printing, syntax};

/// Built-ins that only compute, print or end something.
const HARMLESS: &[&str] =
    &[":", "true", "false", "test", "[", "jobs", "times", "caller", "logout", "fg", "bg", "disown", "help"];
/// Built-ins that print nothing.
const SILENT: &[&str] = &[
    ":",
    "true",
    "false",
    "test",
    "[",
    "exit",
    "return",
    "break",
    "continue",
    "shift",
    "wait",
    "let",
    "getopts",
    "cd",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "logout",
    "disown",
];
/// What `shopt` may set without a word: it changes which names a pattern finds in ways that are seen here.
const PLAIN_OPTIONS: &[&str] = &[
    "globstar",
    "nullglob",
    "failglob",
    "extglob",
    "lastpipe",
    "inherit_errexit",
    "checkwinsize",
    "-s",
    "-u",
    "-q",
    "-p",
    "-o",
];

impl Interpreter<'_> {
    /// Runs a built-in; nothing when there is none of this name.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        words: &[ShellValue],
        input: Option<&StreamContent>,
    ) -> Option<StreamContent> {
        let rest = &words[1..];
        self.look_at_operands(name, rest);
        match name {
            "echo" => return Some(pipes::one_of(printing::echoed_somewhere(rest).into_iter())),
            "printf" => return Some(self.printf(rest)),
            "pwd" => return Some(self.folder_printed()),
            "cd" | "chdir" => return Some(self.cd(rest)),
            "pushd" => {
                self.push_folder(rest);
                return Some(self.folder_printed());
            }
            "popd" => {
                self.pop_folder(rest);
                return Some(self.folder_printed());
            }
            "dirs" => return Some(self.folder_printed()),
            "type" => return Some(found_program(rest)),
            "compgen" => self.compgen(rest),
            name if DECLARING.contains(&name) => self.declare(name, rest),
            "unset" => self.unset_names(rest),
            "set" => self.set_options(rest),
            "shift" => self.shift(rest),
            "let" => self.perhaps(|interpreter| {
                rest.iter().filter_map(ShellValue::known).for_each(|text| interpreter.calculate_text(text));
            }),
            "break" | "continue" | "return" | "exit" => self.jump(name, rest),
            "eval" => return Some(self.run_text(&joined(rest), input)),
            "source" | "." => self.source(rest, input),
            "exec" => return Some(self.exec(rest, input)),
            "command" | "builtin" => return Some(self.command(rest, input)),
            "alias" => self.alias(rest),
            "trap" => self.trap(rest),
            "read" | "mapfile" | "readarray" => self.read(name, rest, input),
            "getopts" | "wait" => self.assign_by(name, rest),
            "umask" | "ulimit" if only_shows(rest) => {}
            "umask" | "ulimit" | "unalias" | "enable" | "bind" | "complete" | "compopt" | "fc" => {
                self.emit(RawEffect::ShellState(format!("change the shell by \"{name}\"")));
            }
            "shopt" => self.set_shell_options(rest.iter()),
            "jobs" if BuiltinOptions::of(name, rest).options.iter().any(|(letter, _)| *letter == 'x') => {
                return Some(self.run(&rest[BuiltinOptions::of(name, rest).count..], input));
            }
            "jobs" if rest.len() == 1 && rest[0].known() == Some("-p") => {
                return Some(StreamContent::Text(ShellValue::number()));
            }
            "hash" if names_program(rest) => self.find_elsewhere(rest),
            "hash" => {}
            "coproc" => return Some(self.apart(|interpreter| interpreter.run(rest, input))),
            name if HARMLESS.contains(&name) => {}
            _ => return None,
        }
        let is_silent = SILENT.contains(&name) || rest.iter().any(|word| word.prefix().contains('='));
        Some(if is_silent { StreamContent::Text(ShellValue::default()) } else { StreamContent::Unknown })
    }

    /// Tells what follows from the words of a built-in, whatever it does with them.
    fn look_at_operands(&mut self, name: &str, operands: &[ShellValue]) {
        self.evaluate_operands(name, operands);
        self.look_at_variables(name, operands);
        self.doubt_options(name, operands);
        self.doubt_builtin(name, operands);
    }

    fn cd(&mut self, rest: &[ShellValue]) -> StreamContent {
        self.change_folder(rest);
        // `cd -` prints where it went.
        let is_silent = !rest.iter().any(|word| word.known() == Some("-"));
        if is_silent { StreamContent::Text(ShellValue::default()) } else { self.folder_printed() }
    }

    /// Sets options as `shopt` does, and `bash -O`.
    pub(crate) fn set_shell_options<'v>(&mut self, options: impl Iterator<Item = &'v ShellValue> + Clone) {
        self.shell.options.finds_hidden |= options.clone().any(|word| word.known() == Some("dotglob"));
        self.shell.options.finds_deep |= options.clone().any(|word| word.known() == Some("globstar"));
        let is_plain = |word: &ShellValue| word.known().is_some_and(|word| PLAIN_OPTIONS.contains(&word));
        if !options.clone().all(is_plain) {
            self.emit(RawEffect::ShellState("change how the shell reads commands".to_owned()));
        }
    }

    /// `getopts LETTERS NAME` and `wait -p NAME` set a variable beside what they are for.
    fn assign_by(&mut self, builtin: &str, words: &[ShellValue]) {
        let name = match builtin {
            "getopts" => words.get(1),
            _ => words.windows(2).find(|pair| pair[0].prefix().ends_with('p')).map(|pair| &pair[1]),
        };
        if let Some(name) = name {
            self.assign_named(name, AssignmentValue::one(ShellValue::unknown()));
        }
    }

    fn compgen(&mut self, words: &[ShellValue]) {
        for (at, flag) in words.iter().enumerate().filter(|(_, word)| word.prefix().starts_with('-')) {
            let text = match flag.known() {
                Some("-C" | "-F" | "-W") => words.get(at + 1).cloned(),
                _ => flag.strip_prefix("-C").or_else(|| flag.strip_prefix("-W")),
            };
            if let Some(text) = text {
                self.perhaps(|interpreter| interpreter.apart(|interpreter| interpreter.run_text(&text, None)));
            }
        }
    }

    fn printf(&mut self, words: &[ShellValue]) -> StreamContent {
        let (variable, words) = match words {
            [flag, name, rest @ ..] if flag.known() == Some("-v") => (Some(name.clone()), rest),
            [flag, rest @ ..] if flag.prefix().starts_with("-v") => (flag.strip_prefix("-v"), rest),
            words => (None, words),
        };
        let words = match words {
            [flag, rest @ ..] if flag.known() == Some("--") => rest,
            words => words,
        };
        // `%n` sets the variable that a word names.
        if let [format, names @ ..] = words
            && format.shown().contains("%n")
        {
            names.iter().for_each(|name| self.assign_named(name, AssignmentValue::one(ShellValue::number())));
        }
        let text = match words {
            [] => ShellValue::default(),
            [format, rest @ ..] => match format.known() {
                Some(format) => printing::formatted(format, rest),
                None => ShellValue::unknown(),
            },
        };
        match variable {
            Some(name) => {
                // Without a format it refuses to do anything.
                match words.is_empty() {
                    true => self.perhaps(|interpreter| interpreter.assign_named(&name, AssignmentValue::one(text))),
                    false => self.assign_named(&name, AssignmentValue::one(text)),
                }
                StreamContent::Text(ShellValue::default())
            }
            None => StreamContent::Text(text),
        }
    }

    fn folder_printed(&self) -> StreamContent {
        match self.shell.values("PWD").as_deref() {
            Some([one]) => StreamContent::Text(one.first().cloned().unwrap_or_default()),
            _ => StreamContent::Unknown,
        }
    }

    fn source(&mut self, words: &[ShellValue], input: Option<&StreamContent>) {
        let Some(file) = words.first() else { return };
        let path = file.known().map(crate::places::normal);
        if matches!(path.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")) {
            return self.source_input(input);
        }
        let outer = std::mem::replace(&mut self.streams.input, input.cloned());
        match self.content_of(file) {
            StreamContent::Text(text) => self.source_text(&text, &words[1..]),
            _ => self.emit(RawEffect::Path(PathEffect::Run, file.clone())),
        }
        self.streams.input = outer;
        self.emit(RawEffect::ShellState("run a script in the shell itself".to_owned()));
    }

    /// Runs what this command has written into a file, in this shell and with the words behind the name of the file.
    fn source_text(&mut self, text: &ShellValue, parameters: &[ShellValue]) {
        let given = (!parameters.is_empty()).then(|| vec![parameters.to_vec()]);
        let is_given = given.is_some();
        let outer = self.shell.parameters.clone();
        self.shell.parameters = given.or(self.shell.parameters.take());
        self.run_text(text, None);
        if is_given {
            self.shell.parameters = outer;
        }
        self.emit(RawEffect::Code("run a file that this command has written".to_owned()));
    }

    fn exec(&mut self, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        let mut words = words;
        while let [flag, rest @ ..] = words {
            match flag.known() {
                Some("--") => words = rest,
                Some(flag) if flag.starts_with('-') && flag.len() > 1 => {
                    // A login shell (`-l`) has a name of its own as well.
                    if flag.contains(['a', 'l']) {
                        self.emit(RawEffect::other_name());
                    }
                    // Whatever stands behind `a` in the flag is the name; else the next word is.
                    let takes_next = flag.find('a').is_some_and(|at| at + 1 == flag.len());
                    words = if takes_next { rest.get(1..).unwrap_or_default() } else { rest };
                }
                _ => break,
            }
        }
        if words.is_empty() {
            self.shell.input = input.cloned();
        }
        self.run_from(CommandCaller::Program, words, input)
    }

    fn command(&mut self, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        let flags = words.iter().take_while(|word| word.prefix().starts_with('-')).count();
        let only_looks = words[..flags].iter().any(|flag| flag.prefix().contains(['v', 'V']));
        if only_looks || words.len() == flags {
            let name = words.get(flags).and_then(ShellValue::known);
            return name.map_or(StreamContent::Unknown, |name| {
                StreamContent::Text(ShellValue::text(format!("/usr/bin/{name}\n")))
            });
        }
        self.run_from(CommandCaller::Program, &words[flags..], input)
    }

    /// `hash -p path name`: the name runs that program from now on.
    fn find_elsewhere(&mut self, words: &[ShellValue]) {
        self.emit(RawEffect::ShellState("change where a program is found".to_owned()));
        let Some(at) = words.iter().position(|word| word.known() == Some("-p")) else { return };
        let [path, names @ ..] = &words[at + 1..] else { return };
        let script = syntax::parse(&format!("'{}' \"$@\"", path.shown().replace('\'', "'\\''")));
        let body = script.items.into_iter().flat_map(|item| item.stages).next().map(Arc::new);
        for (name, body) in names.iter().filter_map(ShellValue::known).zip(body.iter().cycle()) {
            self.shell.define(name, body.clone());
        }
    }

    fn alias(&mut self, words: &[ShellValue]) {
        for word in words.iter().filter(|word| word.shown().contains('=')) {
            let name = word.prefix().split_once('=').map(|(name, _)| name);
            let value = name.and_then(|name| word.strip_prefix(name)).and_then(|rest| rest.strip_prefix("="));
            let value = value.unwrap_or_else(ShellValue::unknown);
            self.emit(RawEffect::ShellState("give a command another meaning".to_owned()));
            self.perhaps(|interpreter| interpreter.apart(|interpreter| interpreter.run_text(&value, None)));
        }
    }
}

/// Returns whether a built-in is only asked what holds: it has flags alone, and none of them sets something.
fn only_shows(words: &[ShellValue]) -> bool {
    words.iter().all(|word| matches!(word.known(), Some("-a" | "-S" | "-p" | "-t" | "-l" | "-H" | "-n" | "-u")))
        || words.first().is_some_and(|word| word.known() == Some("-t"))
}

/// `hash -p FILE NAME`: another program runs by that name.
fn names_program(words: &[ShellValue]) -> bool {
    words.iter().any(|word| word.prefix().starts_with("-p") || word.begins_with_gap())
}

/// What `type -P` and its kin print.
fn found_program(words: &[ShellValue]) -> StreamContent {
    let name = words.iter().filter_map(ShellValue::known).find(|word| !word.starts_with('-'));
    name.map_or(StreamContent::Unknown, |name| StreamContent::Text(ShellValue::text(format!("/usr/bin/{name}\n"))))
}

fn joined(words: &[ShellValue]) -> ShellValue {
    let mut text = ShellValue::default();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(ValuePiece::Text(" ".to_owned()));
        }
        text.append(word);
    }
    text
}
