//! Walks through a command in the order in which the shell would run it, and finds what it would do.
//!
//! Conditions are not decided: every branch is walked, and what a branch sets is added to what was there. A loop is
//! walked twice, because what its end sets is there at its beginning. What a subshell sets stays in it.
//!
//! Not here: what programs do with their words (`programs`), the values of words (`expand`).

mod builtins;
mod carry;
mod edits;
mod expand;
mod outputs;
mod pipes;
mod printing;
mod redirects;
mod state;
mod variables;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use haft::door::FileKind;
use haft::effect::{Change, Danger, Does, Host};
use haft::path::{Extent, Target};

use super::act::{Act, Deed, Flow};
use super::beside::renamed;
use super::places::{self, Place, hidden_names};
use super::syntax::{self, Assignment, Item, Link, Node, Script, Stage, Word};
use super::value::{Piece, Value};
use super::{Locate, Located, Scene};
use crate::zone::Zone;
use state::{Shell, Unset};

/// How deep commands may lie in each other.
const DEEPEST: usize = 24;
/// How much is looked at in one command.
const MOST_WORK: usize = 300_000;
/// How many steps a command may have; more are summed up.
const MOST_FOUND: usize = 4_000;

/// One thing that a part of the command does.
pub(super) struct Found {
    pub(super) part: (usize, usize),
    pub(super) words: Arc<[String]>,
    pub(super) does: Does,
}

/// A walk through one command.
pub(super) struct Walk<'a> {
    scene: &'a Scene,
    locate: &'a dyn Locate,
    shell: Shell,
    found: Vec<Found>,
    /// What was found already, so that nothing is told twice.
    told: HashSet<(usize, Arc<[String]>, Does)>,
    /// Which bytes of the command are walked just now, and with which words.
    part: (usize, usize),
    words: Arc<[String]>,
    /// How deep in nested texts, functions and substitutions.
    depth: usize,
    /// How deep in branches that may not run.
    conditional: usize,
    /// What is known of files and descriptors that this command has filled.
    arrived: HashMap<String, Flow>,
    /// Links that this command makes, and where they lead.
    links: HashMap<String, String>,
    /// Descriptors that are connections.
    connections: Vec<String>,
    /// Whether the whole environment is shown.
    shows_environment: bool,
    /// How many interpreters were started that run what they read.
    interpreters: usize,
    /// What the stage reads, for `>(…)`.
    input: Option<Flow>,
    descriptors: usize,
    work: usize,
    /// Whether only removals and changes are told: the second look, in which unset variables are empty.
    second_look: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(scene: &'a Scene, locate: &'a dyn Locate) -> Self {
        Self {
            scene,
            locate,
            shell: Shell::new(scene),
            found: Vec::new(),
            told: HashSet::new(),
            part: (0, 0),
            words: Arc::from([]),
            depth: 0,
            conditional: 0,
            arrived: HashMap::new(),
            links: HashMap::new(),
            connections: Vec::new(),
            shows_environment: false,
            interpreters: 0,
            input: None,
            descriptors: 64,
            work: 0,
            second_look: false,
        }
    }

    /// Walks through the whole text.
    pub(super) fn through(mut self, text: &str) -> Vec<Found> {
        self.part = (0, text.len());
        self.script(&syntax::parse(text), None);
        self.part = (0, text.len());
        self.look_at_the_whole();
        if self.found.is_empty() {
            self.tell(Does::Nothing);
        }
        self.found
    }

    /// What is harmless alone may not be so together: what is private must not be sent.
    fn look_at_the_whole(&mut self) {
        let sends = self.found.iter().any(|found| matches!(found.does, Does::Connect(_) | Does::Publish(_)));
        let is_private = |does: &Does| match does {
            Does::Read(target) => matches!(Zone::of(target), Zone::Elsewhere | Zone::Start),
            _ => false,
        };
        if sends && self.shows_environment {
            self.emit(Act::Danger(Danger::Secret, "send the environment to another machine".to_owned()));
        }
        if sends && self.found.iter().any(|found| is_private(&found.does)) {
            self.emit(Act::Danger(
                Danger::Secret,
                "send something from outside the workspace to another machine".to_owned(),
            ));
        }
    }

    /// Walks through a list; returns what it prints.
    fn script(&mut self, script: &Script, input: Option<&Flow>) -> Flow {
        let mut printed: Option<Flow> = None;
        for item in &script.items {
            let flow = self.item(item, input);
            printed = Some(match printed {
                None => flow,
                Some(before) => pipes::joined(before, flow),
            });
        }
        printed.unwrap_or_else(|| Flow::Text(Value::default()))
    }

    fn item(&mut self, item: &Item, input: Option<&Flow>) -> Flow {
        if item.in_background || item.stages.len() > 1 {
            return self.apart(|walk| walk.pipe(item, input));
        }
        match item.link {
            Link::Always => self.pipe(item, input),
            Link::And | Link::Or => self.perhaps(|walk| walk.pipe(item, input)),
        }
    }

    fn pipe(&mut self, item: &Item, input: Option<&Flow>) -> Flow {
        let mut flow = input.cloned();
        let interpreters = self.interpreters;
        let connects = |walk: &Self| walk.found.iter().filter(|found| matches!(found.does, Does::Connect(_))).count();
        for stage in &item.stages {
            let (ran, connected) = (self.interpreters > interpreters, connects(self));
            let printed = if item.stages.len() > 1 {
                self.apart(|walk| walk.stage(stage, flow.as_ref()))
            } else {
                self.stage(stage, flow.as_ref())
            };
            if ran && connects(self) > connected {
                self.emit(Act::Danger(Danger::DownloadedCode, "give a shell to another machine".to_owned()));
            }
            flow = Some(printed);
        }
        flow.unwrap_or_default()
    }

    /// Walks through something whose variables and folder are its own.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.clone();
        let result = walk(self);
        self.shell = before;
        result
    }

    /// Walks through something that may not run: what it sets is added to what was there.
    fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.conditional += 1;
        let result = walk(self);
        self.conditional -= 1;
        result
    }

    /// Walks through something nested, unless it lies too deep.
    fn deeper<T: Default>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEEPEST {
            self.emit(Act::Unknown("commands in it are nested too deeply".to_owned()));
            return T::default();
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    fn stage(&mut self, stage: &Stage, input: Option<&Flow>) -> Flow {
        self.work += 1;
        if self.work > MOST_WORK {
            self.emit(Act::Unknown("there is more in it than is looked at".to_owned()));
            return Flow::Unknown;
        }
        let before = self.part;
        if self.depth == 0 {
            self.part = (stage.span.start, stage.span.end);
        }
        let outer = self.input.clone();
        self.input = input.cloned();
        let redirected = self.redirects(stage);
        let input = redirected.input.as_ref().or(input);
        let printed = self.node(&stage.node, input);
        self.settle_output(stage, &redirected, &printed);
        self.input = outer;
        self.part = before;
        printed
    }

    fn node(&mut self, node: &Node, input: Option<&Flow>) -> Flow {
        match node {
            Node::Simple(assignments, words) => self.simple(assignments, words, input),
            Node::Group(script) => self.deeper(|walk| walk.script(script, input)),
            Node::Subshell(script) => self.deeper(|walk| walk.apart(|walk| walk.script(script, input))),
            Node::If(scripts) => self.deeper(|walk| walk.branches(scripts, input)),
            Node::While(condition, body) => self.deeper(|walk| walk.repeated(&[condition, body], input)),
            Node::For(name, words, body) => self.deeper(|walk| walk.for_each(name, words.as_deref(), body, input)),
            Node::CountingFor(words, body) => {
                self.touch(words);
                self.deeper(|walk| walk.repeated(&[body], input))
            }
            Node::Case(word, arms) => self.deeper(|walk| walk.arms(word, arms, input)),
            Node::Function(name, body) => {
                self.define(name, body);
                Flow::Unknown
            }
            Node::Test(words) => {
                self.touch(words);
                self.shell.reads_secrets.clear();
                self.tell(Does::Nothing);
                Flow::Text(Value::default())
            }
            Node::Opaque(why) => {
                self.emit(Act::Unknown(why.clone()));
                Flow::Unknown
            }
        }
    }

    fn branches(&mut self, scripts: &[Script], input: Option<&Flow>) -> Flow {
        let flows: Vec<Flow> = scripts.iter().map(|script| self.perhaps(|walk| walk.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    fn repeated(&mut self, scripts: &[&Script], input: Option<&Flow>) -> Flow {
        // What is set at the end of a round is there in the next one. Loops in loops are not walked four times.
        let rounds = if self.depth <= 3 { 2 } else { 1 };
        let mut flow = Flow::Unknown;
        for _ in 0..rounds {
            for script in scripts {
                flow = self.perhaps(|walk| walk.script(script, input));
            }
        }
        if matches!(flow, Flow::Text(_)) { Flow::Unknown } else { flow }
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &Script, input: Option<&Flow>) -> Flow {
        let values = match words {
            Some(words) => words.iter().flat_map(|word| self.fields(word)).flatten().collect(),
            None => self.shell.parameters.clone().unwrap_or_else(|| vec![Value::unknown()]),
        };
        let values = if values.is_empty() { vec![Value::default()] } else { values };
        self.shell.set_any(name, values);
        self.repeated(&[body], input)
    }

    fn arms(&mut self, word: &Word, arms: &[(Vec<Word>, Script)], input: Option<&Flow>) -> Flow {
        self.touch(std::slice::from_ref(word));
        arms.iter().for_each(|(patterns, _)| self.touch(patterns));
        let flows: Vec<Flow> = arms.iter().map(|(_, script)| self.perhaps(|walk| walk.script(script, input))).collect();
        flows.into_iter().reduce(pipes::either).unwrap_or_default()
    }

    /// Expands words for the sake of the substitutions in them.
    fn touch(&mut self, words: &[Word]) {
        for word in words {
            let _ = self.fields(word);
        }
    }

    fn define(&mut self, name: &str, body: &Stage) {
        if state::multiplies(name, body) {
            self.emit(Act::Danger(Danger::Exhaustion, format!("start copies of {name} without end")));
        }
        self.shell.functions.insert(name.to_owned(), Arc::new(body.clone()));
        // Whether it is called or not, it is told.
        self.deeper(|walk| {
            walk.apart(|walk| {
                walk.shell.parameters = None;
                walk.perhaps(|walk| walk.stage(body, None))
            })
        });
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&Flow>) -> Flow {
        let reads_unset = self.shell.reads_unset;
        self.shell.reads_unset = false;
        let secrets_before = std::mem::take(&mut self.shell.reads_secrets);
        let before = self.found.len();
        let flow = self.simple_once(assignments, words, input);
        for name in std::mem::replace(&mut self.shell.reads_secrets, secrets_before) {
            self.emit(Act::Danger(Danger::Secret, format!("show the secret in ${name}")));
        }
        if std::mem::replace(&mut self.shell.reads_unset, reads_unset) && !self.second_look {
            self.with_unset_as_nothing(words);
        }
        if self.found.len() == before {
            self.tell(Does::Nothing);
        }
        flow
    }

    /// A variable that nobody set is empty: `rm -rf "$BUILD/"` then removes the root.
    fn with_unset_as_nothing(&mut self, words: &[Word]) {
        self.second_look = true;
        self.shell.unset = Unset::Empty;
        let _ = self.apart(|walk| walk.simple_once(&[], words, None));
        self.shell.unset = Unset::Unknown;
        self.second_look = false;
    }

    fn simple_once(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&Flow>) -> Flow {
        let assigned: Vec<(String, Vec<Value>)> = assignments.iter().map(|one| self.assigned(one)).collect();
        if words.is_empty() {
            for (assignment, (name, values)) in assignments.iter().zip(assigned) {
                self.assign(&name, values, assignment.is_partial);
            }
            return Flow::Text(Value::default());
        }
        for (name, values) in &assigned {
            self.environment(name, values);
        }
        let mut flow = None;
        let lines = self.command_lines(words);
        let only_tests =
            lines.iter().flat_map(|words| words.first()).all(|name| matches!(name.known(), Some("test" | "[")));
        if only_tests {
            self.shell.reads_secrets.clear();
        }
        for words in lines {
            let printed = self.run(&words, input);
            flow = Some(match flow {
                None => printed,
                Some(before) => pipes::either(before, printed),
            });
        }
        flow.unwrap_or_default()
    }

    /// Tells what an act does, wherever its paths lead.
    fn emit(&mut self, act: Act) {
        let does = match act {
            Act::Path(deed, path) => return self.emit_path(deed, &path),
            Act::Connect(host) => Does::Connect(host.map(Host)),
            Act::Publish(words) => Does::Publish(words),
            Act::Code(words) => Does::Code(words),
            Act::Program(name) => Does::Program(name),
            Act::Unknown(why) => Does::Unknown(why),
            Act::Settings(words) => Does::Settings(words),
            Act::ShellState(words) => Does::ShellState(words),
            Act::History(words) => Does::History(words),
            Act::Process(words) => Does::Process(words),
            Act::Danger(danger, words) => Does::Danger(danger, words),
        };
        if !self.second_look {
            self.tell(does);
        }
    }

    fn emit_path(&mut self, deed: Deed, path: &Value) {
        let path = self.with_home(path);
        if matches!(deed, Deed::Replace | Deed::Remove) {
            if let Some(hidden) = hidden_names(&path) {
                self.emit_path(deed, &hidden);
            }
        }
        for folder in self.shell.folders.clone() {
            if let Place::At(place) = folder.place(&path) {
                self.secrets_that_fit(deed, &path, &place);
            }
            match folder.place(&path) {
                // A slash at the end goes through a link.
                Place::At(place) if path.shown().ends_with('/') && place != "/" => {
                    self.at_place(deed, &format!("{place}/"), &path);
                }
                Place::At(place) => self.at_place(deed, &place, &path),
                Place::Anywhere if self.second_look => {}
                Place::Anywhere => self.anywhere(deed, &path),
            }
        }
    }

    /// A pattern such as `~/.s*h/id_*` finds secrets as well.
    fn secrets_that_fit(&mut self, deed: Deed, path: &Value, place: &str) {
        if !path.pieces().contains(&Piece::Glob) {
            return;
        }
        for secret in places::secrets_that_fit(place) {
            let located = self.locate.locate(&secret);
            if !located.target.is_inside() || located.kind.is_some() {
                self.at_place(deed, &secret, path);
            }
        }
    }

    fn anywhere(&mut self, deed: Deed, path: &Value) {
        let does = match deed {
            Deed::Read => Does::ReadUnknown,
            Deed::List => Does::Nothing,
            Deed::Create => Does::ChangeUnknown(Change::Create),
            Deed::Replace => Does::ChangeUnknown(Change::Replace),
            Deed::Remove => Does::ChangeUnknown(Change::Remove),
            Deed::Run => return self.run_foreign(path),
        };
        self.tell(does);
    }

    fn run_foreign(&mut self, path: &Value) {
        match path.origin() {
            Some(origin) => self.emit(pipes::danger_of(origin)),
            None => self.emit(Act::Unknown("the program is known only when it runs".to_owned())),
        }
    }

    fn at_place(&mut self, deed: Deed, place: &str, path: &Value) {
        let through = self.through_links(place);
        let place = match through.trim_end_matches('/') {
            "" => "/",
            place => place,
        };
        if deed == Deed::Run {
            if let Some(flow) = self.arrived_at(place) {
                return self.run_arrived(flow);
            }
        }
        let located = match deed {
            // Whoever removes a link removes the link.
            Deed::Remove if !through.ends_with('/') => self.entry_at(place),
            _ => self.locate.locate(place),
        };
        let target = located.target;
        let is_there = located.kind.is_some();
        let does = match deed {
            Deed::Read => Does::Read(target),
            Deed::List => Does::List(target),
            // A folder that is there already stays as it is.
            Deed::Create if located.kind == Some(FileKind::Folder) && self.runs("mkdir") => Does::List(target),
            Deed::Create if is_there => Does::Change(target, Change::Replace),
            Deed::Create => Does::Change(target, Change::Create),
            Deed::Replace if is_there || path.known().is_none() => Does::Change(target, Change::Replace),
            Deed::Replace => Does::Change(target, Change::Replace),
            Deed::Remove => Does::Change(target, Change::Remove),
            Deed::Run if target.is_inside() => Does::Code(format!("run {target}")),
            Deed::Run => Does::Program(path.shown()),
        };
        let changes = matches!(does, Does::Change(_, Change::Remove | Change::Replace));
        if !self.second_look || changes {
            self.tell(does);
        }
    }

    /// Locates an entry of a folder, without following it where it is a link.
    fn entry_at(&self, place: &str) -> Located {
        let Some((folder, name)) = place.rsplit_once('/') else { return self.locate.locate(place) };
        let folder = self.locate.locate(if folder.is_empty() { "/" } else { folder });
        let path = folder.target.place().path().join(name);
        let entry = haft::path::Place::new(path, Extent::Entry);
        let target = if folder.target.is_inside() { Target::Inside(entry) } else { Target::Outside(entry) };
        let itself = self.locate.locate(place);
        // The workspace is known by where it leads.
        if itself.target.place().path().as_os_str().is_empty() {
            return itself;
        }
        Located { target: renamed(self.scene, target), kind: itself.kind }
    }

    fn runs(&self, program: &str) -> bool {
        self.words.first().is_some_and(|name| name == program)
    }

    /// Returns where a path leads through links that this command has made.
    fn through_links(&self, place: &str) -> String {
        let mut place = place.to_owned();
        for _ in 0..4 {
            let link = self.links.iter().find_map(|(link, target)| {
                let rest = place.strip_prefix(link.as_str()).filter(|rest| rest.starts_with('/'))?;
                Some(format!("{target}{}", rest.trim_end_matches('/')))
            });
            let Some(through) = link else { break };
            place = through;
        }
        place
    }

    /// Returns what is known of a file that this command has filled, or of the folder that it came in.
    fn arrived_at(&self, place: &str) -> Option<Flow> {
        let in_folder = || {
            let folder = place.rmatch_indices('/').map(|(at, _)| &place[..at]);
            folder.filter_map(|folder| self.arrived.get(folder)).find(|flow| **flow == Flow::Downloaded)
        };
        self.arrived.get(place).or_else(in_folder).cloned()
    }

    fn tell(&mut self, does: Does) {
        if self.second_look && !matches!(does, Does::Change(..)) {
            return;
        }
        if self.found.len() >= MOST_FOUND && !matches!(does, Does::Danger(..) | Does::Change(..) | Does::Read(_)) {
            return;
        }
        if self.told.insert((self.part.0, self.words.clone(), does.clone())) {
            self.found.push(Found { part: self.part, words: self.words.clone(), does });
        }
    }
}
