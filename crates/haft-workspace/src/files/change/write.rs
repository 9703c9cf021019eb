//! Turns the permitted changes of a call into a transaction, and reports the outcome as the tools report it.

use std::io;
use std::path::Path;

use bytes::Bytes;
use haft_contract::doors::door::{
    ChangeSetId, FileKind, FileOp, FileOpResult, Permit, Provenance, ReadVersion, Receipt, Receipts,
};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::stamp::ExpectedVersion;
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::{Access, AtFlags, Stat};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::snapshot::LARGEST_KEPT;
use super::transaction::{
    self, FileAction, FileMutation, NewContent, NotDone, PartialTransaction, Precondition, TransactionContext,
    missing_folders,
};
use super::unwritable_dirs::Shut;
use crate::files::read::facts;
use crate::files::read::open::{WorkspaceRoot, open_error, outside};
use crate::files::read::owner::NOT_AS_ANOTHER;
use crate::files::{REMEMBERED, system_error};
use crate::state::journal::{ChangeAuthor, Journal, Rights};

/// Where something is changed, and what is permitted there.
type Grounds<'a> = (&'a WorkspaceRoot, &'a Permit);

/// A change that its permit admits.
pub(in crate::files) struct Write {
    deeds: Vec<FileMutation>,
    /// The targets with what happens to them, and which deed does it.
    changes: Vec<(Target, Change, usize)>,
    /// What each operation comes to, and which deed has its notes.
    ops: Vec<(Change, usize)>,
    errand: Provenance,
    agreed: Vec<Effect>,
    receipts: Receipts,
    stop: CancellationToken,
}

impl Write {
    /// Plans to make these changes, with the folders that are missing above new files.
    pub(in crate::files) fn admitted(root: &WorkspaceRoot, permit: &Permit, ops: &[FileOp]) -> Result<Self, ToolError> {
        let (deeds, changes) = Default::default();
        let (errand, agreed) = (permit.errand().clone(), permit.effects().to_vec());
        let (receipts, stop) = (permit.receipts().clone(), permit.stop().clone());
        let mut write = Self { deeds, changes, ops: Vec::new(), errand, agreed, receipts, stop };
        for op in ops {
            match op {
                FileOp::Put(target, content) => write.add_content((root, permit), target, content)?,
                FileOp::Remove(target) => write.add_removal((root, permit), target)?,
                FileOp::Rename(from, to) => write.add_rename((root, permit), from, to)?,
                FileOp::RenameAs(from, to, content) => {
                    write.add_renamed_content((root, permit), (from, to), content)?
                }
            }
        }
        Ok(write)
    }

    fn add_content(&mut self, (root, permit): Grounds<'_>, target: &Target, content: &Bytes) -> Result<(), ToolError> {
        let change = admitted_change(root, permit, target)?;
        refuse_root(root, target)?;
        refuse_write_protected(root, target)?;
        self.add_folders(root, target)?;
        self.ops.push((change, self.deeds.len()));
        self.add(permit, target, (change, FileAction::Put(NewContent::Bytes(content.clone()), None)))
    }

    fn add_removal(&mut self, (root, permit): Grounds<'_>, target: &Target) -> Result<(), ToolError> {
        refuse_root(root, target)?;
        permit.admit(&Effect::Change(target.clone(), Change::Remove))?;
        self.ops.push((Change::Remove, self.deeds.len()));
        self.add(permit, target, (Change::Remove, FileAction::Remove))
    }

    fn add_rename(&mut self, (root, permit): Grounds<'_>, from: &Target, to: &Target) -> Result<(), ToolError> {
        admit_rename((root, permit), from, to)?;
        self.add_folders(root, to)?;
        let deed = self.deeds.len();
        self.add(permit, from, (Change::Remove, FileAction::Rename(place_of(to)?.to_owned())))?;
        self.changes.push((to.clone(), Change::Create, deed));
        self.ops.push((Change::Create, deed));
        Ok(())
    }

    fn add_renamed_content(
        &mut self,
        (root, permit): Grounds<'_>,
        (from, to): (&Target, &Target),
        content: &Bytes,
    ) -> Result<(), ToolError> {
        admit_rename((root, permit), from, to)?;
        refuse_write_protected(root, from)?;
        self.add_folders(root, to)?;
        // As with a replaced file, new content does not run with the rights of its owner.
        let rights = stat_of(root, from)?.map(|stat| Rights { mode: stat.st_mode & NOT_AS_ANOTHER, owner: None });
        self.ops.push((Change::Create, self.deeds.len()));
        self.add(permit, to, (Change::Create, FileAction::Put(NewContent::Bytes(content.clone()), rights)))?;
        self.add(permit, from, (Change::Remove, FileAction::Remove))
    }

    /// Adds the folders that are missing above a target, each once.
    fn add_folders(&mut self, root: &WorkspaceRoot, target: &Target) -> Result<(), ToolError> {
        for folder in missing_folders(root, place_of(target)?) {
            if self.deeds.iter().all(|known| known.place != folder.place) {
                self.deeds.push(folder);
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        permit: &Permit,
        target: &Target,
        (change, action): (Change, FileAction),
    ) -> Result<(), ToolError> {
        // What this very call has changed before is what it expects now.
        let changed_before = permit.receipts().so_far().into_iter().rev().find_map(|receipt| match receipt {
            Receipt::Read(known, version) if known == *target => Some(ExpectedVersion::Stamped(version.stamp)),
            Receipt::Read(..) | Receipt::Changed(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => {
                None
            }
        });
        let has_changed = permit.receipts().change_set().is_some();
        let found = changed_before.filter(|_| has_changed).or_else(|| permit.basis(target));
        let expected = found.map_or(Precondition::Anything, Precondition::Basis);
        self.changes.push((target.clone(), change, self.deeds.len()));
        self.deeds.push(FileMutation { place: place_of(target)?.to_owned(), action, expected });
        Ok(())
    }

    /// Does it, and notes it the moment it is done.
    pub(in crate::files) fn commit(
        self,
        root: &WorkspaceRoot,
        journal: &Journal,
    ) -> Result<Vec<FileOpResult>, ToolError> {
        let Self { errand, agreed, receipts, stop, .. } = &self;
        if stop.is_cancelled() {
            return Err(stopped());
        }
        let set = receipts.change_set().map(|ChangeSetId(number)| number);
        let is_stopped = || stop.is_cancelled();
        let plants = |_: &Path, repository: &Path| {
            let planted = Effect::PlantRepository(Target::Inside(FileLocation::new(repository, Extent::Entry)));
            agreed.iter().any(|agreed| agreed.covers(&planted))
        };
        let (by, shut, stopped, plants) = (ChangeAuthor::from(errand), Shut::Stays, &is_stopped, &plants);
        let old_changes = errand.old_changes;
        let job = TransactionContext { root, journal, by, set, takes_back: None, shut, stopped, old_changes, plants };
        let done = transaction::commit(&job, &self.deeds).map_err(|not_done| {
            if let NotDone::Standing(standing) = &not_done {
                self.note_standing(standing, receipts);
            }
            self.told(not_done)
        })?;
        receipts.note_change_set(ChangeSetId(done.set));
        for (target, change, deed) in &self.changes {
            receipts.note(Receipt::Changed(target.clone(), *change));
            self.note_read(root, (target, *deed), receipts);
        }
        let notes = |deed: usize| done.notes.get(deed).cloned().unwrap_or_default();
        let mut written: Vec<FileOpResult> =
            self.ops.iter().map(|(change, deed)| FileOpResult { change: *change, notes: notes(*deed) }).collect();
        if let Some(last) = written.last_mut() {
            last.notes.extend(done.loss());
        }
        Ok(written)
    }

    /// Notes what was changed all the same, folders that were made for it too.
    fn note_standing(&self, standing: &PartialTransaction, receipts: &Receipts) {
        receipts.note_change_set(ChangeSetId(standing.set));
        for place in &standing.places {
            let planned = self.changes.iter().find(|(target, ..)| target.place().path() == place);
            receipts.note(match planned {
                Some((target, change, _)) => Receipt::Changed(target.clone(), *change),
                None => Receipt::Changed(Target::Inside(FileLocation::new(place, Extent::Entry)), Change::Create),
            });
        }
    }

    /// Notes that the writer of a file knows its content.
    fn note_read(&self, root: &WorkspaceRoot, (target, deed): (&Target, usize), receipts: &Receipts) {
        let FileAction::Put(NewContent::Bytes(bytes), _) = &self.deeds[deed].action else { return };
        if let Some(stamp) = facts::stamp(root, target) {
            let bytes = Some(bytes.clone()).filter(|bytes| bytes.len() as u64 <= REMEMBERED);
            receipts.note(Receipt::Read(target.clone(), ReadVersion { stamp, bytes, left: None }));
        }
    }

    fn told(&self, not_done: NotDone) -> ToolError {
        let target_of = |place: &Path| {
            let at = |(target, _, _): &&(Target, Change, usize)| target.place().path() == place;
            self.changes.iter().find(at).map_or_else(|| place.display().to_string(), |(target, ..)| target.to_string())
        };
        match not_done {
            NotDone::Stopped => stopped(),
            NotDone::Stale(place) => stale(&target_of(&place)),
            NotDone::Journal(error) => not_journalled(&error),
            NotDone::System(place, error) => not_written(error, &target_of(&place), self),
            NotDone::Plants { place, repository } => plants_repository(&target_of(&place), &repository),
            NotDone::Standing(standing) => stands(&standing),
        }
    }
}

/// The error for a change that would plant a repository since another call added the rest of it.
fn plants_repository(path: &str, repository: &Path) -> ToolError {
    let repository = Target::Inside(FileLocation::new(repository, Extent::Entry));
    let what = format!(
        "{repository} changed after the call was planned: with {path}, git would treat it as a repository whose settings \
         and hooks run programs. Nothing was changed."
    );
    let next = Next::FixArguments("send the call again, so that the user is asked, or write to another folder".into());
    ToolError::new(ErrorKind::Stale, what, next).about_file(path, FailedOperation::Write)
}

/// Says what writing a target is. When it has appeared or gone since the plan, that is stale and no defect of the tool.
fn admitted_change(root: &WorkspaceRoot, permit: &Permit, target: &Target) -> Result<Change, ToolError> {
    let has_changed = permit.receipts().change_set().is_some();
    let exists = match permit.basis(target).filter(|_| !has_changed) {
        Some(basis) => basis != ExpectedVersion::Nothing,
        None => facts::stamp(root, target).is_some(),
    };
    let (change, other) = if exists { (Change::Replace, Change::Create) } else { (Change::Create, Change::Replace) };
    let admitted = permit.admit(&Effect::Change(target.clone(), change));
    // A plan looks more than once, and the file may come and go between its looks.
    if admitted.is_err() && permit.admit(&Effect::Change(target.clone(), other)).is_ok() {
        return Err(stale(&target.to_string()));
    }
    admitted.map(|()| change)
}

/// A file that may not be written is not replaced either, though the folder would let us.
fn refuse_write_protected(root: &WorkspaceRoot, target: &Target) -> Result<(), ToolError> {
    let Ok((folder, name)) = root.open_parent(place_of(target)?) else { return Ok(()) };
    let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
    let is_file = facts::kind_of(&stat) == FileKind::File;
    let access = rustix::fs::accessat(&folder, name, Access::WRITE_OK, AtFlags::empty());
    // For the one who may everything, the bits say what is meant. A disk that cannot be written has its own words.
    let may_write = stat.st_mode & 0o222 != 0 && !matches!(access, Err(Errno::ACCESS | Errno::PERM));
    if !is_file || may_write {
        return Ok(());
    }
    let what = format!("{target} is write-protected (mode {:o}). It was not touched.", stat.st_mode & 0o7777);
    let next = Next::AskUser("ask the user to allow writing to it, or write to another file".into());
    Err(ToolError::new(ErrorKind::Permission, what, next).about_file(target.to_string(), FailedOperation::Write))
}

/// Refuses to give something another name that is the root, holds what is off limits, or is not planned to be renamed.
fn admit_rename((root, permit): Grounds<'_>, from: &Target, to: &Target) -> Result<(), ToolError> {
    refuse_root(root, from)?;
    refuse_root(root, to)?;
    if root.holds_off_limits(place_of(from)?) {
        return Err(outside(from));
    }
    permit.admit(&Effect::Change(from.clone(), Change::Remove))?;
    permit.admit(&Effect::Change(to.clone(), Change::Create))
}

fn refuse_root(root: &WorkspaceRoot, target: &Target) -> Result<(), ToolError> {
    if root.is_root(place_of(target)?) { Err(the_root()) } else { Ok(()) }
}

fn stat_of(root: &WorkspaceRoot, target: &Target) -> Result<Option<Stat>, ToolError> {
    let Ok((folder, name)) = root.open_parent(place_of(target)?) else { return Ok(None) };
    Ok(rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok())
}

fn place_of(target: &Target) -> Result<&Path, ToolError> {
    match target {
        Target::Inside(place) => Ok(place.path()),
        Target::Outside(_) => Err(outside(target)),
    }
}

pub(in crate::files) fn stopped() -> ToolError {
    ToolError::of(ErrorKind::Cancelled, "The call was stopped.")
}

/// The error for a file that is not any more what the call was planned with.
fn stale(path: &str) -> ToolError {
    let what = format!("{path} changed after the call was planned. It was not touched.");
    ToolError::of(ErrorKind::Stale, what).about_file(path, FailedOperation::Write)
}

fn the_root() -> ToolError {
    ToolError::new(
        ErrorKind::Denied,
        "The root of the workspace itself is never written, moved or removed.",
        Next::FixArguments("name a file or folder in it".into()),
    )
    .by_rule("the root stays")
}

pub(in crate::files) fn not_journalled(error: &io::Error) -> ToolError {
    let what = format!("The content to replace could not be kept for undo ({error}), so nothing was changed.");
    let next = match error.kind() {
        io::ErrorKind::ResourceBusy => {
            Next::RetryAfter(std::time::Duration::from_secs(5), "wait until the other haft is done".into())
        }
        io::ErrorKind::StorageFull => Next::AskUser("ask the user to free some space".into()),
        _ => Next::AskUser("ask the user to look at haft's state folder: \"haft doctor\" names it".into()),
    };
    // The words of the error are in ours already.
    ToolError::new(ErrorKind::Io, what, next)
}

/// The error for a change that failed and could not be taken back either.
pub(in crate::files) fn stands(PartialTransaction { set, cause, .. }: &PartialTransaction) -> ToolError {
    let what = format!(
        "The change failed ({cause}), and the part that was done could not be undone. It remains, and the journal has \
         it as change set {set}."
    );
    let next = format!("ask the user to check the disk, and then to undo the change: \"haft undo {set}\"");
    ToolError::new(ErrorKind::Io, what, Next::AskUser(next))
}

fn too_large(path: &str) -> ToolError {
    let most = LARGEST_KEPT / 1024 / 1024 / 1024;
    let what = format!("{path} has more than {most} GiB, which could not be kept for undo. It was not touched.");
    let next = Next::AskUser("ask the user to remove it, or give the new content another name".into());
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, FailedOperation::Write)
}

fn not_written(error: io::Error, path: &str, write: &Write) -> ToolError {
    let target = write.changes.iter().map(|(target, ..)| target).find(|target| target.to_string() == path);
    let errno = rustix::io::Errno::from_io_error(&error);
    match (error.kind(), errno, target) {
        (io::ErrorKind::IsADirectory, ..) => {
            ToolError::of(ErrorKind::IsFolder, format!("{path} is a folder.")).about_file(path, FailedOperation::Write)
        }
        (io::ErrorKind::NotADirectory, ..) => {
            let what = format!("{path} cannot be there: a part of that path is a file, not a folder.");
            ToolError::of(ErrorKind::NotAFolder, what).about_file(path, FailedOperation::Write)
        }
        (io::ErrorKind::InvalidInput, None, _) => facts::special(path),
        (io::ErrorKind::FileTooLarge, None, _) => too_large(path),
        (io::ErrorKind::DirectoryNotEmpty, ..) => {
            let next = Next::LookFirst { tool: "list_dir".into(), at: path.to_owned() };
            ToolError::new(ErrorKind::Failed, format!("{path} is not empty, so it was not removed."), next)
        }
        (io::ErrorKind::ReadOnlyFilesystem, ..) => ToolError::new(
            ErrorKind::Permission,
            format!("{path} is on a read-only disk. Nothing was changed."),
            Next::AskUser("ask the user, or write somewhere else".into()),
        )
        .about_file(path, FailedOperation::Write),
        (_, Some(errno @ (rustix::io::Errno::LOOP | rustix::io::Errno::XDEV)), Some(target)) => {
            open_error(errno, target)
        }
        _ => system_error(error, path, FailedOperation::Write),
    }
}
