//! Reads change sets from the journal: which exist, which were undone, and which are lost.

mod choice;
mod later;

pub(super) use later::LaterChanges;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use haft_contract::doors::door::ChangeSetId;
use haft_contract::doors::history::{Direction, Reversal, Undone};
use haft_contract::effect::Change;
use haft_contract::files::change_summary::{ChangedPath, only_writes_generated};

use super::HistoryError;
use crate::state::journal::{
    ChangeAuthor, Inline, Intent, IntentStep, JournalSnapshot, PathState, PathText, TreeRecord, UndoDirection,
};

/// One change set, as `haft log` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSet {
    /// Its number.
    pub number: u64,
    /// When, in milliseconds since the epoch.
    pub at: u64,
    /// The tool that made it.
    pub tool: String,
    /// The call that made it.
    pub call: String,
    /// The session that made it.
    pub session: String,
    /// The number of the turn in that session.
    pub turn: u64,
    /// Who made it: a person, a script, a model, or the name of a program; nothing in records of earlier versions.
    pub agent: Option<String>,
    /// The command that was run.
    pub command: Option<String>,
    /// What was done, where no command was run.
    pub description: Option<String>,
    /// The hosts that the command reached.
    pub hosts: Vec<String>,
    /// Whether it is a change, or takes others back.
    pub kind: ChangeSetKind,
    /// What it changed.
    pub files: Vec<ChangedPath>,
    /// Whether it was taken back.
    pub undone: Undone,
}

/// The kind of a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSetKind {
    /// A change.
    Change,
    /// It took these back.
    Undo(Vec<u64>),
    /// It brought back what these had taken back.
    Redo(Vec<u64>),
}

/// All change sets of a journal.
pub(super) struct Sets {
    pub(super) reading: JournalSnapshot,
    sets: BTreeMap<u64, Set>,
    lost: BTreeSet<u64>,
}

/// What is known of one change set.
#[derive(Default)]
struct Set {
    /// The intents that happened, by their place in the reading.
    intents: Vec<usize>,
    parts: BTreeSet<u32>,
    /// The paths that it is about, and the last intent that changed each: what it changed, or what it took back.
    paths: BTreeMap<PathBuf, usize>,
    /// The paths that were taken back: what the intents before this place in the reading did there.
    undone: BTreeMap<PathBuf, usize>,
}

impl Set {
    /// Returns the paths that are this one, or lie in it.
    fn paths_below<'s>(&'s self, path: &'s Path) -> impl Iterator<Item = &'s PathBuf> {
        self.paths.keys().filter(move |own| own.starts_with(path))
    }

    fn is_undone(&self, path: &Path) -> bool {
        matches!((self.paths.get(path), self.undone.get(path)), (Some(changed), Some(before)) if changed < before)
    }
}

impl Sets {
    pub(super) fn of(reading: JournalSnapshot) -> Self {
        let mut sets: BTreeMap<u64, Set> = BTreeMap::new();
        for (index, (intent, _)) in reading.intents.iter().enumerate() {
            let set = sets.entry(intent.set).or_default();
            set.parts.insert(intent.part);
            // Without an outcome it is not known; taking it back looks at the files in any case.
            if reading.outcome(intent) != Some(false) {
                set.intents.push(index);
            }
        }
        let is_incomplete = |set: &Set| set.parts.iter().zip(0..).any(|(part, wanted)| *part != wanted);
        let mut lost: BTreeSet<u64> = reading.outcomes_without_intent().collect();
        lost.extend(sets.iter().filter(|(_, set)| is_incomplete(set)).map(|(number, _)| *number));
        let known_from = reading.dropped.max(reading.not_read) + 1;
        lost.extend((known_from..=reading.sets).filter(|number| !sets.contains_key(number)));
        lost.retain(|number| *number >= known_from);
        let mut all = Self { reading, sets, lost };
        all.note_paths();
        all.note_undone();
        all
    }

    /// Notes what each change set is about, the oldest first.
    fn note_paths(&mut self) {
        let numbers: Vec<u64> = self.sets.keys().copied().collect();
        for number in numbers {
            let mut paths: BTreeMap<PathBuf, usize> = BTreeMap::new();
            for index in &self.sets[&number].intents {
                let (intent, _) = &self.reading.intents[*index];
                paths.extend(intent.steps.iter().flat_map(paths_of_step).map(|path| (path, *index)));
                let Some(takes_back) = intent.takes_back.as_ref().filter(|back| !back.partly) else { continue };
                // Where nothing had to be done, it took the change back all the same.
                for taken in takes_back.sets.iter().filter_map(|taken| self.sets.get(taken)) {
                    let concerned = taken.paths.keys().filter(|path| is_among(path, &takes_back.only));
                    paths.extend(concerned.map(|path| (path.clone(), *index)));
                }
            }
            if let Some(set) = self.sets.get_mut(&number) {
                set.paths = paths;
            }
        }
    }

    /// Notes what was taken back, the newest first: what was brought back again is not.
    fn note_undone(&mut self) {
        let numbers: Vec<u64> = self.sets.keys().rev().copied().collect();
        for number in numbers {
            let set = &self.sets[&number];
            let Some(index) = set.intents.first().copied() else { continue };
            let Some(takes_back) = self.reading.intents[index].0.takes_back.clone().filter(|back| !back.partly) else {
                continue;
            };
            let holds: Vec<PathBuf> = set.paths.keys().filter(|path| !set.is_undone(path)).cloned().collect();
            for taken in takes_back.sets {
                let Some(set) = self.sets.get_mut(&taken) else { continue };
                for path in &holds {
                    let before = set.undone.entry(path.clone()).or_insert(index);
                    *before = index.max(*before);
                }
            }
        }
    }

    /// Returns how many older change sets there are that were not read.
    pub(super) fn not_read(&self) -> u64 {
        self.reading.not_read.saturating_sub(self.reading.dropped)
    }

    /// Returns the intents of a change set that happened.
    pub(super) fn intents_of(&self, number: u64) -> impl DoubleEndedIterator<Item = &(Intent, Inline)> {
        let indexes = self.sets.get(&number).into_iter().flat_map(|set| &set.intents);
        indexes.map(|index| &self.reading.intents[*index])
    }

    /// Returns the paths of a change set and what happened to each, from its beginning to its end.
    fn paths_of(&self, number: u64) -> BTreeMap<PathBuf, (Option<PathKind>, Option<PathKind>)> {
        let mut paths: BTreeMap<PathBuf, (Option<PathKind>, Option<PathKind>)> = BTreeMap::new();
        for step in self.intents_of(number).flat_map(|(intent, _)| &intent.steps) {
            match step {
                IntentStep::Change { path, before, after, .. } => {
                    let (was, is) = (PathKind::of(before), PathKind::of(after));
                    paths.entry(path.path()).and_modify(|(_, ends)| *ends = is).or_insert((was, is));
                }
                IntentStep::Tree { path, tree } => {
                    let [created, replaced, removed] = tree.counts;
                    let folder = |is_there: bool| is_there.then_some(PathKind::Folder);
                    let (was, is) = (folder(replaced + removed > 0), folder(replaced + created > 0));
                    paths.entry(path.path()).and_modify(|(_, ends)| *ends = is).or_insert((was, is));
                }
                IntentStep::Move { from, to } => {
                    let moved = paths.get(&from.path()).map_or(Some(PathKind::File), |(_, is)| *is);
                    paths.entry(from.path()).and_modify(|(_, ends)| *ends = None).or_insert((moved, None));
                    paths.entry(to.path()).and_modify(|(_, ends)| *ends = moved).or_insert((None, moved));
                }
            }
        }
        paths
    }

    /// Returns whether what an intent of a change set did at a path was taken back.
    pub(super) fn is_undone_at(&self, intent: &Intent, path: &Path) -> bool {
        let Some(set) = self.sets.get(&intent.set) else { return false };
        let index = set.intents.iter().find(|index| self.reading.intents[**index].0.part == intent.part);
        matches!((index, set.undone.get(path)), (Some(index), Some(before)) if index < before)
    }

    fn undone(&self, number: u64) -> Undone {
        let Some(set) = self.sets.get(&number) else { return Undone::No };
        match set.paths.keys().filter(|path| set.is_undone(path)).count() {
            0 => Undone::No,
            some if some < set.paths.len() => Undone::Partly,
            _ => Undone::Yes,
        }
    }

    fn kind(&self, number: u64) -> ChangeSetKind {
        match self.intents_of(number).next().and_then(|(intent, _)| intent.takes_back.as_ref()) {
            None => ChangeSetKind::Change,
            Some(back) if back.how == UndoDirection::Undo => ChangeSetKind::Undo(back.sets.clone()),
            Some(back) => ChangeSetKind::Redo(back.sets.clone()),
        }
    }

    pub(super) fn is_undo(&self, numbers: &[u64]) -> bool {
        numbers.iter().any(|number| matches!(self.kind(*number), ChangeSetKind::Undo(_)))
    }

    /// Returns the change sets that hold again once these are taken back; none where no undo is among them.
    pub(super) fn redone_by(&self, numbers: &[u64]) -> Vec<u64> {
        let undone = |number: &u64| match self.kind(*number) {
            ChangeSetKind::Undo(undone) => undone,
            ChangeSetKind::Change | ChangeSetKind::Redo(_) => Vec::new(),
        };
        numbers.iter().flat_map(undone).collect()
    }

    /// Returns how many files of change sets hold, and are neither at this path nor below it.
    pub(super) fn files_elsewhere(&self, numbers: &[u64], path: &Path) -> usize {
        let holds = |number: &u64, changed: &Path| self.sets.get(number).is_some_and(|set| !set.is_undone(changed));
        let elsewhere = |number: &u64| {
            let files = self.shown_set(*number).map(|set| set.files).unwrap_or_default();
            let files = files.into_iter().filter(|file| !file.is_folder || file.inside.is_some());
            let changed = files.map(|file| PathBuf::from(file.path));
            changed.filter(|changed| !changed.starts_with(path) && holds(number, changed)).count()
        };
        numbers.iter().map(elsewhere).sum()
    }

    /// Returns the change sets that hold, newest first.
    fn holding(&self) -> impl Iterator<Item = (u64, ChangeSetKind)> {
        let happened = |number: &u64| self.intents_of(*number).next().is_some();
        let numbers = self.sets.keys().rev().copied().filter(happened);
        numbers.filter(|number| self.undone(*number) != Undone::Yes).map(|number| (number, self.kind(number)))
    }

    /// Returns the paths of change sets that are this one, or lie in it.
    pub(super) fn paths_below(&self, numbers: &[u64], path: &Path) -> BTreeSet<PathBuf> {
        let sets = numbers.iter().filter_map(|number| self.sets.get(number));
        sets.flat_map(|set| set.paths_below(path)).cloned().collect()
    }

    /// Returns the later changes that hold at a path, newest first, without those that are taken back together.
    pub(super) fn later_at(&self, path: &Path, number: u64, together: &[u64]) -> Vec<u64> {
        let holds_there = |later: &u64| {
            let set = self.sets.get(later);
            set.is_some_and(|set| set.paths.contains_key(path) && !set.is_undone(path))
        };
        let is_later = |later: &u64| *later > number && !together.contains(later);
        self.changes().filter(is_later).filter(holds_there).collect()
    }

    /// Returns whether a change set was made in a session.
    pub(super) fn is_of_session(&self, number: u64, by: &ChangeAuthor) -> bool {
        self.intents_of(number).next().is_some_and(|(intent, _)| intent.by.is_of_session(by))
    }

    /// Returns the changes of a session that hold, newest first.
    pub(super) fn of_session<'s>(&'s self, by: &'s ChangeAuthor) -> impl Iterator<Item = u64> + 's {
        self.changes().filter(move |number| self.is_of_session(*number, by))
    }

    /// Returns the change set of its own that a session means: the one that it names, or the newest that holds.
    pub(super) fn own_number(&self, by: &ChangeAuthor, request: &Reversal) -> Result<u64, HistoryError> {
        if request.direction == Direction::Redo {
            return self.own_undo(by, request.change_set).ok_or(HistoryError::NothingToRedo);
        }
        if let Some(ChangeSetId(number)) = request.change_set {
            return if self.is_of_session(number, by) { Ok(number) } else { Err(HistoryError::Unknown(number)) };
        }
        let Some(file) = &request.file else { return self.own_newest(by).ok_or(HistoryError::NothingLeft) };
        let holds_there = |number: &u64| self.holds_below(*number, file.place().path());
        let not_concerned = || HistoryError::NotConcerned(file.to_string());
        self.of_session(by).find(holds_there).ok_or_else(not_concerned)
    }

    /// Returns the newest change of a session that holds: one that does more than to write generated files, where there is
    /// one. A model that ran its tests does not mean the cache that they filled.
    fn own_newest(&self, by: &ChangeAuthor) -> Option<u64> {
        let shown = self.shown();
        let is_cache = |number: &u64| {
            let set = shown.iter().find(|set| set.number == *number);
            set.is_some_and(|set| set.command.is_some() && only_writes_generated(&set.files))
        };
        self.of_session(by).find(|number| !is_cache(number)).or_else(|| self.of_session(by).next())
    }

    /// Returns the newest undo of a session that holds: any, or one that is this change set or took it back.
    fn own_undo(&self, by: &ChangeAuthor, of: Option<ChangeSetId>) -> Option<u64> {
        let is_meant =
            |number: u64, undone: &[u64]| of.is_none_or(|ChangeSetId(of)| number == of || undone.contains(&of));
        let meant = |(number, kind): (u64, ChangeSetKind)| match kind {
            ChangeSetKind::Undo(undone) if is_meant(number, &undone) => Some(number),
            ChangeSetKind::Undo(_) | ChangeSetKind::Redo(_) | ChangeSetKind::Change => None,
        };
        let mut undos = self.holding().filter_map(meant);
        undos.find(|number| {
            self.is_of_session(*number, by) && self.did_something(*number) && !self.lost.contains(number)
        })
    }

    /// Returns the changes that hold, newest first.
    fn changes(&self) -> impl Iterator<Item = u64> {
        self.holding().filter(|(_, kind)| *kind == ChangeSetKind::Change).map(|(number, _)| number)
    }

    /// Makes sure that everything is known of a change set.
    pub(super) fn sound(&self, number: u64) -> Result<(), HistoryError> {
        if number > 0 && number <= self.reading.dropped {
            return Err(HistoryError::Dropped(number));
        }
        if self.lost.contains(&number) {
            return Err(HistoryError::Damaged(number));
        }
        self.intents_of(number).next().map(drop).ok_or(HistoryError::Unknown(number))
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.reading.dropped > 0 {
            let up_to = self.reading.dropped;
            warnings.push(format!("Change sets up to {up_to} were dropped to save space; they cannot be undone."));
        }
        if !self.reading.damaged.is_empty() {
            let bytes: u64 = self.reading.damaged.iter().sum();
            let places = self.reading.damaged.len();
            warnings.push(format!("The journal is damaged in {places} places ({bytes} bytes)."));
        }
        if !self.lost.is_empty() {
            let lost: Vec<String> = self.lost.iter().take(20).map(ToString::to_string).collect();
            warnings
                .push(format!("These change sets cannot be undone, their records are damaged: {}.", lost.join(", ")));
        }
        warnings
    }

    /// Returns the newest change set that changed an ignored tree whose before-images are gone.
    pub(super) fn newest_without_tree(&self, is_kept: &dyn Fn(&TreeRecord) -> bool) -> Option<u64> {
        let is_gone = |step: &IntentStep| matches!(step, IntentStep::Tree { tree, .. } if !is_kept(tree));
        let has_gone = |number: &u64| self.intents_of(*number).any(|(intent, _)| intent.steps.iter().any(is_gone));
        self.sets.keys().rev().copied().find(has_gone)
    }

    /// Returns what happened, newest first.
    pub(super) fn shown(&self) -> Vec<ChangeSet> {
        self.sets.keys().rev().filter_map(|number| self.shown_set(*number)).collect()
    }

    /// Returns one change set, as far as it was read.
    pub(super) fn shown_set(&self, number: u64) -> Option<ChangeSet> {
        let (intent, _) = self.intents_of(number).next()?;
        let mut inside: BTreeMap<PathBuf, [u64; 3]> = BTreeMap::new();
        for step in self.intents_of(number).flat_map(|(intent, _)| &intent.steps) {
            if let IntentStep::Tree { path, tree } = step {
                let counts = inside.entry(path.path()).or_default();
                counts.iter_mut().zip(tree.counts).for_each(|(count, more)| *count += more);
            }
        }
        let files = self.paths_of(number).into_iter().map(|(path, (was, is))| {
            let change = match (was, is) {
                (None, _) => Change::Create,
                (Some(_), Some(_)) => Change::Replace,
                (Some(_), None) => Change::Remove,
            };
            ChangedPath {
                path: path.display().to_string(),
                change,
                is_folder: is.or(was) == Some(PathKind::Folder),
                is_replaced: was.zip(is).is_some_and(|(was, is)| was != is),
                inside: inside.get(&path).copied(),
                from: None,
            }
        });
        Some(ChangeSet {
            number,
            at: intent.at,
            tool: intent.by.tool.clone(),
            call: intent.by.call.clone(),
            session: intent.by.session.clone(),
            turn: intent.by.turn,
            agent: intent.by.agent.clone(),
            command: intent.by.command.clone(),
            description: intent.by.description.clone(),
            hosts: intent.by.hosts.clone(),
            kind: self.kind(number),
            files: files.collect(),
            undone: self.undone(number),
        })
    }
}

/// The kind of entry at a path. The journal does not tell the kind of a moved entry; it counts as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathKind {
    File,
    Link,
    Folder,
}

impl PathKind {
    fn of(state: &PathState) -> Option<Self> {
        match state {
            PathState::Absent => None,
            PathState::File { .. } => Some(PathKind::File),
            PathState::Link { .. } => Some(PathKind::Link),
            PathState::Folder { .. } => Some(PathKind::Folder),
        }
    }
}

fn paths_of_step(step: &IntentStep) -> Vec<PathBuf> {
    match step {
        IntentStep::Change { path, .. } | IntentStep::Tree { path, .. } => vec![path.path()],
        IntentStep::Move { from, to } => vec![from.path(), to.path()],
    }
}

fn is_among(path: &Path, only: &[PathText]) -> bool {
    only.is_empty() || only.iter().any(|only| only.path() == path)
}
