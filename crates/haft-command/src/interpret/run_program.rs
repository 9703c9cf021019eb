//! Carries out the reading of a program: its acts, and the commands and texts that it runs.

mod awk_program;
mod further_reads;
pub(crate) mod input_words;
mod link_words;
mod links;
mod listing;
pub(crate) mod local_code;
mod remotes;
mod unknown_words;

use std::path::Path;

use haft_contract::effect::{Danger, StepEffect};

use crate::act::{CodeLanguage, NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::dialect::ShellDialect;
use crate::interpret::Interpreter;
use crate::interpret::run_program::further_reads::words_that_are_no_paths;
use crate::interpret::run_program::input_words::{replaced, words_of};
use crate::interpret::shell::variable::AssignmentValue;
use crate::interpret::shell::{Shell, ShellFunction};
use crate::interpret::streams::{outputs, pipes};
use crate::places::Folder;
use crate::syntax::CommandStage;
use crate::value::{ForeignOrigin, ShellValue, ValuePiece};
use crate::{STARTS_INTERPRETER, languages, programs, syntax};

/// The names of the variables that stand for a gap, and for a number, in a text that is read as a script.
const GAP: &str = "_haft_gap";
const NUMBER: &str = "_haft_number";
/// The longest text that is read as a script within another.
const LONGEST_TEXT: usize = 64 * 1024;
/// How much work it is to look at what a program does with its words.
const WORK_OF_RUN: usize = 12;

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandCaller {
    /// The shell itself, which knows functions.
    Shell,
    /// A program, or a built-in that passes over functions: `env rm`, `command rm`.
    Program,
}

/// What a program was read to do, as far as it matters to commands that follow.
#[derive(Clone, Copy, Debug)]
struct RunOutcome {
    /// Whether it runs nothing in its turn.
    runs_nothing: bool,
    /// Whether it certainly brings nothing from the network.
    is_local: bool,
}

/// About so many bytes of a text are a word.
const BYTES_OF_A_WORD: usize = 4;

impl Interpreter<'_> {
    /// Runs a command of the shell with its words; returns what it prints.
    pub(crate) fn run(&mut self, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        self.run_from(CommandCaller::Shell, words, input)
    }

    pub(crate) fn run_from(
        &mut self,
        caller: CommandCaller,
        words: &[ShellValue],
        input: Option<&StreamContent>,
    ) -> StreamContent {
        let Some(name) = words.first() else { return StreamContent::Text(ShellValue::default()) };
        if !self.has_time(WORK_OF_RUN) {
            return StreamContent::Unknown;
        }
        let shown = self.words_for_rules(words);
        let before = self.findings.begin(shown, words);
        let found = self.findings.len();
        let function =
            name.known().filter(|_| caller == CommandCaller::Shell).and_then(|name| self.shell.function(name));
        let flow = self.deeper(|interpreter| match function {
            Some(function) => interpreter.call(&function, words, input),
            None => match interpreter.rooted_name(name) {
                Some(name) => {
                    let words = [std::slice::from_ref(&name), &words[1..]].concat();
                    interpreter.run_program(&name, &words, input)
                }
                None => interpreter.run_program(name, words, input),
            },
        });
        if self.findings.len() == found {
            self.tell(StepEffect::Nothing);
        }
        self.findings.end(before);
        flow
    }

    /// Returns the whole path of a program that is named from a folder outside of the workspace: there it may be one of
    /// the system.
    fn rooted_name(&self, name: &ShellValue) -> Option<ShellValue> {
        let is_relative = name.shown().contains('/') && !name.prefix().starts_with('/') && !name.has_unknown();
        let outside = self.shell.folders.now.iter().find_map(|folder| match folder {
            Folder::Known(path) if !Path::new(path).starts_with(&self.scene.workspace) => Some(path),
            Folder::Known(_) | Folder::Unknown => None,
        });
        let mut path = ShellValue::text(format!("{}/", outside.filter(|_| is_relative)?.trim_end_matches('/')));
        path.append(name);
        Some(path)
    }

    /// Calls a function: each that it may be, from the same state.
    fn call(&mut self, function: &ShellFunction, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
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

    fn call_body(&mut self, body: &CommandStage, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        let outer = self.shell.parameters.replace(vec![words[1..].to_vec()]);
        self.shell.enter();
        let flow = self.deeper(|interpreter| interpreter.returning(|interpreter| interpreter.stage(body, input)));
        self.shell.leave();
        self.shell.parameters = outer;
        flow
    }

    fn run_program(&mut self, name: &ShellValue, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
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
        // A clone of a folder of this machine brings nothing from the network.
        let is_local = words.iter().all(|word| word.known().is_some()) && !reading.acts.iter().any(RawEffect::connects);
        let outcome = RunOutcome { runs_nothing: reading.inner.is_empty(), is_local };
        self.follow_arrived(&reading.acts);
        let outer = std::mem::replace(&mut self.shell.starts, ShellDialect::started_by(words));
        let elsewhere = words_that_are_no_paths(words, &reading);
        let unnamed = reading.unnamed.clone();
        let printed = self.carry_out(reading, input);
        self.shell.starts = outer;
        self.read_further_names(&elsewhere);
        self.read_unnamed(&unnamed);
        self.note(known, words, outcome);
        self.output_of(known, words).unwrap_or(printed)
    }

    /// Notes what matters to commands that follow.
    fn note(&mut self, name: &str, words: &[ShellValue], outcome: RunOutcome) {
        let name = name.rsplit('/').next().unwrap_or_default();
        let operands: Vec<&ShellValue> = words[1..].iter().filter(|word| !word.prefix().starts_with('-')).collect();
        match name {
            "env" | "printenv" if outcome.runs_nothing => {
                self.findings.shows_environment |= operands.is_empty();
                operands.iter().filter(|name| name.known().is_some()).for_each(|name| self.show_variable(name));
            }
            "kill" | "pkill" | "killall" if Self::names_haft(words) => {
                self.emit(RawEffect::Danger(Danger::Haft, "stop haft itself".to_owned()));
            }
            "ln" | "gln" | "link" | "cp" | "gcp" => {
                self.link(words);
                self.arrive_as_copy(&operands);
            }
            "mkdir" => self.note_made(words),
            "mv" | "install" => self.arrive_as_copy(&operands),
            "git" | "hg" if outcome.is_local => {}
            "git" | "curl" | "wget" | "wget2" | "aria2c" | "axel" | "hg" | "svn" | "gh" | "glab" | "sftp" => {
                self.download(name, &operands, words)
            }
            _ => {}
        }
    }

    /// A program whose name is a gap. What its other words tell is not let through for that.
    fn run_unknown(&mut self, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        if let Some(origin) = words[0].origin() {
            self.emit(pipes::danger_of(origin));
        }
        let is_destructive = |word: &ShellValue| {
            let text = word.prefix();
            let is_short = text.len() > 1 && text.starts_with('-') && !text.starts_with("--");
            (is_short && text.contains(['r', 'R', 'f'])) || matches!(text, "--recursive" | "--force" | "-delete")
        };
        if words[1..].iter().any(is_destructive) {
            let operands = words[1..].iter().filter(|word| !word.prefix().starts_with('-'));
            operands.for_each(|word| self.emit(RawEffect::Path(PathEffect::Remove, word.clone())));
        }
        let reading = programs::read(words);
        self.carry_out(reading, input)
    }

    /// Does what was read; returns what is printed.
    pub(crate) fn carry_out(&mut self, reading: ProgramReading, input: Option<&StreamContent>) -> StreamContent {
        let printed = self.printed(&reading, input);
        let is_said = reading.output != StreamContent::Unknown;
        let foreign = self.foreign_input(&reading.acts, input);
        let mut inner_flow = None;
        let edits = self.edit_in_place(&reading);
        if reading.runs_input {
            self.suspect_what_is_read(&reading.acts);
        }
        for act in reading.acts {
            // Files of a program that only happens to connect are its own, and so are those that it edits.
            let written = if is_said && !edits { &printed } else { &StreamContent::Unknown };
            self.arrive_by(&act, written, foreign.as_ref());
            self.emit(act);
        }
        let outer = self.shell.clone();
        for inner in awk_program::whole(reading.inner, &self.findings.current.line) {
            let read = if let NestedRun::Text(..) = inner { foreign.as_ref().or(input) } else { input };
            let flow = self.inner(inner, read);
            inner_flow = inner_flow.or(flow);
        }
        self.suspect(&reading.suspected, input);
        // A program cannot change the shell that started it.
        let reads_unset = self.shell.reads.has_unset;
        self.shell = outer;
        self.shell.reads.has_unset |= reads_unset;
        match (printed, inner_flow) {
            (StreamContent::Unknown, Some(flow)) => flow,
            (printed, _) => printed,
        }
    }

    fn printed(&mut self, reading: &ProgramReading, input: Option<&StreamContent>) -> StreamContent {
        let files: Vec<&ShellValue> = reading
            .acts
            .iter()
            .filter_map(|act| match act {
                RawEffect::Path(PathEffect::Read, path) => Some(path),
                _ => None,
            })
            .collect();
        // Where no file is named, some read what comes in, and only otherwise the folder that they are in.
        let reads_input = files.is_empty() || input.is_some() && files.iter().all(|path| path.known() == Some("."));
        match &reading.output {
            _ if files.is_empty() && self.takes_away_from_numbers(input) => input.cloned().unwrap_or_default(),
            StreamContent::Passed if reads_input => {
                let input = input.cloned().unwrap_or_else(|| StreamContent::Text(ShellValue::default()));
                // Others cut, sort or change what goes through them.
                let is_unchanged = self.findings.current.words.len() == 1 && self.findings.are_of("cat")
                    || self.findings.are_of("tee");
                if is_unchanged || self.chooses_lines(&input) { input } else { pipes::perhaps_changed(input) }
            }
            // What comes from another machine is its text.
            StreamContent::Unknown if reading.inner.is_empty() && reading.acts.iter().any(RawEffect::connects) => {
                StreamContent::Downloaded
            }
            StreamContent::Passed => {
                files.iter().map(|path| self.content_of(path)).reduce(pipes::joined).unwrap_or_default()
            }
            StreamContent::Paths(paths) => StreamContent::Paths(self.printed_names(paths, &reading.acts)),
            flow => flow.clone(),
        }
    }

    /// Of a single line these programs leave all or nothing.
    fn chooses_lines(&self, input: &StreamContent) -> bool {
        let is_line = |text: &ShellValue| !text.shown().trim_end_matches('\n').contains('\n');
        let cuts = |word: &String| word.starts_with("-c") || word.starts_with("--bytes") || word.starts_with("-z");
        let program = self.findings.current.words.first().map(String::as_str);
        matches!(program, Some("head" | "tail" | "sort" | "uniq" | "tac"))
            && !self.findings.current.words[1..].iter().any(cuts)
            && pipes::texts(input).is_some_and(|texts| texts.iter().all(is_line))
    }

    /// Numbers of which something is taken away are numbers.
    fn takes_away_from_numbers(&self, input: Option<&StreamContent>) -> bool {
        let takes_away = match self.findings.current.words.first().map(String::as_str) {
            Some("tr") => {
                self.findings.current.words.get(1).is_some_and(|flag| flag == "-d")
                    && self.findings.current.words.len() == 3
            }
            Some("head" | "tail" | "sort" | "uniq" | "cut") => {
                !self.findings.current.words.iter().any(|word| word.starts_with("--"))
            }
            _ => false,
        };
        takes_away && matches!(input, Some(StreamContent::Text(text)) if outputs::is_numbers(text))
    }

    pub(crate) fn inner(&mut self, inner: NestedRun, input: Option<&StreamContent>) -> Option<StreamContent> {
        match inner {
            NestedRun::Words(words) => Some(self.run_handed_on(&words, input)),
            NestedRun::WordsIn(folder, words) => Some(self.apart(|interpreter| {
                let folders = interpreter.folders_through(&folder);
                interpreter.shell.move_to(folders);
                interpreter.run_handed_on(&words, input)
            })),
            NestedRun::WordsAndInput(mut words) => {
                let given = words_of(input);
                // A text has as many words as it has; a name is one.
                let is_open =
                    !matches!(input, Some(StreamContent::Paths(_))) && given.iter().any(ShellValue::has_unknown);
                words.extend(given.into_iter().chain(is_open.then(ShellValue::unknown)));
                Some(self.run_handed_on(&words, None))
            }
            NestedRun::WordsAroundInput(words, mark) => {
                let mut given = words_of(input);
                if given.is_empty() {
                    given.push(ShellValue::unknown());
                }
                for value in &given {
                    let words: Vec<ShellValue> = words.iter().map(|word| replaced(word, &mark, value)).collect();
                    self.run_from(CommandCaller::Program, &words, None);
                }
                None
            }
            NestedRun::Folder(folder) => {
                let folders = self.folders_through(&folder);
                self.shell.move_to(folders);
                None
            }
            NestedRun::Script(text, parameters) => Some(self.run_new_shell(&text, &parameters, input)),
            NestedRun::Input(language, parameters) => Some(self.run_input(language, &parameters, input)),
            NestedRun::Text(language, text) => {
                if let Some(origin) = text.origin() {
                    self.emit(pipes::danger_of(origin));
                }
                Some(self.run_inline(language, &text, input))
            }
            NestedRun::File(language, path) => {
                let content = self.content_of(&path);
                (content != StreamContent::Content).then(|| self.run_input(language, &[], Some(&content)))
            }
            NestedRun::Tracing => {
                self.shell.options.traces = true;
                None
            }
            NestedRun::Variable(name, value) => {
                self.environment(&name, std::slice::from_ref(&value));
                self.give_variable(&name, std::slice::from_ref(&value));
                self.put(&name, AssignmentValue::one(value));
                self.shell.export(&name);
                None
            }
        }
    }

    /// Runs a program with the words that another has handed on to it. Each of `env env env …` hands on the rest.
    pub(crate) fn run_handed_on(&mut self, words: &[ShellValue], input: Option<&StreamContent>) -> StreamContent {
        if !self.budget.hand_on(words.len()) {
            self.emit(crate::interpret::beyond_limit("hand on more words than are looked at"));
            return StreamContent::Unknown;
        }
        self.run_from(CommandCaller::Program, words, input)
    }

    pub(crate) fn run_input(
        &mut self,
        language: CodeLanguage,
        parameters: &[ShellValue],
        input: Option<&StreamContent>,
    ) -> StreamContent {
        match input {
            Some(StreamContent::Text(text)) => return self.run_text_in(language, parameters, text),
            // The row of the program says what a patch changes that cannot be read before.
            input if language == CodeLanguage::Patch && !matches!(input, Some(StreamContent::OneOf(_))) => {
                return StreamContent::Unknown;
            }
            Some(StreamContent::OneOf(texts)) => {
                texts.iter().for_each(|text| {
                    self.run_text_in(language, parameters, text);
                });
            }
            Some(StreamContent::Downloaded) => self.emit(pipes::danger_of(ForeignOrigin::Network)),
            Some(StreamContent::Decoded) => self.emit(pipes::danger_of(ForeignOrigin::Decoded)),
            Some(StreamContent::Content) => self.emit(RawEffect::Code("run the content of a file".to_owned())),
            Some(StreamContent::Unknown | StreamContent::Paths(_) | StreamContent::Passed) => {
                self.emit(RawEffect::Unknown("it runs text that is known only then".to_owned()));
            }
            None if language == CodeLanguage::Console => {}
            None => self.emit(RawEffect::Code(STARTS_INTERPRETER.to_owned())),
        }
        self.findings.interpreters += 1;
        StreamContent::Unknown
    }

    pub(crate) fn run_text_in(
        &mut self,
        language: CodeLanguage,
        parameters: &[ShellValue],
        text: &ShellValue,
    ) -> StreamContent {
        if language == CodeLanguage::Shell {
            let all: Vec<ShellValue> =
                std::iter::once(ShellValue::text("sh")).chain(parameters.iter().cloned()).collect();
            return self.run_new_shell(text, &all, None);
        }
        let reading = languages::read(language, text);
        self.carry_out(reading, None)
    }

    /// Runs what comes in as text of this shell, as `source /dev/stdin` does.
    pub(crate) fn source_input(&mut self, input: Option<&StreamContent>) {
        match input {
            Some(StreamContent::Text(text)) => self.run_text(&text.clone(), None),
            input => self.run_input(CodeLanguage::Shell, &[], input),
        };
    }

    /// Runs text in a shell of its own, with its words from `$0` on.
    pub(crate) fn run_new_shell(
        &mut self,
        text: &ShellValue,
        words: &[ShellValue],
        input: Option<&StreamContent>,
    ) -> StreamContent {
        self.subshell(|interpreter| {
            interpreter.shell = interpreter.shell.child(words);
            interpreter.run_text(text, input)
        })
    }

    /// Runs text as a part of this shell.
    pub(crate) fn run_text(&mut self, text: &ShellValue, input: Option<&StreamContent>) -> StreamContent {
        if let Some(origin) = text.origin() {
            self.emit(pipes::danger_of(origin));
        }
        let (script, has_gaps) = as_script(text);
        if has_gaps {
            self.emit(RawEffect::Unknown("a part of the text that it runs is known only then".to_owned()));
        }
        let is_short = self.budget.hand_on(script.len() / BYTES_OF_A_WORD);
        if script.len() > LONGEST_TEXT || !is_short {
            self.emit(crate::interpret::beyond_limit("run a text that is longer than is read"));
            return StreamContent::Unknown;
        }
        self.doubt_text(&script);
        let tree = syntax::parse(&script);
        self.put(GAP, AssignmentValue::one(ShellValue::unknown()));
        self.put(NUMBER, AssignmentValue::one(ShellValue::number()));
        let flow = self.deeper(|interpreter| interpreter.script(&tree, input));
        [GAP, NUMBER].iter().for_each(|name| self.shell.forget(name));
        flow
    }
}

/// Writes a value as a script: gaps become a variable.
fn as_script(text: &ShellValue) -> (String, bool) {
    let piece = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) => text.clone(),
        ValuePiece::Glob => "*".to_owned(),
        ValuePiece::Number => format!("${{{NUMBER}}}"),
        ValuePiece::Unknown | ValuePiece::Foreign(_) => format!("${{{GAP}}}"),
    };
    // The name of a file may hold anything, also signs of the shell.
    (text.pieces().iter().map(piece).collect(), text.has_unknown() || text.may_be_several())
}

/// Returns the text that `mapfile -C` runs: an index and a line stand behind it.
pub(crate) fn called_back(callback: &ShellValue) -> ShellValue {
    let mut text = callback.clone();
    text.push(ValuePiece::Text(format!(" ${{{NUMBER}}} \"${{{GAP}}}\"")));
    text
}
