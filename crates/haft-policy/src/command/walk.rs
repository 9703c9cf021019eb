//! Walks through a command in the order in which the shell would run it, and finds what it would do.
//!
//! Conditions are not decided: every branch is walked, and what a branch sets is added to what was there
//! (`branching`). What a subshell sets stays in it.
//!
//! Not here: what programs do with their words (`programs`), the values of words (`expand`).

mod arithmetic;
mod arrays;
mod arrivals;
mod assigning;
mod awk_program;
mod brackets;
mod branching;
mod builtins;
mod carry;
mod combining;
mod computing;
mod copies;
mod declaring;
mod dialects;
mod edits;
mod expand;
mod in_place;
mod input;
mod kept_variables;
mod linking;
mod links;
mod listing;
mod lists;
mod local_code;
mod matching;
mod moving;
mod net;
mod options;
mod outputs;
mod pipes;
mod redirects;
mod remotes;
mod showing;
mod state;
mod surroundings;
mod telling;
#[cfg(test)]
mod tests;
mod traps;
mod variable;
mod variables;
mod written;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use haft_contract::effect::{Danger, Does};

use super::act::{Act, Flow, Language};
use super::syntax::{self, Assignment, Node, Script, Stage, Word, WordPart};
use super::value::Value;
use super::{Locate, Scene};
use crate::zone::Zone;
use assigning::How;
use branching::Jumps;
use computing::Spelling;
use lists::Ended;
use matching::{Listed, Matched, Matches};
use state::{Shell, Unset};
use variable::Assigned;

/// How deep commands may lie in each other.
const DEEPEST: usize = 32;
/// How much is looked at in one command.
const MOST_WORK: usize = 320_000;
/// How many words commands may hand on to those that they run.
const MOST_HANDED_ON: usize = 100_000;

/// One thing that a part of the command does.
pub(super) struct Found {
    pub(super) part: (usize, usize),
    pub(super) words: Arc<[String]>,
    pub(super) does: Does,
}

impl Found {
    /// What is said of a command whose reading has failed: nobody knows what it does.
    pub(super) fn not_read(text: &str) -> Self {
        let words = "make haft fail to read it, which is a bug in haft".to_owned();
        Self { part: (0, text.len()), words: Arc::from([]), does: Does::Danger(Danger::HiddenCode, words) }
    }
}

/// A walk through one command.
pub(super) struct Walk<'a> {
    scene: &'a Scene,
    locate: &'a dyn Locate,
    shell: Shell,
    found: Vec<Found>,
    /// What was found already, so that nothing is told twice.
    told: HashSet<(usize, usize, Does)>,
    /// The lists of words that were walked, and which one it is just now.
    lists: HashMap<Arc<[String]>, usize>,
    list: usize,
    /// Which bytes of the command are walked just now, and with which words.
    part: (usize, usize),
    words: Arc<[String]>,
    /// The same words, with their gaps.
    line: Arc<[Value]>,
    /// How deep in nested texts, functions and substitutions.
    depth: usize,
    /// The states in which something was left before its end.
    jumps: Jumps,
    /// Whether a trap is walked through just now.
    is_in_trap: bool,
    /// What is known of files and descriptors that this command has filled.
    arrived: Arc<HashMap<String, Flow>>,
    /// What this command puts into files that it edits in place.
    put_in: HashMap<String, Value>,
    /// The scripts among its files that are walked through just now.
    running: Vec<String>,
    /// The scripts among its files that nobody has read yet, and those that were read, with the languages.
    unread_files: BTreeSet<String>,
    read_files: HashMap<String, Vec<Language>>,
    /// Links that this command makes, and where they lead.
    links: HashMap<String, String>,
    /// The names in folders in which a pattern was tried.
    listed: HashMap<String, Arc<Listed>>,
    /// Whether a shell was started that reads what is written to some descriptor.
    listens: bool,
    /// Descriptors that are connections.
    connections: Vec<String>,
    /// Whether the whole environment is shown.
    shows_environment: bool,
    /// How many connections were told.
    connects: usize,
    /// How many interpreters were started that run what they read.
    interpreters: usize,
    /// What the stage reads, for `>(…)`.
    input: Option<Flow>,
    /// What comes in to the commands in its words, which run before its own redirections: `x | echo "$(cat)"`.
    input_of_words: Option<Flow>,
    descriptors: usize,
    work: usize,
    handed_on: usize,
    /// How many nets for words of unknown meaning are around what is walked just now.
    nets: usize,
    /// What patterns were found to match.
    matched: HashMap<Matched, Option<Arc<Matches>>>,
    /// How many names this command has made so far.
    names_made: usize,
    /// The paths that this command may have removed or replaced so far.
    taken_away: HashSet<PathBuf>,
    /// How the command of the list that was walked last may have ended.
    ended: Option<Ended>,
    /// Where `cd` went last, and where the shell is where it failed.
    moved: Option<Ended>,
    /// Whether a descriptor may have been closed so far.
    closes: bool,
    /// How many loops are walked through just now.
    loops: usize,
    /// How the words of the command are written that runs just now.
    spelling: Spelling,
    /// Whether only removals and changes are told: the second look, in which unset variables are empty.
    second_look: bool,
    /// Whether what is known only when it runs is not told: in a function that nobody has called yet.
    only_known: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(scene: &'a Scene, locate: &'a dyn Locate) -> Self {
        Self {
            scene,
            locate,
            shell: Shell::new(scene),
            found: Vec::new(),
            told: HashSet::new(),
            lists: HashMap::new(),
            list: 0,
            part: (0, 0),
            words: Arc::from([]),
            line: Arc::from([]),
            depth: 0,
            jumps: Jumps::default(),
            is_in_trap: false,
            arrived: Arc::default(),
            put_in: HashMap::new(),
            running: Vec::new(),
            unread_files: BTreeSet::new(),
            read_files: HashMap::new(),
            links: HashMap::new(),
            listed: HashMap::new(),
            listens: false,
            connections: Vec::new(),
            shows_environment: false,
            connects: 0,
            interpreters: 0,
            input: None,
            input_of_words: None,
            descriptors: 64,
            work: 0,
            handed_on: 0,
            nets: 0,
            matched: HashMap::new(),
            names_made: 0,
            taken_away: HashSet::new(),
            ended: None,
            moved: None,
            closes: false,
            loops: 0,
            spelling: Spelling::default(),
            second_look: false,
            only_known: false,
        }
    }

    /// Walks through the whole text.
    pub(super) fn through(self, text: &str) -> Vec<Found> {
        self.through_with(text, None)
    }

    /// Like `through`, with something that comes in.
    pub(super) fn through_with(mut self, text: &str, input: Option<&Flow>) -> Vec<Found> {
        self.part = (0, text.len());
        self.script(&syntax::parse(text), input);
        self.part = (0, text.len());
        self.end_of_shell();
        self.look_at_the_whole();
        if self.found.is_empty() {
            self.tell(Does::Nothing);
        }
        self.found
    }

    /// What is harmless alone may not be so together: what is private must not be sent.
    fn look_at_the_whole(&mut self) {
        let sends = |does: &Does| match does {
            Does::Serve(_) => true,
            does => does.uses_network() && !does.stays_here(),
        };
        let sends = self.found.iter().any(|found| sends(&found.does));
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

    /// Walks through something nested, unless it lies too deep.
    fn deeper<T: Default>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEEPEST {
            self.emit(beyond_limit("be nested more deeply than is read"));
            return T::default();
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    fn stage(&mut self, stage: &Stage, input: Option<&Flow>) -> Flow {
        if !self.has_time(1) {
            return Flow::Unknown;
        }
        let before = self.part;
        if self.depth == 0 {
            self.part = (stage.span.start, stage.span.end);
        }
        let outer = std::mem::replace(&mut self.input, input.cloned());
        let of_words = input.cloned().or_else(|| self.shell.input.clone());
        let outer_of_words = std::mem::replace(&mut self.input_of_words, of_words);
        let secrets_before = std::mem::take(&mut self.shell.reads_secrets);
        let unset_before = std::mem::take(&mut self.shell.reads_unset);
        let mut printed = self.redirected(stage, input);
        for name in std::mem::replace(&mut self.shell.reads_secrets, secrets_before) {
            self.emit(showing::shows(&name));
        }
        if std::mem::replace(&mut self.shell.reads_unset, unset_before) && !self.second_look {
            printed = self.with_unset_as_nothing(stage, input, printed);
        }
        self.input = outer;
        self.input_of_words = outer_of_words;
        self.part = before;
        printed
    }

    /// Counts work, and returns whether it may be done.
    fn has_time(&mut self, work: usize) -> bool {
        self.work += work;
        if self.work > MOST_WORK {
            self.emit(beyond_limit("run more commands than are looked at"));
        }
        self.work <= MOST_WORK
    }

    /// Walks through a stage with its redirections.
    fn redirected(&mut self, stage: &Stage, input: Option<&Flow>) -> Flow {
        let redirected = self.redirects(stage);
        let of_shell = self.shell.input.clone();
        let input = redirected.input.as_ref().or(input).or(of_shell.as_ref());
        self.input = input.cloned();
        // Where a file cannot be opened, the command does not run.
        let printed = match self.may_fail(stage) {
            true => self.perhaps(|walk| walk.node(&stage.node, input)),
            false => self.node(&stage.node, input),
        };
        let printed = self.with_errors(stage, printed);
        self.settle_output(stage, &redirected, &printed);
        if self.listens && redirected.leads_to_descriptor {
            self.run_input(Language::Shell, &[], Some(&printed));
        }
        printed
    }

    fn node(&mut self, node: &Node, input: Option<&Flow>) -> Flow {
        match node {
            Node::Simple(assignments, words) => self.simple(assignments, words, input),
            Node::Group(script) => self.deeper(|walk| walk.script(script, input)),
            Node::Subshell(script) => self.deeper(|walk| walk.subshell(|walk| walk.script(script, input))),
            Node::If(scripts) => self.deeper(|walk| walk.branches(scripts, input)),
            Node::While(condition, body) => self.deeper(|walk| walk.repeated(&[condition, body], input)),
            Node::For(name, words, body) => self.deeper(|walk| walk.for_each(name, words.as_deref(), (body, input))),
            Node::CountingFor(words, body) => {
                self.calculate(words);
                self.deeper(|walk| walk.repeated(&[body], input))
            }
            Node::Case(word, arms) => self.deeper(|walk| walk.arms(word, arms, input)),
            Node::Function(name, body) => {
                self.define(name, body);
                Flow::Unknown
            }
            Node::Test(words) | Node::Arithmetic(words) => {
                if let Node::Arithmetic(_) = node {
                    self.calculate(words);
                } else {
                    self.compute_in_test(words);
                    if words.iter().any(takes_numbers) {
                        self.calculate_in_word(words);
                    }
                }
                if !self.shell.traces {
                    self.shell.reads_secrets.clear();
                }
                self.tell(Does::Nothing);
                Flow::Text(Value::default())
            }
            Node::Opaque(why) => {
                // A text that may be for something else is none for a shell where it cannot be read.
                let is_mistaken = self.is_in_doubt() && why == syntax::TOO_MANY_MISTAKES;
                self.emit(if is_mistaken { Act::Unknown(why.clone()) } else { opaque(why) });
                Flow::Unknown
            }
        }
    }

    /// Expands words for the sake of the substitutions in them.
    fn touch(&mut self, words: &[Word]) {
        for word in words {
            let _ = self.fields(word);
        }
    }

    fn define(&mut self, name: &str, body: &Stage) {
        if copies::multiplies(name, body) {
            self.emit(Act::Danger(Danger::Exhaustion, format!("start copies of {name} without end")));
        }
        self.shell.define(name, Arc::new(body.clone()));
        // Whether it is called or not, it is told, but for what depends on its parameters: that is told where it is
        // called. Whatever may call it unseen is asked about itself, but for the shell, which calls this one.
        let outer = self.only_known;
        self.only_known |= name != "command_not_found_handle";
        self.deeper(|walk| {
            walk.apart(|walk| {
                walk.shell.parameters = None;
                walk.shell.enter();
                walk.perhaps(|walk| walk.stage(body, None))
            })
        });
        self.only_known = outer;
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&Flow>) -> Flow {
        self.interrupted();
        let before = self.found.len();
        let flow = self.simple_once(assignments, words, input);
        if self.found.len() == before {
            self.tell(Does::Nothing);
        }
        flow
    }

    /// A variable that nobody set is empty: `rm -rf "$BUILD/"` then removes the root.
    fn with_unset_as_nothing(&mut self, stage: &Stage, input: Option<&Flow>, printed: Flow) -> Flow {
        if !matches!(stage.node, Node::Simple(..)) {
            return printed;
        }
        self.second_look = true;
        self.shell.unset = Unset::Empty;
        let second = self.apart(|walk| walk.redirected(stage, input));
        self.shell.unset = Unset::Unknown;
        self.second_look = false;
        pipes::either(printed, second)
    }

    fn simple_once(&mut self, assignments: &[Assignment], words: &[Word], input: Option<&Flow>) -> Flow {
        if words.is_empty() {
            for assignment in assignments {
                let (assigned, how) = self.assigned(assignment);
                self.assign(&assignment.name, assigned, how);
            }
            // `$(<file)` is the content of the file.
            return if assignments.is_empty() {
                input.cloned().unwrap_or_default()
            } else {
                Flow::Text(Value::default())
            };
        }
        let assigned: Vec<(String, Assigned)> =
            assignments.iter().map(|one| (one.name.clone(), self.assigned(one).0)).collect();
        for (name, assigned) in &assigned {
            self.look_at_assigned(name, &assigned.all_values());
            self.computed(name, assigned.clone(), How::Set);
        }
        let lines = self.command_lines(words);
        self.doubt_assignments(assignments, words, &lines);
        self.give_variables(&assigned, &lines);
        self.forget_secrets_of(&lines);
        self.with_variables(assigned, |walk| walk.run_each(&lines, input))
    }

    /// Runs one of these command lines: each from the same state.
    fn run_each(&mut self, lines: &[Vec<Value>], input: Option<&Flow>) -> Flow {
        let [first, others @ ..] = lines else { return Flow::Unknown };
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

fn opaque(why: &str) -> Act {
    let is_limit = syntax::LIMITS.contains(&why);
    if is_limit { beyond_limit(&format!("hide what it does: {why}")) } else { Act::Unknown(why.to_owned()) }
}

/// What lies beyond a limit could be anything, so it is refused: a limit must not make a wipe a question.
fn beyond_limit(words: &str) -> Act {
    Act::Danger(Danger::HiddenCode, words.to_owned())
}
