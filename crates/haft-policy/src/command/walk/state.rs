//! What the shell knows at a moment: its folder, its variables, its functions.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::Scene;
use super::super::act::Flow;
use super::super::places::Folder;
use super::super::syntax::{Node, Script, Stage, WordPart};
use super::super::value::Value;

/// How many values of a variable are followed.
const MOST_VALUES: usize = 24;
/// How many folders are followed.
const MOST_FOLDERS: usize = 6;

/// The state of a shell. Where it depends on what happens, it holds all there may be.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    /// The folders it may be in; at least one.
    pub(super) folders: Vec<Folder>,
    /// The folders it may have been in before, for `cd -`.
    pub(super) folders_before: Vec<Folder>,
    /// The values that a variable may have, each a list: one for a plain variable, several for an array.
    variables: Arc<HashMap<String, Vec<Vec<Value>>>>,
    /// Variables that stand for others (`declare -n`).
    pub(super) references: HashMap<String, String>,
    pub(super) functions: Arc<HashMap<String, Arc<Stage>>>,
    /// `$1`, `$2`, …; nothing where they are not known.
    pub(super) parameters: Option<Vec<Value>>,
    /// What the shell itself reads, once `exec` has redirected it.
    pub(super) input: Option<Flow>,
    /// Whether patterns find hidden names too.
    pub(super) finds_hidden: bool,
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

impl Shell {
    pub(super) fn new(scene: &Scene) -> Self {
        let folder = Folder::Known(scene.folder.clone());
        let mut shell = Self {
            folders: vec![folder.clone()],
            folders_before: vec![folder],
            variables: Arc::default(),
            references: HashMap::new(),
            functions: Arc::default(),
            parameters: Some(Vec::new()),
            input: None,
            finds_hidden: false,
            unset: Unset::Unknown,
            reads_unset: false,
            reads_secrets: Vec::new(),
        };
        let known = [
            ("HOME", scene.home.as_str()),
            ("USER", &scene.user),
            ("LOGNAME", &scene.user),
            ("SHELL", "/bin/bash"),
            ("TMPDIR", "/tmp"),
            ("BASH", "/bin/bash"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("IFS", " \t\n"),
            ("OSTYPE", "linux-gnu"),
        ];
        known.into_iter().for_each(|(name, value)| shell.set(name, vec![Value::text(value)]));
        shell
    }

    /// Sets a variable to this and nothing else.
    pub(super) fn set(&mut self, name: &str, value: Vec<Value>) {
        Arc::make_mut(&mut self.variables).insert(name.to_owned(), vec![value]);
    }

    /// Sets a variable to one of these.
    pub(super) fn set_any(&mut self, name: &str, mut values: Vec<Value>) {
        if values.len() > MOST_VALUES {
            values.truncate(MOST_VALUES);
            values.push(Value::unknown());
        }
        Arc::make_mut(&mut self.variables)
            .insert(name.to_owned(), values.into_iter().map(|value| vec![value]).collect());
    }

    /// Adds a value that a variable may have as well.
    pub(super) fn add(&mut self, name: &str, value: Vec<Value>) {
        let values =
            Arc::make_mut(&mut self.variables).entry(name.to_owned()).or_insert_with(|| vec![vec![Value::default()]]);
        match values.len() {
            _ if values.contains(&value) => {}
            MOST_VALUES => values.push(vec![Value::unknown()]),
            length if length > MOST_VALUES => {}
            _ => values.push(value),
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        Arc::make_mut(&mut self.variables).remove(name);
        Arc::make_mut(&mut self.functions).remove(name);
    }

    /// Returns the values that a variable may have; nothing when nobody has set it.
    pub(super) fn values(&self, name: &str) -> Option<Vec<Vec<Value>>> {
        let name = self.references.get(name).map_or(name, String::as_str);
        if name == "PWD" {
            return Some(folder_values(&self.folders));
        }
        if name == "OLDPWD" {
            return Some(folder_values(&self.folders_before));
        }
        self.variables.get(name).cloned()
    }

    /// Moves to other folders, or perhaps moves to them.
    pub(super) fn move_to(&mut self, mut folders: Vec<Folder>, is_certain: bool) {
        self.folders_before = self.folders.clone();
        if !is_certain {
            folders.extend(self.folders.iter().cloned());
        }
        folders.dedup();
        if folders.len() > MOST_FOLDERS {
            folders.truncate(MOST_FOLDERS);
            folders.push(Folder::Unknown);
        }
        self.folders = folders;
    }
}

fn folder_values(folders: &[Folder]) -> Vec<Vec<Value>> {
    let value = |folder: &Folder| match folder {
        Folder::Known(path) => vec![Value::text(path.clone())],
        Folder::Unknown => vec![Value::unknown()],
    };
    folders.iter().map(value).collect()
}

/// Returns whether a function starts itself more than once at a time: a fork bomb.
pub(super) fn multiplies(name: &str, body: &Stage) -> bool {
    let mut calls = OwnCalls { name, count: 0, at_once: false };
    calls.in_stage(body, 0);
    calls.count > 0 && calls.at_once
}

/// The calls of a function in its own body.
struct OwnCalls<'a> {
    name: &'a str,
    count: usize,
    /// Whether one does not wait for the end of another.
    at_once: bool,
}

impl OwnCalls<'_> {
    fn in_script(&mut self, script: &Script, depth: usize) {
        for item in &script.items {
            let before = self.count;
            item.stages.iter().for_each(|stage| self.in_stage(stage, depth + 1));
            let added = self.count - before;
            self.at_once |= added > 0 && (item.in_background || added > 1 || item.stages.len() > 1);
        }
    }

    fn in_stage(&mut self, stage: &Stage, depth: usize) {
        if depth > 40 {
            return;
        }
        match &stage.node {
            Node::Simple(_, words) => {
                let first = words.first().map(|word| word.parts.as_slice());
                self.count += usize::from(matches!(first, Some([WordPart::Text(text, _)]) if text == self.name));
            }
            Node::Group(script) | Node::Subshell(script) => self.in_script(script, depth),
            Node::If(scripts) => scripts.iter().for_each(|script| self.in_script(script, depth)),
            Node::While(condition, body) => {
                [condition, body].into_iter().for_each(|script| self.in_script(script, depth));
            }
            Node::For(_, _, body) | Node::CountingFor(_, body) => self.in_script(body, depth),
            Node::Case(_, arms) => arms.iter().for_each(|(_, script)| self.in_script(script, depth)),
            Node::Function(..) | Node::Test(_) | Node::Opaque(_) => {}
        }
    }
}
