//! Commands of the shell itself: they print, move, set, or run text.

use super::super::act::{Act, Deed, Flow};
use super::super::printing;
use super::super::value::{Piece, Value};
use super::{Walk, variables};

/// Built-ins that only compute, print or end something.
const HARMLESS: &[&str] = &[
    ":", "true", "false", "test", "[", "exit", "return", "break", "continue", "shift", "wait", "jobs", "times", "let",
    "getopts", "caller", "logout", "fg", "bg", "disown", "help",
];
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
    "nocaseglob",
    "checkwinsize",
    "-s",
    "-u",
    "-q",
    "-p",
    "-o",
];

impl Walk<'_> {
    /// Runs a built-in; nothing when there is none of this name.
    pub(super) fn builtin(&mut self, name: &str, words: &[Value], input: Option<&Flow>) -> Option<Flow> {
        let rest = &words[1..];
        self.evaluate_operands(name, rest);
        match name {
            "echo" => return Some(Flow::Text(printing::echoed(rest))),
            "printf" => return Some(self.printf(rest)),
            "pwd" => return Some(self.folder_printed()),
            "cd" | "chdir" | "pushd" => {
                self.change_folder(rest);
                // `cd -` and the stack print where they went.
                return Some(if name == "cd" && !rest.iter().any(|word| word.known() == Some("-")) {
                    Flow::Text(Value::default())
                } else {
                    self.folder_printed()
                });
            }
            "popd" => {
                self.shell.move_to(self.shell.folders_before.clone(), false);
                return Some(self.folder_printed());
            }
            "dirs" => return Some(self.folder_printed()),
            "type" => return Some(found_program(rest)),
            "compgen" => self.compgen(rest),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, rest),
            "unset" => self.unset_names(rest),
            "set" => self.set_options(rest),
            "eval" => return Some(self.run_text(&joined(rest), &[], input)),
            "source" | "." => self.source(rest, input),
            "exec" => return Some(self.exec(rest, input)),
            "command" | "builtin" => return Some(self.command(rest, input)),
            "alias" => self.alias(rest),
            "trap" => self.trap(rest),
            "read" | "mapfile" | "readarray" => self.read(rest, input),
            "umask" | "ulimit" if only_shows(rest) => {}
            "umask" | "ulimit" | "unalias" | "enable" | "bind" | "complete" | "compopt" | "fc" => {
                self.emit(Act::ShellState(format!("change the shell by \"{name}\"")));
            }
            "shopt" if rest.iter().all(|word| word.known().is_some_and(|word| PLAIN_OPTIONS.contains(&word))) => {}
            "shopt" => {
                self.shell.finds_hidden |= rest.iter().any(|word| word.known() == Some("dotglob"));
                self.emit(Act::ShellState("change how the shell reads commands".to_owned()));
            }
            "hash" if !only_shows(rest) => self.emit(Act::ShellState("change where a program is found".to_owned())),
            "hash" => {}
            "coproc" => return Some(self.run(rest, input)),
            name if HARMLESS.contains(&name) => {}
            _ => return None,
        }
        let is_silent = SILENT.contains(&name) || rest.iter().any(|word| word.prefix().contains('='));
        Some(if is_silent { Flow::Text(Value::default()) } else { Flow::Unknown })
    }

    fn compgen(&mut self, words: &[Value]) {
        for (at, flag) in words.iter().enumerate().filter(|(_, word)| word.prefix().starts_with('-')) {
            let text = match flag.known() {
                Some("-C" | "-F" | "-W") => words.get(at + 1).cloned(),
                _ => flag.strip_prefix("-C").or_else(|| flag.strip_prefix("-W")),
            };
            if let Some(text) = text {
                self.perhaps(|walk| walk.apart(|walk| walk.run_text(&text, &[], None)));
            }
        }
    }

    fn printf(&mut self, words: &[Value]) -> Flow {
        let (variable, words) = match words {
            [flag, name, rest @ ..] if flag.known() == Some("-v") => (name.known().map(str::to_owned), rest),
            [flag, rest @ ..] if flag.known() == Some("--") => (None, rest),
            words => (None, words),
        };
        let text = match words {
            [] => Value::default(),
            [format, rest @ ..] => match format.known() {
                Some(format) => printing::formatted(format, rest),
                None => Value::unknown(),
            },
        };
        match variable {
            Some(name) => {
                self.assign(&name, vec![text], false);
                Flow::Text(Value::default())
            }
            None => Flow::Text(text),
        }
    }

    fn folder_printed(&self) -> Flow {
        match self.shell.values("PWD").as_deref() {
            Some([one]) => Flow::Text(one.first().cloned().unwrap_or_default()),
            _ => Flow::Unknown,
        }
    }

    fn change_folder(&mut self, words: &[Value]) {
        let operand = words.iter().find(|word| !word.prefix().starts_with('-') || word.known() == Some("-"));
        let is_certain = self.conditional == 0;
        let folders = match operand {
            None => vec![super::super::places::Folder::Known(self.home_of(""))],
            Some(word) if word.known() == Some("-") => self.shell.folders_before.clone(),
            Some(word) => self.shell.folders.iter().map(|folder| folder.changed(word)).collect(),
        };
        self.shell.move_to(folders, is_certain);
    }

    /// `export`, `declare` and their kin: words like `name=value`.
    fn declare(&mut self, builtin: &str, words: &[Value]) {
        let has_flag = |letter: char| {
            words.iter().any(|word| word.prefix().starts_with('-') && word.prefix()[1..].contains(letter))
        };
        let exports = (builtin == "export" && !has_flag('n')) || has_flag('x');
        let mut exported = Vec::new();
        for word in words.iter().filter(|word| !word.prefix().starts_with(['-', '+'])) {
            let Some((name, _)) = word.prefix().split_once('=') else {
                exported.extend(word.known().map(str::to_owned));
                continue;
            };
            let is_partial = name.ends_with('+');
            let name = name.trim_end_matches('+').to_owned();
            let value = word.strip_prefix(&word.prefix()[..=word.prefix().find('=').unwrap_or(0)]).unwrap_or_default();
            if has_flag('n') && builtin != "export" {
                self.shell.references.insert(name.clone(), value.shown());
                continue;
            }
            self.assign(&name, vec![value], is_partial);
            exported.push(name);
        }
        if exports && !exported.is_empty() {
            self.emit(Act::ShellState(format!("set {} for the programs that follow", exported.join(", "))));
        }
    }

    fn unset_names(&mut self, words: &[Value]) {
        for name in words.iter().filter_map(Value::known).filter(|name| !name.starts_with('-')) {
            self.shell.forget(name);
            if variables::matters(name) {
                self.emit(Act::ShellState(format!("take {name} from the programs that follow")));
            }
        }
    }

    /// `set -e` and the like change nothing that matters; `set -- a b` sets the parameters.
    fn set_options(&mut self, words: &[Value]) {
        let dashes = words.iter().position(|word| word.known() == Some("--"));
        if let Some(at) = dashes {
            self.shell.parameters = Some(words[at + 1..].to_vec());
        } else if words.first().is_some_and(|word| !word.prefix().starts_with(['-', '+'])) {
            self.shell.parameters = Some(words.to_vec());
        }
    }

    fn source(&mut self, words: &[Value], input: Option<&Flow>) {
        let Some(file) = words.first() else { return };
        let outer = std::mem::replace(&mut self.input, input.cloned());
        self.emit(Act::Path(Deed::Run, file.clone()));
        self.input = outer;
        self.emit(Act::ShellState("run a script in the shell itself".to_owned()));
    }

    fn exec(&mut self, words: &[Value], input: Option<&Flow>) -> Flow {
        let mut words = words;
        while let [flag, rest @ ..] = words {
            match flag.known() {
                Some("--") => words = rest,
                Some(flag) if flag.starts_with('-') && flag.len() > 1 => {
                    // Whatever stands behind `a` in the flag is the name; else the next word is.
                    let takes_next = flag.ends_with('a');
                    words = if takes_next { rest.get(1..).unwrap_or_default() } else { rest };
                }
                _ => break,
            }
        }
        if words.is_empty() {
            self.shell.input = input.cloned();
        }
        self.run(words, input)
    }

    fn command(&mut self, words: &[Value], input: Option<&Flow>) -> Flow {
        let flags = words.iter().take_while(|word| word.prefix().starts_with('-')).count();
        let only_looks = words[..flags].iter().any(|flag| flag.prefix().contains(['v', 'V']));
        if only_looks || words.len() == flags {
            let name = words.get(flags).and_then(Value::known);
            return name.map_or(Flow::Unknown, |name| Flow::Text(Value::text(format!("/usr/bin/{name}\n"))));
        }
        self.run(&words[flags..], input)
    }

    fn alias(&mut self, words: &[Value]) {
        for word in words.iter().filter(|word| word.shown().contains('=')) {
            let at = word.prefix().find('=').map_or(0, |at| at + 1);
            let value = word.strip_prefix(&word.prefix()[..at]).unwrap_or_else(Value::unknown);
            self.emit(Act::ShellState("give a command another meaning".to_owned()));
            self.perhaps(|walk| walk.apart(|walk| walk.run_text(&value, &[], None)));
        }
    }

    fn trap(&mut self, words: &[Value]) {
        let operands: Vec<&Value> =
            words.iter().filter(|word| !matches!(word.known(), Some("--" | "-p" | "-l"))).collect();
        if let [action, _, ..] = operands.as_slice()
            && !action.is_empty()
            && action.known() != Some("-")
        {
            self.perhaps(|walk| walk.apart(|walk| walk.run_text(action, &[], None)));
        }
    }

    fn read(&mut self, words: &[Value], input: Option<&Flow>) {
        let callback = words.iter().position(|word| word.known() == Some("-C")).and_then(|at| words.get(at + 1));
        if let Some(callback) = callback {
            self.perhaps(|walk| walk.apart(|walk| walk.run_text(callback, &[], None)));
        }
        let value = match input {
            Some(Flow::Text(text)) if text.known().is_some_and(|text| !text.trim_end().contains(['\n', ' '])) => {
                Value::text(text.known().unwrap_or_default().trim())
            }
            Some(Flow::Paths(paths)) => {
                names_read(words).iter().for_each(|name| self.shell.set_any(name, paths.clone()));
                return;
            }
            Some(Flow::Downloaded) => super::pipes::foreign(super::super::value::Origin::Network),
            Some(Flow::Decoded) => super::pipes::foreign(super::super::value::Origin::Decoded),
            Some(Flow::Text(text)) if text.known().is_some() => return self.read_lines(words, text),
            _ => Value::unknown(),
        };
        let names: Vec<&str> = names_read(words);
        for name in names {
            self.shell.set(name, vec![value.clone()]);
        }
    }

    /// Each line and each word of a known text is a value that may be read.
    fn read_lines(&mut self, words: &[Value], text: &Value) {
        let text = text.known().unwrap_or_default();
        let lines = text.lines().map(|line| Value::text(line.trim()));
        let parts = text.split_whitespace().map(Value::text);
        let mut values: Vec<Value> = lines.chain(parts).take(48).collect();
        if values.len() == 48 {
            values.push(Value::unknown());
        }
        for name in names_read(words) {
            self.shell.set_any(name, values.clone());
        }
    }
}

/// Returns whether a built-in is only asked what holds: it has flags alone, and none of them sets something.
fn only_shows(words: &[Value]) -> bool {
    words.iter().all(|word| matches!(word.known(), Some("-a" | "-S" | "-p" | "-t" | "-l" | "-H" | "-n" | "-u")))
        || words.first().is_some_and(|word| word.known() == Some("-t"))
}

/// What `type -P` and its kin print.
fn found_program(words: &[Value]) -> Flow {
    let name = words.iter().filter_map(Value::known).find(|word| !word.starts_with('-'));
    name.map_or(Flow::Unknown, |name| Flow::Text(Value::text(format!("/usr/bin/{name}\n"))))
}

fn names_read(words: &[Value]) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.known() {
            Some(
                "-d" | "-n" | "-N" | "-p" | "-t" | "-u" | "-i" | "-a" | "-C" | "-c" | "-O" | "-ra" | "-rd" | "-rp",
            ) => {
                if let Some("-a" | "-ra") = word.known() {
                    names.extend(rest.next().and_then(Value::known));
                } else {
                    rest.next();
                }
            }
            Some(flag) if flag.starts_with('-') => {}
            Some(name) => names.push(name),
            None => {}
        }
    }
    if names.is_empty() { vec!["REPLY", "MAPFILE"] } else { names }
}

fn joined(words: &[Value]) -> Value {
    let mut text = Value::default();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(Piece::Text(" ".to_owned()));
        }
        text.append(word);
    }
    text
}
