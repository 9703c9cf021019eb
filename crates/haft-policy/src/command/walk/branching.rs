//! Where the shell goes: branches that may not run, loops, subshells, and jumps out of them.
//!
//! What may not run is walked, and then the states with and without it are joined. A loop is walked until its end
//! changes nothing any more, because what its end sets is there at its beginning.

use super::super::act::Flow;
use super::super::syntax::{Script, Word, WordPart};
use super::super::value::{Piece, Value};
use super::assigning::How;
use super::state::Shell;
use super::variable::{Assigned, Fit};
use super::{Walk, beyond_limit, pipes};

/// How often a loop is walked before what it changes is taken for unknown.
const MOST_ROUNDS: usize = 6;
/// How many rounds of a loop may each change a further variable.
const MOST_CHANGES: usize = 100;
/// How many variables are copied for the work of one command.
const COPIED_AT_ONCE: usize = 8;

/// The states in which something was left before its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Jumps {
    /// A round of a loop, by `break` or `continue`.
    round: Option<Shell>,
    /// A function, by `return`.
    function: Option<Shell>,
    /// The shell, by `exit`.
    shell: Option<Shell>,
}

impl Walk<'_> {
    /// Walks through something whose variables and folder are its own.
    pub(super) fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.clone();
        let jumps = std::mem::take(&mut self.jumps);
        let loops = std::mem::take(&mut self.loops);
        let result = walk(self);
        self.count_copies();
        self.shell = before;
        self.jumps = jumps;
        self.loops = loops;
        result
    }

    /// Walks through a shell of its own, whose traps run at its end.
    pub(super) fn subshell<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.apart(|walk_apart| {
            walk_apart.shell.traps.clear();
            let result = walk(walk_apart);
            walk_apart.end_of_shell();
            result
        })
    }

    /// Walks through something that may not run.
    pub(super) fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.clone();
        let result = walk(self);
        self.or(before);
        result
    }

    /// Takes another state for possible, which was there earlier.
    pub(super) fn or(&mut self, earlier: Shell) {
        let later = std::mem::replace(&mut self.shell, earlier);
        if later != self.shell {
            self.count_copies();
            let fit = self.shell.join(&later);
            self.within(fit);
        }
    }

    fn count_copies(&mut self) {
        self.work += self.shell.size() / COPIED_AT_ONCE;
    }

    /// Refuses what cannot be followed.
    pub(super) fn within(&mut self, fit: Fit) {
        if fit == Fit::Beyond {
            self.emit(beyond_limit("give a name more meanings than are followed"));
        }
    }

    /// Goes on behind a loop, a function or the whole shell.
    pub(super) fn jump(&mut self, builtin: &str, words: &[Value]) {
        let here = self.shell.clone();
        let place = match builtin {
            "exit" => &mut self.jumps.shell,
            "return" => &mut self.jumps.function,
            _ => &mut self.jumps.round,
        };
        let fit = join_into(place, &here);
        self.within(fit);
        // `break 2` leaves loops that lie around this one.
        if !words.is_empty() && builtin != "exit" {
            let fit = join_into(&mut self.jumps.function, &here);
            self.within(fit);
        }
    }

    /// Walks through a function: what it returns from is its end too.
    pub(super) fn returning<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.jumps.round.take(), self.jumps.function.take());
        let loops = std::mem::take(&mut self.loops);
        let result = walk(self);
        self.loops = loops;
        if let Some(returned) = self.jumps.function.take() {
            self.or(returned);
        }
        (self.jumps.round, self.jumps.function) = outer;
        result
    }

    /// Walks through what runs at the end of a shell.
    pub(super) fn end_of_shell(&mut self) {
        if self.shell.traps.is_empty() {
            return;
        }
        for left in [self.jumps.shell.take(), self.jumps.function.take()].into_iter().flatten() {
            self.or(left);
        }
        self.walk_traps(|_| true);
    }

    pub(super) fn branches(&mut self, scripts: &[Script], input: Option<&Flow>) -> Flow {
        let flows: Vec<Flow> = scripts.iter().map(|script| self.perhaps(|walk| walk.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    pub(super) fn arms(&mut self, word: &Word, arms: &[(Vec<Word>, Script)], input: Option<&Flow>) -> Flow {
        self.touch(std::slice::from_ref(word));
        arms.iter().for_each(|(patterns, _)| self.touch(patterns));
        let flows: Vec<Flow> = arms.iter().map(|(_, script)| self.perhaps(|walk| walk.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    /// Walks through a loop until nothing changes any more.
    pub(super) fn repeated(&mut self, scripts: &[&Script], input: Option<&Flow>) -> Flow {
        let outer = self.jumps.round.take();
        self.loops += 1;
        let first = self.shell.clone();
        let mut flow = Flow::Unknown;
        for round in 0.. {
            if round > MOST_CHANGES {
                self.emit(super::beyond_limit("repeat more changes than are looked at"));
                break;
            }
            let blurred = (round >= MOST_ROUNDS).then(|| self.shell.blur(&first));
            let before = self.shell.clone();
            for script in scripts {
                flow = self.perhaps(|walk| walk.script(script, input));
            }
            if let Some(left) = self.jumps.round.take() {
                let fit = self.shell.join(&left);
                self.within(fit);
            }
            let is_covered = blurred.is_some_and(|blurred| self.shell.is_covered(&first, &blurred));
            if is_covered || self.shell.is_like(&before) {
                break;
            }
        }
        self.jumps.round = outer;
        self.loops -= 1;
        if matches!(flow, Flow::Text(_)) { Flow::Unknown } else { flow }
    }

    pub(super) fn for_each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        (body, input): (&Script, Option<&Flow>),
    ) -> Flow {
        let lists: Vec<Vec<Vec<Value>>> = match words {
            Some(words) => words.iter().map(|word| self.fields(word)).collect(),
            None => vec![self.shell.parameters.clone().unwrap_or_else(|| vec![vec![Value::unknown()]])],
        };
        // What is no word of the text may be none at all, as in `for i in $(seq 5 1)`.
        let is_sure = |value: &Value| !value.has_unknown() && !value.pieces().contains(&Piece::Number);
        let is_there = |list: &Vec<Value>| list.iter().any(is_sure);
        let surely_runs = lists.iter().any(|word| !word.is_empty() && word.iter().all(is_there));
        let mut values: Vec<Value> = lists.into_iter().flatten().flatten().collect();
        values.dedup();
        let values = if values.is_empty() { vec![Value::default()] } else { values };
        let walk_all = |walk: &mut Self| {
            // A reference stands for each of the names in turn.
            if walk.shell.is_reference(name) {
                values.iter().for_each(|target| walk.refer_also(name, target));
            }
            walk.assign(name, Assigned::any(values), How::Set);
            walk.repeated(&[body], input)
        };
        if surely_runs { walk_all(self) } else { self.perhaps(walk_all) }
    }

    /// `(( x = 1 ))` and its kin: which number a variable is then is not computed.
    pub(super) fn calculate(&mut self, words: &[Word]) {
        self.compute_words(words);
        self.calculate_in_word(words);
    }

    /// Notes that what an expression assigns is a number then.
    pub(super) fn calculate_text(&mut self, text: &str) {
        for name in changed_in(text) {
            self.assign(&name, Assigned::one(Value::number()), How::Set);
        }
    }

    /// Notes what a number in a word assigns, `$((x=1))`. The old values may be meant as well: behind `0 &&`, or where the
    /// expression has a mistake, nothing is assigned.
    pub(super) fn calculate_in_word(&mut self, words: &[Word]) {
        let texts = words.iter().flat_map(|word| &word.parts).filter_map(|part| match part {
            WordPart::Text(text, _) if !changed_in(text).is_empty() => Some(text.clone()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            self.perhaps(|walk| texts.iter().for_each(|text| walk.calculate_text(text)));
        }
    }
}

fn join_into(place: &mut Option<Shell>, here: &Shell) -> Fit {
    match place {
        Some(earlier) => earlier.join(here),
        None => {
            *place = Some(here.clone());
            Fit::Within
        }
    }
}

/// Returns the names in an arithmetic expression that stand beside an operator which assigns.
pub(super) fn changed_in(text: &str) -> Vec<String> {
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
