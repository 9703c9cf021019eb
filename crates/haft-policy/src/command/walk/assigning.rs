//! What is assigned to variables and parameters: by `x=…`, `declare`, `set` and `shift`.

use super::super::act::Act;
use super::super::syntax::{Assignment, Word};
use super::super::value::{Piece, Value};
use super::carry::split_at_blanks;
use super::state::Unset;
use super::variable::{Assigned, Variable};
use super::{Walk, variables};

/// How many values come of `+=` before they are taken for unknown.
const MOST_APPENDED: usize = 64;

/// How a value is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It is the value then.
    Set,
    /// It is added to what is there (`+=`), or sets one field of an array (`a[1]=`).
    Add,
}

impl How {
    pub(super) fn of(assignment: &Assignment) -> Self {
        if assignment.is_partial { How::Add } else { How::Set }
    }
}

impl Walk<'_> {
    /// Sets a variable, and refuses what cannot be followed.
    pub(super) fn put(&mut self, name: &str, assigned: Assigned) {
        let fit = self.shell.put(name, assigned);
        self.within(fit);
    }

    /// Assigns a variable of the shell itself.
    pub(super) fn assign(&mut self, name: &str, assigned: Assigned, how: How) {
        for target in self.shell.targets(name).iter().filter(|target| variables::matters(target)) {
            self.environment(target, &assigned.all_values());
        }
        match how {
            How::Set => self.put(name, assigned),
            How::Add => self.assign_more(name, &assigned),
        }
    }

    /// `x+=y`: the old values with the new one behind; of an array, the old ones and the new ones.
    fn assign_more(&mut self, name: &str, assigned: &Assigned) {
        let is_array = assigned.is_array() || self.shell.is_array(name);
        let before = self.shell.values(name).unwrap_or_else(|| vec![Vec::new()]);
        let mut all: Vec<Vec<Value>> = Vec::new();
        for list in &before {
            for added in assigned.lists() {
                all.push(list.iter().chain(added).cloned().collect());
                if let ([only], [value], false) = (list.as_slice(), added.as_slice(), is_array) {
                    let mut joined = only.clone();
                    joined.append(value);
                    all.extend([vec![joined], added.clone()]);
                }
            }
        }
        let mut once: Vec<Vec<Value>> = Vec::new();
        for list in all {
            if !once.contains(&list) {
                once.push(list);
            }
        }
        if once.len() > MOST_APPENDED {
            once = vec![vec![Value::unknown()]];
        }
        self.put(name, if is_array { Assigned::any_list(once) } else { Assigned::any_of(once) });
    }

    /// Returns what an assignment sets.
    pub(super) fn assigned(&mut self, assignment: &Assignment) -> (String, Assigned) {
        let assigned = match assignment.values.as_slice() {
            [one] => Assigned::any(self.values_of(one)),
            several => Assigned::list(several.iter().flat_map(|word| self.fields(word)).flatten().collect()),
        };
        assigned.all_values().iter().for_each(|value| self.evaluate(value));
        (assignment.name.clone(), assigned)
    }

    /// Returns the values that a word may have, also where a variable that nobody set is empty.
    fn values_of(&mut self, word: &Word) -> Vec<Value> {
        let read_before = std::mem::take(&mut self.shell.reads_unset);
        let mut values = self.unsplit(word);
        if self.shell.reads_unset && self.shell.unset == Unset::Unknown {
            self.shell.unset = Unset::Empty;
            values.extend(self.unsplit(word));
            self.shell.unset = Unset::Unknown;
        }
        self.shell.reads_unset |= read_before;
        let mut different: Vec<Value> = Vec::new();
        for value in values {
            if !different.contains(&value) {
                different.push(self.bounded(value));
            }
        }
        different
    }

    /// Walks through a command that gets variables of its own (`x=1 command`).
    pub(super) fn with_variables<T>(
        &mut self,
        assigned: Vec<(String, Assigned)>,
        walk: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before: Vec<(String, Option<Variable>)> =
            assigned.iter().map(|(name, _)| (name.clone(), self.shell.saved(name))).collect();
        for (name, assigned) in assigned {
            self.put(&name, assigned);
            self.shell.export(&name);
        }
        let result = walk(self);
        for (name, variable) in before.into_iter().rev() {
            self.shell.restore(&name, variable);
        }
        result
    }

    /// `export`, `declare` and their kin: words like `name=value`.
    pub(super) fn declare(&mut self, builtin: &str, words: &[Value]) {
        let has_flag = |letter: char| {
            words.iter().any(|word| word.prefix().starts_with('-') && word.prefix()[1..].contains(letter))
        };
        let exports = (builtin == "export" && !has_flag('n')) || has_flag('x');
        let is_local = matches!(builtin, "local" | "declare" | "typeset") && !has_flag('g');
        let refers = has_flag('n') && builtin != "export";
        let mut exported = Vec::new();
        for word in whole_arrays(words).iter().filter(|word| !word.prefix().starts_with(['-', '+'])) {
            let text = word.prefix();
            let is_value = text.contains('=');
            let name = text.split('=').next().unwrap_or_default();
            let how = if is_value && name.ends_with('+') { How::Add } else { How::Set };
            let name = name.trim_end_matches('+').split('[').next().unwrap_or_default().to_owned();
            if is_local {
                self.hide(&name, how);
            }
            let before_value = text.find('=').and_then(|at| text.get(..=at)).unwrap_or_default();
            let value = word.strip_prefix(before_value).unwrap_or_default();
            match (is_value, refers) {
                (true, true) => self.refer(&name, &value),
                (true, false) => self.assign(&name, declared(&value), how),
                (false, _) => {}
            }
            if exports && has_flag('f') {
                self.shell.export_function(&name);
            } else if exports {
                self.shell.export(&name);
            }
            exported.push(name);
        }
        if exports && !exported.is_empty() {
            self.emit(Act::ShellState(format!("set {} for the programs that follow", exported.join(", "))));
        }
    }

    /// Makes a variable local to a function, where one runs.
    fn hide(&mut self, name: &str, how: How) {
        if self.shell.hide(name) && how == How::Set {
            self.shell.restore(name, None);
        }
    }

    fn refer(&mut self, name: &str, target: &Value) {
        match target.known() {
            Some(target) => self.shell.refer(name, target.split('[').next().unwrap_or_default()),
            None => self.emit(Act::Unknown(format!("which variable {name} stands for is known only then"))),
        }
    }

    pub(super) fn unset_names(&mut self, words: &[Value]) {
        let is_reference = words.iter().any(|word| word.known() == Some("-n"));
        for name in words.iter().filter_map(Value::known).filter(|name| !name.starts_with('-')) {
            if is_reference {
                self.shell.forget_reference(name);
                continue;
            }
            self.shell.forget(name);
            if variables::matters(name) {
                self.emit(Act::ShellState(format!("take {name} from the programs that follow")));
            }
        }
    }

    /// `set -e` and the like change nothing that matters; the words behind them are the parameters from now on.
    pub(super) fn set_options(&mut self, words: &[Value]) {
        let mut at = 0;
        let mut is_ended = false;
        while let Some(word) = words.get(at) {
            match word.known() {
                Some("--" | "-") => {
                    is_ended = word.known() == Some("--");
                    at += 1;
                    break;
                }
                Some(flag) if flag.starts_with(['-', '+']) => {
                    let option = words.get(at + 1).and_then(Value::known).filter(|_| flag.contains('o'));
                    let exports = flag.contains('a') || option == Some("allexport");
                    self.shell.exports_all |= exports && flag.starts_with('-');
                    at += if flag.contains('o') { 2 } else { 1 };
                }
                // It may be a flag and a word.
                None if word.prefix().is_empty() => {
                    self.shell.parameters = None;
                    return;
                }
                _ => break,
            }
        }
        let rest = words.get(at..).unwrap_or_default();
        if is_ended || !rest.is_empty() {
            self.shell.parameters = Some(vec![rest.to_vec()]);
        }
    }

    pub(super) fn shift(&mut self, words: &[Value]) {
        let count = match words.first() {
            None => Some(1),
            Some(word) => word.known().and_then(|text| text.parse::<usize>().ok()),
        };
        self.shell.parameters = match (self.shell.parameters.take(), count) {
            // Where there are not enough of them, it does nothing.
            (Some(lists), Some(count)) => {
                Some(lists.into_iter().map(|list| list.get(count..).map_or(list.clone(), <[Value]>::to_vec)).collect())
            }
            _ => None,
        };
    }
}

/// Puts together what is one array: `a=(x`, `y)` where a variable in it was split.
fn whole_arrays(words: &[Value]) -> Vec<Value> {
    let mut whole: Vec<Value> = Vec::new();
    let mut is_open = false;
    for word in words {
        let begins = word.prefix().split_once('=').is_some_and(|(_, value)| value.starts_with('('));
        match whole.last_mut().filter(|_| is_open) {
            Some(open) => {
                open.push(Piece::Text(" ".to_owned()));
                open.append(word);
            }
            None => whole.push(word.clone()),
        }
        is_open = (is_open || begins) && !word.shown().ends_with(')');
    }
    whole
}

/// Returns what `declare` sets: text in parentheses is an array.
fn declared(value: &Value) -> Assigned {
    let shown = value.shown();
    let Some(inner) = value.strip_prefix("(").filter(|_| shown.ends_with(')')) else {
        return Assigned::one(value.clone());
    };
    let mut words = split_at_blanks(&inner);
    if let Some(last) = words.last_mut() {
        *last = without_end(last);
    }
    words.retain(|word| !word.is_empty());
    Assigned::list(words.iter().map(without_key).collect())
}

fn without_end(value: &Value) -> Value {
    let mut result = Value::default();
    let count = value.pieces().len();
    for (index, piece) in value.pieces().iter().enumerate() {
        match piece {
            Piece::Text(text) if index + 1 == count => {
                result.push(Piece::Text(text.strip_suffix(')').unwrap_or(text).to_owned()));
            }
            piece => result.push(piece.clone()),
        }
    }
    result
}

/// `[key]=value` is the value.
fn without_key(value: &Value) -> Value {
    let end = value.prefix().find("]=").filter(|_| value.prefix().starts_with('['));
    end.and_then(|end| value.strip_prefix(&value.prefix()[..end + 2])).unwrap_or_else(|| value.clone())
}
