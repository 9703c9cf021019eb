//! Assignments to variables and parameters, by `x=…`, `declare`, `set` and `shift`.

use crate::act::RawEffect;
use crate::interpret::shell::Unset;
use crate::interpret::shell::variable::{AssignmentValue, Variable};
use crate::interpret::words::arrays::ArrayIndex;
use crate::interpret::{Interpreter, environment};
use crate::syntax::{Assignment, Word};
use crate::value::ShellValue;

/// How many values come of `+=` before they are taken for unknown.
const MOST_APPENDED: usize = 64;

/// How a value is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignmentMode {
    /// It is the value then.
    Set,
    /// It is added to what is there (`+=`).
    Add,
    /// It is one field of an array (`a[1]=`).
    At(ArrayIndex),
}

impl Interpreter<'_> {
    /// Sets a variable, or the field of an array that is named (`read 'a[0]'`), and refuses what cannot be followed. What
    /// the value means is not looked at: the shell assigns by [`Self::assign`].
    pub(crate) fn put(&mut self, name: &str, assigned: AssignmentValue) {
        if let Some((array, index)) = name.split_once('[') {
            return self.assign_at(array, ArrayIndex::of(index.trim_end_matches(']')), &assigned);
        }
        let fit = self.shell.put(name, assigned);
        self.within(fit);
    }

    /// Assigns a variable of the shell itself. Every way in which bash assigns one leads here: `x=…`, `read`, `for`,
    /// `printf -v`, `${x:=…}`, `((x=…))`, `{x}<file` and the rest.
    pub(crate) fn assign(&mut self, name: &str, assigned: AssignmentValue, how: AssignmentMode) {
        let values = assigned.all_values();
        self.look_at_assigned(name, &values);
        // A variable that came from outside is given to programs whatever its value is.
        for target in self.shell.targets(name) {
            if self.shell.is_exported(&target) {
                self.give_variable(&target, &values);
            }
        }
        let assigned = self.computed(name, assigned, how);
        // Arithmetic reads the value as an expression. An integer variable does so when the value is assigned.
        values.iter().for_each(|value| self.evaluate_assignments(value));
        match how {
            AssignmentMode::Set => self.put(name, assigned),
            AssignmentMode::Add => self.assign_more(name, &assigned),
            AssignmentMode::At(index) => self.assign_at(name, index, &assigned),
        }
    }

    /// Tells what it means that the variables that a name stands for have one of these values.
    pub(crate) fn look_at_assigned(&mut self, name: &str, values: &[ShellValue]) {
        let name = name.split('[').next().unwrap_or_default();
        for target in self.shell.targets(name).iter().filter(|target| environment::matters(target)) {
            self.environment(target, values);
        }
    }

    /// Assigns a variable whose name may be a gap: then it may be any.
    pub(crate) fn assign_named(&mut self, name: &ShellValue, assigned: AssignmentValue) {
        match name.known() {
            Some(name) => self.assign(name, assigned, AssignmentMode::Set),
            None => self.emit(RawEffect::Unknown("which variable it sets is known only when it runs".to_owned())),
        }
    }

    /// `x+=y`: the old values with the new one behind; of an array, the old ones and the new ones.
    fn assign_more(&mut self, name: &str, assigned: &AssignmentValue) {
        let is_array = assigned.is_array() || self.shell.is_array(name);
        let before = self.shell.values(name).unwrap_or_else(|| vec![Vec::new()]);
        if !self.has_time_for(&before) {
            return;
        }
        let mut all: Vec<Vec<ShellValue>> = Vec::new();
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
        let mut once: Vec<Vec<ShellValue>> = Vec::new();
        for list in all {
            if !once.contains(&list) {
                once.push(list);
            }
        }
        if once.len() > MOST_APPENDED {
            once = vec![if is_array { ShellValue::any_words() } else { vec![ShellValue::unknown()] }];
        }
        let is_map = assigned.is_map() || self.shell.is_map(name);
        let all = if is_array { AssignmentValue::any_list(once) } else { AssignmentValue::any_of(once) };
        self.put(name, if is_map { all.into_map() } else { all });
    }

    /// Returns what an assignment sets, and how.
    pub(crate) fn assigned(&mut self, assignment: &Assignment) -> (AssignmentValue, AssignmentMode) {
        let assigned = match assignment.values.as_slice() {
            [one] if !assignment.is_array => AssignmentValue::any(self.values_of(one)),
            words => self.array(&assignment.name, words),
        };
        assigned.all_values().iter().for_each(|value| self.evaluate(value));
        let how = match &assignment.index {
            Some(index) => AssignmentMode::At(self.index(&assignment.name, index)),
            None if assignment.is_added => AssignmentMode::Add,
            None => AssignmentMode::Set,
        };
        (assigned, how)
    }

    /// Returns the values that a word may have, also where an unset variable is empty.
    fn values_of(&mut self, word: &Word) -> Vec<ShellValue> {
        let read_before = std::mem::take(&mut self.shell.reads.has_unset);
        let mut values = self.unsplit(word);
        if self.shell.reads.has_unset && self.shell.reads.unset == Unset::Unknown {
            self.shell.reads.unset = Unset::Empty;
            values.extend(self.unsplit(word));
            self.shell.reads.unset = Unset::Unknown;
        }
        self.shell.reads.has_unset |= read_before;
        let mut different: Vec<ShellValue> = Vec::new();
        for value in values {
            if !different.contains(&value) {
                different.push(self.bounded(value));
            }
        }
        different
    }

    /// Walks through a command that gets variables of its own (`x=1 command`).
    pub(crate) fn with_variables<T>(
        &mut self,
        assigned: Vec<(String, AssignmentValue)>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before: Vec<(String, Option<Variable>)> =
            assigned.iter().map(|(name, _)| (name.clone(), self.shell.saved(name))).collect();
        for (name, assigned) in assigned {
            self.put(&name, assigned);
            self.shell.export(&name);
        }
        let result = run(self);
        for (name, variable) in before.into_iter().rev() {
            self.shell.restore(&name, variable);
        }
        result
    }

    /// Takes variables and functions away, or does not, where bash refuses the flags.
    pub(crate) fn unset_names(&mut self, words: &[ShellValue]) {
        let is_usual =
            |word: &ShellValue| !word.prefix().starts_with('-') || matches!(word.known(), Some("-v" | "-n" | "--"));
        let functions = words.first().is_some_and(|word| word.known() == Some("-f"));
        match functions {
            true => words.iter().filter_map(ShellValue::known).for_each(|name| self.shell.forget_function(name)),
            false if words.iter().all(is_usual) => self.unset_variables(words),
            false => self.perhaps(|interpreter| interpreter.unset_variables(words)),
        }
    }

    fn unset_variables(&mut self, words: &[ShellValue]) {
        let is_reference = words.iter().any(|word| word.known() == Some("-n"));
        let spares_functions = words.iter().any(|word| word.known() == Some("-v"));
        for name in words.iter().filter_map(ShellValue::known).filter(|name| !name.starts_with('-')) {
            if is_reference {
                self.shell.forget_reference(name);
                continue;
            }
            let (array, index) = name.split_once('[').unzip();
            let targets = self.shell.targets(array.unwrap_or(name));
            match array.filter(|_| index.is_some()) {
                Some(array) => self.unset_at(array),
                None => {
                    self.shell.forget(name);
                    if !spares_functions {
                        self.shell.perhaps_forget_function(name);
                    }
                }
            }
            for target in targets.iter().filter(|target| environment::matters(target)) {
                self.emit(RawEffect::ShellState(format!(
                    "remove {target} from the environment of the programs that follow"
                )));
            }
        }
    }

    /// Sets options and parameters, or does not, where bash refuses an option.
    pub(crate) fn set_options(&mut self, words: &[ShellValue]) {
        match has_usual_options(words) {
            true => self.set_usual_options(words),
            false => self.perhaps(|interpreter| interpreter.set_usual_options(words)),
        }
    }

    /// `set -e` and most of the like change nothing that matters; the words behind them are the parameters from now on.
    fn set_usual_options(&mut self, words: &[ShellValue]) {
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
                    let option = words.get(at + 1).and_then(ShellValue::known).filter(|_| flag.contains('o'));
                    let exports = flag.starts_with('-') && (flag.contains('a') || option == Some("allexport"));
                    if exports {
                        self.shell.options.exports_all = true;
                        self.emit(RawEffect::ShellState("export variables to the programs that follow".to_owned()));
                    }
                    self.doubt_option(flag, option);
                    self.shell.options.is_physical |= flag.contains('P') || option == Some("physical");
                    if flag.contains('e') || option == Some("errexit") {
                        self.shell.options.stops_on_failure = flag.starts_with('-');
                    }
                    at += if flag.contains('o') { 2 } else { 1 };
                }
                // It may be a flag and a word.
                None if word.prefix().is_empty() => {
                    self.emit(RawEffect::Unknown(
                        "which options of the shell it sets is known only when it runs".to_owned(),
                    ));
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

    /// Asks about an option after which the shell reads commands otherwise, or keeps none of them.
    fn doubt_option(&mut self, flag: &str, option: Option<&str>) {
        let (is_set, name) = (flag.starts_with('-'), option.unwrap_or_default());
        let why = match name {
            "posix" => "let the shell read what follows in its POSIX mode",
            "keyword" if is_set => "read words of programs as variables",
            "history" if !is_set => "keep no history of the commands that follow",
            "braceexpand" if !is_set => "change how the shell reads commands",
            _ if is_set && flag.contains('k') => "read words of programs as variables",
            _ if !is_set && flag.contains('B') => "change how the shell reads commands",
            _ => return,
        };
        self.emit(RawEffect::ShellState(why.to_owned()));
        if name == "posix" {
            self.emit(RawEffect::Unknown("in the POSIX mode of bash commands mean something else".to_owned()));
        }
    }

    pub(crate) fn shift(&mut self, words: &[ShellValue]) {
        let count = match words.first() {
            None => Some(1),
            Some(word) => word.known().and_then(|text| text.parse::<usize>().ok()),
        };
        self.shell.parameters = match (self.shell.parameters.take(), count) {
            // Where there are not enough of them, it does nothing.
            (Some(lists), Some(count)) => Some(lists.into_iter().map(|list| shifted(list, count)).collect()),
            _ => None,
        };
    }
}

/// Names that `set -o` knows.
const OPTIONS: &str = "allexport braceexpand emacs errexit errtrace functrace hashall histexpand history ignoreeof \
    interactive-comments keyword monitor noclobber noexec noglob nolog notify nounset onecmd physical pipefail posix \
    privileged verbose vi xtrace";

/// Returns whether bash takes all options of `set`. It sets no parameters where it refuses one.
fn has_usual_options(words: &[ShellValue]) -> bool {
    let mut words = words.iter();
    while let Some(flag) = words.next().map(ShellValue::prefix).filter(|flag| flag.starts_with(['-', '+'])) {
        if matches!(flag, "-" | "--") {
            break;
        }
        let is_usual = |letter: char| "abefhkmnoptuvxBCEHPT".contains(letter);
        let names = flag.matches('o').count();
        let is_option = |name: Option<&ShellValue>| {
            name.is_none_or(|name| OPTIONS.split_whitespace().any(|option| name.known() == Some(option)))
        };
        if !flag[1..].chars().all(is_usual) || !(0..names).all(|_| is_option(words.next())) {
            return false;
        }
    }
    true
}

/// Takes words away at the beginning. Of what may be several words some are left.
fn shifted(list: Vec<ShellValue>, count: usize) -> Vec<ShellValue> {
    if count > list.len() && !list.iter().any(ShellValue::may_be_several) {
        return list;
    }
    let is_left = |(at, value): &(usize, ShellValue)| *at >= count || value.may_be_several();
    list.into_iter().enumerate().filter(is_left).map(|(_, value)| value).collect()
}
