//! Carries out what a program was read to do: its acts, and the commands and texts that it runs in its turn.

use std::path::Path;
use std::sync::Arc;

use super::super::act::{Act, Deed, Flow, Inner, Language, Reading};
use super::super::dialect::Dialect;
use super::super::places::Folder;
use super::super::syntax::Stage;
use super::super::value::{Origin, Piece, Value};
use super::super::{STARTS_INTERPRETER, languages, programs, syntax};
use super::state::{Function, Shell};
use super::variable::Assigned;
use super::{Danger, Does, Walk, awk_program, outputs, pipes};

/// The names of the variables that stand for a gap, and for a number, in a text that is read as a script.
const GAP: &str = "_haft_gap";
const NUMBER: &str = "_haft_number";
/// The longest text that is read as a script within another.
const LONGEST_TEXT: usize = 64 * 1024;
/// How much work it is to look at what a program does with its words.
const WORK_OF_RUN: usize = 12;

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// The shell itself, which knows functions.
    Shell,
    /// A program, or a built-in that passes over functions: `env rm`, `command rm`.
    Program,
}
/// About so many bytes of a text are a word.
const BYTES_OF_A_WORD: usize = 4;

impl Walk<'_> {
    /// Runs a command of the shell with its words; returns what it prints.
    pub(super) fn run(&mut self, words: &[Value], input: Option<&Flow>) -> Flow {
        self.run_from(Caller::Shell, words, input)
    }

    pub(super) fn run_from(&mut self, caller: Caller, words: &[Value], input: Option<&Flow>) -> Flow {
        let Some(name) = words.first() else { return Flow::Text(Value::default()) };
        if !self.has_time(WORK_OF_RUN) {
            return Flow::Unknown;
        }
        let before = std::mem::replace(&mut self.words, shown(words));
        let line_before = std::mem::replace(&mut self.line, Arc::from(words));
        let next = self.lists.len() + 1;
        let list = *self.lists.entry(self.words.clone()).or_insert(next);
        let list_before = std::mem::replace(&mut self.list, list);
        let found = self.found.len();
        let function = name.known().filter(|_| caller == Caller::Shell).and_then(|name| self.shell.function(name));
        let flow = self.deeper(|walk| match function {
            Some(function) => walk.call(&function, words, input),
            None => match walk.rooted_name(name) {
                Some(name) => {
                    let words = [std::slice::from_ref(&name), &words[1..]].concat();
                    walk.run_program(&name, &words, input)
                }
                None => walk.run_program(name, words, input),
            },
        });
        if self.found.len() == found {
            self.tell(Does::Nothing);
        }
        self.words = before;
        self.line = line_before;
        self.list = list_before;
        flow
    }

    /// Returns the whole path of a program that is named from a folder outside of the workspace: there it may be one of
    /// the system.
    fn rooted_name(&self, name: &Value) -> Option<Value> {
        let is_relative = name.shown().contains('/') && !name.prefix().starts_with('/') && !name.has_unknown();
        let outside = self.shell.folders.iter().find_map(|folder| match folder {
            Folder::Known(path) if !Path::new(path).starts_with(&self.scene.workspace) => Some(path),
            Folder::Known(_) | Folder::Unknown => None,
        });
        let mut path = Value::text(format!("{}/", outside.filter(|_| is_relative)?.trim_end_matches('/')));
        path.append(name);
        Some(path)
    }

    /// Calls a function: each that it may be, from the same state.
    fn call(&mut self, function: &Function, words: &[Value], input: Option<&Flow>) -> Flow {
        if let ([body], false) = (function.bodies.as_slice(), function.may_be_missing) {
            return self.call_body(body, words, input);
        }
        let before = self.shell.clone();
        let mut flows = Vec::new();
        let mut after: Option<Shell> = None;
        let bodies = function.bodies.iter().map(Some);
        for body in bodies.chain(function.may_be_missing.then_some(None)) {
            self.shell = before.clone();
            flows.push(match body {
                Some(body) => self.call_body(body, words, input),
                None => self.run_program(&words[0], words, input),
            });
            if let Some(after) = after.take() {
                self.or(after);
            }
            after = Some(self.shell.clone());
        }
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    fn call_body(&mut self, body: &Stage, words: &[Value], input: Option<&Flow>) -> Flow {
        let outer = self.shell.parameters.replace(vec![words[1..].to_vec()]);
        self.shell.enter();
        let flow = self.deeper(|walk| walk.returning(|walk| walk.stage(body, input)));
        self.shell.leave();
        self.shell.parameters = outer;
        flow
    }

    fn run_program(&mut self, name: &Value, words: &[Value], input: Option<&Flow>) -> Flow {
        let Some(known) = name.known() else { return self.run_unknown(words, input) };
        if let Some(flow) = self.builtin(known, words, input) {
            return flow;
        }
        if matches!(known.rsplit('/').next(), Some("bash" | "sh" | "rbash")) {
            let options =
                words.windows(2).filter(|pair| matches!(pair[0].known(), Some("-O" | "+O"))).map(|pair| &pair[1]);
            self.set_shell_options(options);
        }
        let named = self.with_names_like_flags(words);
        let words = named.as_deref().unwrap_or(words);
        let other_words = self.words_of_link(known, words).or_else(|| self.with_path_of_remote(known, words));
        let reading = programs::read(&self.with_options(known, other_words.as_deref().unwrap_or(words)));
        let runs_nothing = reading.inner.is_empty();
        // A clone of a folder of this machine brings nothing from the network.
        let is_local = words.iter().all(|word| word.known().is_some()) && !reading.acts.iter().any(Act::connects);
        self.follow_arrived(&reading.acts);
        let outer = std::mem::replace(&mut self.shell.starts, Dialect::started_by(words));
        let printed = self.carry_out(reading, input);
        self.shell.starts = outer;
        self.note(known, words, (runs_nothing, is_local));
        self.output_of(known, words).unwrap_or(printed)
    }

    /// Notes what matters to commands that follow.
    fn note(&mut self, name: &str, words: &[Value], (runs_nothing, is_local): (bool, bool)) {
        let name = name.rsplit('/').next().unwrap_or_default();
        let operands: Vec<&Value> = words[1..].iter().filter(|word| !word.prefix().starts_with('-')).collect();
        match name {
            "env" | "printenv" if runs_nothing => {
                self.shows_environment |= operands.is_empty();
                operands.iter().filter(|name| name.known().is_some()).for_each(|name| self.show_variable(name));
            }
            "kill" | "pkill" | "killall" if Self::names_haft(words) => {
                self.emit(Act::Danger(Danger::Haft, "stop haft itself".to_owned()));
            }
            "ln" | "gln" | "link" | "cp" | "gcp" => {
                self.link(words);
                self.arrive_as_copy(&operands);
            }
            "mkdir" => self.note_made(words),
            "mv" | "install" => self.arrive_as_copy(&operands),
            "git" | "hg" if is_local => {}
            "git" | "curl" | "wget" | "wget2" | "aria2c" | "axel" | "hg" | "svn" | "gh" | "glab" | "sftp" => {
                self.download(name, &operands, words)
            }
            _ => {}
        }
    }

    /// A program whose name is a gap. What its other words tell is not let through for that.
    fn run_unknown(&mut self, words: &[Value], input: Option<&Flow>) -> Flow {
        if let Some(origin) = words[0].origin() {
            self.emit(pipes::danger_of(origin));
        }
        let is_destructive = |word: &Value| {
            let text = word.prefix();
            let is_short = text.len() > 1 && text.starts_with('-') && !text.starts_with("--");
            (is_short && text.contains(['r', 'R', 'f'])) || matches!(text, "--recursive" | "--force" | "-delete")
        };
        if words[1..].iter().any(is_destructive) {
            let operands = words[1..].iter().filter(|word| !word.prefix().starts_with('-'));
            operands.for_each(|word| self.emit(Act::Path(Deed::Remove, word.clone())));
        }
        let reading = programs::read(words);
        self.carry_out(reading, input)
    }

    /// Does what was read; returns what is printed.
    pub(super) fn carry_out(&mut self, reading: Reading, input: Option<&Flow>) -> Flow {
        let printed = self.printed(&reading, input);
        let is_said = reading.output != Flow::Unknown;
        let foreign = self.foreign_input(&reading.acts, input);
        let mut inner_flow = None;
        let edits = self.edit_in_place(&reading);
        if reading.runs_input {
            self.suspect_what_is_read(&reading.acts);
        }
        for act in reading.acts {
            // Files of a program that only happens to connect are its own, and so are those that it edits.
            let written = if is_said && !edits { &printed } else { &Flow::Unknown };
            self.arrive_by(&act, written, foreign.as_ref());
            self.emit(act);
        }
        let outer = self.shell.clone();
        for inner in awk_program::whole(reading.inner, &self.line) {
            let read = if let Inner::Text(..) = inner { foreign.as_ref().or(input) } else { input };
            let flow = self.inner(inner, read);
            inner_flow = inner_flow.or(flow);
        }
        self.suspect(&reading.suspected, input);
        // A program cannot change the shell that started it.
        let reads_unset = self.shell.reads_unset;
        self.shell = outer;
        self.shell.reads_unset |= reads_unset;
        match (printed, inner_flow) {
            (Flow::Unknown, Some(flow)) => flow,
            (printed, _) => printed,
        }
    }

    fn printed(&mut self, reading: &Reading, input: Option<&Flow>) -> Flow {
        let files: Vec<&Value> = reading
            .acts
            .iter()
            .filter_map(|act| match act {
                Act::Path(Deed::Read, path) => Some(path),
                _ => None,
            })
            .collect();
        // Where no file is named, some read what comes in, and only otherwise the folder that they are in.
        let reads_input = files.is_empty() || input.is_some() && files.iter().all(|path| path.known() == Some("."));
        match &reading.output {
            _ if files.is_empty() && self.takes_away_from_numbers(input) => input.cloned().unwrap_or_default(),
            Flow::Passed if reads_input => {
                let input = input.cloned().unwrap_or_else(|| Flow::Text(Value::default()));
                // Others cut, sort or change what goes through them.
                let is_unchanged = self.words.len() == 1 && self.runs("cat") || self.runs("tee");
                if is_unchanged || self.chooses_lines(&input) { input } else { pipes::perhaps_changed(input) }
            }
            // What comes from another machine is its text.
            Flow::Unknown if reading.inner.is_empty() && reading.acts.iter().any(Act::connects) => Flow::Downloaded,
            Flow::Passed => files.iter().map(|path| self.content_of(path)).reduce(pipes::joined).unwrap_or_default(),
            Flow::Paths(paths) => Flow::Paths(self.printed_names(paths, &reading.acts)),
            flow => flow.clone(),
        }
    }

    /// Of a single line these programs leave all or nothing.
    fn chooses_lines(&self, input: &Flow) -> bool {
        let is_line = |text: &Value| !text.shown().trim_end_matches('\n').contains('\n');
        let cuts = |word: &String| word.starts_with("-c") || word.starts_with("--bytes") || word.starts_with("-z");
        let program = self.words.first().map(String::as_str);
        matches!(program, Some("head" | "tail" | "sort" | "uniq" | "tac"))
            && !self.words[1..].iter().any(cuts)
            && pipes::texts(input).is_some_and(|texts| texts.iter().all(is_line))
    }

    /// Numbers of which something is taken away are numbers.
    fn takes_away_from_numbers(&self, input: Option<&Flow>) -> bool {
        let takes_away = match self.words.first().map(String::as_str) {
            Some("tr") => self.words.get(1).is_some_and(|flag| flag == "-d") && self.words.len() == 3,
            Some("head" | "tail" | "sort" | "uniq" | "cut") => !self.words.iter().any(|word| word.starts_with("--")),
            _ => false,
        };
        takes_away && matches!(input, Some(Flow::Text(text)) if outputs::is_numbers(text))
    }

    pub(super) fn inner(&mut self, inner: Inner, input: Option<&Flow>) -> Option<Flow> {
        match inner {
            Inner::Words(words) => Some(self.run_handed_on(&words, input)),
            Inner::WordsIn(folder, words) => Some(self.apart(|walk| {
                let folders = walk.folders_through(&folder);
                walk.shell.move_to(folders);
                walk.run_handed_on(&words, input)
            })),
            Inner::WordsAndInput(mut words) => {
                let given = words_of(input);
                // A text has as many words as it has; a name is one.
                let is_open = !matches!(input, Some(Flow::Paths(_))) && given.iter().any(Value::has_unknown);
                words.extend(given.into_iter().chain(is_open.then(Value::unknown)));
                Some(self.run_handed_on(&words, None))
            }
            Inner::WordsAroundInput(words, mark) => {
                let mut given = words_of(input);
                if given.is_empty() {
                    given.push(Value::unknown());
                }
                for value in &given {
                    let words: Vec<Value> = words.iter().map(|word| replaced(word, &mark, value)).collect();
                    self.run_from(Caller::Program, &words, None);
                }
                None
            }
            Inner::Folder(folder) => {
                let folders = self.folders_through(&folder);
                self.shell.move_to(folders);
                None
            }
            Inner::Script(text, parameters) => Some(self.run_new_shell(&text, &parameters, input)),
            Inner::Input(language, parameters) => Some(self.run_input(language, &parameters, input)),
            Inner::Text(language, text) => {
                if let Some(origin) = text.origin() {
                    self.emit(pipes::danger_of(origin));
                }
                Some(self.run_inline(language, &text, input))
            }
            Inner::File(language, path) => {
                let content = self.content_of(&path);
                (content != Flow::Content).then(|| self.run_input(language, &[], Some(&content)))
            }
            Inner::Tracing => {
                self.shell.traces = true;
                None
            }
            Inner::Variable(name, value) => {
                self.environment(&name, std::slice::from_ref(&value));
                self.give_variable(&name, std::slice::from_ref(&value));
                self.put(&name, Assigned::one(value));
                self.shell.export(&name);
                None
            }
        }
    }

    /// Runs a program with the words that another has handed on to it. Each of `env env env …` hands on the rest.
    pub(super) fn run_handed_on(&mut self, words: &[Value], input: Option<&Flow>) -> Flow {
        self.handed_on += words.len();
        if self.handed_on > super::MOST_HANDED_ON {
            self.emit(super::beyond_limit("hand on more words than are looked at"));
            return Flow::Unknown;
        }
        self.run_from(Caller::Program, words, input)
    }

    pub(super) fn run_input(&mut self, language: Language, parameters: &[Value], input: Option<&Flow>) -> Flow {
        match input {
            Some(Flow::Text(text)) => return self.run_text_in(language, parameters, text),
            // What a patch changes that nobody can read before is said by the row of the program.
            input if language == Language::Patch && !matches!(input, Some(Flow::OneOf(_))) => return Flow::Unknown,
            Some(Flow::OneOf(texts)) => {
                texts.iter().for_each(|text| {
                    self.run_text_in(language, parameters, text);
                });
            }
            Some(Flow::Downloaded) => self.emit(pipes::danger_of(Origin::Network)),
            Some(Flow::Decoded) => self.emit(pipes::danger_of(Origin::Decoded)),
            Some(Flow::Content) => self.emit(Act::Code("run the content of a file".to_owned())),
            Some(Flow::Unknown | Flow::Paths(_) | Flow::Passed) => {
                self.emit(Act::Unknown("it runs text that is known only then".to_owned()));
            }
            None if language == Language::Console => {}
            None => self.emit(Act::Code(STARTS_INTERPRETER.to_owned())),
        }
        self.interpreters += 1;
        Flow::Unknown
    }

    pub(super) fn run_text_in(&mut self, language: Language, parameters: &[Value], text: &Value) -> Flow {
        if language == Language::Shell {
            let all: Vec<Value> = std::iter::once(Value::text("sh")).chain(parameters.iter().cloned()).collect();
            return self.run_new_shell(text, &all, None);
        }
        let reading = languages::read(language, text);
        self.carry_out(reading, None)
    }

    /// Runs what comes in as text of this shell, as `source /dev/stdin` does.
    pub(super) fn source_input(&mut self, input: Option<&Flow>) {
        match input {
            Some(Flow::Text(text)) => self.run_text(&text.clone(), None),
            input => self.run_input(Language::Shell, &[], input),
        };
    }

    /// Runs text in a shell of its own, with its words from `$0` on.
    pub(super) fn run_new_shell(&mut self, text: &Value, words: &[Value], input: Option<&Flow>) -> Flow {
        self.subshell(|walk| {
            walk.shell = walk.shell.child(words);
            walk.run_text(text, input)
        })
    }

    /// Runs text as a part of this shell.
    pub(super) fn run_text(&mut self, text: &Value, input: Option<&Flow>) -> Flow {
        if let Some(origin) = text.origin() {
            self.emit(pipes::danger_of(origin));
        }
        let (script, has_gaps) = as_script(text);
        if has_gaps {
            self.emit(Act::Unknown("a part of the text that it runs is known only then".to_owned()));
        }
        self.handed_on += script.len() / BYTES_OF_A_WORD;
        if script.len() > LONGEST_TEXT || self.handed_on > super::MOST_HANDED_ON {
            self.emit(super::beyond_limit("run a text that is longer than is read"));
            return Flow::Unknown;
        }
        self.doubt_text(&script);
        let tree = syntax::parse(&script);
        self.put(GAP, Assigned::one(Value::unknown()));
        self.put(NUMBER, Assigned::one(Value::number()));
        let flow = self.deeper(|walk| walk.script(&tree, input));
        [GAP, NUMBER].iter().for_each(|name| self.shell.forget(name));
        flow
    }
}

/// Writes a value as a script: gaps become a variable.
fn as_script(text: &Value) -> (String, bool) {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Glob => "*".to_owned(),
        Piece::Number => format!("${{{NUMBER}}}"),
        Piece::Unknown | Piece::Foreign(_) => format!("${{{GAP}}}"),
    };
    // The name of a file may hold anything, also signs of the shell.
    (text.pieces().iter().map(piece).collect(), text.has_unknown() || text.may_be_several())
}

/// Returns the text that `mapfile -C` runs: an index and a line stand behind it.
pub(super) fn called_back(callback: &Value) -> Value {
    let mut text = callback.clone();
    text.push(Piece::Text(format!(" ${{{NUMBER}}} \"${{{GAP}}}\"")));
    text
}

/// Puts a value in the place of a mark.
fn replaced(word: &Value, mark: &str, value: &Value) -> Value {
    let mut result = Value::default();
    for piece in word.pieces() {
        let Piece::Text(text) = piece else {
            result.push(piece.clone());
            continue;
        };
        for (index, part) in text.split(mark).enumerate() {
            if index > 0 {
                result.append(value);
            }
            result.push(Piece::Text(part.to_owned()));
        }
    }
    result
}

/// Returns the words that come from the input.
fn words_of(input: Option<&Flow>) -> Vec<Value> {
    match input {
        Some(Flow::Text(text)) => split_at_blanks(text),
        Some(Flow::OneOf(texts)) => texts.iter().flat_map(split_at_blanks).collect(),
        // `xargs` splits a name that has blanks in it.
        Some(Flow::Paths(paths)) => paths.iter().cloned().chain(paths.iter().flat_map(parts_of_name)).collect(),
        Some(Flow::Downloaded) => vec![pipes::foreign(Origin::Network)],
        Some(Flow::Decoded) => vec![pipes::foreign(Origin::Decoded)],
        Some(_) | None => vec![Value::unknown()],
    }
}

/// Returns the words in a name that is known and has blanks or quotes in it.
pub(super) fn parts_of_name(name: &Value) -> Vec<Value> {
    let Some(text) =
        name.known().filter(|text| text.contains(|letter: char| letter.is_whitespace() || "'\"\\".contains(letter)))
    else {
        return Vec::new();
    };
    let is_end = |letter: char| letter.is_whitespace() || "'\"\\".contains(letter);
    let unquoted = text.replace(['\'', '"', '\\'], "");
    let words = unquoted.split_whitespace().chain(text.split(is_end)).filter(|word| !word.is_empty());
    words.map(Value::text).collect()
}

pub(super) fn split_at_blanks(text: &Value) -> Vec<Value> {
    let mut words = vec![Value::default()];
    for piece in text.pieces() {
        let Piece::Text(known) = piece else {
            words.last_mut().expect("it began with one").push(piece.clone());
            continue;
        };
        for (index, word) in known.split(char::is_whitespace).enumerate() {
            if index > 0 {
                words.push(Value::default());
            }
            words.last_mut().expect("it began with one").push(Piece::Text(word.to_owned()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the words for rules: a program of the system is its last path component.
fn shown(words: &[Value]) -> Arc<[String]> {
    let mut shown: Vec<String> = words.iter().map(Value::shown).collect();
    if let Some(name) = shown.first_mut() {
        let is_system = ["/usr/", "/bin/", "/sbin/"].iter().any(|folder| name.starts_with(folder));
        let last = name.rsplit('/').next().filter(|last| is_system && !last.is_empty()).map(str::to_owned);
        *name = last.unwrap_or_else(|| std::mem::take(name));
    }
    shown.into()
}
