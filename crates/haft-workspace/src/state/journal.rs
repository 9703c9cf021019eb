//! The journal of a workspace: what every change replaced, written before the change is made.
//!
//! One append-only file of framed records beside a folder of large contents, both in the state
//! folder and private. Whoever changes something holds the lock from the intent to the outcome, so
//! an intent without outcome at the end belongs to somebody who was killed, and the next one to
//! come finds out what became of it.
//!
//! Not here: changing files (`files::transaction`), taking changes back (`history`).

mod frame;
mod objects;
mod record;
mod room;

pub(crate) use objects::{Durable, Objects};
pub(crate) use record::{By, ContentHash, How, Intent, Kept, Outcome, PathText, Record, State, Step, TakesBack};

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::private;
use frame::Head;

/// Contents up to this size are kept in the journal itself.
pub(crate) const INLINE: u64 = 64 * 1024;
/// Room for the journal and the contents of one workspace.
const ROOM: u64 = 1024 * 1024 * 1024;
/// How long to wait for another process that is changing something.
const PATIENCE: Duration = Duration::from_secs(20);

/// The journal of one workspace.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
    room: u64,
}

impl Journal {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, room: ROOM }
    }

    /// Gives the journal another room than the default of 1 GiB; what does not fit is dropped, oldest first.
    pub fn with_room(mut self, bytes: u64) -> Self {
        self.room = bytes;
        self
    }

    /// Takes the lock, waiting for others; cuts a torn end. `stopped` is asked while waiting.
    pub(crate) fn lock(&self, stopped: &dyn Fn() -> bool) -> io::Result<Writing<'_>> {
        private::create_folder(&self.folder)?;
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_micros(200);
        loop {
            let file = private::append_file(&self.path())?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Somebody may have put another file in its place while we waited.
                Ok(()) if self.is_current(&file) => return Writing::begin(self, file),
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    if stopped() || Instant::now() > deadline {
                        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another haft is changing files here"));
                    }
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(20));
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Reads all records; nobody writes meanwhile.
    pub(crate) fn read(&self) -> io::Result<Reading> {
        let file = match private::read_file(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Reading::default()),
            file => file?,
        };
        flock(&file, FlockOperation::LockShared)?;
        let reading = Reading::of(file)?;
        // What was read is never changed: the file only grows, or another one takes its place.
        if let Some(file) = &reading.file {
            flock(file, FlockOperation::Unlock)?;
        }
        Ok(reading)
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::new(self.folder.join("objects"))
    }

    fn path(&self) -> PathBuf {
        self.folder.join("journal")
    }

    fn is_current(&self, file: &File) -> bool {
        let here = file.metadata().map(|facts| (facts.dev(), facts.ino()));
        let there = self.path().metadata().map(|facts| (facts.dev(), facts.ino()));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }
}

/// The journal, locked for writing.
pub(crate) struct Writing<'j> {
    journal: &'j Journal,
    file: File,
    end: u64,
    head: Head,
    /// Whether the last record is an intent: somebody was killed in the middle.
    is_unfinished: bool,
    /// How many bytes of a torn end were cut.
    pub(crate) cut: u64,
    /// Whether contents may have been kept beside the journal.
    has_kept: bool,
}

impl<'j> Writing<'j> {
    fn begin(journal: &'j Journal, file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut writing = Self {
            journal,
            file,
            end: length,
            head: Head { number: 0, sets: 0 },
            is_unfinished: false,
            cut: 0,
            has_kept: false,
        };
        if length == 0 {
            // Else the name of the journal itself might not outlive a power cut.
            File::open(&journal.folder)?.sync_all()?;
            return Ok(writing);
        }
        match frame::last(&writing.file, length)? {
            Some((frame, body)) => writing.note_last(frame.head, &body),
            None => writing.mend(length)?,
        }
        Ok(writing)
    }

    fn note_last(&mut self, head: Head, body: &[u8]) {
        self.head = head;
        self.is_unfinished = matches!(parsed(body), Some((Record::Intent(_), _)));
    }

    /// Cuts what lies behind the last whole record.
    fn mend(&mut self, length: u64) -> io::Result<()> {
        let mut last = None;
        let scan = frame::scan(&self.file, length, &mut |frame, body| {
            last = Some((frame.head, body));
            Ok(())
        })?;
        if let Some((head, body)) = last {
            self.note_last(head, &body);
        }
        self.cut = length - scan.end;
        self.end = scan.end;
        self.file.set_len(scan.end)?;
        self.file.sync_data()
    }

    /// Reads all records.
    pub(crate) fn reading(&self) -> io::Result<Reading> {
        Reading::of(self.file.try_clone()?)
    }

    /// Returns intents whose outcome nobody has written, the newest first.
    pub(crate) fn unfinished(&self) -> io::Result<Vec<(Intent, Inline)>> {
        if !self.is_unfinished {
            return Ok(Vec::new());
        }
        let reading = self.reading()?;
        let has_outcome = |intent: &Intent| reading.outcome(intent).is_some();
        Ok(reading.intents.iter().rev().take_while(|(intent, _)| !has_outcome(intent)).cloned().collect())
    }

    /// Returns the number for a new change set.
    pub(crate) fn next_set(&self) -> u64 {
        self.head.sets + 1
    }

    /// Returns how many intents a change set has.
    pub(crate) fn parts_of(&self, set: u64) -> io::Result<u32> {
        // Only a call that changes something twice has to look.
        let reading = self.reading()?;
        let parts = reading.intents.iter().filter(|(intent, _)| intent.set == set).count();
        Ok(u32::try_from(parts).unwrap_or(u32::MAX))
    }

    /// Writes down what is about to be done. It is safe once it is synced.
    pub(crate) fn intend(&mut self, intent: Intent, inline: &[u8]) -> io::Result<()> {
        let sets = self.head.sets.max(intent.set);
        self.append(&Record::Intent(intent), inline, sets)
    }

    /// Makes sure that everything written so far outlives a power cut.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Writes down how it ended. Not synced: whoever comes next finds out by looking.
    pub(crate) fn conclude(&mut self, outcome: Outcome) -> io::Result<()> {
        self.append(&Record::Outcome(outcome), &[], self.head.sets)
    }

    /// Returns the place for large contents.
    pub(crate) fn objects(&self) -> Objects {
        self.journal.objects()
    }

    /// Notes that a large content was kept, so that the room is looked at.
    pub(crate) fn note_kept(&mut self) {
        self.has_kept = true;
    }

    /// Drops the oldest change sets when the room is used up.
    pub(crate) fn make_room(self) -> io::Result<()> {
        room::make_room(self)
    }

    fn append(&mut self, record: &Record, inline: &[u8], sets: u64) -> io::Result<()> {
        let head = Head { number: self.head.number + 1, sets };
        let bytes = frame::frame(self.end, head, &body_of(record, inline)?);
        if let Err(error) = self.file.write_all(&bytes) {
            // Half a record would be cut by the next one to come; better now, while the lock is ours.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += bytes.len() as u64;
        self.head = head;
        Ok(())
    }
}

fn body_of(record: &Record, inline: &[u8]) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(record)?;
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    if text.len() + inline.len() + 4 > frame::LONGEST_BODY {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut body = Vec::with_capacity(4 + text.len() + inline.len());
    body.extend(length.to_le_bytes());
    body.extend(text);
    body.extend(inline);
    Ok(body)
}

/// Takes a body apart: the record, and where in the body its inline contents begin.
fn parsed(body: &[u8]) -> Option<(Record, usize)> {
    let length = u32::from_le_bytes(*body.first_chunk()?) as usize;
    let record = serde_json::from_slice(body.get(4..4 + length)?).ok()?;
    Some((record, 4 + length))
}

/// Where in the journal the inline contents of an intent lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inline {
    begin: u64,
    end: u64,
}

/// All records, as they were when the lock was held.
#[derive(Default)]
pub(crate) struct Reading {
    file: Option<File>,
    pub(crate) intents: Vec<(Intent, Inline)>,
    outcomes: Vec<Outcome>,
    /// Change sets up to this one were dropped to keep within the room.
    pub(crate) dropped: u64,
    /// How many bytes are damaged, in how many places.
    pub(crate) damaged: Vec<u64>,
    /// The highest change set there ever was.
    pub(crate) sets: u64,
}

impl Reading {
    fn of(file: File) -> io::Result<Self> {
        let mut reading = Self::default();
        let length = file.metadata()?.len();
        let scan = frame::scan(&file, length, &mut |frame, body| {
            reading.sets = reading.sets.max(frame.head.sets);
            match parsed(&body) {
                Some((Record::Intent(intent), inline)) => {
                    let inline = Inline { begin: frame.body.start + inline as u64, end: frame.body.end };
                    reading.intents.push((intent, inline));
                }
                Some((Record::Outcome(outcome), _)) => reading.outcomes.push(outcome),
                Some((Record::Dropped { up_to }, _)) => reading.dropped = reading.dropped.max(up_to),
                // Written by a later version, or by nobody: whoever needs it is told so.
                None => reading.damaged.push(frame.body.end - frame.body.start),
            }
            Ok(())
        })?;
        reading.damaged.extend(scan.damaged.iter().map(|stretch| stretch.end - stretch.start));
        if scan.end < length {
            reading.damaged.push(length - scan.end);
        }
        reading.file = Some(file);
        Ok(reading)
    }

    /// Returns how an intent ended, where that was written.
    pub(crate) fn outcome(&self, intent: &Intent) -> Option<bool> {
        let is_its = |outcome: &&Outcome| (outcome.set, outcome.part) == (intent.set, intent.part);
        self.outcomes.iter().rev().find(is_its).map(|outcome| outcome.happened)
    }

    /// Returns the change sets of which an outcome is there, but no intent: their records are damaged.
    pub(crate) fn outcomes_without_intent(&self) -> impl Iterator<Item = u64> {
        let has_intent = |outcome: &Outcome| {
            self.intents.iter().any(|(intent, _)| (intent.set, intent.part) == (outcome.set, outcome.part))
        };
        self.outcomes.iter().filter(move |outcome| !has_intent(outcome)).map(|outcome| outcome.set)
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
