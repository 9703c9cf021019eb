//! The journal of a workspace: what every change replaced, written before the change is made.
//!
//! One append-only file of framed records beside a folder of large contents, both in the state
//! folder and private. Whoever changes something holds the lock from the intent to the outcome, so
//! an intent without outcome at the end belongs to somebody who was killed, and the next one to
//! come finds out what became of it.
//!
//! Not here: changing files (`files::transaction`), taking changes back (`history`).

mod delta;
pub(super) mod frame;
mod objects;
mod parts;
mod record;
mod room;
mod secret_places;
mod size;

pub(crate) use delta::{Changed, KeptContent, Piece};
pub(crate) use objects::{Durable, Objects, is_not_kept};
pub(crate) use parts::Mark;
pub(crate) use record::{
    By, ContentHash, How, Intent, Kept, Outcome, Owner, PathText, Record, Rights, State, Step, StoreBase, StoreName,
    TakesBack, TreeRecord,
};

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use haft_contract::door::OldChanges;
use haft_contract::guarded::secret_kind;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::private;
use super::registry::Claim;
use crate::files::tree::TreeStores;
use frame::Head;

/// Contents up to this size are kept in the journal itself.
pub(crate) const INLINE: u64 = 64 * 1024;
/// Room for the journal and the contents of one workspace.
const ROOM: u64 = 2 * 1024 * 1024 * 1024;
/// Change sets that are older may go when room is needed.
const AGE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Room for before-images of ignored trees of one workspace.
const ROOM_FOR_TREES: u64 = 4 * 1024 * 1024 * 1024;

/// How much a journal may hold, and how long one waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// Room in bytes for the journal and its contents. What does not fit is dropped, oldest first, once somebody agreed.
    pub room: u64,
    /// Change sets that are older are dropped without a question when room is needed.
    pub age: Duration,
    /// Room in bytes for before-images of ignored trees, which go before anything else.
    pub trees: u64,
    /// How long to wait for another process that is changing something.
    pub patience: Duration,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { room: ROOM, age: AGE, trees: ROOM_FOR_TREES, patience: Duration::from_secs(20) }
    }
}

/// The journal of one workspace.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    limits: JournalLimits,
    claim: Option<Claim>,
}

impl Journal {
    pub(super) fn new(folder: PathBuf, limits: JournalLimits) -> Self {
        Self { folder, limits, claim: None }
    }

    /// Records whose journal this is when the first change is made.
    pub(super) fn claiming(mut self, claim: Claim) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Returns whether anything was ever written to the journal.
    pub(super) fn exists(&self) -> bool {
        self.path().symlink_metadata().is_ok_and(|facts| facts.len() > 0)
    }

    /// Takes the lock, waiting for others; cuts a torn end. `stopped` is asked while waiting.
    pub(crate) fn lock(&self, stopped: &dyn Fn() -> bool) -> io::Result<Writing<'_>> {
        private::create_folder(&self.folder)?;
        self.claim.iter().for_each(Claim::stake);
        let mut waiting = Waiting::begin(self.limits.patience);
        loop {
            let file = private::append_file(&self.path())?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Somebody may have put another file in its place while we waited.
                Ok(()) if self.is_current(&file) => return Writing::begin(self, file),
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => waiting.a_little(stopped)?,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Reads all records; nobody writes meanwhile.
    pub(crate) fn read(&self) -> io::Result<Reading> {
        self.read_with(&Reading::of)
    }

    /// Reads what this reads; nobody writes meanwhile.
    fn read_with(&self, read: &dyn Fn(File) -> io::Result<Reading>) -> io::Result<Reading> {
        let file = match private::read_file(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Reading::default()),
            file => file?,
        };
        let mut waiting = Waiting::begin(self.limits.patience);
        while let Err(errno) = flock(&file, FlockOperation::NonBlockingLockShared) {
            match errno {
                Errno::WOULDBLOCK => waiting.a_little(&|| false)?,
                errno => return Err(errno.into()),
            }
        }
        let reading = read(file)?;
        // What was read is never changed: the file only grows, or another one takes its place.
        if let Some(file) = &reading.file {
            flock(file, FlockOperation::Unlock)?;
        }
        Ok(reading)
    }

    /// Returns whether somebody was killed in the middle of a change; a look at the last record, without waiting.
    pub(crate) fn is_unfinished(&self) -> bool {
        let Ok(file) = private::read_file(&self.path()) else { return false };
        // Whoever holds the lock is alive and will finish.
        if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
            return false;
        }
        let last = file.metadata().and_then(|facts| frame::last(&file, facts.len()));
        matches!(last, Ok(Some((_, body))) if matches!(parsed(&body), Some((Record::Intent(_), _))))
    }

    /// Returns how far back undo reaches; nothing where there is nothing to undo. Only the ends of the file are read.
    pub(super) fn reach(&self) -> io::Result<Option<Reach>> {
        let file = match private::read_file(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let length = file.metadata()?.len();
        let Some((last, _)) = frame::last(&file, length)? else { return Ok(None) };
        let mut offset = 0;
        while let Some((frame, body)) = frame::frame_at(&file, offset, length)? {
            if let Some((Record::Intent(intent), _)) = parsed(&body) {
                return Ok(Some(Reach { oldest: intent.set, newest: last.head.sets, oldest_ms: intent.at }));
            }
            offset = frame.end();
        }
        Ok(None)
    }

    /// Returns how many bytes it would free to drop the change sets made before a moment, or all of them, about.
    pub(super) fn room_of_older(&self, before_ms: Option<u64>) -> io::Result<u64> {
        Ok(room::room_of_older(&self.read()?, &self.objects(), before_ms))
    }

    /// Returns whether a secret file was ever changed.
    pub(crate) fn has_secrets(&self) -> bool {
        self.mark_of_secrets().symlink_metadata().is_ok()
    }

    /// The file that says so: an empty one, so that a journal without secrets need not be read for them.
    fn mark_of_secrets(&self) -> PathBuf {
        self.folder.join("has-secrets")
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::new(self.folder.join("objects"))
    }

    pub(crate) fn limits(&self) -> JournalLimits {
        self.limits
    }

    /// Returns the folder in the state that may hold the stores of ignored trees.
    pub(crate) fn trees(&self) -> PathBuf {
        self.folder.with_file_name("trees")
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

/// How far back undo reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The oldest change set in the journal.
    pub oldest: u64,
    /// The newest one.
    pub newest: u64,
    /// When the oldest was made, in milliseconds since 1970.
    pub oldest_ms: u64,
}

/// Waits for somebody else, in growing steps and not for ever: the other one may have been stopped.
struct Waiting {
    deadline: Instant,
    pause: Duration,
}

impl Waiting {
    fn begin(patience: Duration) -> Self {
        Self { deadline: Instant::now() + patience, pause: Duration::from_micros(200) }
    }

    fn a_little(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<()> {
        if stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if Instant::now() > self.deadline {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another haft is changing files here"));
        }
        std::thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(20));
        Ok(())
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
    objects: Objects,
    /// How much room contents took when the lock was taken.
    objects_room: u64,
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
            objects: journal.objects(),
            objects_room: journal.objects_room(),
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
        self.end = scan.end;
        self.file.set_len(scan.end)?;
        self.file.sync_data()
    }

    /// Reads all records.
    pub(crate) fn reading(&self) -> io::Result<Reading> {
        Reading::of(self.file.try_clone()?)
    }

    /// Returns whether the last record is an intent: nobody has written how that ended.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// Returns the number for a new change set.
    pub(crate) fn next_set(&self) -> u64 {
        self.head.sets + 1
    }

    /// Returns how many intents a change set has.
    pub(crate) fn parts_of(&self, set: u64) -> io::Result<u32> {
        // Only a call that changes something twice has to look.
        let reading = Reading::newest(self.file.try_clone()?, &|reading| reading.knows(set))?;
        let parts = reading.intents.iter().filter(|(intent, _)| intent.set == set).count();
        Ok(u32::try_from(parts).unwrap_or(u32::MAX))
    }

    /// Writes down what is about to be done. It is safe once it is synced.
    pub(crate) fn intend(&mut self, intent: &Intent, inline: &[u8]) -> io::Result<()> {
        let is_secret = |path: &PathText| secret_kind(&path.path()).is_some();
        if !self.journal.has_secrets() && intent.steps.iter().flat_map(Step::paths).any(is_secret) {
            private::append_file(&self.journal.mark_of_secrets())?;
        }
        let sets = self.head.sets.max(intent.set);
        self.append(&Record::Intent(Box::new(intent.clone())), inline, sets)
    }

    /// Makes sure that everything written so far outlives a power cut.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Writes down how it ended. Not synced: whoever comes next finds out by looking.
    pub(crate) fn conclude(&mut self, outcome: Outcome) -> io::Result<()> {
        self.append(&Record::Outcome(outcome), &[], self.head.sets)?;
        self.is_unfinished = false;
        Ok(())
    }

    /// Returns the place for large contents.
    pub(crate) fn objects(&self) -> Objects {
        self.objects.clone()
    }

    /// Returns where the before-images of ignored trees are.
    pub(crate) fn stores(&self) -> TreeStores {
        TreeStores::of(self.journal)
    }

    /// Drops old change sets when the room is used up, as far as they may go; returns up to which, where any went.
    pub(crate) fn make_room(self, old: OldChanges) -> io::Result<Option<u64>> {
        room::make_room(&self, old)
    }

    /// Drops the change sets that were made before a moment, or all of them; returns up to which, where any went.
    pub(super) fn drop_older(self, before_ms: Option<u64>) -> io::Result<Option<u64>> {
        room::drop_older(&self, before_ms)
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

/// Returns this moment, in milliseconds since the epoch.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
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
    outcomes: HashMap<(u64, u32), bool>,
    /// Whether the last record is an intent: somebody is at it, or was killed.
    pub(crate) is_unfinished: bool,
    /// Change sets up to this one were dropped to keep within the room.
    pub(crate) dropped: u64,
    /// Change sets up to this one were not read, because nobody asked for them.
    pub(crate) not_read: u64,
    /// How many bytes are damaged, in how many places.
    pub(crate) damaged: Vec<u64>,
    /// The highest change set there ever was.
    pub(crate) sets: u64,
}

impl Reading {
    fn of(file: File) -> io::Result<Self> {
        Self::from(file, 0)
    }

    /// Reads the records from this byte on, which begins one.
    fn from(file: File, begin: u64) -> io::Result<Self> {
        let mut reading = Self::default();
        let length = file.metadata()?.len();
        let scan = frame::scan_from(&file, begin..length, &mut |frame, body| {
            reading.sets = reading.sets.max(frame.head.sets);
            reading.is_unfinished = false;
            match parsed(&body) {
                Some((Record::Intent(intent), inline)) => {
                    let inline = Inline { begin: frame.body.start + inline as u64, end: frame.body.end };
                    reading.intents.push((*intent, inline));
                    reading.is_unfinished = true;
                }
                Some((Record::Outcome(outcome), _)) => {
                    reading.note_outcome(&outcome);
                }
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

    fn note_outcome(&mut self, outcome: &Outcome) {
        self.outcomes.insert((outcome.set, outcome.part), outcome.happened);
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
