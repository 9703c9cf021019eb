//! Decides what to do at each path to undo changes without losing other work.
//!
//! Files of a git repository have rules of their own: `git` knows them, `repositories` applies them.

mod conflicts;
mod repositories;
mod way;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use conflicts::disentangled;
use haft_contract::text::merge::merge;
use rustix::io::Errno;
use way::{PathRestoration, RestoreTarget, with_mode};

use crate::files::change::snapshot;
use crate::files::change::transaction::{FileAction, FileMutation, NewContent, Precondition, missing_folders};
use crate::files::fingerprint::Fingerprint;
use crate::files::searching::order::{WORKABLE, in_order, is_workable};
use crate::files::tree::TreeChange;
use crate::history::contents::{Contents, is_too_large};
use crate::history::git::GitPathRole;
use crate::history::git::survey::{StepAt, Survey, Treatment};
use crate::history::{Became, Conflict, HistoryError, git_index};
use crate::state::journal::{ContentLocation, Inline, IntentStep, PathState, PathText, Rights, TreeRecord};

/// What to do.
#[derive(Default)]
pub(in crate::history) struct Restoration {
    pub(in crate::history) deeds: Vec<FileMutation>,
    pub(in crate::history) files: Vec<(PathBuf, Became)>,
    /// Folders that the changes had made; they go when they are empty again.
    folders: Vec<(PathBuf, PathState)>,
    /// Ignored trees of which nothing is left.
    vanishing_trees: Vec<PathBuf>,
    /// Folders that something else shall take the place of.
    replaced_folders: Vec<PathBuf>,
    /// What is worth knowing, a sentence each.
    pub(in crate::history) notes: Vec<String>,
    /// What stands in the way.
    pub(in crate::history) conflicts: Vec<Conflict>,
}

/// A step to take back, with the number of its change set and where its inline contents are.
pub(in crate::history) type ConcernedStep<'a> = (u64, &'a IntentStep, Inline);

/// Plans to take change sets back, the newest first.
pub(in crate::history) fn plan(
    contents: &Contents<'_>,
    numbers: &[u64],
    only: Option<&Path>,
) -> Result<Restoration, HistoryError> {
    let mut plan = Restoration::default();
    let mut paths: BTreeMap<PathBuf, PathRestoration> = BTreeMap::new();
    let steps = concerned(contents, numbers, only);
    disentangled(&steps)?;
    let survey = Survey::of(contents, &steps);
    let places: HashSet<&Path> = steps.iter().flat_map(|(_, step, _)| step.paths().map(PathText::as_path)).collect();
    let modes = contents.sets.modes_before_redo(numbers);
    for (number, step, inline) in steps {
        match step {
            IntentStep::Move { from, to } => plan.rename(contents, number, (&to.path(), &from.path()))?,
            IntentStep::Tree { path, tree } => plan.exchange(contents, path.path(), tree),
            IntentStep::Change { path, before, after, .. } => {
                let path = path.path();
                let redone = modes.get(&(number, path.clone())).and_then(|mode| before.with_mode(*mode));
                let before = redone.as_ref().unwrap_or(before);
                let known = paths.remove(&path);
                let is_known = known.is_some();
                let way = known.map_or_else(|| looked_beneath(contents, &path, &places).map(PathRestoration::from), Ok);
                let underway = way.as_ref().ok().and_then(PathRestoration::underway);
                let at = StepAt { number, path: &path, before, after, inline, underway };
                if survey.treatment(contents, &at) == Treatment::Skip {
                    paths.extend(way.ok().filter(|_| is_known).map(|way| (path, way)));
                    continue;
                }
                let way = way?;
                let role = survey.locate(&path).map_or(GitPathRole::Other, |at| at.role);
                let change = PathChange { number, path: &path, before, after, inline, role };
                let way = plan.follow(contents, &change, way);
                paths.insert(path, way);
            }
        }
    }
    plan.restore_refs(contents, &survey, &mut paths)?;
    plan.ensure_objects(contents, (&survey, numbers), &mut paths)?;
    plan.refuse_conflicts(contents, numbers)?;
    let written = repositories::written(contents, &survey, &paths);
    drop(places);
    plan.deeds.reserve_exact(paths.len());
    plan.files.reserve_exact(paths.len());
    for (path, way) in paths {
        plan.add(contents, path, way)?;
    }
    plan.make_missing_folders(contents);
    plan.remove_folders(contents);
    plan.make_sure_of_replaced_folders(contents)?;
    plan.report_repositories(contents, &survey, &written);
    plan.deeds = in_order(std::mem::take(&mut plan.deeds));
    // A caller that asks for one file need not hear of the folders that stay.
    plan.files.retain(|(path, became)| *became != Became::Kept || only.is_none_or(|only| only == path));
    Ok(plan)
}

/// Returns the steps to take back, the newest first, without those that are left out or taken back already.
pub(in crate::history) fn concerned<'a>(
    contents: &Contents<'a>,
    numbers: &[u64],
    only: Option<&Path>,
) -> Vec<ConcernedStep<'a>> {
    let sets = contents.sets;
    let mut steps = Vec::new();
    for number in numbers {
        for (intent, inline) in sets.intents_of(*number).rev() {
            let holds = |path: &Path| !sets.is_undone_at(intent, path);
            let is_asked_for = |path: &Path| only.is_none_or(|only| path.starts_with(only));
            let concerned = intent.steps.iter().rev().filter(|step| match step {
                IntentStep::Change { path, before: PathState::Absent, after: PathState::Folder { .. }, .. } => {
                    let path = path.path();
                    // A folder that was made for the file goes with it.
                    holds(&path) && only.is_none_or(|only| only.starts_with(&path) || path.starts_with(only))
                }
                IntentStep::Change { path, .. } | IntentStep::Tree { path, .. } => {
                    holds(&path.path()) && is_asked_for(&path.path())
                }
                IntentStep::Move { from, to } => {
                    let (from, to) = (from.path(), to.path());
                    holds(&from) && holds(&to) && (is_asked_for(&from) || is_asked_for(&to))
                }
            });
            steps.extend(concerned.map(|step| (*number, step, *inline)));
        }
    }
    steps
}

pub(in crate::history) fn looked(contents: &Contents<'_>, path: &Path) -> Result<PathState, HistoryError> {
    if !contents.root.holds(path) {
        return Err(HistoryError::NotAdded(path.display().to_string()));
    }
    let system = |error: io::Error| {
        // The system speaks of many levels of links; there is one, and it was put there since.
        let is_link = Errno::from_io_error(&error) == Some(Errno::LOOP);
        let error = if is_link { io::Error::other("a link is in the way to it now") } else { error };
        HistoryError::System { path: path.display().to_string(), error }
    };
    snapshot::look(contents.root, path).map(|seen| seen.state).map_err(system)
}

/// Looks at a path; where a link stands in the way that changes too, nothing is there.
fn looked_beneath(contents: &Contents<'_>, path: &Path, places: &HashSet<&Path>) -> Result<PathState, HistoryError> {
    let is_link = |place: &&Path| matches!(looked(contents, place), Ok(PathState::Link { .. }));
    match looked(contents, path) {
        Err(_) if path.ancestors().skip(1).filter(|above| places.contains(*above)).any(|above| is_link(&above)) => {
            Ok(PathState::Absent)
        }
        looked => looked,
    }
}

/// One change of one path by a change set.
struct PathChange<'a> {
    number: u64,
    path: &'a Path,
    before: &'a PathState,
    after: &'a PathState,
    inline: Inline,
    /// The part that the path plays in a repository.
    role: GitPathRole,
}

impl PathChange<'_> {
    /// Takes a change of nothing but the mode back; returns whether it is one.
    fn back_in_mode(&self, way: &mut PathRestoration, notes: &mut Vec<String>) -> bool {
        if !self.before.differs_in_mode(self.after) {
            return false;
        }
        // A mode that another program has set since stays.
        if way.mode == self.after.mode() {
            way.mode = way.restorable_mode(self.before);
            if way.mode != self.before.mode() {
                notes.push(format!(
                    "{} stays without its set-user-ID and set-group-ID bits, because its content is not what they belonged to.",
                    self.path.display()
                ));
            }
            if let (RestoreTarget::State(state, _), Some(mode)) = (&mut way.wanted, way.mode) {
                **state = state.with_mode(mode).unwrap_or(PathState::Absent);
            }
        }
        true
    }

    /// Says what shall be at the path so that this change is out of it.
    fn back_from(&self, contents: &Contents<'_>, way: &PathRestoration) -> Result<RestoreTarget, Box<Conflict>> {
        let is = |state: &PathState| way.underway().is_some_and(|underway| underway.is_same_content(state));
        if is(self.after) {
            return Ok(RestoreTarget::State(Box::new(with_mode(self.before, self.after, way)), self.inline));
        }
        if is(self.before) {
            return Ok(match &way.wanted {
                RestoreTarget::State(state, inline) => RestoreTarget::State(state.clone(), *inline),
                RestoreTarget::Gone => RestoreTarget::Gone,
                RestoreTarget::AsIs | RestoreTarget::Merged(_) | RestoreTarget::Written(_) => RestoreTarget::AsIs,
            });
        }
        if self.is_only_refreshed(contents, way) {
            return Ok(RestoreTarget::State(Box::new(with_mode(self.before, self.after, way)), self.inline));
        }
        self.merged(contents, way)
    }

    /// Whether git has rewritten its index since, with only the content that the change had left.
    fn is_only_refreshed(&self, contents: &Contents<'_>, way: &PathRestoration) -> bool {
        if !matches!(way.wanted, RestoreTarget::AsIs) || !git_index::is_index(self.path) {
            return false;
        }
        let left = contents.bytes(self.after, self.before, self.inline);
        let both = left.zip(contents.now(self.path));
        both.is_some_and(|(left, now)| git_index::says_the_same(&left, &now))
    }

    fn merged(&self, contents: &Contents<'_>, way: &PathRestoration) -> Result<RestoreTarget, Box<Conflict>> {
        let left = contents.bytes(self.after, self.before, self.inline);
        let now = match &way.wanted {
            RestoreTarget::AsIs => contents.now(self.path),
            RestoreTarget::State(state, inline) => contents.bytes(state, &PathState::Absent, *inline),
            RestoreTarget::Merged(bytes) | RestoreTarget::Written(bytes) => Some(bytes.clone()),
            RestoreTarget::Gone => None,
        };
        let old = contents.bytes(self.before, &PathState::Absent, self.inline);
        let conflict = |why: &str, left, now| {
            let (path, why) = (self.path.display().to_string(), why.to_owned());
            Box::new(Conflict { set: self.number, path, why, left, now, blocked_by: Vec::new() })
        };
        match (left, now, old) {
            // Git rewrites these all the time; a later version of them counts.
            (..) if matches!(self.role, GitPathRole::Scratch | GitPathRole::Head) => Ok(RestoreTarget::AsIs),
            (Some(left), Some(now), old) if self.role == GitPathRole::Reflog => {
                Ok(repositories::take_out_of_reflog(self.before, old.as_deref(), (&left, &now)))
            }
            (..) if self.role == GitPathRole::Reflog => Ok(RestoreTarget::AsIs),
            (..) if self.role == GitPathRole::Index => Err(conflict(conflicts::STAGED_SINCE, None, None)),
            (left, now, _) if self.role.is_one_value() => Err(conflict("and it is not text", left, now)),
            (Some(left), Some(now), Some(old)) => match merge(&left, &now, &old) {
                Ok(merged) => Ok(RestoreTarget::Merged(merged)),
                Err(why) => Err(conflict(&why.to_string(), Some(left), Some(now))),
            },
            (None, Some(now), Some(_)) if *self.after == PathState::Absent => {
                Err(conflict(conflicts::CREATED_SINCE, None, Some(now)))
            }
            (left, now, _) => Err(conflict(self.why_not(way), left, now)),
        }
    }

    /// Says why a merge cannot even be tried.
    fn why_not(&self, way: &PathRestoration) -> &'static str {
        let now = match &way.wanted {
            RestoreTarget::AsIs | RestoreTarget::Merged(_) | RestoreTarget::Written(_) => &way.now,
            RestoreTarget::State(state, _) => state,
            RestoreTarget::Gone => &PathState::Absent,
        };
        let is_file = |state: &PathState| matches!(state, PathState::File { .. });
        if !is_file(now) {
            "it is gone or no longer a file"
        } else if !is_file(self.before) {
            "and undoing it would remove that work"
        } else if [now, self.before, self.after].into_iter().any(is_too_large) {
            "and it is too large to be merged"
        } else {
            "and its content then was not kept"
        }
    }
}

impl Restoration {
    /// Plans to take the exchange of an ignored tree back, where its before-images are still kept.
    fn exchange(&mut self, contents: &Contents<'_>, path: PathBuf, tree: &TreeRecord) {
        if !contents.has_store(tree) {
            self.notes.push(format!("The old content of {} is no longer kept; it stays unchanged.", path.display()));
            self.files.push((path, Became::Unchanged));
            return;
        }
        let restored = contents.restored_below(&path, tree);
        let vanishes = contents.vanishes(&path, tree, &restored);
        let became = match tree.counts {
            _ if vanishes => Became::Removed,
            [0, 0, _] => Became::Returned,
            _ => Became::Restored,
        };
        if vanishes {
            self.vanishing_trees.push(path.clone());
        }
        let (place, action) = (path.clone(), FileAction::Tree(Box::new(TreeChange::back(tree, restored))));
        self.deeds.push(FileMutation { place, action, expected: Precondition::Anything });
        self.files.push((path, became));
    }

    /// Follows one change of a path back.
    fn follow(
        &mut self,
        contents: &Contents<'_>,
        change: &PathChange<'_>,
        mut way: PathRestoration,
    ) -> PathRestoration {
        if change.back_in_mode(&mut way, &mut self.notes) {
            return way;
        }
        match change.back_from(contents, &way) {
            Ok(wanted) => {
                let mode = match &wanted {
                    RestoreTarget::State(state, _) => state.mode(),
                    RestoreTarget::AsIs
                    | RestoreTarget::Merged(_)
                    | RestoreTarget::Written(_)
                    | RestoreTarget::Gone => way.mode,
                };
                PathRestoration { wanted, mode, ..way }
            }
            Err(conflict) => {
                self.conflicts.push(*conflict);
                way
            }
        }
    }

    fn rename(&mut self, contents: &Contents<'_>, set: u64, (from, to): (&Path, &Path)) -> Result<(), HistoryError> {
        if looked(contents, to)? != PathState::Absent {
            return Err(HistoryError::InTheWay(to.display().to_string()));
        }
        if looked(contents, from)? == PathState::Absent {
            let (path, why) = (from.display().to_string(), "it is gone".to_owned());
            let blocked_by = Vec::new();
            self.conflicts.push(Conflict { set, path, why, left: None, now: None, blocked_by });
            return Ok(());
        }
        let action = FileAction::Rename(to.to_owned());
        self.deeds.push(FileMutation { place: from.to_owned(), action, expected: Precondition::Anything });
        self.files.push((from.to_owned(), Became::Renamed));
        Ok(())
    }

    fn add(&mut self, contents: &Contents<'_>, path: PathBuf, way: PathRestoration) -> Result<(), HistoryError> {
        let is_gone = matches!(&way.wanted, RestoreTarget::State(state, _) if **state == PathState::Absent);
        let wanted = if is_gone { RestoreTarget::Gone } else { way.wanted };
        let (action, became) = match (wanted, &way.now) {
            (RestoreTarget::AsIs, now) => match way.mode.filter(|_| way.mode != now.mode()) {
                Some(mode) => (Some(FileAction::SetMode(mode)), Became::Restored),
                None => (None, Became::Unchanged),
            },
            (RestoreTarget::Merged(bytes), now) => {
                let rights = way.mode.filter(|_| way.mode != now.mode()).map(|mode| Rights { mode, owner: None });
                (Some(FileAction::Put(NewContent::Bytes(bytes.into()), rights)), Became::Merged)
            }
            (RestoreTarget::Written(bytes), now) => {
                let became = if *now == PathState::Absent { Became::Returned } else { Became::Restored };
                (Some(FileAction::Put(NewContent::Bytes(bytes.into()), None)), became)
            }
            (RestoreTarget::Gone, PathState::Folder { .. }) => {
                self.folders.push((path, way.now));
                return Ok(());
            }
            (RestoreTarget::Gone, PathState::Absent) => (None, Became::Unchanged),
            (RestoreTarget::Gone, _) => (Some(FileAction::Remove), Became::Removed),
            (RestoreTarget::State(state, _), now) if state.is_same_content(now) => {
                match state.mode().filter(|_| state.mode() != now.mode()) {
                    Some(mode) => (Some(FileAction::SetMode(mode)), Became::Restored),
                    None => (None, Became::Unchanged),
                }
            }
            (RestoreTarget::State(state, inline), now) => {
                if matches!(now, PathState::Folder { .. }) {
                    self.replaced_folders.push(path.clone());
                }
                let became = if *now == PathState::Absent { Became::Returned } else { Became::Restored };
                (Some(made_of(contents, &path, &state, inline)?), became)
            }
        };
        if let Some(action) = action {
            self.deeds.push(FileMutation {
                place: path.clone(),
                action,
                expected: Precondition::Same(Fingerprint::from(&way.now)),
            });
        }
        self.files.push((path, became));
        Ok(())
    }
}

impl Restoration {
    /// Makes the folders that restored entries need and that were removed since.
    pub(in crate::history) fn make_missing_folders(&mut self, contents: &Contents<'_>) {
        let returning = self.deeds.iter().filter_map(|deed| match &deed.action {
            FileAction::Rename(to) => Some(to.clone()),
            FileAction::Put(..)
            | FileAction::MakeFolder(_)
            | FileAction::MakeLink(_)
            | FileAction::Bring(_)
            | FileAction::Tree(_) => Some(deed.place.clone()),
            FileAction::Remove | FileAction::SetMode(_) => None,
        });
        let makes = |deed: &&FileMutation| matches!(deed.action, FileAction::MakeFolder(_));
        let made: HashSet<PathBuf> = self.deeds.iter().filter(makes).map(|deed| deed.place.clone()).collect();
        let mut known: HashSet<PathBuf> = self.deeds.iter().map(|deed| deed.place.clone()).collect();
        // What comes into a folder that comes back has all above it with that folder.
        let is_open = |place: &PathBuf| place.parent().is_none_or(|parent| !made.contains(parent));
        for place in returning.filter(is_open).collect::<Vec<_>>() {
            let missing = missing_folders(contents.root, &place).into_iter();
            self.deeds.extend(missing.filter(|deed| known.insert(deed.place.clone())));
        }
    }

    /// Returns the places at which nothing is left.
    fn leaving(&self) -> HashSet<PathBuf> {
        let leaves = |deed: &&FileMutation| matches!(deed.action, FileAction::Remove | FileAction::Rename(_));
        let leaving = self.deeds.iter().filter(leaves).map(|deed| &deed.place);
        leaving.chain(&self.vanishing_trees).cloned().collect()
    }

    /// Lets the folders go that hold nothing but what goes too, the deepest first.
    fn remove_folders(&mut self, contents: &Contents<'_>) {
        let mut folders = std::mem::take(&mut self.folders);
        folders.sort_by(|(one, _), (other, _)| other.cmp(one));
        let mut going = self.leaving();
        for (folder, now) in folders {
            let is_empty = contents.holds_only(&folder, &going);
            if is_empty {
                if let Some(mode) = now.mode().filter(|mode| !is_workable(*mode)) {
                    let (action, expected) =
                        (FileAction::SetMode(mode | WORKABLE), Precondition::Same(Fingerprint::from(&now)));
                    self.deeds.push(FileMutation { place: folder.clone(), action, expected });
                }
                let expected = Precondition::Same(Fingerprint::from(&now));
                going.insert(folder.clone());
                self.deeds.push(FileMutation { place: folder.clone(), action: FileAction::Remove, expected });
            }
            self.files.push((folder, if is_empty { Became::Removed } else { Became::Kept }));
        }
    }
}

impl Restoration {
    /// Refuses to let something take the place of a folder that would not be empty by then.
    fn make_sure_of_replaced_folders(&self, contents: &Contents<'_>) -> Result<(), HistoryError> {
        if self.replaced_folders.is_empty() {
            return Ok(());
        }
        let going = self.leaving();
        match self.replaced_folders.iter().find(|folder| !contents.holds_only(folder, &going)) {
            Some(folder) => Err(HistoryError::InTheWay(folder.display().to_string())),
            None => Ok(()),
        }
    }
}

pub(in crate::history) fn made_of(
    contents: &Contents<'_>,
    path: &Path,
    state: &PathState,
    inline: Inline,
) -> Result<FileAction, HistoryError> {
    Ok(match state {
        PathState::Absent => FileAction::Remove,
        PathState::Folder { mode } => FileAction::MakeFolder(Some(*mode)),
        PathState::Link { to } => FileAction::MakeLink(to.path()),
        PathState::File { content: ContentLocation::Object { hash }, size, .. } => {
            FileAction::Put(NewContent::Object(*hash, *size), state.rights())
        }
        PathState::File { content, hash, .. } => {
            // It is read when it is needed: all contents of a change set together may be large.
            if let ContentLocation::Inline { at, length } = content
                && let Some(recorded) = contents.sets.reading.recorded(inline, (*at, *length), *hash)
                && recorded.read().is_ok()
            {
                return Ok(FileAction::Put(NewContent::Recorded(Box::new(recorded)), state.rights()));
            }
            let damaged = || HistoryError::System {
                path: path.display().to_string(),
                error: io::Error::new(io::ErrorKind::InvalidData, "its kept content is damaged"),
            };
            let bytes = contents.bytes(state, &PathState::Absent, inline).ok_or_else(damaged)?;
            FileAction::Put(NewContent::Bytes(bytes.into()), state.rights())
        }
    })
}
