//! The journal's records, at the time when the lock was held.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::frame::{self, BodyExtent};
use super::parsed;
use super::record::{ContentHash, Intent, IntentOutcome, Record};

/// Where in the journal the inline contents of an intent lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inline {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The records of the journal at the time when the lock was held.
#[derive(Default)]
pub(crate) struct JournalSnapshot {
    pub(super) file: Option<Arc<File>>,
    pub(crate) intents: Vec<(Intent, Inline)>,
    pub(super) outcomes: HashMap<(u64, u32), bool>,
    /// Whether the last record is an intent: a process is working on it, or was killed.
    pub(crate) is_unfinished: bool,
    /// Change sets up to this one were dropped to keep within the room.
    pub(crate) dropped: u64,
    /// Change sets up to this one were not read, because they were not requested.
    pub(crate) not_read: u64,
    /// How many bytes are damaged, in how many places.
    pub(crate) damaged: Vec<u64>,
    /// The highest change set there ever was.
    pub(crate) sets: u64,
}

impl JournalSnapshot {
    pub(super) fn of(file: File) -> io::Result<Self> {
        Self::from(file, 0)
    }

    /// Reads the records from this byte on, which begins one.
    pub(super) fn from(file: File, begin: u64) -> io::Result<Self> {
        let mut reading = Self::default();
        let length = file.metadata()?.len();
        let scan = frame::scan_parts(&file, begin..length, BodyExtent::Beginning, &mut |frame, body| {
            reading.sets = reading.sets.max(frame.head.sets);
            reading.is_unfinished = false;
            match parsed(&file, &frame, &body) {
                Some((Record::Intent(intent), inline)) => {
                    let inline = Inline { begin: frame.body.start + inline as u64, end: frame.body.end };
                    reading.intents.push((*intent, inline));
                    reading.is_unfinished = true;
                }
                Some((Record::Outcome(outcome), _)) => {
                    reading.note_outcome(&outcome);
                }
                Some((Record::Dropped { up_to }, _)) => reading.dropped = reading.dropped.max(up_to),
                // Written by a later version, or not by haft: a caller that needs it gets an error.
                None => reading.damaged.push(frame.body.end - frame.body.start),
            }
            Ok(())
        })?;
        reading.damaged.extend(scan.damaged.iter().map(|stretch| stretch.end - stretch.start));
        // A process killed while writing a record had done nothing of it, or its files tell how it ended.
        if scan.end < length && !frame::is_torn(&file, scan.end..length)? {
            reading.damaged.push(length - scan.end);
        }
        reading.file = Some(Arc::new(file));
        Ok(reading)
    }

    fn note_outcome(&mut self, outcome: &IntentOutcome) {
        self.outcomes.insert((outcome.set, outcome.part), outcome.happened);
        if let Some((intent, _)) = self.intents.last_mut() {
            // Nothing lies beside the files of a change that was concluded.
            intent.forget_names_beside();
        }
        let is_concerned = |intent: &Intent| (intent.set, intent.part) == (outcome.set, outcome.part);
        if !outcome.standing.is_empty()
            && let Some((intent, _)) = self.intents.iter_mut().rev().find(|(intent, _)| is_concerned(intent))
        {
            intent.keep_only(&outcome.standing);
        }
    }

    /// Returns how an intent ended, where that was written.
    pub(crate) fn outcome(&self, intent: &Intent) -> Option<bool> {
        self.outcomes.get(&(intent.set, intent.part)).copied()
    }

    /// Returns the change sets of which an outcome is there, but no intent: their records are damaged.
    pub(crate) fn outcomes_without_intent(&self) -> impl Iterator<Item = u64> {
        let known: HashSet<(u64, u32)> = self.intents.iter().map(|(intent, _)| (intent.set, intent.part)).collect();
        self.outcomes.keys().filter(move |outcome| !known.contains(outcome)).map(|(set, _)| *set)
    }

    /// Returns where an inline content is, to be read later.
    pub(crate) fn recorded(&self, inline: Inline, place: (u32, u32), hash: ContentHash) -> Option<RecordedContent> {
        let (at, length) = place;
        let begin = inline.begin + u64::from(at);
        let file = self.file.clone().filter(|_| begin + u64::from(length) <= inline.end)?;
        Some(RecordedContent { file, begin, length, hash })
    }

    /// Returns an inline content.
    pub(crate) fn inline(&self, inline: Inline, at: u32, length: u32) -> io::Result<Vec<u8>> {
        let begin = inline.begin + u64::from(at);
        let Some(file) = self.file.as_ref().filter(|_| begin + u64::from(length) <= inline.end) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, begin)?;
        Ok(bytes)
    }
}

/// A small content in a record. The file only grows, or another one takes its place: then this one is read to its end.
#[derive(Clone, Debug)]
pub(crate) struct RecordedContent {
    file: Arc<File>,
    begin: u64,
    length: u32,
    pub(crate) hash: ContentHash,
}

impl RecordedContent {
    /// Reads it; fails where it is damaged.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.length as usize];
        self.file.read_exact_at(&mut bytes, self.begin)?;
        match ContentHash::of(&bytes) == self.hash {
            true => Ok(bytes),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "its kept content is damaged")),
        }
    }
}
