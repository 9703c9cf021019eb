//! Restores more than files in repositories: references by their meaning, and the objects they need.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::{PathRestoration, Restoration, RestoreTarget, looked, made_of};
use crate::files::change::transaction::{FileAction, FileMutation, Precondition};
use crate::files::fingerprint::Fingerprint;
use crate::history::contents::Contents;
use crate::history::git::needs::Needs;
use crate::history::git::object_store::from_hex;
use crate::history::git::pointers::{Undone, git_for, quoted, short_name};
use crate::history::git::refs::{MovedSince, RefMove, packed_values, value_of};
use crate::history::git::survey::{Survey, SurveyedRepository, is_counted};
use crate::history::git::{GitPath, GitPathRole, is_null, is_oid, loose_oid, reflog};
use crate::history::{Became, Conflict, HistoryError, git_index};
use crate::state::journal::{IntentStep, PathState};

/// The paths of an undo, and the restoration of each.
type RestorationMap = BTreeMap<PathBuf, PathRestoration>;

impl Restoration {
    /// Restores the references that are restored by their meaning, and collects those that have moved since.
    pub(super) fn restore_refs(
        &mut self,
        contents: &Contents<'_>,
        survey: &Survey<'_>,
        paths: &mut RestorationMap,
    ) -> Result<(), HistoryError> {
        for (dir, repository) in &survey.found {
            if survey.goes_whole(dir) || repository.is_left_whole() {
                continue;
            }
            if !repository.refs.conflicts.is_empty() {
                // The index follows the branch, so one reason is enough.
                let index = dir.join("index").display().to_string();
                self.conflicts.retain(|conflict| conflict.path != index);
            }
            self.conflicts
                .extend(repository.refs.conflicts.iter().map(|moved| moved_since(contents, (dir, repository), moved)));
            if let Some(set) = repository.changed_reftable {
                let path = dir.join("reftable").display().to_string();
                let why = format!(
                    "and a reftable is restored as a whole; \"{} reflog\" shows where each branch was",
                    git_for(dir)
                );
                self.conflicts.push(Conflict { set, path, why, left: None, now: None, blocked_by: Vec::new() });
            }
            for (path, content) in &repository.refs.files {
                let now = looked(contents, path)?;
                let wanted = match content {
                    Some(bytes) if path.ends_with("packed-refs") => RestoreTarget::Merged(bytes.clone()),
                    Some(bytes) => RestoreTarget::Written(bytes.clone()),
                    None => RestoreTarget::Gone,
                };
                paths.insert(path.clone(), PathRestoration { mode: now.mode(), now, wanted });
            }
            self.refuse_unborn_heads(contents, (dir, repository), paths);
            self.drop_commit_graph(contents, (dir, repository), paths)?;
        }
        Ok(())
    }

    /// Removes git's cache of commits when it lists an undone one: git would look for that commit after it has dropped it.
    fn drop_commit_graph(
        &mut self,
        contents: &Contents<'_>,
        (dir, repository): (&Path, &SurveyedRepository),
        paths: &RestorationMap,
    ) -> Result<(), HistoryError> {
        let info = dir.join("objects/info");
        let mut caches = contents.paths_in(&info.join("commit-graphs"));
        caches.push(info.join("commit-graph"));
        let moved = repository.refs.moves.iter().filter_map(|moved| moved.to.as_deref());
        let undone: Vec<Vec<u8>> = moved.chain(repository.made.iter().map(|oid| &**oid)).filter_map(from_hex).collect();
        let lists = |graph: &[u8]| undone.iter().any(|oid| memchr::memmem::find(graph, oid).is_some());
        if !caches.iter().any(|path| contents.now(path).is_some_and(|graph| lists(&graph))) {
            return Ok(());
        }
        // One that the change sets wrote is restored or removed like any other file.
        for place in caches.into_iter().filter(|place| !paths.contains_key(place)) {
            if let now @ PathState::File { .. } = looked(contents, &place)? {
                self.deeds.push(FileMutation {
                    place,
                    action: FileAction::Remove,
                    expected: Precondition::Same(Fingerprint::from(&now)),
                });
            }
        }
        Ok(())
    }

    /// Refuses to remove a branch that was checked out since.
    fn refuse_unborn_heads(
        &mut self,
        contents: &Contents<'_>,
        (dir, repository): (&Path, &SurveyedRepository),
        paths: &RestorationMap,
    ) {
        let head_path = dir.join("HEAD");
        // A command that worked on the branch itself changed one of these.
        let was_checked_out = ["HEAD", "logs/HEAD", "index"].iter().any(|name| paths.contains_key(&dir.join(name)));
        let is_bare = !contents.root.path().join(dir).join("index").exists();
        if was_checked_out || is_bare {
            return;
        }
        let head = contents.now(&head_path).map(|bytes| value_of(&bytes)).unwrap_or_default();
        let is_removed =
            |name: &&str| repository.refs.moves.iter().any(|moved| moved.name == **name && moved.from.is_none());
        let Some(branch) = head.strip_prefix("ref: ").filter(is_removed) else { return };
        let set = repository.refs.moves.iter().find(|moved| moved.name == branch).map_or(0, |moved| moved.number);
        let why = "and it is checked out now; check out another branch first, \"git switch BRANCH\"".to_owned();
        let path = dir.join(branch).display().to_string();
        self.conflicts.push(Conflict { set, path, why, left: None, now: None, blocked_by: Vec::new() });
    }

    /// Makes sure of every object that a restored file names.
    pub(super) fn ensure_objects(
        &mut self,
        contents: &Contents<'_>,
        (survey, numbers): (&Survey<'_>, &[u64]),
        paths: &mut RestorationMap,
    ) -> Result<(), HistoryError> {
        let mut needs = Needs::new(contents);
        for (path, way) in paths.iter_mut() {
            let Some(at) = survey.locate(path).filter(|at| !survey.goes_whole(&at.dir)) else { continue };
            match &at.role {
                GitPathRole::Reftable => best_effort(contents, numbers, (&at.dir, &mut needs)),
                GitPathRole::Reflog => keep_sound_entries(contents, path, way, &mut |oid| needs.ensure(&at.dir, oid)),
                _ => {
                    let missing = named(contents, path, way, &at).into_iter().find(|oid| !needs.ensure(&at.dir, oid));
                    match missing {
                        Some(_) if at.role == GitPathRole::Scratch => way.wanted = RestoreTarget::AsIs,
                        Some(oid) => self.conflicts.push(missing_object(numbers, path, &oid)),
                        None => {}
                    }
                }
            }
        }
        for (place, recorded) in std::mem::take(&mut needs.additions) {
            if paths.contains_key(&place) || looked(contents, &place)? != PathState::Absent {
                continue;
            }
            let action = made_of(contents, &place, recorded.state, recorded.inline)?;
            self.deeds.push(FileMutation {
                place: place.clone(),
                action,
                expected: Precondition::Same(Fingerprint::Absent),
            });
            self.files.push((place, Became::Returned));
        }
        Ok(())
    }

    /// Reports what stays: objects in one line for each repository, and what points to commits that were undone.
    pub(super) fn report_repositories(
        &mut self,
        contents: &Contents<'_>,
        survey: &Survey<'_>,
        written: &RewrittenFiles,
    ) {
        let is_object = |path: &Path| match survey.locate(path) {
            Some(at) if !survey.goes_whole(path) => {
                matches!(at.role, GitPathRole::Object | GitPathRole::ObjectInfo).then_some((at.dir, at.role))
            }
            _ => None,
        };
        let mut restored: BTreeMap<PathBuf, usize> = BTreeMap::new();
        self.files.retain(|(path, became)| match is_object(path) {
            Some((dir, role)) => {
                let is_back = matches!(became, Became::Returned | Became::Restored);
                let counts = is_back && is_counted(path);
                *restored.entry(dir).or_default() += usize::from(counts);
                // The other files of a pack return with it.
                let is_quiet = *became == Became::Returned && role == GitPathRole::Object;
                !counts && !is_quiet && !matches!(became, Became::Unchanged | Became::Kept)
            }
            // Git itself wrote a later message there.
            None => {
                *became != Became::Unchanged || survey.locate(path).is_none_or(|at| at.role != GitPathRole::Scratch)
            }
        });
        for (dir, count) in restored.into_iter().filter(|(_, count)| *count > 0) {
            self.files.push((dir.join("objects"), Became::ObjectsRestored(count)));
        }
        for (dir, repository) in survey.found.iter().filter(|(dir, _)| !survey.goes_whole(dir)) {
            if let count @ 1.. = repository.kept_objects.get() {
                self.files.push((dir.join("objects"), Became::ObjectsKept(count)));
            }
            if repository.is_left_whole() {
                continue;
            }
            let content = |path: &Path| match written.get(path) {
                Some(content) => content.clone(),
                None => contents.now(path),
            };
            let undone = Undone { dir, moves: &repository.refs.moves, made: &repository.made, content: &content };
            if !repository.made.is_empty() {
                self.notes.extend(undone.notes(contents));
            }
        }
        self.notes.extend(survey.notes());
    }
}

/// The new contents of files, by path; nothing for a file that is removed.
pub(super) type RewrittenFiles = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Returns the contents that files of repositories will have.
pub(super) fn written(contents: &Contents<'_>, survey: &Survey<'_>, paths: &RestorationMap) -> RewrittenFiles {
    let of_git = paths.iter().filter(|(path, way)| way.is_changed() && survey.locate(path).is_some());
    let reads = of_git.filter(|(path, _)| {
        survey
            .locate(path)
            .is_some_and(|at| !matches!(at.role, GitPathRole::Object | GitPathRole::ObjectInfo | GitPathRole::Other))
    });
    reads.map(|(path, way)| (path.clone(), way.new_bytes(contents))).collect()
}

impl SurveyedRepository {
    fn is_left_whole(&self) -> bool {
        self.origin == crate::history::git::whole::RepositoryOrigin::MadeAndUsed
    }
}

impl PathRestoration {
    fn is_changed(&self) -> bool {
        !matches!(self.wanted, RestoreTarget::AsIs)
    }

    /// Returns the content that the file will have; nothing when it goes or stays as it is.
    fn new_bytes(&self, contents: &Contents<'_>) -> Option<Vec<u8>> {
        match &self.wanted {
            RestoreTarget::AsIs | RestoreTarget::Gone => None,
            RestoreTarget::State(state, inline) => contents.bytes(state, &PathState::Absent, *inline),
            RestoreTarget::Merged(bytes) | RestoreTarget::Written(bytes) => Some(bytes.clone()),
        }
    }
}

/// Returns the objects that a restored file names and that the present one does not.
fn named(contents: &Contents<'_>, path: &Path, way: &PathRestoration, at: &GitPath) -> Vec<String> {
    if let GitPathRole::Other | GitPathRole::Object | GitPathRole::ObjectInfo = at.role {
        return Vec::new();
    }
    let Some(new) = way.new_bytes(contents) else { return Vec::new() };
    match &at.role {
        GitPathRole::Ref(_) | GitPathRole::Head | GitPathRole::Scratch => {
            let value = value_of(&new);
            let first = value.split_whitespace().next().unwrap_or_default();
            if is_oid(first) && !is_null(first) { vec![first.to_owned()] } else { Vec::new() }
        }
        GitPathRole::PackedRefs => {
            let now = packed_values(&contents.now(path).unwrap_or_default());
            let new = packed_values(&new);
            new.into_iter().filter(|(name, oid)| now.get(name) != Some(oid)).map(|(_, oid)| oid).collect()
        }
        GitPathRole::Index => {
            let config = contents.now(&at.dir.join("config")).unwrap_or_default();
            let is_long = memchr::memmem::find(&config.to_ascii_lowercase(), b"sha256").is_some();
            let length = if is_long { 32 } else { 20 };
            let now = contents.now(path).and_then(|now| git_index::named_objects(&now, length)).unwrap_or_default();
            let mut named = git_index::named_objects(&new, length).unwrap_or_default();
            named.retain(|oid| now.binary_search(oid).is_err());
            named
        }
        GitPathRole::Reflog
        | GitPathRole::Reftable
        | GitPathRole::Other
        | GitPathRole::Object
        | GitPathRole::ObjectInfo => Vec::new(),
    }
}

/// Leaves entries out of a reflog whose objects cannot be had; git forgets them too when it cleans up.
fn keep_sound_entries(
    contents: &Contents<'_>,
    path: &Path,
    way: &mut PathRestoration,
    exists: &mut dyn FnMut(&str) -> bool,
) {
    let Some(new) = way.new_bytes(contents) else { return };
    let now = contents.now(path).unwrap_or_default();
    let lines = reflog::lines(&now);
    let known: HashSet<&str> = lines.iter().flat_map(|line| reflog::oids(line)).collect();
    let mut is_there = |oid: &str| known.contains(oid) || exists(oid);
    let sound = reflog::sound(&new, &mut is_there);
    if sound.len() != new.len() {
        way.wanted = RestoreTarget::Merged(sound);
    }
}

/// Adds back what commands had made in a repository whose references cannot be read here.
fn best_effort(contents: &Contents<'_>, numbers: &[u64], (dir, needs): (&Path, &mut Needs<'_, '_>)) {
    let mut open = numbers.to_vec();
    let mut known = open.clone();
    while let Some(number) = open.pop() {
        for (intent, _) in contents.sets.intents_of(number) {
            for step in &intent.steps {
                let IntentStep::Change { path, before: PathState::Absent, .. } = step else { continue };
                let path = path.path();
                if let Some(oid) = loose_oid(&path).filter(|oid| path.starts_with(dir) && from_hex(oid).is_some()) {
                    needs.ensure(dir, &oid);
                }
            }
            let taken = intent.takes_back.iter().flat_map(|back| &back.sets).copied();
            let new: Vec<u64> = taken.filter(|number| !known.contains(number)).collect();
            known.extend(&new);
            open.extend(new);
        }
    }
}

fn moved_since(
    contents: &Contents<'_>,
    (dir, repository): (&Path, &SurveyedRepository),
    since: &MovedSince,
) -> Conflict {
    let MovedSince { moved, now } = since;
    let git = git_for(dir);
    let short = |oid: &str| oid.get(..12).unwrap_or(oid).to_owned();
    let plain = |name: &str| {
        quoted(name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/")).unwrap_or(name))
    };
    let (is_branch, is_tag) = (moved.name.starts_with("refs/heads/"), moved.name.starts_with("refs/tags/"));
    let is_made = moved.to.as_ref().is_some_and(|to| repository.made.contains(to));
    let next = match (&moved.from, &moved.to) {
        _ if moved.name == "refs/stash" => about_stash(contents, dir, moved, repository),
        (_, Some(to)) if is_branch && is_made => {
            format!("\"{git} revert {}\" takes that commit back in a new one", short(to))
        }
        (Some(from), _) if is_branch => {
            format!("\"{git} branch before-{} {}\" gives the earlier state a name", moved.number, short(from))
        }
        (None, _) if is_branch => format!("\"{git} branch -D {}\" removes it", plain(&moved.name)),
        (Some(from), _) if is_tag => format!("\"{git} tag -f {} {}\" moves it back", plain(&moved.name), short(from)),
        (None, _) if is_tag => format!("\"{git} tag -d {}\" removes it", plain(&moved.name)),
        (Some(from), _) => format!("\"{git} update-ref {} {}\" moves it back", quoted(&moved.name), short(from)),
        (None, _) => format!("\"{git} update-ref -d {}\" removes it", quoted(&moved.name)),
    };
    let what = short_name(&moved.name);
    let now =
        now.as_ref().map_or_else(|| format!("{what} is gone now"), |now| format!("{what} is at {} now", short(now)));
    let path = moved.path.display().to_string();
    let why = format!("{now}; {next}");
    Conflict { set: moved.number, path, why, left: None, now: None, blocked_by: Vec::new() }
}

/// Says how the stash gets back what a change set did to it, and keeps what others have put there since.
fn about_stash(contents: &Contents<'_>, dir: &Path, moved: &RefMove, repository: &SurveyedRepository) -> String {
    let (git, is_made) = (git_for(dir), moved.to.as_ref().is_some_and(|to| repository.made.contains(to)));
    let entry = moved.to.as_ref().filter(|_| is_made).and_then(|to| stash_entry(contents, dir, to));
    let next = match (entry, &moved.from) {
        (Some(entry), _) => format!("\"{git} stash drop stash@{{{entry}}}\" removes the one that it made"),
        (None, Some(from)) if !is_made => format!("\"{git} stash store {from}\" adds the dropped one again"),
        (None, _) => return format!("\"{git} stash list\" shows the entries"),
    };
    format!("\"{git} stash list\" shows the entries, {next}")
}

/// Returns which entry of the stash a commit is; the newest is 0.
fn stash_entry(contents: &Contents<'_>, dir: &Path, oid: &str) -> Option<usize> {
    let log = contents.now(&dir.join("logs/refs/stash"))?;
    reflog::lines(&log).iter().rev().position(|line| reflog::oids(line).last() == Some(oid))
}

fn missing_object(numbers: &[u64], path: &Path, oid: &str) -> Conflict {
    let set = numbers.first().copied().unwrap_or_default();
    let why = format!(
        "and it would name the object {oid}, which git has removed and the journal does not have; \
         \"git fsck --lost-found\" lists the commits that are left"
    );
    Conflict { set, path: path.display().to_string(), why, left: None, now: None, blocked_by: Vec::new() }
}

/// Takes what a change set did out of a reflog that has other entries since; nothing when what it did is not known.
pub(super) fn take_out_of_reflog(before: &PathState, old: Option<&[u8]>, (left, now): (&[u8], &[u8])) -> RestoreTarget {
    if old.is_none() && matches!(before, PathState::File { .. }) {
        return RestoreTarget::AsIs;
    }
    let rest = reflog::taken_out(old.unwrap_or_default(), left, now);
    match before {
        PathState::Absent if rest.is_empty() => RestoreTarget::Gone,
        _ => RestoreTarget::Merged(rest),
    }
}
