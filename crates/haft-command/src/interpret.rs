//! Walks through a command in the order in which the shell would run it, and finds what it would do.
//!
//! haft does not decide conditions: it walks every branch, and adds what a branch sets to the existing state
//! (`control`). What a subshell sets stays in the subshell.
//!
//! Not here: what programs do with their words (`programs`), the values of words (`words`).

mod budget;
mod builtins;
mod control;
mod emit;
mod environment;
mod files;
pub(crate) mod findings;
mod run_program;
mod shell;
mod streams;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

use haft_contract::effect::{Danger, StepEffect};

use crate::act::{CodeLanguage, RawEffect, StreamContent};
use crate::path_class::PathClass;
use crate::syntax::{Assignment, CommandNode, CommandStage, Word, WordPart};
use crate::value::ShellValue;
use crate::{CommandReader, CommandScene, Locate, syntax};
use budget::Budget;
use builtins::assigning::AssignmentMode;
use control::ControlState;
use control::copies;
use environment::showing;
use files::TouchedFiles;
use findings::Findings;
use shell::variable::AssignmentValue;
use shell::{Shell, Unset};
use streams::written::WrittenScripts;
use streams::{CommandStreams, pipes};
use words::arithmetic::Spelling;

/// Follows one command in the order in which the shell would run it.
pub(crate) struct Interpreter<'a> {
    scene: &'a CommandScene,
    locate: &'a dyn Locate,
    is_refused: fn(&StepEffect) -> bool,
    shell: Shell,
    findings: Findings,
    budget: Budget,
    control: ControlState,
    streams: CommandStreams,
    scripts: WrittenScripts,
    files: TouchedFiles,
    /// How the words of the command are written that runs just now.
    spelling: Spelling,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(reader: CommandReader<'a>) -> Self {
        let CommandReader { scene, locate, is_refused } = reader;
        Self {
            scene,
            locate,
            is_refused,
            shell: Shell::new(scene),
            findings: Findings::default(),
            budget: Budget::default(),
            control: ControlState::default(),
            streams: CommandStreams::default(),
            scripts: WrittenScripts::default(),
            files: TouchedFiles::default(),
            spelling: Spelling::default(),
        }
    }

    /// Walks through the whole text, with what comes in.
    pub(crate) fn through(mut self, text: &str, input: Option<&StreamContent>) -> Vec<findings::Finding> {
        self.findings.current.part = (0, text.len());
        self.script(&syntax::parse(text), input);
        self.findings.current.part = (0, text.len());
        self.end_of_shell();
        self.look_at_the_whole();
        if self.findings.len() == 0 {
            self.tell(StepEffect::Nothing);
        }
        self.findings.into_list()
    }

    /// What is harmless alone may not be so together: what is private must not be sent.
    fn look_at_the_whole(&mut self) {
        let sends = |does: &StepEffect| match does {
            StepEffect::Serve(_) => true,
            does => does.uses_network() && !does.stays_here(),
        };
        let sends = self.findings.iter().any(|found| sends(&found.does));
        let is_private = |does: &StepEffect| match does {
            StepEffect::Read(target) => matches!(PathClass::of(target), PathClass::Elsewhere | PathClass::Start),
            _ => false,
        };
        if sends && self.findings.shows_environment {
            self.emit(RawEffect::Danger(Danger::Secret, "send the environment to another machine".to_owned()));
        }
        if sends && self.findings.iter().any(|found| is_private(&found.does)) {
            self.emit(RawEffect::Danger(
                Danger::Secret,
                "send something from outside the workspace to another machine".to_owned(),
            ));
        }
    }

    /// Walks through something nested, unless it lies too deep.
    fn deeper<T: Default>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        if !self.budget.enter() {
            self.emit(beyond_limit("be nested more deeply than is read"));
            return T::default();
        }
        let result = run(self);
        self.budget.leave();
        result
    }

    fn stage(&mut self, stage: &CommandStage, input: Option<&StreamContent>) -> StreamContent {
        if !self.has_time(1) {
            return StreamContent::Unknown;
        }
        let before = self.findings.current.part;
        if self.budget.is_outermost() {
            self.findings.current.part = (stage.span.start, stage.span.end);
        }
        let outer = std::mem::replace(&mut self.streams.input, input.cloned());
        let of_words = input.cloned().or_else(|| self.shell.input.clone());
        let outer_of_words = std::mem::replace(&mut self.streams.input_of_words, of_words);
        let secrets_before = std::mem::take(&mut self.shell.reads.secrets);
        let unset_before = std::mem::take(&mut self.shell.reads.has_unset);
        let mut printed = self.redirected(stage, input);
        for name in std::mem::replace(&mut self.shell.reads.secrets, secrets_before) {
            self.emit(showing::shows(&name));
        }
        if std::mem::replace(&mut self.shell.reads.has_unset, unset_before) && !self.findings.second_look {
            printed = self.with_unset_as_nothing(stage, input, printed);
        }
        self.streams.input = outer;
        self.streams.input_of_words = outer_of_words;
        self.findings.current.part = before;
        printed
    }

    /// Counts work, and returns whether it may be done.
    fn has_time(&mut self, work: usize) -> bool {
        let has_time = self.budget.spend(work);
        if !has_time {
            self.emit(beyond_limit("run more commands than are looked at"));
        }
        has_time
    }

    /// Walks through a stage with its redirections.
    fn redirected(&mut self, stage: &CommandStage, input: Option<&StreamContent>) -> StreamContent {
        let redirected = self.redirects(stage);
        let of_shell = self.shell.input.clone();
        let input = redirected.input.as_ref().or(input).or(of_shell.as_ref());
        self.streams.input = input.cloned();
        // Where a file cannot be opened, the command does not run.
        let printed = match self.may_fail(stage) {
            true => self.perhaps(|interpreter| interpreter.node(&stage.node, input)),
            false => self.node(&stage.node, input),
        };
        let printed = self.with_errors(stage, printed);
        self.settle_output(stage, &redirected, &printed);
        if self.streams.listens && redirected.leads_to_descriptor {
            self.run_input(CodeLanguage::Shell, &[], Some(&printed));
        }
        printed
    }

    fn node(&mut self, node: &CommandNode, input: Option<&StreamContent>) -> StreamContent {
        match node {
            CommandNode::Simple(assignments, words) => self.simple(assignments, words, input),
            CommandNode::Group(script) => self.deeper(|interpreter| interpreter.script(script, input)),
            CommandNode::Subshell(script) => {
                self.deeper(|interpreter| interpreter.subshell(|interpreter| interpreter.script(script, input)))
            }
            CommandNode::If(scripts) => self.deeper(|interpreter| interpreter.branches(scripts, input)),
            CommandNode::While(condition, body) => {
                self.deeper(|interpreter| interpreter.repeated(&[condition, body], input))
            }
            CommandNode::For(name, words, body) => {
                self.deeper(|interpreter| interpreter.for_each(name, words.as_deref(), (body, input)))
            }
            CommandNode::CountingFor(words, body) => {
                self.calculate(words);
                self.deeper(|interpreter| interpreter.repeated(&[body], input))
            }
            CommandNode::Case(word, arms) => self.deeper(|interpreter| interpreter.arms(word, arms, input)),
            CommandNode::Function(name, body) => {
                self.define(name, body);
                StreamContent::Unknown
            }
            CommandNode::Test(words) | CommandNode::Arithmetic(words) => {
                if let CommandNode::Arithmetic(_) = node {
                    self.calculate(words);
                } else {
                    self.compute_in_test(words);
                    if words.iter().any(takes_numbers) {
                        self.calculate_in_word(words);
                    }
                }
                if !self.shell.options.traces {
                    self.shell.reads.secrets.clear();
                }
                self.tell(StepEffect::Nothing);
                StreamContent::Text(ShellValue::default())
            }
            CommandNode::Opaque(why) => {
                // A text that may be for something else is none for a shell where it cannot be read.
                let is_mistaken = self.is_in_doubt() && why == syntax::TOO_MANY_MISTAKES;
                self.emit(if is_mistaken { RawEffect::Unknown(why.clone()) } else { opaque(why) });
                StreamContent::Unknown
            }
        }
    }

    /// Expands words for the sake of the substitutions in them.
    fn touch(&mut self, words: &[Word]) {
        for word in words {
            let _ = self.fields(word);
        }
    }

    fn define(&mut self, name: &str, body: &CommandStage) {
        if copies::multiplies(name, body) {
            self.emit(RawEffect::Danger(Danger::Exhaustion, format!("start copies of {name} without end")));
        }
        self.shell.define(name, Arc::new(body.clone()));
        // Whether it is called or not, it is told, but for what depends on its parameters: that is told where it is
        // called. Whatever may call it unseen is asked about itself, but for the shell, which calls this one.
        let outer = self.findings.only_known;
        self.findings.only_known |= name != "command_not_found_handle";
        self.deeper(|interpreter| {
            interpreter.apart(|interpreter| {
                interpreter.shell.parameters = None;
                interpreter.shell.enter();
                interpreter.perhaps(|interpreter| interpreter.stage(body, None))
            })
        });
        self.findings.only_known = outer;
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&StreamContent>) -> StreamContent {
        self.interrupted();
        let before = self.findings.len();
        let flow = self.simple_once(assignments, words, input);
        if self.findings.len() == before {
            self.tell(StepEffect::Nothing);
        }
        flow
    }

    /// An unset variable is empty: `rm -rf "$BUILD/"` then removes the root.
    fn with_unset_as_nothing(
        &mut self,
        stage: &CommandStage,
        input: Option<&StreamContent>,
        printed: StreamContent,
    ) -> StreamContent {
        if !matches!(stage.node, CommandNode::Simple(..)) {
            return printed;
        }
        self.findings.second_look = true;
        self.shell.reads.unset = Unset::Empty;
        let second = self.apart(|interpreter| interpreter.redirected(stage, input));
        self.shell.reads.unset = Unset::Unknown;
        self.findings.second_look = false;
        pipes::either(printed, second)
    }

    fn simple_once(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        input: Option<&StreamContent>,
    ) -> StreamContent {
        if words.is_empty() {
            for assignment in assignments {
                let (assigned, how) = self.assigned(assignment);
                self.assign(&assignment.name, assigned, how);
            }
            // `$(<file)` is the content of the file.
            return if assignments.is_empty() {
                input.cloned().unwrap_or_default()
            } else {
                StreamContent::Text(ShellValue::default())
            };
        }
        let assigned: Vec<(String, AssignmentValue)> =
            assignments.iter().map(|one| (one.name.clone(), self.assigned(one).0)).collect();
        for (name, assigned) in &assigned {
            self.look_at_assigned(name, &assigned.all_values());
            self.computed(name, assigned.clone(), AssignmentMode::Set);
        }
        let lines = self.command_lines(words);
        self.doubt_assignments(assignments, words, &lines);
        self.give_variables(&assigned, &lines);
        self.forget_secrets_of(&lines);
        self.with_variables(assigned, |interpreter| interpreter.run_each(&lines, input))
    }

    /// Runs one of these command lines: each from the same state.
    fn run_each(&mut self, lines: &[Vec<ShellValue>], input: Option<&StreamContent>) -> StreamContent {
        let [first, others @ ..] = lines else { return StreamContent::Unknown };
        let before = self.shell.clone();
        let spelling = self.spelling;
        let mut flow = self.run(first, input);
        for words in others {
            let earlier = std::mem::replace(&mut self.shell, before.clone());
            self.spelling = spelling;
            let printed = self.run(words, input);
            self.or(earlier);
            flow = pipes::either(flow, printed);
        }
        flow
    }
}

/// Returns whether a word of `[[ … ]]` makes those beside it arithmetic.
fn takes_numbers(word: &Word) -> bool {
    let [WordPart::Text(text, _)] = word.parts.as_slice() else { return false };
    matches!(text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v")
}

fn opaque(why: &str) -> RawEffect {
    let is_limit = syntax::LIMITS.contains(&why);
    if is_limit { beyond_limit(&format!("hide what it does: {why}")) } else { RawEffect::Unknown(why.to_owned()) }
}

/// What lies beyond a limit could be anything, so it is refused: a limit must not make a wipe a question.
fn beyond_limit(words: &str) -> RawEffect {
    RawEffect::Danger(Danger::HiddenCode, words.to_owned())
}
