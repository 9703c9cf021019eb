//! What the shell knows at a moment: its folder, its variables, its functions.
//!
//! What may or may not have happened is not told to whoever writes: both states are walked, and [`Shell::join`] holds
//! everything that either of them holds. So nothing that is set under a condition takes the place of what was there.

mod joining;
mod locals;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::Scene;
use super::super::act::Flow;
use super::super::dialect::Dialect;
use super::super::places::Folder;
use super::super::syntax::Stage;
use super::super::value::{Piece, Value};
use super::kept_variables::{is_kept, kept};
use super::surroundings;
use super::variable::{Assigned, Fit, Kind, Variable};

/// How many folders are followed.
const MOST_FOLDERS: usize = 6;
/// How many references are followed from one to the next.
const MOST_REFERENCES: usize = 8;

/// The state of a shell. Where it depends on what happens, it holds all there may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shell {
    /// The folders it may be in; at least one.
    pub(super) folders: Vec<Folder>,
    /// The folders it may have been in before, for `cd -`.
    pub(super) folders_before: Vec<Folder>,
    /// The folders below the present one on the stack of `pushd`, the newest last; each may be one of several.
    pub(super) stack: Vec<Vec<Folder>>,
    variables: Arc<HashMap<String, Variable>>,
    /// What the local variables of the functions that run just now hide, the innermost function last.
    hidden: Vec<HashMap<String, Hidden>>,
    /// Variables that stand for others (`declare -n`), and for which they may.
    references: HashMap<String, Vec<String>>,
    functions: Arc<HashMap<String, Function>>,
    /// The lists that `$1`, `$2`, … may be; nothing where they are not known.
    pub(super) parameters: Option<Vec<Vec<Value>>>,
    /// What `$0` is.
    pub(super) name: Value,
    /// Its language, and that of the shells that the program starts which runs just now.
    pub(super) dialect: Dialect,
    pub(super) starts: Dialect,
    /// What runs at signals, and at which.
    pub(super) traps: Vec<(Value, Vec<String>)>,
    /// Whether programs get all variables that are set from now on (`set -a`).
    pub(super) exports_all: bool,
    /// Whether it certainly ends where a command fails (`set -e`).
    pub(super) stops_on_failure: bool,
    /// Whether `cd` may go up from where a link leads (`set -P`).
    pub(super) is_physical: bool,
    /// Whether errors may go where the output goes (`exec 2>&1`).
    pub(super) merges_errors: bool,
    /// The folders that this command has certainly made.
    pub(super) made: Vec<String>,
    /// Whether it prints what it runs, with the values in it (`set -x`).
    pub(super) traces: bool,
    /// What the shell itself reads, once `exec` has redirected it.
    pub(super) input: Option<Flow>,
    /// Whether patterns find hidden names too.
    pub(super) finds_hidden: bool,
    /// Whether patterns may find what lies in folders below (`globstar`).
    pub(super) finds_deep: bool,
    /// What a variable is that nobody has set.
    pub(super) unset: Unset,
    /// Whether such a variable was read.
    pub(super) reads_unset: bool,
    /// Variables that nobody has set here, were read, and whose names say that they hold secrets.
    pub(super) reads_secrets: Vec<String>,
}

/// What a variable is taken for that nobody has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    /// It may be anything.
    Unknown,
    /// It is empty.
    Empty,
}

/// What a name may run instead of the program of that name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Function {
    pub(super) bodies: Vec<Arc<Stage>>,
    /// Whether it may not be defined, so that the program runs.
    pub(super) may_be_missing: bool,
    /// Whether shells that are started know it too (`export -f`).
    is_exported: bool,
}

/// A variable that a local one of the same name hides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hidden {
    variable: Option<Variable>,
    /// Whether the local one may not have been declared, so that what was set is the outer one.
    may_be_seen: bool,
}

impl Shell {
    pub(super) fn new(scene: &Scene) -> Self {
        let folder = Folder::Known(scene.folder.clone());
        let mut shell = Self {
            folders: vec![folder],
            // Whoever started the shell may have been anywhere before.
            folders_before: vec![Folder::Unknown],
            stack: Vec::new(),
            variables: Arc::default(),
            hidden: Vec::new(),
            references: HashMap::new(),
            functions: Arc::default(),
            parameters: Some(vec![Vec::new()]),
            name: Value::text("bash"),
            dialect: Dialect::Bash,
            starts: Dialect::Posix,
            traps: Vec::new(),
            exports_all: false,
            stops_on_failure: false,
            is_physical: false,
            merges_errors: false,
            made: Vec::new(),
            traces: false,
            input: None,
            finds_hidden: false,
            finds_deep: false,
            unset: Unset::Unknown,
            reads_unset: false,
            reads_secrets: Vec::new(),
        };
        let known = [
            ("HOME", scene.home.as_str()),
            ("USER", &scene.user),
            ("LOGNAME", &scene.user),
            ("SHELL", "/bin/bash"),
            ("BASH", "/bin/bash"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("IFS", " \t\n"),
            ("OSTYPE", "linux-gnu"),
        ];
        for (name, value) in known.iter().chain(surroundings::SET) {
            let _ = shell.put(name, Assigned::one(Value::text(*value)));
            shell.export(name);
        }
        shell
    }

    /// Returns the state of a shell that this one starts, with the words from `$0` on.
    pub(super) fn child(&self, words: &[Value]) -> Self {
        let exported = self.variables.iter().filter(|(_, variable)| variable.is_exported);
        let functions = self.functions.iter().filter(|(_, function)| function.is_exported);
        Self {
            stack: Vec::new(),
            variables: Arc::new(exported.map(|(name, variable)| (name.clone(), variable.clone())).collect()),
            hidden: Vec::new(),
            references: HashMap::new(),
            functions: Arc::new(functions.map(|(name, one)| (name.clone(), one.clone())).collect()),
            parameters: Some(vec![words.get(1..).unwrap_or_default().to_vec()]),
            name: words.first().cloned().unwrap_or_else(|| Value::text("bash")),
            dialect: self.starts,
            starts: Dialect::Posix,
            traps: Vec::new(),
            exports_all: false,
            stops_on_failure: false,
            is_physical: false,
            merges_errors: false,
            ..self.clone()
        }
    }

    /// Sets a variable: the only way to do so.
    pub(super) fn put(&mut self, name: &str, assigned: Assigned) -> Fit {
        let targets = self.targets(name);
        let is_certain = targets.len() == 1;
        let mut fit = Fit::Within;
        for target in targets {
            if target == "OLDPWD" {
                self.folders_before = assigned.first_values().map(|value| Folder::Unknown.changed(value)).collect();
            }
            self.doubt_stack(&target, &assigned.all_values());
            let before = self.variables.get(&target).cloned();
            let is_exported = self.exports_all || before.as_ref().is_some_and(|before| before.is_exported);
            let kind = before.as_ref().map_or(Kind::default(), |before| before.kind);
            let (mut variable, its_fit) = Variable::new(self.as_kept(&target, kind, assigned.clone()));
            variable.is_exported = is_exported;
            variable.kind = kind;
            fit = fit.and(its_fit);
            if !is_certain || kind.is_readonly {
                let (joined, its_fit) = Variable::joined(before.as_ref(), Some(&variable));
                variable = joined.unwrap_or(variable);
                fit = fit.and(its_fit);
            }
            Arc::make_mut(&mut self.variables).insert(target, variable);
        }
        fit
    }

    /// Takes the stack of `pushd` for unknown where a variable is changed that holds it: `DIRSTACK[1]=/etc; popd`.
    fn doubt_stack(&mut self, name: &str, values: &[Value]) {
        if !matches!(name, "DIRSTACK" | "dirstack") {
            return;
        }
        // In zsh it has another name, and may also become longer.
        if name == "dirstack" && self.stack.is_empty() {
            self.stack.push(Vec::new());
        }
        let here = &self.folders;
        let named = values.iter().flat_map(|value| here.iter().map(|folder| folder.changed(value)));
        let named: Vec<Folder> = std::iter::once(Folder::Unknown).chain(named.take(MOST_FOLDERS)).collect();
        // What is assigned stands first: it must not be lost where there are too many to follow.
        for folders in &mut self.stack {
            let before = std::mem::replace(folders, named.clone());
            add_folders(folders, before);
        }
    }

    /// Returns what a variable is after an assignment, where bash does not simply take the value.
    fn as_kept(&mut self, name: &str, kind: Kind, assigned: Assigned) -> Assigned {
        if name == "BASH_ARGV0" {
            self.name = Value::unknown();
        }
        match is_kept(name) {
            true => assigned.map(|value| kept(name, &value)),
            false if kind.changes_letters => assigned.map(|_| Value::unknown()),
            false => assigned,
        }
    }

    /// Returns whether programs get a variable, or get it where whoever started the shell has set it.
    pub(super) fn is_exported(&self, name: &str) -> bool {
        let is_exported = self.variables.get(name).map(|variable| variable.is_exported);
        is_exported.unwrap_or_else(|| self.exports_all || surroundings::is_passed(name))
    }

    /// Gives a variable to the programs that follow.
    pub(super) fn export(&mut self, name: &str) {
        if let Some(variable) = Arc::make_mut(&mut self.variables).get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Gives a function to the shells that follow.
    pub(super) fn export_function(&mut self, name: &str) {
        if let Some(function) = Arc::make_mut(&mut self.functions).get_mut(name) {
            function.is_exported = true;
            function.may_be_missing = true;
        }
    }

    pub(super) fn forget_reference(&mut self, name: &str) {
        self.references.remove(name);
    }

    /// Returns a variable as it is, to be put back by [`Self::restore`].
    pub(super) fn saved(&self, name: &str) -> Option<Variable> {
        self.variables.get(name).cloned()
    }

    pub(super) fn restore(&mut self, name: &str, variable: Option<Variable>) {
        let variables = Arc::make_mut(&mut self.variables);
        match variable {
            Some(variable) => variables.insert(name.to_owned(), variable),
            None => variables.remove(name),
        };
    }

    /// Lets a name stand for another from now on.
    pub(super) fn refer(&mut self, name: &str, target: &str) {
        self.references.insert(name.to_owned(), vec![target.to_owned()]);
    }

    /// Returns the variables that a reference stands for; none where it is no reference.
    pub(super) fn referred(&self, name: &str) -> Vec<String> {
        self.references.get(name).cloned().unwrap_or_default()
    }

    /// Returns whether a name is a reference.
    pub(super) fn is_reference(&self, name: &str) -> bool {
        self.references.contains_key(name)
    }

    /// Lets a reference stand for others as well.
    pub(super) fn refer_to_any(&mut self, name: &str, others: &[String]) {
        if let Some(own) = self.references.get_mut(name) {
            add_new(own, others);
        }
    }

    /// Returns the variables that a name may stand for.
    pub(super) fn targets(&self, name: &str) -> Vec<String> {
        let mut targets = vec![name.to_owned()];
        for _ in 0..MOST_REFERENCES {
            let next: Vec<String> = targets
                .iter()
                .flat_map(|target| self.references.get(target).cloned().unwrap_or_else(|| vec![target.clone()]))
                .collect();
            if next == targets {
                break;
            }
            targets = next;
            targets.sort();
            targets.dedup();
        }
        targets
    }

    /// Returns the values that a variable may have; nothing when nobody has set it.
    pub(super) fn values(&self, name: &str) -> Option<Vec<Vec<Value>>> {
        let all: Vec<Option<Vec<Vec<Value>>>> = self.targets(name).iter().map(|name| self.values_of(name)).collect();
        let is_set = all.iter().any(Option::is_some);
        is_set.then(|| {
            all.into_iter().flat_map(|values| values.unwrap_or_else(|| vec![vec![Value::default()]])).collect()
        })
    }

    fn values_of(&self, name: &str) -> Option<Vec<Vec<Value>>> {
        match (self.variables.get(name), name) {
            (Some(variable), _) => Some(variable.values.clone()),
            (None, "PWD") => Some(folder_values(&self.folders)),
            (None, "OLDPWD") => Some(folder_values(&self.folders_before)),
            (None, _) => None,
        }
    }

    /// Returns whether a variable is an array.
    pub(super) fn is_array(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.get(name).is_some_and(|one| one.is_array))
    }

    /// Returns whether a variable is an array whose values have names, or gaps between their numbers.
    pub(super) fn is_map(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.get(name).is_some_and(|one| one.is_map))
    }

    /// Returns whether a variable may compute with what is assigned to it.
    pub(super) fn is_integer(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.get(name).is_some_and(|one| one.kind.is_integer))
    }

    /// Returns whether a variable is certainly an array whose values have names, with which nothing is computed.
    pub(super) fn is_associative(&self, name: &str) -> bool {
        self.targets(name).iter().all(|name| self.variables.get(name).is_some_and(|one| one.kind.is_associative))
    }

    /// Says what a variable is, whatever is assigned to it.
    pub(super) fn declare(&mut self, name: &str, change: impl Fn(&mut Kind)) {
        for target in self.targets(name) {
            let variable = Arc::make_mut(&mut self.variables).entry(target);
            change(&mut variable.or_insert_with(|| Variable::new(Assigned::one(Value::default())).0).kind);
        }
    }

    pub(super) fn function(&self, name: &str) -> Option<Function> {
        self.functions.get(name).cloned()
    }

    pub(super) fn define(&mut self, name: &str, body: Arc<Stage>) {
        let function = Function { bodies: vec![body], ..Function::default() };
        Arc::make_mut(&mut self.functions).insert(name.to_owned(), function);
    }

    /// Returns what `~1`, `~+1` or `~-0` may be: a folder by its place on the stack, from the newest or the oldest on.
    pub(super) fn stacked(&self, place: &str) -> Vec<Vec<Value>> {
        let number = place.trim_start_matches(['+', '-']).parse::<usize>().unwrap_or(usize::MAX);
        let newest_first: Vec<&Vec<Folder>> = std::iter::once(&self.folders).chain(self.stack.iter().rev()).collect();
        let at = if place.starts_with('-') {
            newest_first.len().checked_sub(number.saturating_add(1))
        } else {
            Some(number)
        };
        match at.and_then(|at| newest_first.get(at)) {
            Some(folders) => folder_values(folders),
            // It stays as it is written.
            None => vec![vec![Value::text(format!("~{place}"))]],
        }
    }

    /// Moves to other folders.
    pub(super) fn move_to(&mut self, folders: Vec<Folder>) {
        self.folders_before = std::mem::take(&mut self.folders);
        add_folders(&mut self.folders, folders);
        if self.variables.contains_key("PWD") || self.variables.contains_key("OLDPWD") {
            ["PWD", "OLDPWD"].into_iter().for_each(|name| self.restore(name, None));
        }
    }

    /// Returns whether it is the same state, whatever was read in it.
    pub(super) fn is_like(&self, other: &Shell) -> bool {
        let (reads_unset, reads_secrets) = (self.reads_unset, self.reads_secrets.clone());
        *self == Shell { reads_unset, reads_secrets, ..other.clone() }
    }

    /// Returns how much there is to copy.
    pub(super) fn size(&self) -> usize {
        self.variables.len() + self.functions.len()
    }

    /// Takes for unknown whatever is not as it was: for loops that do not come to an end. What holds numbers alone is left.
    /// Returns the names of the variables.
    pub(super) fn blur(&mut self, before: &Shell) -> HashSet<String> {
        let changed = self.changed_since(before);
        let names: Vec<String> = changed.iter().filter(|name| !self.holds_numbers(name)).cloned().collect();
        for name in names {
            let assigned = match self.is_array(&name) {
                true => Assigned::any_list(vec![Value::any_words()]),
                false => Assigned::one(Value::unknown()),
            };
            let mut unknown = Variable::new(assigned).0;
            unknown.kind = self.variables.get(&name).map_or(Kind::default(), |before| before.kind);
            let joined = Variable::joined(self.variables.get(&name), Some(&unknown)).0;
            self.restore(&name, joined);
        }
        if self.folders != before.folders {
            add_folders(&mut self.folders, vec![Folder::Unknown]);
        }
        if self.parameters != before.parameters {
            self.parameters = None;
        }
        changed
    }

    fn changed_since(&self, before: &Shell) -> HashSet<String> {
        let changed = |(name, one): &(&String, &Variable)| before.variables.get(*name) != Some(*one);
        self.variables.iter().filter(changed).map(|(name, _)| name.clone()).collect()
    }

    /// Returns whether one more round, in which some variables were taken for unknown, has changed nothing else. Then no
    /// further round does, and what holds numbers holds them in all.
    pub(super) fn is_covered(&self, before: &Shell, blurred: &HashSet<String>) -> bool {
        let is_unknown = |name: &String| {
            let values = self.variables.get(name).map(|one| one.values.as_slice()).unwrap_or_default();
            values.iter().flatten().any(|value| value.pieces() == [Piece::Unknown])
        };
        let is_covered = |name: &String| blurred.contains(name) && (is_unknown(name) || self.holds_numbers(name));
        let folders = self.folders == before.folders || self.folders.contains(&Folder::Unknown);
        let parameters = self.parameters == before.parameters || self.parameters.is_none();
        folders && parameters && self.changed_since(before).iter().all(is_covered)
    }

    /// Returns whether a variable holds numbers alone, however many.
    pub(super) fn holds_numbers(&self, name: &str) -> bool {
        let is_number = |value: &Value| value.pieces() == [Piece::Number];
        self.variables.get(name).is_some_and(|one| one.values.iter().flatten().all(is_number))
    }
}

fn add_new<T: Clone + PartialEq>(own: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !own.contains(other) {
            own.push(other.clone());
        }
    }
}

pub(super) fn add_folders(own: &mut Vec<Folder>, others: Vec<Folder>) {
    add_new(own, &others);
    if own.len() > MOST_FOLDERS + 1 || (own.len() > MOST_FOLDERS && !own.contains(&Folder::Unknown)) {
        own.truncate(MOST_FOLDERS);
        own.push(Folder::Unknown);
    }
}

fn folder_values(folders: &[Folder]) -> Vec<Vec<Value>> {
    let value = |folder: &Folder| match folder {
        Folder::Known(path) => vec![Value::text(path.clone())],
        Folder::Unknown => vec![Value::unknown()],
    };
    folders.iter().map(value).collect()
}
