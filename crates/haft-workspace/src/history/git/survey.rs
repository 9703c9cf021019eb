//! Surveys all repositories that the steps of an undo touch, and decides how to treat each of their files.
//!
//! Not here: the objects that restored files need (`needs`), ordinary files (`take_back`).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::earlier::Objects;
use super::refs::{self, GitStep, RefPlan, value_of};
use super::whole::{self, RepositoryOrigin};
use super::{GitPath, GitPathRole, Repositories, loose_oid, reflog, store_files};
use crate::files::change::snapshot;
use crate::history::contents::Contents;
use crate::history::undoing::take_back::ConcernedStep;
use crate::state::journal::{Inline, PathState};

/// How a step at a file of a repository is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum Treatment {
    /// Like any other file.
    Plain,
    /// Not at all: the file stays as it is now, or is restored by its meaning.
    Skip,
}

/// One step, and what is at its path by now on its way back.
pub(in crate::history) struct StepAt<'a> {
    pub(in crate::history) number: u64,
    pub(in crate::history) path: &'a Path,
    pub(in crate::history) before: &'a PathState,
    pub(in crate::history) after: &'a PathState,
    pub(in crate::history) inline: Inline,
    pub(in crate::history) underway: Option<&'a PathState>,
}

impl StepAt<'_> {
    /// Returns whether the path is as the step left it.
    pub(super) fn is_as_left(&self) -> bool {
        self.underway.is_some_and(|underway| underway.is_same_content(self.after))
    }
}

/// One repository that an undo touches.
pub(in crate::history) struct SurveyedRepository {
    /// Whether it is there now.
    exists: bool,
    pub(in crate::history) origin: RepositoryOrigin,
    pub(in crate::history) refs: RefPlan,
    /// The commits and tags that the change sets made.
    pub(in crate::history) made: BTreeSet<String>,
    /// Objects that the change sets added, and that stay.
    pub(in crate::history) kept_objects: Cell<usize>,
    /// Worktrees whose HEAD is not where the change sets left it.
    elsewhere: BTreeSet<PathBuf>,
    /// Whether git has not rewritten its caches about objects since.
    pub(super) has_caches_as_left: bool,
    /// Whether the change sets added objects, which may need a store that they named.
    pub(super) has_new_objects: bool,
    /// The change set that a reftable was changed since, where it is not as that set left it.
    pub(in crate::history) changed_reftable: Option<u64>,
}

/// All repositories that an undo touches, by their git directories.
pub(in crate::history) struct Survey<'a> {
    repositories: Repositories<'a>,
    pub(in crate::history) found: BTreeMap<PathBuf, SurveyedRepository>,
    /// What is worth knowing, a sentence each.
    notes: RefCell<BTreeSet<String>>,
}

impl<'a> Survey<'a> {
    pub(in crate::history) fn of(contents: &Contents<'a>, steps: &[ConcernedStep<'_>]) -> Self {
        let repositories = Repositories::new(contents.root);
        let of_git = steps.iter().filter_map(|(number, step, inline)| {
            let at = repositories.locate(&step.paths().next()?.path())?;
            GitStep::of(*number, step, *inline, at)
        });
        let of_git: Vec<GitStep<'_>> = of_git.collect();
        let mut found = BTreeMap::new();
        let dirs: BTreeSet<&PathBuf> = of_git.iter().map(|step| &step.at.dir).collect();
        for dir in dirs {
            // A change of nothing but the mode says nothing about references; its content is not even kept.
            let tells = |step: &&GitStep<'_>| step.at.dir == *dir && !step.before.differs_in_mode(step.after);
            let own: Vec<&GitStep<'_>> = of_git.iter().filter(tells).collect();
            let is_new =
                |step: &&&GitStep<'_>| step.at.role == GitPathRole::Object && *step.before == PathState::Absent;
            let refs = refs::plan(contents, dir, &own);
            let repository = SurveyedRepository {
                exists: contents.root.path().join(dir).join("HEAD").is_file(),
                origin: whole::origin(contents, dir, &of_git),
                made: made(contents, dir, &own, &refs),
                kept_objects: Cell::new(0),
                elsewhere: elsewhere(contents, &own, &refs),
                has_caches_as_left: !store_files::is_cache_changed(contents, &own),
                has_new_objects: own.iter().any(|step| is_new(&step)),
                changed_reftable: changed_since(contents, &own, &|step| step.at.role == GitPathRole::Reftable),
                refs,
            };
            found.insert(dir.clone(), repository);
        }
        Self { repositories, found, notes: RefCell::default() }
    }

    /// Returns the part that a path plays in a repository.
    pub(in crate::history) fn locate(&self, path: &Path) -> Option<GitPath> {
        if self.found.is_empty() { None } else { self.repositories.locate(path) }
    }

    /// Returns whether a git directory comes and goes as a whole with what is taken back.
    pub(in crate::history) fn goes_whole(&self, path: &Path) -> bool {
        self.found.iter().any(|(dir, repository)| path.starts_with(dir) && repository.origin == RepositoryOrigin::Made)
    }

    /// Says something once.
    pub(in crate::history) fn note(&self, note: String) {
        self.notes.borrow_mut().insert(note);
    }

    pub(in crate::history) fn notes(&self) -> Vec<String> {
        self.notes.borrow().iter().cloned().collect()
    }

    /// Decides how a step at a path is taken back.
    pub(in crate::history) fn treatment(&self, contents: &Contents<'_>, step: &StepAt<'_>) -> Treatment {
        let (path, before, after) = (step.path, step.before, step.after);
        let used = self
            .found
            .iter()
            .find(|(dir, found)| path.starts_with(dir) && found.origin == RepositoryOrigin::MadeAndUsed);
        if let Some((dir, _)) = used.filter(|(dir, _)| path != dir.as_path()) {
            let folder = dir.display();
            let command = format!("rm -rf {}", super::pointers::quoted(&folder.to_string()));
            self.note(format!("{folder} stays, because it was used since; \"{command}\" removes the repository."));
            return Treatment::Skip;
        }
        let Some(at) = self.locate(path).filter(|_| !self.goes_whole(path)) else { return Treatment::Plain };
        let Some(repository) = self.found.get(&at.dir).filter(|repository| repository.exists) else {
            return Treatment::Plain;
        };
        if before.differs_in_mode(after) {
            return Treatment::Plain;
        }
        let is_folder = [before, after].iter().any(|state| matches!(state, PathState::Folder { .. }));
        match &at.role {
            GitPathRole::Object => repository.treat_object(contents, step),
            GitPathRole::ObjectInfo => {
                let treatment = repository.treat_object_info(contents, step);
                let is_named_store = *before == PathState::Absent && store_files::is_list_of_stores(path);
                if treatment == Treatment::Skip && is_named_store && step.is_as_left() {
                    let path = path.display();
                    self.note(format!("{path} stays, because objects that stay may need the store that it names."));
                }
                treatment
            }
            GitPathRole::Ref(_) | GitPathRole::PackedRefs if repository.refs.by_meaning && !is_folder => {
                Treatment::Skip
            }
            GitPathRole::Reftable if repository.changed_reftable.is_some() => Treatment::Skip,
            GitPathRole::Index if repository.elsewhere.contains(&at.worktree) => {
                let path = path.display();
                self.note(format!(
                    "{path} stays unchanged, because HEAD points elsewhere now; \"git status\" shows what is staged."
                ));
                Treatment::Skip
            }
            _ => Treatment::Plain,
        }
    }
}

/// Returns whether a file of an object store counts as an object: a pack has other files beside it.
pub(in crate::history) fn is_counted(path: &Path) -> bool {
    loose_oid(path).is_some() || path.extension().is_some_and(|kind| kind == "pack")
}

/// Returns the commits and tags that change sets made: where references went, as far as those objects are new.
fn made(contents: &Contents<'_>, dir: &Path, steps: &[&GitStep<'_>], refs: &RefPlan) -> BTreeSet<String> {
    let mut made: BTreeSet<String> = refs.moves.iter().filter_map(|moved| moved.to.clone()).collect();
    for step in steps.iter().filter(|step| step.at.role == GitPathRole::Reflog) {
        let (before, after) = (step.old(contents).unwrap_or_default(), step.left(contents).unwrap_or_default());
        let lines = reflog::added(&before, &after);
        made.extend(lines.iter().filter_map(|line| reflog::oids(line).last()).map(str::to_owned));
    }
    if !made.is_empty() {
        let objects = Objects::of(contents, dir, steps);
        made.retain(|oid| objects.is_made(oid));
    }
    made
}

/// Returns the worktrees whose HEAD is not where the change sets left it.
fn elsewhere(contents: &Contents<'_>, steps: &[&GitStep<'_>], refs: &RefPlan) -> BTreeSet<PathBuf> {
    let worktrees: BTreeSet<&PathBuf> = steps.iter().map(|step| &step.at.worktree).collect();
    let is_elsewhere = |worktree: &&&PathBuf| {
        let path = worktree.join("HEAD");
        let now = contents.now(&path).map(|bytes| value_of(&bytes));
        if let Some(step) = steps.iter().find(|step| step.path == path) {
            return step.left(contents).map(|bytes| value_of(&bytes)) != now;
        }
        let log = worktree.join("logs/HEAD");
        let branches: Vec<&str> =
            refs.moves.iter().map(|moved| moved.name.as_str()).filter(|name| name.starts_with("refs/heads/")).collect();
        let is_known = steps.iter().any(|step| step.path == log) && !branches.is_empty();
        let branch = now.as_deref().and_then(|head| head.strip_prefix("ref: "));
        is_known && !branch.is_some_and(|branch| branches.contains(&branch))
    };
    worktrees.iter().filter(is_elsewhere).map(|worktree| (*worktree).clone()).collect()
}

/// Returns the change set since which one of the files is not as it was left; all of them are restored, or none.
pub(super) fn changed_since(
    contents: &Contents<'_>,
    steps: &[&GitStep<'_>],
    concerns: &dyn Fn(&GitStep<'_>) -> bool,
) -> Option<u64> {
    let mut there: BTreeMap<&Path, PathState> = BTreeMap::new();
    for step in steps.iter().filter(|step| concerns(step)) {
        let looked = || snapshot::look(contents.root, &step.path).map_or(PathState::Absent, |seen| seen.state);
        let now = there.remove(step.path.as_path()).unwrap_or_else(looked);
        if !now.is_same_content(step.after) {
            return Some(step.number);
        }
        there.insert(&step.path, step.before.clone());
    }
    None
}
