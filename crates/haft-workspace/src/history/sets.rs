//! Change sets as the journal tells them: which there are, which were taken back, which are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use haft::effect::Change;

use super::{HistoryError, Which};
use crate::state::journal::{By, How, Inline, Intent, PathText, Reading, State, Step};

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
    /// Whether it is a change, or takes others back.
    pub kind: Kind,
    /// What it changed.
    pub files: Vec<ChangedFile>,
    /// Whether it was taken back.
    pub undone: Undone,
}

/// What a change set is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A change.
    Change,
    /// It took these back.
    Undo(Vec<u64>),
    /// It brought back what these had taken back.
    Redo(Vec<u64>),
}

/// Whether a change set was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It holds.
    No,
    /// Some of its files were.
    Partly,
    /// All of it was.
    Yes,
}

/// One path of a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub change: Change,
}

/// All change sets of a journal.
pub(super) struct Sets {
    pub(super) reading: Reading,
    sets: BTreeMap<u64, Set>,
    lost: BTreeSet<u64>,
}

/// What is known of one change set.
#[derive(Default)]
struct Set {
    /// The intents that happened, by their place in the reading.
    intents: Vec<usize>,
    parts: BTreeSet<u32>,
    /// The paths that were taken back, and by which change set.
    undone: BTreeMap<PathBuf, u64>,
}

impl Sets {
    pub(super) fn of(reading: Reading) -> Self {
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
        lost.extend((reading.dropped + 1..=reading.sets).filter(|number| !sets.contains_key(number)));
        lost.retain(|number| *number > reading.dropped);
        let mut all = Self { reading, sets, lost };
        all.note_undone();
        all
    }

    fn note_undone(&mut self) {
        let numbers: Vec<u64> = self.sets.keys().copied().collect();
        for number in numbers {
            let Some(takes_back) = self.intents_of(number).next().and_then(|(intent, _)| intent.takes_back.clone())
            else {
                continue;
            };
            let only: Vec<PathBuf> = takes_back.only.iter().map(PathText::path).collect();
            for taken in &takes_back.sets {
                let paths: Vec<PathBuf> = self.paths_of(*taken).into_keys().collect();
                let again = self.intents_of(*taken).next().and_then(|(intent, _)| intent.takes_back.clone());
                let Some(set) = self.sets.get_mut(taken) else { continue };
                let concerned = paths.into_iter().filter(|path| only.is_empty() || only.contains(path));
                set.undone.extend(concerned.map(|path| (path, number)));
                // Whoever takes an undo back brings back what that had taken.
                for returned in again.into_iter().flat_map(|again| again.sets) {
                    if let Some(set) = self.sets.get_mut(&returned) {
                        set.undone.retain(|_, by| by != taken);
                    }
                }
            }
        }
    }

    /// Returns the intents of a change set that happened.
    pub(super) fn intents_of(&self, number: u64) -> impl DoubleEndedIterator<Item = &(Intent, Inline)> {
        let indexes = self.sets.get(&number).into_iter().flat_map(|set| &set.intents);
        indexes.map(|index| &self.reading.intents[*index])
    }

    /// Returns the paths of a change set and what happened to each, from its beginning to its end.
    fn paths_of(&self, number: u64) -> BTreeMap<PathBuf, (bool, bool)> {
        let mut paths: BTreeMap<PathBuf, (bool, bool)> = BTreeMap::new();
        for step in self.intents_of(number).flat_map(|(intent, _)| &intent.steps) {
            match step {
                Step::Change { path, before, after, .. } => {
                    let (was, is) = (*before != State::Absent, *after != State::Absent);
                    paths.entry(path.path()).and_modify(|(_, ends)| *ends = is).or_insert((was, is));
                }
                Step::Move { from, to } => {
                    paths.entry(from.path()).and_modify(|(_, ends)| *ends = false).or_insert((true, false));
                    paths.entry(to.path()).and_modify(|(_, ends)| *ends = true).or_insert((false, true));
                }
            }
        }
        paths
    }

    /// Returns whether the path of a change set was taken back.
    pub(super) fn is_path_undone(&self, number: u64, path: &std::path::Path) -> bool {
        self.sets.get(&number).is_some_and(|set| set.undone.contains_key(path))
    }

    fn undone(&self, number: u64) -> Undone {
        let all = self.paths_of(number).len();
        match self.sets.get(&number).map_or(0, |set| set.undone.len()) {
            0 => Undone::No,
            some if some < all => Undone::Partly,
            _ => Undone::Yes,
        }
    }

    fn kind(&self, number: u64) -> Kind {
        match self.intents_of(number).next().and_then(|(intent, _)| intent.takes_back.as_ref()) {
            None => Kind::Change,
            Some(back) if back.how == How::Undo => Kind::Undo(back.sets.clone()),
            Some(back) => Kind::Redo(back.sets.clone()),
        }
    }

    pub(super) fn is_undo(&self, numbers: &[u64]) -> bool {
        numbers.iter().any(|number| matches!(self.kind(*number), Kind::Undo(_)))
    }

    /// Returns the change sets that hold, newest first.
    fn holding(&self) -> impl Iterator<Item = (u64, Kind)> {
        let happened = |number: &u64| self.intents_of(*number).next().is_some();
        let numbers = self.sets.keys().rev().copied().filter(happened);
        numbers.filter(|number| self.undone(*number) != Undone::Yes).map(|number| (number, self.kind(number)))
    }

    pub(super) fn newest(&self) -> Option<u64> {
        self.holding().find(|(_, kind)| *kind == Kind::Change).map(|(number, _)| number)
    }

    pub(super) fn newest_undo(&self) -> Option<u64> {
        self.holding().find(|(_, kind)| matches!(kind, Kind::Undo(_))).map(|(number, _)| number)
    }

    /// Returns the numbers that were asked for, newest first.
    pub(super) fn chosen(&self, which: Which) -> Result<Vec<u64>, HistoryError> {
        let newest = || self.newest().ok_or(HistoryError::NothingLeft);
        let chosen = match which {
            Which::Newest => vec![newest()?],
            Which::Number(number) => vec![number],
            Which::Turn => self.alike(newest()?, |one, other| (&one.run, one.turn) == (&other.run, other.turn)),
            Which::Session => self.alike(newest()?, |one, other| one.run == other.run),
        };
        chosen.iter().try_for_each(|number| self.sound(*number))?;
        match chosen.iter().find(|number| self.undone(**number) == Undone::Yes) {
            Some(number) => Err(HistoryError::AlreadyUndone(*number)),
            None => Ok(chosen),
        }
    }

    /// Returns the changes that hold and were made in the same circumstances as this one.
    fn alike(&self, number: u64, is_alike: impl Fn(&By, &By) -> bool) -> Vec<u64> {
        let by = |number: u64| self.intents_of(number).next().map(|(intent, _)| &intent.by);
        let changes = self.holding().filter(|(_, kind)| *kind == Kind::Change).map(|(number, _)| number);
        changes
            .filter(|other| matches!((by(*other), by(number)), (Some(one), Some(other)) if is_alike(one, other)))
            .collect()
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
            warnings.push(format!(
                "Change sets up to {up_to} were dropped to keep within the room; they cannot be undone."
            ));
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

    /// Returns what happened, newest first.
    pub(super) fn shown(&self) -> Vec<ChangeSet> {
        self.sets.keys().rev().filter_map(|number| self.shown_set(*number)).collect()
    }

    fn shown_set(&self, number: u64) -> Option<ChangeSet> {
        let (intent, _) = self.intents_of(number).next()?;
        let files = self.paths_of(number).into_iter().map(|(path, (was, is))| {
            let change = match (was, is) {
                (false, _) => Change::Create,
                (true, true) => Change::Replace,
                (true, false) => Change::Remove,
            };
            ChangedFile { path: path.display().to_string(), change }
        });
        Some(ChangeSet {
            number,
            at: intent.at,
            tool: intent.by.tool.clone(),
            call: intent.by.call.clone(),
            session: intent.by.session.clone(),
            kind: self.kind(number),
            files: files.collect(),
            undone: self.undone(number),
        })
    }
}
