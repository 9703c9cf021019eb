//! Control flow: branches that may not run, loops, subshells, and jumps out of them.
//!
//! The interpreter walks a branch that may not run, then joins the states with and without it. It walks a loop until
//! the end of the loop changes nothing more, because the next pass begins with the state at the end.

pub(crate) mod copies;
pub(crate) mod lists;

use crate::act::StreamContent;
use crate::interpret::builtins::assigning::AssignmentMode;
use crate::interpret::control::lists::ListEnd;
use crate::interpret::shell::Shell;
use crate::interpret::shell::variable::{AssignmentValue, ValueLimit};
use crate::interpret::streams::pipes;
use crate::interpret::{Interpreter, beyond_limit};
use crate::syntax::{CommandList, Word, WordPart};
use crate::value::{ShellValue, ValuePiece};

/// How often a loop is walked before what it changes is taken for unknown.
const MOST_ROUNDS: usize = 6;
/// How many rounds of a loop may each change a further variable.
const MOST_CHANGES: usize = 100;
/// How many variables are copied for the work of one command.
const COPIED_AT_ONCE: usize = 8;

/// The states in which something was left before its end.
#[derive(Debug, Default)]
struct Jumps {
    /// A round of a loop, by `break` or `continue`.
    round: Option<Shell>,
    /// A function, by `return`.
    function: Option<Shell>,
    /// The shell, by `exit`.
    shell: Option<Shell>,
}

/// Where the interpreter is among loops, functions, traps and lists, and how it may leave them.
#[derive(Debug, Default)]
pub(crate) struct ControlState {
    jumps: Jumps,
    /// How many loops are followed just now.
    loops: usize,
    /// Whether a trap is followed just now.
    pub(crate) is_in_trap: bool,
    /// How the command of the list that was followed last may have ended.
    ended: Option<ListEnd>,
    /// Where `cd` went last, and where the shell is where it failed.
    pub(crate) moved: Option<ListEnd>,
}

impl ControlState {
    /// Begins a shell of its own, which jumps out of nothing that lies around it; returns what is put back at its end.
    fn begin_shell(&mut self) -> (Jumps, usize) {
        (std::mem::take(&mut self.jumps), std::mem::take(&mut self.loops))
    }

    fn end_shell(&mut self, (jumps, loops): (Jumps, usize)) {
        (self.jumps, self.loops) = (jumps, loops);
    }

    /// Notes that a built-in leaves a loop, a function or the shell in this state.
    fn jump(&mut self, builtin: &str, here: &Shell) -> ValueLimit {
        let place = match builtin {
            "exit" => &mut self.jumps.shell,
            "return" => &mut self.jumps.function,
            _ => &mut self.jumps.round,
        };
        join_into(place, here)
    }

    /// Returns whether `break` and `continue` mean something.
    fn is_in_loop(&self) -> bool {
        self.loops > 0
    }
}

impl Interpreter<'_> {
    /// Walks through something whose variables and folder are its own.
    pub(crate) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.clone();
        let around = self.control.begin_shell();
        let result = run(self);
        self.count_copies();
        self.shell = before;
        self.control.end_shell(around);
        result
    }

    /// Walks through a shell of its own, whose traps run at its end.
    pub(crate) fn subshell<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.apart(|interpreter| {
            interpreter.shell.traps.clear();
            let result = run(interpreter);
            interpreter.end_of_shell();
            result
        })
    }

    /// Walks through something that may not run.
    pub(crate) fn perhaps<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.clone();
        let result = run(self);
        self.or(before);
        result
    }

    /// Takes another state for possible, which was there earlier.
    pub(crate) fn or(&mut self, earlier: Shell) {
        let later = std::mem::replace(&mut self.shell, earlier);
        if later != self.shell {
            self.count_copies();
            let fit = self.shell.join(&later);
            self.within(fit);
        }
    }

    fn count_copies(&mut self) {
        self.budget.spend(self.shell.size() / COPIED_AT_ONCE);
    }

    /// Refuses what cannot be followed.
    pub(crate) fn within(&mut self, fit: ValueLimit) {
        if fit == ValueLimit::Beyond {
            self.emit(beyond_limit("give a name more meanings than are followed"));
        }
    }

    /// Goes on behind a loop, a function or the whole shell.
    pub(crate) fn jump(&mut self, builtin: &str, words: &[ShellValue]) {
        let fit = self.control.jump(builtin, &self.shell);
        self.within(fit);
        // `break 2` leaves loops that lie around this one.
        if !words.is_empty() && builtin != "exit" {
            let fit = self.control.jump("return", &self.shell);
            self.within(fit);
        }
    }

    /// Walks through a function: what it returns from is its end too.
    pub(crate) fn returning<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.control.jumps.round.take(), self.control.jumps.function.take());
        let loops = std::mem::take(&mut self.control.loops);
        let result = run(self);
        self.control.loops = loops;
        if let Some(returned) = self.control.jumps.function.take() {
            self.or(returned);
        }
        (self.control.jumps.round, self.control.jumps.function) = outer;
        result
    }

    /// Walks through what runs at the end of a shell.
    pub(crate) fn end_of_shell(&mut self) {
        if self.shell.traps.is_empty() {
            return;
        }
        for left in [self.control.jumps.shell.take(), self.control.jumps.function.take()].into_iter().flatten() {
            self.or(left);
        }
        self.run_traps(|_| true);
    }

    pub(crate) fn branches(&mut self, scripts: &[CommandList], input: Option<&StreamContent>) -> StreamContent {
        let flows: Vec<StreamContent> =
            scripts.iter().map(|script| self.perhaps(|interpreter| interpreter.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    pub(crate) fn arms(
        &mut self,
        word: &Word,
        arms: &[(Vec<Word>, CommandList)],
        input: Option<&StreamContent>,
    ) -> StreamContent {
        self.touch(std::slice::from_ref(word));
        arms.iter().for_each(|(patterns, _)| self.touch(patterns));
        let flows: Vec<StreamContent> =
            arms.iter().map(|(_, script)| self.perhaps(|interpreter| interpreter.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    /// Walks through a loop until nothing changes any more.
    pub(crate) fn repeated(&mut self, scripts: &[&CommandList], input: Option<&StreamContent>) -> StreamContent {
        let outer = self.control.jumps.round.take();
        self.control.loops += 1;
        let first = self.shell.clone();
        let mut flow = StreamContent::Unknown;
        for round in 0.. {
            if round > MOST_CHANGES {
                self.emit(crate::interpret::beyond_limit("repeat more changes than are looked at"));
                break;
            }
            let blurred = (round >= MOST_ROUNDS).then(|| self.shell.blur(&first));
            let before = self.shell.clone();
            for script in scripts {
                flow = self.perhaps(|interpreter| interpreter.script(script, input));
            }
            if let Some(left) = self.control.jumps.round.take() {
                let fit = self.shell.join(&left);
                self.within(fit);
            }
            let is_covered = blurred.is_some_and(|blurred| self.shell.is_covered(&first, &blurred));
            if is_covered || self.shell.is_like(&before) {
                break;
            }
        }
        self.control.jumps.round = outer;
        self.control.loops -= 1;
        if matches!(flow, StreamContent::Text(_)) { StreamContent::Unknown } else { flow }
    }

    pub(crate) fn for_each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        (body, input): (&CommandList, Option<&StreamContent>),
    ) -> StreamContent {
        let lists: Vec<Vec<Vec<ShellValue>>> = match words {
            Some(words) => words.iter().map(|word| self.fields(word)).collect(),
            None => vec![self.shell.parameters.clone().unwrap_or_else(|| vec![vec![ShellValue::unknown()]])],
        };
        // What is no word of the text may be none at all, as in `for i in $(seq 5 1)`.
        let is_sure = |value: &ShellValue| !value.has_unknown() && !value.pieces().contains(&ValuePiece::Number);
        let is_there = |list: &Vec<ShellValue>| list.iter().any(is_sure);
        let surely_runs = lists.iter().any(|word| !word.is_empty() && word.iter().all(is_there));
        let mut values: Vec<ShellValue> = lists.into_iter().flatten().flatten().collect();
        values.dedup();
        let values = if values.is_empty() { vec![ShellValue::default()] } else { values };
        let each_value = |interpreter: &mut Self| {
            // A reference stands for each of the names in turn.
            if interpreter.shell.is_reference(name) {
                values.iter().for_each(|target| interpreter.refer_also(name, target));
            }
            interpreter.assign(name, AssignmentValue::any(values), AssignmentMode::Set);
            interpreter.repeated(&[body], input)
        };
        if surely_runs { each_value(self) } else { self.perhaps(each_value) }
    }

    /// `(( x = 1 ))` and its kin: which number a variable is then is not computed.
    pub(crate) fn calculate(&mut self, words: &[Word]) {
        self.compute_words(words);
        self.calculate_in_word(words);
    }

    /// Notes that what an expression assigns is a number then.
    pub(crate) fn calculate_text(&mut self, text: &str) {
        for name in changed_in(text) {
            self.assign(&name, AssignmentValue::one(ShellValue::number()), AssignmentMode::Set);
        }
    }

    /// Notes what a number in a word assigns, `$((x=1))`. The old values may be meant as well: behind `0 &&`, or where the
    /// expression has a mistake, nothing is assigned.
    pub(crate) fn calculate_in_word(&mut self, words: &[Word]) {
        let texts = words.iter().flat_map(|word| &word.parts).filter_map(|part| match part {
            WordPart::Text(text, _) if !changed_in(text).is_empty() => Some(text.clone()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            self.perhaps(|interpreter| texts.iter().for_each(|text| interpreter.calculate_text(text)));
        }
    }
}

fn join_into(place: &mut Option<Shell>, here: &Shell) -> ValueLimit {
    match place {
        Some(earlier) => earlier.join(here),
        None => {
            *place = Some(here.clone());
            ValueLimit::Within
        }
    }
}

/// Returns the names in an arithmetic expression that stand beside an operator which assigns.
pub(crate) fn changed_in(text: &str) -> Vec<String> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut names = Vec::new();
    let mut rest = text;
    let mut before = "";
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let length = rest[start..].find(|letter| !is_of_name(letter)).unwrap_or(rest.len() - start);
        let name = &rest[start..start + length];
        let behind = rest[start + length..].trim_start();
        let front = if start > 0 { rest[..start].trim_end() } else { before };
        let operator = behind.trim_start_matches(['+', '-', '*', '/', '%', '<', '>', '&', '^', '|']);
        let assigns = operator.starts_with('=') && !operator.starts_with("==") && !is_comparison(behind);
        let is_beside = |text: &str| text.starts_with("++") || text.starts_with("--");
        let is_behind = front.ends_with("++") || front.ends_with("--");
        // Which field of an array is set does not matter.
        if assigns || is_beside(behind) || is_behind || behind.starts_with('[') {
            names.push(name.to_owned());
        }
        before = "";
        rest = &rest[start + length..];
    }
    names
}

fn is_comparison(operator: &str) -> bool {
    ["<=", ">=", "!="].iter().any(|comparison| operator.starts_with(comparison))
}
