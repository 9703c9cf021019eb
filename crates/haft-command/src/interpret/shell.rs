//! The state of the shell at one moment: its folder, its variables, its functions.
//!
//! Where something may or may not have happened, the interpreter follows both states, and [`Shell::join`] keeps
//! everything that either of them has. So a value that is set under a condition never replaces the old value.

mod joining;
pub(crate) mod kept_variables;
mod locals;
pub(crate) mod options;
pub(crate) mod surroundings;
pub(crate) mod variable;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::CommandScene;
use crate::act::StreamContent;
use crate::dialect::ShellDialect;
use crate::interpret::shell::kept_variables::{is_kept, kept};
use crate::interpret::shell::options::ShellOptions;
use crate::interpret::shell::variable::{AssignmentValue, ValueLimit, Variable, VariableKind};
use crate::places::Folder;
use crate::syntax::CommandStage;
use crate::value::{ShellValue, ValuePiece};

/// How many folders are followed.
const MOST_FOLDERS: usize = 6;
/// How many references are followed from one to the next.
const MOST_REFERENCES: usize = 8;

/// The state of a shell. Where it depends on what happens, it holds all there may be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shell {
    pub(crate) folders: WorkingFolders,
    variables: Variables,
    functions: Arc<HashMap<String, ShellFunction>>,
    /// The lists that `$1`, `$2`, … may be; nothing where they are not known.
    pub(crate) parameters: Option<Vec<Vec<ShellValue>>>,
    /// What `$0` is.
    pub(crate) name: ShellValue,
    /// Its language, and that of the shells that the program starts which runs just now.
    pub(crate) dialect: ShellDialect,
    pub(crate) starts: ShellDialect,
    /// What runs at signals, and at which.
    pub(crate) traps: Vec<(ShellValue, Vec<String>)>,
    pub(crate) options: ShellOptions,
    /// What the shell itself reads, once `exec` has redirected it.
    pub(crate) input: Option<StreamContent>,
    pub(crate) reads: UnsetReads,
}

/// Where a shell is, and where `cd -`, `popd` and a new folder may take it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkingFolders {
    /// The folders it may be in; at least one.
    pub(crate) now: Vec<Folder>,
    /// The folders it may have been in before, for `cd -`.
    pub(crate) before: Vec<Folder>,
    /// The folders below the present one on the stack of `pushd`, the newest last; each may be one of several.
    pub(crate) stack: Vec<Vec<Folder>>,
    /// The folders that this command has certainly made.
    pub(crate) made: Vec<String>,
}

/// The variables of a shell.
#[derive(Clone, Debug, Default, PartialEq)]
struct Variables {
    named: Arc<HashMap<String, Variable>>,
    /// What the local variables of the functions that run just now hide, the innermost function last.
    hidden: Vec<HashMap<String, HiddenVariable>>,
    /// Variables that stand for others (`declare -n`), and for which they may.
    references: HashMap<String, Vec<String>>,
}

/// What was read of variables that this command has not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnsetReads {
    /// What such a variable is.
    pub(crate) unset: Unset,
    /// Whether one was read.
    pub(crate) has_unset: bool,
    /// Those that were read and whose names say that they hold secrets.
    pub(crate) secrets: Vec<String>,
}

/// What an unset variable is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unset {
    /// It may be anything.
    #[default]
    Unknown,
    /// It is empty.
    Empty,
}

/// What a name may run instead of the program of that name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct ShellFunction {
    pub(crate) bodies: Vec<Arc<CommandStage>>,
    /// Whether it may not be defined, so that the program runs.
    pub(crate) may_be_missing: bool,
    /// Whether shells that are started know it too (`export -f`).
    is_exported: bool,
}

/// A variable that a local one of the same name hides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HiddenVariable {
    variable: Option<Variable>,
    /// Whether the local one may not have been declared, so that what was set is the outer one.
    may_be_seen: bool,
}

impl Shell {
    pub(crate) fn new(scene: &CommandScene) -> Self {
        let folder = Folder::Known(scene.folder.clone());
        // The program that started the shell may have been anywhere before.
        let before = vec![Folder::Unknown];
        let mut shell = Self {
            folders: WorkingFolders { now: vec![folder], before, stack: Vec::new(), made: Vec::new() },
            variables: Variables::default(),
            functions: Arc::default(),
            parameters: Some(vec![Vec::new()]),
            name: ShellValue::text("bash"),
            dialect: ShellDialect::Bash,
            starts: ShellDialect::Posix,
            traps: Vec::new(),
            options: ShellOptions::default(),
            input: None,
            reads: UnsetReads::default(),
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
            let _ = shell.put(name, AssignmentValue::one(ShellValue::text(*value)));
            shell.export(name);
        }
        shell
    }

    /// Returns the state of a shell that this one starts, with the words from `$0` on.
    pub(crate) fn child(&self, words: &[ShellValue]) -> Self {
        let exported = self.variables.named.iter().filter(|(_, variable)| variable.is_exported);
        let functions = self.functions.iter().filter(|(_, function)| function.is_exported);
        let variables = exported.map(|(name, variable)| (name.clone(), variable.clone())).collect();
        Self {
            folders: WorkingFolders { stack: Vec::new(), ..self.folders.clone() },
            variables: Variables { named: Arc::new(variables), ..Variables::default() },
            functions: Arc::new(functions.map(|(name, one)| (name.clone(), one.clone())).collect()),
            parameters: Some(vec![words.get(1..).unwrap_or_default().to_vec()]),
            name: words.first().cloned().unwrap_or_else(|| ShellValue::text("bash")),
            dialect: self.starts,
            starts: ShellDialect::Posix,
            traps: Vec::new(),
            options: self.options.of_child(),
            ..self.clone()
        }
    }

    /// Sets a variable: the only way to do so.
    pub(crate) fn put(&mut self, name: &str, assigned: AssignmentValue) -> ValueLimit {
        let targets = self.targets(name);
        let is_certain = targets.len() == 1;
        let mut fit = ValueLimit::Within;
        for target in targets {
            if target == "OLDPWD" {
                self.folders.before = assigned.first_values().map(|value| Folder::Unknown.changed(value)).collect();
            }
            self.doubt_stack(&target, &assigned.all_values());
            let before = self.variables.named.get(&target).cloned();
            let is_exported = self.options.exports_all || before.as_ref().is_some_and(|before| before.is_exported);
            let kind = before.as_ref().map_or(VariableKind::default(), |before| before.kind);
            let (mut variable, its_fit) = Variable::new(self.as_kept(&target, kind, assigned.clone()));
            variable.is_exported = is_exported;
            variable.kind = kind;
            fit = fit.and(its_fit);
            if !is_certain || kind.is_readonly {
                let (joined, its_fit) = Variable::joined(before.as_ref(), Some(&variable));
                variable = joined.unwrap_or(variable);
                fit = fit.and(its_fit);
            }
            Arc::make_mut(&mut self.variables.named).insert(target, variable);
        }
        fit
    }

    /// Takes the stack of `pushd` for unknown where a variable is changed that holds it: `DIRSTACK[1]=/etc; popd`.
    fn doubt_stack(&mut self, name: &str, values: &[ShellValue]) {
        if !matches!(name, "DIRSTACK" | "dirstack") {
            return;
        }
        // In zsh it has another name, and may also become longer.
        if name == "dirstack" && self.folders.stack.is_empty() {
            self.folders.stack.push(Vec::new());
        }
        let here = &self.folders.now;
        let named = values.iter().flat_map(|value| here.iter().map(|folder| folder.changed(value)));
        let named: Vec<Folder> = std::iter::once(Folder::Unknown).chain(named.take(MOST_FOLDERS)).collect();
        // What is assigned stands first: it must not be lost where there are too many to follow.
        for folders in &mut self.folders.stack {
            let before = std::mem::replace(folders, named.clone());
            add_folders(folders, before);
        }
    }

    /// Returns what a variable is after an assignment, where bash does not simply take the value.
    fn as_kept(&mut self, name: &str, kind: VariableKind, assigned: AssignmentValue) -> AssignmentValue {
        if name == "BASH_ARGV0" {
            self.name = ShellValue::unknown();
        }
        match is_kept(name) {
            true => assigned.map(|value| kept(name, &value)),
            false if kind.changes_letters => assigned.map(|_| ShellValue::unknown()),
            false => assigned,
        }
    }

    /// Returns whether programs get a variable, or get it if the program that started the shell has set it.
    pub(crate) fn is_exported(&self, name: &str) -> bool {
        let is_exported = self.variables.named.get(name).map(|variable| variable.is_exported);
        is_exported.unwrap_or_else(|| self.options.exports_all || surroundings::is_passed(name))
    }

    /// Gives a variable to the programs that follow.
    pub(crate) fn export(&mut self, name: &str) {
        if let Some(variable) = Arc::make_mut(&mut self.variables.named).get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Gives a function to the shells that follow.
    pub(crate) fn export_function(&mut self, name: &str) {
        if let Some(function) = Arc::make_mut(&mut self.functions).get_mut(name) {
            function.is_exported = true;
            function.may_be_missing = true;
        }
    }

    pub(crate) fn forget_reference(&mut self, name: &str) {
        self.variables.references.remove(name);
    }

    /// Returns a variable as it is, to be put back by [`Self::restore`].
    pub(crate) fn saved(&self, name: &str) -> Option<Variable> {
        self.variables.named.get(name).cloned()
    }

    pub(crate) fn restore(&mut self, name: &str, variable: Option<Variable>) {
        let variables = Arc::make_mut(&mut self.variables.named);
        match variable {
            Some(variable) => variables.insert(name.to_owned(), variable),
            None => variables.remove(name),
        };
    }

    /// Lets a name stand for another from now on.
    pub(crate) fn refer(&mut self, name: &str, target: &str) {
        self.variables.references.insert(name.to_owned(), vec![target.to_owned()]);
    }

    /// Returns the variables that a reference stands for; none where it is no reference.
    pub(crate) fn referred(&self, name: &str) -> Vec<String> {
        self.variables.references.get(name).cloned().unwrap_or_default()
    }

    /// Returns whether a name is a reference.
    pub(crate) fn is_reference(&self, name: &str) -> bool {
        self.variables.references.contains_key(name)
    }

    /// Lets a reference stand for others as well.
    pub(crate) fn refer_to_any(&mut self, name: &str, others: &[String]) {
        if let Some(own) = self.variables.references.get_mut(name) {
            add_new(own, others);
        }
    }

    /// Returns the variables that a name may stand for.
    pub(crate) fn targets(&self, name: &str) -> Vec<String> {
        let mut targets = vec![name.to_owned()];
        for _ in 0..MOST_REFERENCES {
            let next: Vec<String> = targets
                .iter()
                .flat_map(|target| {
                    self.variables.references.get(target).cloned().unwrap_or_else(|| vec![target.clone()])
                })
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

    /// Returns the values that a variable may have; nothing when it is unset.
    pub(crate) fn values(&self, name: &str) -> Option<Vec<Vec<ShellValue>>> {
        let all: Vec<Option<Vec<Vec<ShellValue>>>> =
            self.targets(name).iter().map(|name| self.values_of(name)).collect();
        let is_set = all.iter().any(Option::is_some);
        is_set.then(|| {
            all.into_iter().flat_map(|values| values.unwrap_or_else(|| vec![vec![ShellValue::default()]])).collect()
        })
    }

    fn values_of(&self, name: &str) -> Option<Vec<Vec<ShellValue>>> {
        match (self.variables.named.get(name), name) {
            (Some(variable), _) => Some(variable.values.clone()),
            (None, "PWD") => Some(folder_values(&self.folders.now)),
            (None, "OLDPWD") => Some(folder_values(&self.folders.before)),
            (None, _) => None,
        }
    }

    /// Returns whether a variable is an array.
    pub(crate) fn is_array(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.named.get(name).is_some_and(|one| one.is_array))
    }

    /// Returns whether a variable is an array whose values have names, or gaps between their numbers.
    pub(crate) fn is_map(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.named.get(name).is_some_and(|one| one.is_map))
    }

    /// Returns whether a variable may compute with what is assigned to it.
    pub(crate) fn is_integer(&self, name: &str) -> bool {
        self.targets(name).iter().any(|name| self.variables.named.get(name).is_some_and(|one| one.kind.is_integer))
    }

    /// Returns whether a variable is certainly an array whose values have names, with which nothing is computed.
    pub(crate) fn is_associative(&self, name: &str) -> bool {
        self.targets(name).iter().all(|name| self.variables.named.get(name).is_some_and(|one| one.kind.is_associative))
    }

    /// Says what a variable is, whatever is assigned to it.
    pub(crate) fn declare(&mut self, name: &str, change: impl Fn(&mut VariableKind)) {
        for target in self.targets(name) {
            let variable = Arc::make_mut(&mut self.variables.named).entry(target);
            change(&mut variable.or_insert_with(|| Variable::new(AssignmentValue::one(ShellValue::default())).0).kind);
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<ShellFunction> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn define(&mut self, name: &str, body: Arc<CommandStage>) {
        let function = ShellFunction { bodies: vec![body], ..ShellFunction::default() };
        Arc::make_mut(&mut self.functions).insert(name.to_owned(), function);
    }

    /// Returns what `~1`, `~+1` or `~-0` may be: a folder by its place on the stack, from the newest or the oldest on.
    pub(crate) fn stacked(&self, place: &str) -> Vec<Vec<ShellValue>> {
        let number = place.trim_start_matches(['+', '-']).parse::<usize>().unwrap_or(usize::MAX);
        let newest_first: Vec<&Vec<Folder>> =
            std::iter::once(&self.folders.now).chain(self.folders.stack.iter().rev()).collect();
        let at = if place.starts_with('-') {
            newest_first.len().checked_sub(number.saturating_add(1))
        } else {
            Some(number)
        };
        match at.and_then(|at| newest_first.get(at)) {
            Some(folders) => folder_values(folders),
            // It stays as it is written.
            None => vec![vec![ShellValue::text(format!("~{place}"))]],
        }
    }

    /// Moves to other folders.
    pub(crate) fn move_to(&mut self, folders: Vec<Folder>) {
        self.folders.before = std::mem::take(&mut self.folders.now);
        add_folders(&mut self.folders.now, folders);
        if self.variables.named.contains_key("PWD") || self.variables.named.contains_key("OLDPWD") {
            ["PWD", "OLDPWD"].into_iter().for_each(|name| self.restore(name, None));
        }
    }

    /// Returns whether it is the same state, whatever was read in it.
    pub(crate) fn is_like(&self, other: &Shell) -> bool {
        let reads = UnsetReads { unset: other.reads.unset, ..self.reads.clone() };
        *self == Shell { reads, ..other.clone() }
    }

    /// Returns how much there is to copy.
    pub(crate) fn size(&self) -> usize {
        self.variables.named.len() + self.functions.len()
    }

    /// Takes for unknown whatever is not as it was: for loops that do not come to an end. What holds numbers alone is left.
    /// Returns the names of the variables.
    pub(crate) fn blur(&mut self, before: &Shell) -> HashSet<String> {
        let changed = self.changed_since(before);
        let names: Vec<String> = changed.iter().filter(|name| !self.holds_numbers(name)).cloned().collect();
        for name in names {
            let assigned = match self.is_array(&name) {
                true => AssignmentValue::any_list(vec![ShellValue::any_words()]),
                false => AssignmentValue::one(ShellValue::unknown()),
            };
            let mut unknown = Variable::new(assigned).0;
            unknown.kind = self.variables.named.get(&name).map_or(VariableKind::default(), |before| before.kind);
            let joined = Variable::joined(self.variables.named.get(&name), Some(&unknown)).0;
            self.restore(&name, joined);
        }
        if self.folders.now != before.folders.now {
            add_folders(&mut self.folders.now, vec![Folder::Unknown]);
        }
        if self.parameters != before.parameters {
            self.parameters = None;
        }
        changed
    }

    fn changed_since(&self, before: &Shell) -> HashSet<String> {
        let changed = |(name, one): &(&String, &Variable)| before.variables.named.get(*name) != Some(*one);
        self.variables.named.iter().filter(changed).map(|(name, _)| name.clone()).collect()
    }

    /// Returns whether one more round, in which some variables were taken for unknown, has changed nothing else. Then no
    /// further round does, and what holds numbers holds them in all.
    pub(crate) fn is_covered(&self, before: &Shell, blurred: &HashSet<String>) -> bool {
        let is_unknown = |name: &String| {
            let values = self.variables.named.get(name).map(|one| one.values.as_slice()).unwrap_or_default();
            values.iter().flatten().any(|value| value.pieces() == [ValuePiece::Unknown])
        };
        let is_covered = |name: &String| blurred.contains(name) && (is_unknown(name) || self.holds_numbers(name));
        let folders = self.folders.now == before.folders.now || self.folders.now.contains(&Folder::Unknown);
        let parameters = self.parameters == before.parameters || self.parameters.is_none();
        folders && parameters && self.changed_since(before).iter().all(is_covered)
    }

    /// Returns whether a variable holds numbers alone, however many.
    pub(crate) fn holds_numbers(&self, name: &str) -> bool {
        let is_number = |value: &ShellValue| value.pieces() == [ValuePiece::Number];
        self.variables.named.get(name).is_some_and(|one| one.values.iter().flatten().all(is_number))
    }
}

fn add_new<T: Clone + PartialEq>(own: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !own.contains(other) {
            own.push(other.clone());
        }
    }
}

pub(crate) fn add_folders(own: &mut Vec<Folder>, others: Vec<Folder>) {
    add_new(own, &others);
    if own.len() > MOST_FOLDERS + 1 || (own.len() > MOST_FOLDERS && !own.contains(&Folder::Unknown)) {
        own.truncate(MOST_FOLDERS);
        own.push(Folder::Unknown);
    }
}

fn folder_values(folders: &[Folder]) -> Vec<Vec<ShellValue>> {
    let value = |folder: &Folder| match folder {
        Folder::Known(path) => vec![ShellValue::text(path.clone())],
        Folder::Unknown => vec![ShellValue::unknown()],
    };
    folders.iter().map(value).collect()
}
