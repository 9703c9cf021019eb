//! Finds what others committed while a command ran, and merges it with the command's changes.
//!
//! The journal has every version that haft has replaced since the command began. The command's own version was made from one
//! of them. If all versions that fit give the same text, the workspace gets it. Everything else stays a clash.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use haft_contract::text::merge::merge_among;
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};

use super::settle::Settling;
use crate::files::layer::difference::{Below, Clash, Comes, LayerChange, NewFile};
use crate::files::layer::judging::judge::{JudgedDifference, repository_of};
use crate::files::read::open::open_beneath;
use crate::files::read::owner;
use crate::state::journal::{
    ContentHash, ContentLocation, Inline, Intent, IntentStep, Journal, JournalSnapshot, Mark, Objects, PathState,
};

/// Larger texts are not merged, in bytes.
const LARGEST: u64 = 8 * 1024 * 1024;

/// What others committed since a mark.
pub(in crate::files::layer) struct Meanwhile {
    reading: JournalSnapshot,
    objects: Objects,
}

impl Meanwhile {
    /// Reads it; returns nothing if there were no other commits.
    pub(in crate::files::layer) fn of(journal: &Journal, mark: Mark, own: &[u64]) -> Option<Self> {
        if journal.mark() == mark {
            return None;
        }
        let mut reading = journal.read_behind(mark).ok()?;
        let outcomes: Vec<bool> =
            reading.intents.iter().map(|(intent, _)| reading.outcome(intent) != Some(false)).collect();
        let mut outcomes = outcomes.into_iter();
        reading.intents.retain(|(intent, _)| outcomes.next() == Some(true) && !own.contains(&intent.set));
        (!reading.intents.is_empty()).then(|| Self { reading, objects: journal.objects() })
    }

    /// Returns the change sets.
    pub(in crate::files::layer) fn sets(&self) -> Vec<u64> {
        let mut sets: Vec<u64> = self.reading.intents.iter().map(|(intent, _)| intent.set).collect();
        sets.dedup();
        sets
    }

    /// Returns the last change set that changed a place.
    pub(in crate::files::layer) fn last_of(&self, place: &Path) -> Option<u64> {
        self.steps_at(place).last().map(|(intent, ..)| intent.set)
    }

    /// Returns what was at a place before each of the changes, as far as it is kept.
    fn versions(&self, place: &Path) -> Vec<Vec<u8>> {
        let mut versions: Vec<Vec<u8>> =
            self.steps_at(place).filter_map(|(_, before, inline)| self.content(before, inline)).collect();
        versions.dedup();
        versions
    }

    /// Returns whether one of the changes created the file at a place, by adding to it.
    fn was_begun_by_adding(&self, place: &Path) -> bool {
        self.steps_at(place).any(|(intent, before, _)| {
            *before == PathState::Absent && intent.by.command.as_deref().is_some_and(|command| adds_to(command, place))
        })
    }

    fn steps_at<'a>(&'a self, place: &'a Path) -> impl Iterator<Item = (&'a Intent, &'a PathState, Inline)> {
        self.reading.intents.iter().flat_map(move |(intent, inline)| {
            intent.steps.iter().filter_map(move |step| match step {
                IntentStep::Change { path, before, .. } if path.path() == place => Some((intent, before, *inline)),
                IntentStep::Change { .. } | IntentStep::Move { .. } | IntentStep::Tree { .. } => None,
            })
        })
    }

    fn content(&self, state: &PathState, inline: Inline) -> Option<Vec<u8>> {
        let PathState::File { hash, size, content, .. } = state else { return None };
        let bytes = match content {
            _ if *size > LARGEST => None,
            ContentLocation::Inline { at, length } => self.reading.inline(inline, *at, *length).ok(),
            ContentLocation::Object { hash } => small(self.objects.open(*hash).ok()?),
            ContentLocation::Splice { .. } | ContentLocation::No => None,
        }?;
        (ContentHash::of(&bytes) == *hash).then_some(bytes)
    }
}

/// Returns whether a command adds lines to a file: a file that two commands create so has the lines of both.
fn adds_to(command: &str, place: &Path) -> bool {
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    [">>", "tee -a", "tee --append"].iter().any(|adding| command.contains(adding)) && command.contains(&name)
}

fn small(content: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    content.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then_some(bytes)
}

impl Settling<'_> {
    /// Merges texts that others have changed too. What cannot be merged stays a clash.
    pub(in crate::files::layer) fn merge_clashes(&self, judged: &mut JudgedDifference, meanwhile: &Meanwhile) {
        for found in std::mem::take(&mut judged.clashes) {
            match self.merged(&found, meanwhile, judged.merged.len()) {
                Some(Some(merged)) => {
                    judged.comes.push(merged);
                    judged.merged.push(found);
                }
                // The command opened the file and changed nothing in it.
                Some(None) => {}
                None => judged.clashes.push(found),
            }
        }
    }

    /// Returns what comes in of a text that others have changed too; nothing of one that only they have changed.
    fn merged(&self, found: &LayerChange, meanwhile: &Meanwhile, number: usize) -> Option<Option<LayerChange>> {
        let root = &self.roots[found.spot.root];
        let is_file = matches!(found.comes, Comes::File(_)) && found.source.is_none();
        if !is_file || found.clash != Some(Clash::Changed) || repository_of(&found.spot.path).is_some() {
            return None;
        }
        let place = root.place_of(&found.spot.path);
        let theirs = File::from(open_beneath(root.folder.as_fd(), &*found.spot.path, OFlags::RDONLY).ok()?);
        let below = Below::from(&rustix::fs::fstat(&theirs).ok()?);
        if below.kind != FileKind::File {
            return None;
        }
        let (theirs, ours) = (small(theirs)?, small(root.open_layered(&found.spot.path).ok()?)?);
        let mut versions = meanwhile.versions(&place);
        let own_command = self.errand.purpose.command.as_deref();
        if meanwhile.was_begun_by_adding(&place) && own_command.is_some_and(|command| adds_to(command, &place)) {
            versions.push(Vec::new());
        }
        let bases: Vec<&[u8]> = versions.iter().map(Vec::as_slice).collect();
        let text = merge_among(&bases, &ours, &theirs).ok()?;
        if text == theirs {
            return Some(None);
        }
        let source = root.put_beside(&found.spot.path, &text, number).ok()?;
        let comes = Comes::File(NewFile { size: text.len() as u64, shared: None });
        Some(Some(LayerChange {
            spot: found.spot.clone(),
            source: Some(source),
            below: Some(below),
            comes,
            clash: None,
        }))
    }

    /// Gives files that come in the time of this moment: a build that ran beside the command has not seen them.
    pub(in crate::files::layer) fn touch(&self, judged: &JudgedDifference) {
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let as_before = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
        let times = Timestamps { last_access: as_before, last_modification: now };
        for found in judged.comes.iter().filter(|found| matches!(found.comes, Comes::File(_))) {
            let path = found.source().as_os_str().as_bytes();
            // A file whose time cannot be set comes in with its own.
            let _ = rustix::fs::utimensat(&self.roots[found.spot.root].upper, path, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}

impl super::settle::OpenRoot {
    /// Puts a text into the layer, with the rights of a file in it; returns where it lies.
    fn put_beside(&self, of: &Path, text: &[u8], number: usize) -> io::Result<PathBuf> {
        let like = self.stat_layered(of).ok_or(io::ErrorKind::NotFound)?;
        let name = PathBuf::from(format!(".haft-{number}-{}.merged", uuid::Uuid::now_v7().simple()));
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.upper, &name, flags, Mode::from_raw_mode(0o600))?);
        file.write_all(text)?;
        owner::give(&file, owner::of(&like))?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(like.st_mode & crate::files::layer::MODE))?;
        Ok(name)
    }
}
