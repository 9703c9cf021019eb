//! Changes files in transactions: all deeds of one are done, or none is, and the journal can undo them.
//!
//! haft holds the journal's lock. It looks at the current files and keeps them, makes the intent durable, and then puts
//! everything in place. If a step fails, haft immediately reverts the steps before it. If the process is killed, the next
//! process recovers (`recover`).
//!
//! Not here: whether it may be done, deciding what to take back (`history`).

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use haft_contract::doors::door::OldChanges;
use haft_contract::files::stamp::ExpectedVersion;
use rustix::fs::Stat;
use rustix::io::Errno;

use super::apply::{Performance, TransactionFailure};
use super::bring::{LayerEntry, Ready};
use super::recover::{self, RecoveryReport};
use super::refused::{TransactionRefusal, as_before, is_about_the_file};
use super::replace::{ContentSource, StagingMove, Syncing};
use super::snapshot::{self, Keep, Large, PlaceSnapshot};
use super::unwritable_dirs::{Shut, ShutFolders};
use crate::files::compare::IncomingContent;
use crate::files::fingerprint::Fingerprint;
use crate::files::guarding::repository::{ChangeView, Upcoming};
use crate::files::read::facts::stamp_of;
use crate::files::read::open::WorkspaceRoot;
use crate::files::read::owner::NOT_AS_ANOTHER;
use crate::files::tree::{TreeChange, TreeStores};
use crate::history::git::is_in_object_store;
use crate::state::journal::{
    ChangeAuthor, ContentHash, ContentLocation, Durable, Intent, IntentStep, Journal, Objects, PathState, PathText,
    RecordedContent, Rights, TakesBack, is_not_kept, now_ms,
};

#[cfg(test)]
pub(crate) mod tests;

/// One change of a path in a transaction, with the precondition for it.
#[derive(Clone, Debug)]
pub(crate) struct FileMutation {
    pub(crate) place: PathBuf,
    pub(crate) action: FileAction,
    pub(crate) expected: Precondition,
}

/// What to do at a place.
#[derive(Clone, Debug)]
pub(crate) enum FileAction {
    /// Put this content there, with these rights or the ones it has.
    Put(NewContent, Option<Rights>),
    /// Remove a file, a link or an empty folder.
    Remove,
    /// Make a folder with this mode; without one it is only there for what comes into it, and may exist.
    MakeFolder(Option<u32>),
    MakeLink(PathBuf),
    Rename(PathBuf),
    /// Put what lies ready in a layer there, whatever kind of thing is there.
    Bring(LayerEntry),
    /// Give the file or folder this mode.
    SetMode(u32),
    /// Exchange entries of an ignored tree with its store.
    Tree(Box<TreeChange>),
}

/// The new content of a file.
#[derive(Clone, Debug)]
pub(crate) enum NewContent {
    Bytes(Bytes),
    /// A small content in a record of the journal, which is read when it is needed.
    Recorded(Box<RecordedContent>),
    /// A content that the journal keeps beside its records.
    Object(ContentHash, u64),
}

/// The condition on the present state of a place for its mutation to be done.
#[derive(Clone, Debug)]
pub(crate) enum Precondition {
    /// What a plan found there.
    Basis(ExpectedVersion),
    /// The same content as this.
    Same(Fingerprint),
    /// Whatever is there.
    Anything,
}

/// The root, the journal, the author and the limits of a transaction.
pub(crate) struct TransactionContext<'a> {
    pub(crate) root: &'a WorkspaceRoot,
    pub(crate) journal: &'a Journal,
    pub(crate) by: ChangeAuthor,
    /// The change set that it belongs to, when there is one already.
    pub(crate) set: Option<u64>,
    pub(crate) takes_back: Option<TakesBack>,
    pub(crate) shut: Shut,
    pub(crate) stopped: &'a dyn Fn() -> bool,
    /// What may become of old change sets when the journal is full.
    pub(crate) old_changes: OldChanges,
    /// Says whether a path may plant a git repository in a folder: a person agreed, or it is harmless.
    pub(crate) plants: &'a dyn Fn(&Path, &Path) -> bool,
}

/// What was done.
pub(crate) struct Done {
    pub(crate) set: u64,
    /// What could not be kept or is worth knowing, for each deed.
    pub(crate) notes: Vec<Vec<String>>,
    /// Change sets up to this one were dropped, to make room for it.
    pub(crate) dropped: Option<u64>,
}

impl Done {
    /// Says which change sets were dropped.
    pub(crate) fn loss(&self) -> Option<String> {
        self.dropped.map(|up_to| format!("Change sets up to {up_to} can no longer be undone: the journal was full."))
    }
}

/// Why it was not done. Nothing has changed then, unless something stands.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotDone {
    /// It was told to stop.
    #[error("it was stopped")]
    Stopped,
    /// What is there is not what was expected.
    #[error("another program changed {} in that moment", .0.display())]
    Stale(PathBuf),
    /// The journal could not be written, so nothing was tried.
    #[error("the journal: {0}")]
    Journal(io::Error),
    /// The system said no at this place.
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
    /// A path would plant a git repository, and no person has agreed to that.
    #[error("{}: git would treat {} as a repository", .place.display(), .repository.display())]
    Plants { place: PathBuf, repository: PathBuf },
    /// It failed, and what had been done could not be taken back. The journal has that.
    #[error("{}", .0.cause)]
    Standing(Box<PartialTransaction>),
}

/// The part of a failed transaction that stands.
#[derive(Debug)]
pub(crate) struct PartialTransaction {
    /// The change set that holds it.
    pub(crate) set: u64,
    /// The places that are changed.
    pub(crate) places: Vec<PathBuf>,
    /// What failed first.
    pub(crate) cause: NotDone,
}

/// Does all deeds, or none.
pub(crate) fn commit(job: &TransactionContext<'_>, deeds: &[FileMutation]) -> Result<Done, NotDone> {
    attempt(job, deeds).map_err(|refused| refused.cause)
}

/// Does all deeds, or none; then it says what helps to try again.
pub(crate) fn attempt(job: &TransactionContext<'_>, deeds: &[FileMutation]) -> Result<Done, TransactionRefusal> {
    let mut writing = job.journal.lock(job.stopped).map_err(|error| job.not_journalled(error))?;
    recover::recover(job.root, &mut writing).map_err(NotDone::Journal)?;
    let mut inline = writing.inline_contents();
    let syncing = syncing(deeds);
    let mut keep = Keep::new(&mut inline, writing.objects(), job.stopped);
    keep.durable = if syncing == Syncing::Together { Durable::Later } else { Durable::Yes };
    let shut = match job.shut {
        Shut::Opens => ShutFolders::of(job.root, deeds),
        Shut::Stays => ShutFolders::default(),
    };
    let (prepared, steps) = prepare_all(job, deeds, &shut, &mut keep)?;
    refuse_planted(job, deeds)?;
    let has_kept = keep.has_kept;
    let (set, part) = match job.set {
        Some(set) => (set, writing.parts_of(set).map_err(NotDone::Journal)?),
        None => (writing.next_set(), 0),
    };
    let (by, takes_back, opened) = (job.by.clone(), job.takes_back.clone(), shut.recorded());
    let intent = Intent { set, part, at: now_ms(), by, takes_back, opened, steps };
    if (job.stopped)() {
        return Err(NotDone::Stopped.into());
    }
    writing.intend(&intent, &inline).map_err(NotDone::Journal)?;

    let moves = Cell::new(StagingMove::No);
    let (prepared, steps, inline, shut) = (&prepared[..], &intent.steps[..], &inline, &shut);
    let performance = Performance { job, deeds, prepared, steps, inline, syncing, has_kept, moves, shut };
    let performed = performance.all(&mut writing);
    let outcome = match &performed {
        Ok(_) => intent.happened(),
        Err(failed) => intent.failed(failed.standing.clone()),
    };
    // If this cannot be written, the next process finds out by looking.
    let _ = writing.conclude(outcome);
    let notes = performed.map_err(|failed| TransactionRefusal {
        cause: failed.told(&intent),
        others: Vec::new(),
        as_before: as_before(job.root, deeds.iter().zip(prepared), steps),
    })?;
    // What could not be dropped now is dropped by the next one.
    let dropped = writing.make_room(job.old_changes).unwrap_or_default();
    Ok(Done { set, notes, dropped })
}

/// Refuses to plant a git repository. Under the journal's lock no other haft adds the missing part meanwhile.
pub(crate) fn refuse_planted(job: &TransactionContext<'_>, deeds: &[FileMutation]) -> Result<(), NotDone> {
    let mut upcoming = Upcoming::new(job.root);
    for deed in deeds {
        match &deed.action {
            FileAction::Put(..) | FileAction::MakeLink(_) | FileAction::Bring(_) => upcoming.add(deed.place.clone()),
            FileAction::MakeFolder(_) if upcoming.was(&deed.place) => {}
            FileAction::MakeFolder(_) => upcoming.add(deed.place.clone()),
            FileAction::Rename(to) => upcoming.add(to.clone()),
            FileAction::Remove => upcoming.remove(deed.place.clone()),
            FileAction::SetMode(_) => {}
            FileAction::Tree(change) => {
                let coming = change.coming(job.root, &TreeStores::of(job.journal), &deed.place);
                let coming = coming.map_err(|error| NotDone::System(deed.place.clone(), error))?;
                coming.into_iter().for_each(|place| upcoming.add(place));
            }
        }
    }
    match upcoming.planted(job.plants) {
        Some((place, repository)) => Err(NotDone::Plants { place, repository }),
        None => Ok(()),
    }
}

/// Returns the places where folders are made.
pub(in crate::files) fn made_folders(deeds: &[FileMutation]) -> HashSet<&Path> {
    let makes = |deed: &&FileMutation| matches!(deed.action, FileAction::MakeFolder(_));
    deeds.iter().filter(makes).map(|deed| deed.place.as_path()).collect()
}

/// From this many deeds on, all are made to outlive a power cut together.
const TOGETHER: usize = 16;

fn syncing(deeds: &[FileMutation]) -> Syncing {
    if deeds.len() < TOGETHER { Syncing::Each } else { Syncing::Together }
}

impl TransactionFailure {
    fn told(self, intent: &Intent) -> NotDone {
        if self.standing.is_empty() {
            return self.cause;
        }
        let steps = self.standing.iter().map(|step| &intent.steps[*step]);
        let places = steps.flat_map(IntentStep::paths).map(PathText::path).collect();
        NotDone::Standing(Box::new(PartialTransaction { set: intent.set, places, cause: self.cause }))
    }
}

/// Recovers after a process was killed in the middle of a change.
pub(crate) fn recover(root: &WorkspaceRoot, journal: &Journal) -> io::Result<Option<RecoveryReport>> {
    recover::recover(root, &mut journal.lock(&|| false)?)
}

impl TransactionContext<'_> {
    fn not_journalled(&self, error: io::Error) -> NotDone {
        if (self.stopped)() { NotDone::Stopped } else { NotDone::Journal(error) }
    }
}

/// A mutation with its step in the intent and the stat of its place.
pub(in crate::files) struct PreparedMutation {
    /// The step that does it, by its place in the intent; nothing when nothing is left to do.
    pub(in crate::files) step: Option<usize>,
    /// Boxed: a transaction may have many thousand, most of them of places with nothing.
    pub(in crate::files) stat: Option<Box<Stat>>,
}

/// Prepares all deeds. Whatever concerns one file only is looked for in all of them before it is told.
fn prepare_all(
    job: &TransactionContext<'_>,
    deeds: &[FileMutation],
    shut: &ShutFolders,
    keep: &mut Keep<'_>,
) -> Result<(Vec<PreparedMutation>, Vec<IntentStep>), TransactionRefusal> {
    let made = made_folders(deeds);
    let (mut prepared, mut refused) = (Vec::with_capacity(deeds.len()), Vec::new());
    let mut steps = Vec::with_capacity(deeds.len());
    let (mut known, mut cause) = (Vec::with_capacity(deeds.len()), None);
    for deed in deeds {
        let allowed = shut.refuse(deed).map_err(|error| NotDone::System(deed.place.clone(), error));
        match allowed.and_then(|()| prepare(job, deed, &made, keep)) {
            Ok((step, stat)) => {
                let stat = stat.map(Box::new);
                known.push(deed);
                prepared.push(PreparedMutation { step: step.is_some().then_some(steps.len()), stat });
                steps.extend(step);
            }
            Err(NotDone::System(place, error)) if is_about_the_file(&error) => refused.push((place, error)),
            Err(other) => {
                cause = Some(other);
                break;
            }
        }
    }
    if cause.is_none() && !refused.is_empty() {
        let (place, error) = refused.remove(0);
        cause = Some(NotDone::System(place, error));
    }
    match cause {
        None => Ok((prepared, steps)),
        Some(cause) => {
            // To read what its owner may not read, its mode is another one for a moment.
            let as_before = as_before(job.root, known.into_iter().zip(&prepared), &steps);
            Err(TransactionRefusal { cause, others: refused, as_before })
        }
    }
}

/// Returns the step that does a deed, where something is left to do, and what was seen at its place.
fn prepare(
    job: &TransactionContext<'_>,
    deed: &FileMutation,
    made: &HashSet<&Path>,
    keep: &mut Keep<'_>,
) -> Result<(Option<IntentStep>, Option<Stat>), NotDone> {
    let system = |error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted if (job.stopped)() => NotDone::Stopped,
        _ if is_not_kept(&error) => NotDone::Journal(error),
        _ => NotDone::System(deed.place.clone(), error),
    };
    let path = PathText::from(deed.place.as_path());
    if let FileAction::Tree(change) = &deed.action {
        let step = IntentStep::Tree { path, tree: change.record.clone() };
        return Ok((Some(step), None));
    }
    let ready = match &deed.action {
        FileAction::Bring(brought) => Some(brought.ready().map_err(system)?),
        _ => None,
    };
    let seen = match looked(job, deed, ready.as_ref(), keep) {
        // A link is in the way, in the place of which a folder comes first.
        Err(error)
            if Errno::from_io_error(&error) == Some(Errno::LOOP)
                && deed.place.ancestors().skip(1).any(|above| made.contains(above)) =>
        {
            PlaceSnapshot::nothing()
        }
        seen => seen.map_err(system)?,
    };
    if !is_expected(&deed.expected, &seen.state, seen.stat.as_ref()) {
        return Err(NotDone::Stale(deed.place.clone()));
    }
    if let FileAction::Rename(to) = &deed.action {
        let step = IntentStep::Move { from: path, to: PathText::from(to.as_path()) };
        return Ok((Some(step), seen.stat));
    }
    let Some(after) = after(deed, &seen, ready, keep).map_err(system)? else {
        return Ok((None, seen.stat));
    };
    let beside = Some(keep.name_beside());
    let step = IntentStep::Change { path, before: seen.state, after, beside };
    Ok((Some(step), seen.stat))
}

/// Returns what will be at the place of a deed; nothing when nothing is left to do.
fn after(
    deed: &FileMutation,
    seen: &PlaceSnapshot,
    ready: Option<Ready>,
    keep: &mut Keep<'_>,
) -> io::Result<Option<PathState>> {
    let (is_folder, is_link) =
        (matches!(seen.state, PathState::Folder { .. }), matches!(seen.state, PathState::Link { .. }));
    let knows = matches!(deed.expected, Precondition::Same(Fingerprint::Folder | Fingerprint::Link(_)));
    Ok(Some(match (&deed.action, ready) {
        // Another kind of thing is replaced only by who knows that it is there.
        (FileAction::Put(..), _) if is_folder && !knows => return Err(io::ErrorKind::IsADirectory.into()),
        (FileAction::Put(..), _) if is_link && !knows => return Err(Errno::LOOP.into()),
        (FileAction::Put(content, rights), _) => {
            let like_old = seen.state.rights().map(|old| Rights { mode: old.mode & NOT_AS_ANOTHER, ..old });
            let Rights { mode, owner } = rights.or(like_old).unwrap_or(Rights { mode: 0o644, owner: None });
            let (size, hash, content) = match content {
                NewContent::Bytes(bytes) => {
                    let hash = ContentHash::of(bytes);
                    (bytes.len() as u64, hash, snapshot::after(seen, hash, IncomingContent::Bytes(bytes), keep))
                }
                NewContent::Recorded(recorded) => {
                    let bytes = recorded.read()?;
                    let kept = snapshot::after(seen, recorded.hash, IncomingContent::Bytes(&bytes), keep);
                    (bytes.len() as u64, recorded.hash, kept)
                }
                NewContent::Object(hash, size) => (*size, *hash, ContentLocation::Object { hash: *hash }),
            };
            PathState::File { mode, size, hash, content, owner }
        }
        (FileAction::Bring(brought), Some(Ready { state, content })) => match (state, content) {
            // Undo leaves objects of git alone, and a redo may need them after the user's own `git gc` removed them.
            (PathState::File { mode, size, hash, owner, .. }, content)
                if seen.state == PathState::Absent && is_in_object_store(&deed.place) =>
            {
                let content = snapshot::object_of_git(brought, size, content.coming(), keep);
                PathState::File { mode, size, hash, content, owner }
            }
            (PathState::File { mode, size, hash, owner, .. }, content) => {
                let content =
                    content.coming().map_or(ContentLocation::No, |coming| snapshot::after(seen, hash, coming, keep));
                PathState::File { mode, size, hash, content, owner }
            }
            (state, _) => state,
        },
        (FileAction::Remove | FileAction::SetMode(_), _) if seen.state == PathState::Absent => {
            return Err(io::ErrorKind::NotFound.into());
        }
        (FileAction::Remove, _) => PathState::Absent,
        (FileAction::SetMode(mode), _) => seen.state.with_mode(*mode).ok_or(io::ErrorKind::InvalidInput)?,
        // Another program made it since, for its own use.
        (FileAction::MakeFolder(None), _) if is_folder => return Ok(None),
        (FileAction::MakeFolder(mode), _) => PathState::Folder { mode: mode.unwrap_or(0o755) },
        (FileAction::MakeLink(to), _) => PathState::Link { to: PathText::from(to.as_path()) },
        (FileAction::Rename(_) | FileAction::Bring(_) | FileAction::Tree(_), _) => return Ok(None),
    }))
}

/// Looks at the place of a deed, and keeps what is there where that will be gone.
fn looked(
    job: &TransactionContext<'_>,
    deed: &FileMutation,
    ready: Option<&Ready>,
    keep: &mut Keep<'_>,
) -> io::Result<PlaceSnapshot> {
    keep.large = match &deed.action {
        FileAction::Remove | FileAction::Bring(_) => Large::Linked,
        _ => Large::Copied,
    };
    match (&deed.action, &deed.expected) {
        // A move keeps everything; there is nothing to save, and a terabyte need not be read.
        (
            FileAction::Rename(_),
            Precondition::Anything | Precondition::Basis(ExpectedVersion::Nothing | ExpectedVersion::Stamped(_)),
        ) => snapshot::glance(job.root, &deed.place),
        (FileAction::Rename(_), Precondition::Same(_) | Precondition::Basis(ExpectedVersion::Read(_)))
        | (FileAction::SetMode(_), _) => snapshot::look(job.root, &deed.place),
        (FileAction::Put(NewContent::Bytes(new), _), _) => {
            snapshot::keep(job.root, &deed.place, Some(IncomingContent::Bytes(new)), keep)
        }
        (FileAction::Put(NewContent::Recorded(recorded), _), _) => {
            snapshot::keep(job.root, &deed.place, Some(IncomingContent::Bytes(&recorded.read()?)), keep)
        }
        (FileAction::Bring(_), _) => {
            let coming = ready.and_then(|ready| ready.content.coming());
            snapshot::keep(job.root, &deed.place, coming, keep)
        }
        _ => snapshot::keep(job.root, &deed.place, None, keep),
    }
}

fn is_expected(expected: &Precondition, before: &PathState, stat: Option<&Stat>) -> bool {
    match expected {
        Precondition::Anything => true,
        Precondition::Same(same) => *same == Fingerprint::from(before),
        Precondition::Basis(ExpectedVersion::Nothing) => *before == PathState::Absent,
        Precondition::Basis(ExpectedVersion::Stamped(stamp)) => stat.is_some_and(|stat| stamp_of(stat) == *stamp),
        Precondition::Basis(ExpectedVersion::Read(version)) => {
            // A mere touch is no change; another content with the same stamp would be.
            matches!(before, PathState::File { hash, .. } if hash.0 == version.content)
        }
    }
}

/// Opens new content.
pub(in crate::files) fn new(content: &NewContent, objects: &Objects) -> io::Result<ContentSource> {
    Ok(match content {
        NewContent::Bytes(bytes) => ContentSource::Bytes(bytes.clone()),
        NewContent::Recorded(recorded) => ContentSource::Bytes(recorded.read()?.into()),
        NewContent::Object(hash, _) => ContentSource::Kept(objects.open(*hash)?.checked(*hash)?),
    })
}

/// Returns the deeds that make the folders which are missing above a place.
pub(crate) fn missing_folders(root: &WorkspaceRoot, place: &Path) -> Vec<FileMutation> {
    let mut missing = Vec::new();
    let mut above = place.parent();
    while let Some(folder) = above.filter(|folder| !root.is_root(folder)) {
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
        if !matches!(root.open_place(folder, flags), Err(rustix::io::Errno::NOENT)) {
            break;
        }
        missing.push(FileMutation {
            place: folder.to_owned(),
            action: FileAction::MakeFolder(None),
            expected: Precondition::Anything,
        });
        above = folder.parent();
    }
    missing.reverse();
    missing
}
