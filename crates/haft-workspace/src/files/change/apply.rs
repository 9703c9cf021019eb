//! Performs a prepared transaction: writes new contents beside their places first, then puts everything in place.
//!
//! Between the two, haft syncs the journal: the old contents must be safe before the files change, and a sync after the new
//! contents costs less. If anything fails, haft reverts everything done before.
//!
//! A few deeds are synced one by one. For many deeds, haft syncs their file systems as a whole: once when all new contents
//! are ready, and once when everything is in place.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::bring::LayerEntry;
use super::durable::{sync_contents, sync_folders};
use super::replace::{self, ReplaceTarget, StagedEntry, StagingMove, Syncing, Travel, Trouble};
use super::snapshot;
use super::step_back::{Back, Images, folders_of, take_back};
use super::transaction::{FileAction, FileMutation, NotDone, PreparedMutation, TransactionContext, made_folders, new};
use super::unwritable_dirs::ShutFolders;
use crate::files::searching::order::{WORKABLE, is_workable};
use crate::files::structure;
use crate::files::tree;
use crate::files::tree::{ExchangeProgress, TreeChange, TreeStores};
use crate::state::journal::{InlineContents, IntentStep, JournalWriter, PathState};

/// The most folders that are kept open together; a process may often open no more than 1024 files.
const MOST_HELD: usize = 64;

/// All deeds of a transaction, with what was seen at their places.
pub(in crate::files) struct Performance<'a> {
    pub(in crate::files) job: &'a TransactionContext<'a>,
    pub(in crate::files) deeds: &'a [FileMutation],
    pub(in crate::files) prepared: &'a [PreparedMutation],
    /// The steps of the intent.
    pub(in crate::files) steps: &'a [IntentStep],
    pub(in crate::files) inline: &'a InlineContents,
    pub(in crate::files) syncing: Syncing,
    /// Whether contents were kept beside the journal.
    pub(in crate::files) has_kept: bool,
    /// Whether what comes from a layer can be moved, as far as that was tried.
    pub(in crate::files) moves: Cell<StagingMove>,
    /// The folders that are opened for it.
    pub(in crate::files) shut: &'a ShutFolders,
}

/// The reason why a transaction failed, and the steps of it that stand all the same.
pub(in crate::files) struct TransactionFailure {
    pub(in crate::files) cause: NotDone,
    /// The steps that were done and could not be taken back, by their place in the intent.
    pub(in crate::files) standing: Vec<usize>,
}

impl From<NotDone> for TransactionFailure {
    fn from(cause: NotDone) -> Self {
        Self { cause, standing: Vec::new() }
    }
}

impl Performance<'_> {
    /// Does all of it, and returns what is worth knowing of each deed.
    pub(in crate::files) fn all(
        &self,
        writing: &mut JournalWriter<'_>,
    ) -> Result<Vec<Vec<String>>, TransactionFailure> {
        if self.shut.opened.is_empty() {
            return self.all_in_open_folders(writing);
        }
        writing.sync().map_err(NotDone::Journal)?;
        let opened = self.shut.open(self.job.root).map_err(|(place, error)| NotDone::System(place, error).into());
        #[cfg(test)]
        super::crash_points::point();
        let done = opened.and_then(|()| self.all_in_open_folders(writing));
        self.shut.close(self.job.root);
        done
    }

    fn all_in_open_folders(&self, writing: &mut JournalWriter<'_>) -> Result<Vec<Vec<String>>, TransactionFailure> {
        let mut staged: Vec<Option<Box<StagedEntry>>> = self.deeds.iter().map(|_| None).collect();
        let ready = self.stage_from(0, &mut staged).and_then(|()| self.sync_ready(&staged));
        if let Err(cause) = ready.and_then(|()| writing.sync().map_err(NotDone::Journal)) {
            self.unstage(&staged, 0);
            return Err(cause.into());
        }
        let mut notes: Vec<Vec<String>> = Vec::with_capacity(self.deeds.len());
        for index in 0..self.deeds.len() {
            notes.push(self.one(index, &mut staged)?);
        }
        if let Err((place, error)) = self.narrow_folders().and_then(|()| self.sync_places()) {
            let standing = self.take_back_first(self.deeds.len());
            return Err(TransactionFailure { cause: NotDone::System(place, error), standing });
        }
        Ok(notes)
    }

    /// Does one deed; when it fails, everything before it is taken back.
    fn one(&self, index: usize, staged: &mut [Option<Box<StagedEntry>>]) -> Result<Vec<String>, TransactionFailure> {
        if staged[index].is_none() && self.has_content(index) {
            let ready = self.stage_from(index, staged).and_then(|()| self.sync_ready(staged));
            if let Err(cause) = ready {
                self.unstage(staged, index);
                return Err(TransactionFailure { cause, standing: self.take_back_first(index) });
            }
        }
        #[cfg(test)]
        super::crash_points::point();
        let placed = self.put_in_place(index, staged[index].as_deref()).map_err(|trouble| {
            // It may lie in folders that are taken back.
            self.unstage(staged, index);
            let standing = self.take_back(index, &trouble);
            TransactionFailure { cause: trouble.at(&self.deeds[index].place), standing }
        });
        let mut notes = placed?;
        // Nothing of it is needed any more, and there may be many.
        notes.extend(staged[index].take().map(|placed| placed.notes).unwrap_or_default());
        Ok(notes)
    }

    fn has_content(&self, index: usize) -> bool {
        matches!(self.deeds[index].action, FileAction::Put(..) | FileAction::Bring(_)) && !self.comes_directly(index)
    }

    /// Returns whether something can come from its layer without a stay beside: where one could, and all are synced.
    fn comes_directly(&self, index: usize) -> bool {
        let is_new = self.prepared[index].stat.is_none();
        let is_tried = self.syncing == Syncing::Together && self.moves.get() == StagingMove::Yes;
        is_new && is_tried && self.deeds[index].brought().is_some()
    }

    /// Writes new contents beside their places, from this deed on, but for what comes into folders that are not there
    /// yet.
    fn stage_from(&self, first: usize, staged: &mut [Option<Box<StagedEntry>>]) -> Result<(), NotDone> {
        let coming = made_folders(&self.deeds[first..]);
        for (index, one) in staged.iter_mut().enumerate().skip(first) {
            let place = &self.deeds[index].place;
            let is_later = !coming.is_empty() && place.ancestors().skip(1).any(|folder| coming.contains(folder));
            if one.is_some() || !self.has_content(index) || is_later {
                continue;
            }
            *one = self.stage(index).map_err(|trouble| trouble.at(place))?;
            #[cfg(test)]
            super::crash_points::point();
        }
        Ok(())
    }

    fn stage(&self, index: usize) -> Result<Option<Box<StagedEntry>>, Trouble> {
        let spot = self.spot(index);
        let mut staged = match &self.deeds[index].action {
            FileAction::Put(content, rights) => {
                replace::stage(&spot, new(content, &self.job.journal.objects())?, *rights)?
            }
            FileAction::Bring(brought) => {
                let staged = replace::stage_brought(&spot, brought)?;
                self.moves.set(staged.moved);
                staged
            }
            _ => return Ok(None),
        };
        if index >= MOST_HELD {
            staged.let_go();
        }
        Ok(Some(Box::new(staged)))
    }

    /// Makes everything that lies ready outlive a power cut, and what was kept.
    fn sync_ready(&self, staged: &[Option<Box<StagedEntry>>]) -> Result<(), NotDone> {
        if self.syncing == Syncing::Each {
            return Ok(());
        }
        let places = self.deeds.iter().map(|deed| deed.place.as_path());
        let ready = places.zip(staged).filter_map(|(place, staged)| Some((place, staged.as_deref()?)));
        let synced = sync_contents(self.job.root, ready).map_err(|(place, error)| NotDone::System(place, error))?;
        let objects = self.job.journal.objects();
        if self.has_kept && objects.device().is_none_or(|device| !synced.contains(&device)) {
            objects.sync().map_err(NotDone::Journal)?;
        }
        Ok(())
    }

    /// Gives new folders the modes in which nothing more can be done in them.
    fn narrow_folders(&self) -> Result<(), (PathBuf, io::Error)> {
        #[cfg(test)]
        super::crash_points::point();
        for deed in self.deeds.iter().rev() {
            let FileAction::MakeFolder(Some(mode)) = deed.action else { continue };
            if !is_workable(mode) {
                structure::narrow(self.job.root, &deed.place, mode).map_err(|error| (deed.place.clone(), error))?;
            }
        }
        Ok(())
    }

    /// Makes what was put in place outlive a power cut.
    fn sync_places(&self) -> Result<(), (PathBuf, io::Error)> {
        if self.syncing == Syncing::Each {
            return Ok(());
        }
        let mut folders = BTreeSet::new();
        for step in self.steps {
            folders.extend(folders_of(step));
        }
        sync_folders(self.job.root, &folders)
    }

    /// Removes new contents that were not put in their places, from this deed on.
    fn unstage(&self, staged: &[Option<Box<StagedEntry>>], from: usize) {
        for (index, one) in staged.iter().enumerate().skip(from) {
            if let Some(one) = one {
                replace::unstage(&self.spot(index), one);
            }
        }
    }

    /// Takes back what was done, up to the deed that failed; returns the steps that stand all the same.
    fn take_back(&self, failed: usize, trouble: &Trouble) -> Vec<usize> {
        // Where the system said no, the thing may be in place all the same: a failed sync comes last.
        let is_done = matches!(trouble, Trouble::System(_)) && self.may_be_in_place(failed);
        self.take_back_first(if is_done { failed + 1 } else { failed })
    }

    /// Takes back the first so many deeds; returns the steps that stand all the same.
    fn take_back_first(&self, count: usize) -> Vec<usize> {
        let inline = |at, length| self.inline.read(at, length);
        let images = Images { inline: &inline, objects: self.job.journal.objects(), stores: self.stores() };
        let tried = self.deeds.iter().zip(self.prepared).take(count);
        let steps: Vec<Back<'_>> = tried
            .filter_map(|(deed, prepared)| {
                Some(Back { step: &self.steps[prepared.step?], brought: deed.brought(), tree: deed.tree() })
            })
            .collect();
        take_back(self.job.root, &steps, &images)
    }

    fn step(&self, index: usize) -> Option<&IntentStep> {
        self.prepared[index].step.map(|step| &self.steps[step])
    }

    fn may_be_in_place(&self, index: usize) -> bool {
        let stat = &self.prepared[index].stat;
        match self.step(index) {
            None => false,
            Some(IntentStep::Change { path, after, .. }) => {
                let is_there = |seen: snapshot::PlaceSnapshot| seen.state.is_same_content(after);
                snapshot::look(self.job.root, &path.path()).map_or(true, is_there)
            }
            Some(IntentStep::Tree { path, tree }) => {
                tree::progress(self.job.root, &self.stores(), (&path.path(), tree)) != ExchangeProgress::None
            }
            Some(IntentStep::Move { to, .. }) => {
                let there = snapshot::glance(self.job.root, &to.path()).ok().and_then(|seen| seen.stat);
                let both = there.as_ref().zip(stat.as_deref());
                both.is_some_and(|(there, moved)| (there.st_dev, there.st_ino) == (moved.st_dev, moved.st_ino))
            }
        }
    }

    fn spot(&self, index: usize) -> ReplaceTarget<'_> {
        let stat = &self.prepared[index].stat;
        let beside = match self.step(index) {
            Some(IntentStep::Change { beside: Some(beside), .. }) => beside,
            Some(IntentStep::Change { beside: None, .. } | IntentStep::Move { .. } | IntentStep::Tree { .. })
            | None => "",
        };
        let deed = &self.deeds[index];
        let travel = deed.brought().map_or(Travel::Nothing, Travel::Comes);
        let (root, place, syncing) = (self.job.root, deed.place.as_path(), self.syncing);
        ReplaceTarget { root, place, beside, seen: stat.as_deref(), travel, syncing }
    }

    /// Does one deed; returns what is worth knowing of it.
    fn put_in_place(&self, index: usize, staged: Option<&StagedEntry>) -> Result<Vec<String>, Trouble> {
        let deed = &self.deeds[index];
        if let FileAction::Tree(change) = &deed.action {
            return change.perform(self.job.root, &self.stores(), &deed.place);
        }
        self.put_entry_in_place(index, staged).map(|()| Vec::new())
    }

    fn stores(&self) -> TreeStores {
        TreeStores::of(self.job.journal)
    }

    fn put_entry_in_place(&self, index: usize, staged: Option<&StagedEntry>) -> Result<(), Trouble> {
        let deed = &self.deeds[index];
        let spot = self.spot(index);
        let before = match (self.step(index), &deed.action) {
            (None, _) => return Ok(()),
            (Some(IntentStep::Tree { .. }), _) => return Err(Trouble::Overtaken),
            (Some(IntentStep::Change { before, .. }), _) => before,
            (Some(IntentStep::Move { .. }), FileAction::Rename(to)) => return structure::rename(&spot, to),
            (Some(IntentStep::Move { .. }), _) => return Err(Trouble::Overtaken),
        };
        match (&deed.action, before, staged) {
            (FileAction::Put(..) | FileAction::Bring(_), _, Some(staged)) => replace::place(&spot, staged),
            (FileAction::Bring(brought), PathState::Absent, None) => replace::bring_directly(&spot, brought),
            (FileAction::Remove, PathState::Folder { .. }, _) => structure::remove_folder(&spot),
            (FileAction::Remove, ..) => replace::take_away(&spot),
            (FileAction::SetMode(mode), ..) if self.shut.opened.contains_key(spot.place) => {
                structure::shut(&spot, *mode)
            }
            (FileAction::SetMode(mode), ..) => structure::set_mode(&spot, *mode),
            (FileAction::MakeFolder(_), PathState::Folder { .. }, _) => Err(Trouble::Overtaken),
            (FileAction::MakeFolder(mode), ..) => structure::make_folder(&spot, mode.map(|mode| mode | WORKABLE)),
            (FileAction::MakeLink(to), ..) => structure::make_link(&spot, to),
            (FileAction::Put(..) | FileAction::Bring(_) | FileAction::Rename(_) | FileAction::Tree(_), ..) => {
                Err(Trouble::Overtaken)
            }
        }
    }
}

impl FileMutation {
    fn tree(&self) -> Option<&TreeChange> {
        match &self.action {
            FileAction::Tree(change) => Some(change),
            _ => None,
        }
    }

    fn brought(&self) -> Option<&LayerEntry> {
        match &self.action {
            FileAction::Bring(brought) => Some(brought),
            _ => None,
        }
    }
}

impl Trouble {
    fn at(self, place: &Path) -> NotDone {
        match self {
            Trouble::Overtaken => NotDone::Stale(place.to_owned()),
            Trouble::System(error) => NotDone::System(place.to_owned(), error),
        }
    }
}
