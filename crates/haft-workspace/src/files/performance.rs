//! Does what a transaction has prepared: new contents are written beside first, then everything is put in place.
//!
//! Between the two the journal is synced: what files were must be safe before they change, and after
//! the new contents it costs less. Whatever goes wrong, everything done before is taken back.

use std::io;
use std::path::Path;

use super::image;
use super::replace::{self, Spot, Staged, Trouble};
use super::step_back::{Images, take_back};
use super::transaction::{Action, Deed, Job, NotDone, Prepared, new};
use crate::state::journal::{State, Step, Writing};

/// Most folders that are held open at once; a process may often open no more than 1024 files.
const MOST_HELD: usize = 64;

/// All deeds of a transaction, with what was seen at their places.
pub(super) struct Performance<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) deeds: &'a [Deed],
    pub(super) prepared: &'a [Prepared],
    pub(super) inline: &'a [u8],
}

/// Why it was not done, and what stands of it all the same.
pub(super) struct Failed {
    pub(super) cause: NotDone,
    /// The steps that were done and could not be taken back, by their place in the intent.
    pub(super) standing: Vec<usize>,
}

impl From<NotDone> for Failed {
    fn from(cause: NotDone) -> Self {
        Self { cause, standing: Vec::new() }
    }
}

impl Performance<'_> {
    /// Does all of it, and returns what is worth knowing of each deed.
    pub(super) fn all(&self, writing: &mut Writing<'_>) -> Result<Vec<Vec<String>>, Failed> {
        let makes_folders = self.deeds.iter().any(|deed| matches!(deed.action, Action::MakeFolder(_)));
        // What lies in a new folder can only be written once that is there.
        let mut staged = if makes_folders { Vec::new() } else { self.stage_all()? };
        if let Err(error) = writing.sync() {
            self.unstage(&staged, 0);
            return Err(NotDone::Journal(error).into());
        }
        let mut notes = Vec::new();
        for (index, deed) in self.deeds.iter().enumerate() {
            let done = if makes_folders { self.stage(index).map(|one| staged.push(one)) } else { Ok(()) }
                .and_then(|()| self.put_in_place(index, staged[index].as_ref()));
            if let Err(trouble) = done {
                let standing = self.take_back(index, &trouble);
                self.unstage(&staged, index + 1);
                return Err(Failed { cause: trouble.at(&deed.place), standing });
            }
            notes.push(staged[index].as_ref().map(|staged| staged.notes.clone()).unwrap_or_default());
        }
        Ok(notes)
    }

    fn stage_all(&self) -> Result<Vec<Option<Staged>>, NotDone> {
        let mut staged = Vec::new();
        for (index, deed) in self.deeds.iter().enumerate() {
            match self.stage(index) {
                Ok(one) => staged.push(one),
                Err(trouble) => {
                    self.unstage(&staged, 0);
                    return Err(trouble.at(&deed.place));
                }
            }
        }
        Ok(staged)
    }

    fn stage(&self, index: usize) -> Result<Option<Staged>, Trouble> {
        let Action::Put(content, rights) = &self.deeds[index].action else { return Ok(None) };
        let mut staged = replace::stage(&self.spot(index), new(content, &self.job.journal.objects())?, *rights)?;
        if index >= MOST_HELD {
            staged.let_go();
        }
        Ok(Some(staged))
    }

    /// Removes new contents that were not put in their places, from this deed on.
    fn unstage(&self, staged: &[Option<Staged>], from: usize) {
        for (index, one) in staged.iter().enumerate().skip(from) {
            if let Some(one) = one {
                replace::unstage(&self.spot(index), one);
            }
        }
    }

    /// Takes back what was done, up to the deed that failed; returns the steps that stand all the same.
    fn take_back(&self, failed: usize, trouble: &Trouble) -> Vec<usize> {
        let inline = |at, length| slice(self.inline, at, length);
        let images = Images { inline: &inline, objects: self.job.journal.objects() };
        // Where the system said no, the thing may be in place all the same: a failed sync comes last.
        let is_done = matches!(trouble, Trouble::System(_)) && self.may_be_in_place(failed);
        let tried = &self.prepared[..if is_done { failed + 1 } else { failed }];
        let steps: Vec<&Step> = tried.iter().filter_map(|tried| tried.step.as_ref()).collect();
        take_back(self.job.root, &steps, &images)
    }

    fn may_be_in_place(&self, index: usize) -> bool {
        let Prepared { step, stat } = &self.prepared[index];
        match step {
            None => false,
            Some(Step::Change { path, after, .. }) => {
                image::look(self.job.root, &path.path()).map_or(true, |seen| seen.state.is_same_content(after))
            }
            Some(Step::Move { to, .. }) => {
                let there = image::glance(self.job.root, &to.path()).ok().and_then(|seen| seen.stat);
                let both = there.as_ref().zip(stat.as_ref());
                both.is_some_and(|(there, moved)| (there.st_dev, there.st_ino) == (moved.st_dev, moved.st_ino))
            }
        }
    }

    fn spot(&self, index: usize) -> Spot<'_> {
        let Prepared { step, stat } = &self.prepared[index];
        let beside = match step {
            Some(Step::Change { beside: Some(beside), .. }) => beside.as_str(),
            Some(Step::Change { beside: None, .. } | Step::Move { .. }) | None => "",
        };
        Spot { root: self.job.root, place: &self.deeds[index].place, beside, seen: stat.as_ref() }
    }

    fn put_in_place(&self, index: usize, staged: Option<&Staged>) -> Result<(), Trouble> {
        let (root, deed) = (self.job.root, &self.deeds[index]);
        let before = match (&self.prepared[index].step, &deed.action) {
            (None, _) => return Ok(()),
            (Some(Step::Change { before, .. }), _) => before,
            (Some(Step::Move { .. }), Action::Rename(to)) => return replace::rename(root, &deed.place, to),
            (Some(Step::Move { .. }), _) => return Err(Trouble::Overtaken),
        };
        let spot = self.spot(index);
        match (&deed.action, before, staged) {
            (Action::Put(..), _, Some(staged)) => replace::place(&spot, staged),
            (Action::Remove, State::Folder { .. }, _) => replace::remove_folder(root, &deed.place),
            (Action::Remove, ..) => replace::take_away(&spot),
            (Action::MakeFolder(mode), State::Absent, _) => replace::make_folder(&spot, *mode),
            (Action::MakeLink(to), State::Absent, _) => replace::make_link(root, &deed.place, to),
            (Action::Put(..) | Action::MakeFolder(_) | Action::MakeLink(_) | Action::Rename(_), ..) => {
                Err(Trouble::Overtaken)
            }
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

fn slice(inline: &[u8], at: u32, length: u32) -> io::Result<Vec<u8>> {
    let (at, length) = (at as usize, length as usize);
    inline.get(at..at + length).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
