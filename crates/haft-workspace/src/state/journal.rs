//! The journal of a workspace: records what every change replaces, before the change is made.
//!
//! It is one append-only file of framed records, beside a folder of large contents, both private and in the state folder. A
//! process that changes something holds the lock from the intent to the outcome. So an intent without outcome at the end
//! belongs to a killed process, and the next process finds out what became of it.
//!
//! Not here: changing files (`files::transaction`), taking changes back (`history`).

mod choosing;
mod delta;
pub(super) mod frame;
mod inline;
mod objects;
mod parts;
mod reading;
mod record;
mod room;
mod secret_places;
mod size;

pub(crate) use choosing::Choosing;
pub(crate) use delta::{ContentPiece, ContentRevision, KeptContent};
pub(crate) use inline::InlineContents;
pub(crate) use objects::{Durable, Objects, is_not_kept, not_kept};
pub(crate) use parts::Mark;
pub(crate) use reading::{Inline, JournalSnapshot, RecordedContent};
pub(crate) use record::{
    ChangeAuthor, ContentHash, ContentLocation, FileOwner, Intent, IntentOutcome, IntentStep, PathState, PathText,
    Record, Rights, StoreBase, StoreName, TakesBack, TreeRecord, UndoDirection,
};

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use haft_contract::doors::door::OldChanges;
use haft_contract::files::guarded::secret_kind;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;

use super::own_files::private;
use super::own_files::registry::Claim;
use super::sessions::{SessionId, Sessions};
use crate::files::tree::TreeStores;
use frame::{BodyExtent, Head, RecordFrame};

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
    /// Room in bytes for the journal and its contents. Once the user has agreed, what does not fit is dropped, oldest first.
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
    pub(crate) fn lock(&self, stopped: &dyn Fn() -> bool) -> io::Result<JournalWriter<'_>> {
        private::create_folder(&self.folder)?;
        self.claim.iter().for_each(Claim::stake);
        let mut waiting = LockBackoff::begin(self.limits.patience);
        loop {
            let file = private::append_file(&self.path())?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Another process may have put another file in its place while we waited.
                Ok(()) if self.is_current(&file) => return JournalWriter::begin(self, file),
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => waiting.a_little(stopped)?,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Reads all records; no process writes meanwhile.
    pub(crate) fn read(&self) -> io::Result<JournalSnapshot> {
        self.read_with(&JournalSnapshot::of)
    }

    /// Reads what `read` reads; no process writes meanwhile.
    fn read_with(&self, read: &dyn Fn(File) -> io::Result<JournalSnapshot>) -> io::Result<JournalSnapshot> {
        let file = match private::read_file(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(JournalSnapshot::default()),
            file => file?,
        };
        let mut waiting = LockBackoff::begin(self.limits.patience);
        while let Err(errno) = flock(&file, FlockOperation::NonBlockingLockShared) {
            match errno {
                Errno::WOULDBLOCK => waiting.a_little(&|| false)?,
                errno => return Err(errno.into()),
            }
        }
        let reading = read(file)?;
        // What was read is never changed: the file only grows, or another one takes its place.
        if let Some(file) = reading.file.as_deref() {
            flock(file, FlockOperation::Unlock)?;
        }
        Ok(reading)
    }

    /// Returns whether a process was killed in the middle of a change, or while writing a record of it. It looks only at the
    /// last record, and does not wait.
    pub(crate) fn is_unfinished(&self) -> bool {
        let Ok(file) = private::read_file(&self.path()) else { return false };
        // A process that holds the lock is alive and will finish.
        let is_locked = flock(&file, FlockOperation::NonBlockingLockShared).is_err();
        let Some(length) = file.metadata().ok().filter(|_| !is_locked).map(|facts| facts.len()) else { return false };
        match frame::last_part(&file, length, BodyExtent::Beginning) {
            Ok(Some((frame, body))) => matches!(parsed(&file, &frame, &body), Some((Record::Intent(_), _))),
            Ok(None) => frame::has_torn_end(&file, length).unwrap_or(false),
            Err(_) => false,
        }
    }

    /// Returns how far back undo reaches; nothing where there is nothing to undo. Only the ends of the file are read.
    pub(super) fn reach(&self) -> io::Result<Option<UndoRange>> {
        let file = match private::read_file(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let length = file.metadata()?.len();
        let Some((last, _)) = frame::last_part(&file, length, BodyExtent::Beginning)? else { return Ok(None) };
        let mut offset = 0;
        while let Some((frame, body)) = frame::part_at(&file, offset..length, BodyExtent::Beginning)? {
            if let Some((Record::Intent(intent), _)) = parsed(&file, &frame, &body) {
                return Ok(Some(UndoRange { oldest: intent.set, newest: last.head.sets, oldest_ms: intent.at }));
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

    /// Returns when the session of a change began, in milliseconds since the epoch; nothing if that is unknown.
    ///
    /// A run of haft has its beginning in its name. An agent's session may have had others before, and notes its own.
    pub(crate) fn began_ms(&self, by: &ChangeAuthor) -> Option<u64> {
        match by.session.parse::<SessionId>() {
            Ok(id) => Sessions::new(self.folder.with_file_name("sessions")).began_ms(&id),
            Err(_) => by.run_began_ms(),
        }
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

/// The range of change sets that undo can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoRange {
    /// The oldest change set in the journal.
    pub oldest: u64,
    /// The newest one.
    pub newest: u64,
    /// When the oldest was made, in milliseconds since 1970.
    pub oldest_ms: u64,
}

/// Waits for another process in growing steps, until a deadline: the other one may have been stopped.
struct LockBackoff {
    deadline: Instant,
    pause: Duration,
}

impl LockBackoff {
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
pub(crate) struct JournalWriter<'j> {
    journal: &'j Journal,
    file: File,
    end: u64,
    head: Head,
    /// Whether the last record is an intent: a process was killed in the middle.
    is_unfinished: bool,
    objects: Objects,
    /// How much room contents took when the lock was taken.
    objects_room: u64,
}

impl<'j> JournalWriter<'j> {
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
        match frame::last_part(&writing.file, length, BodyExtent::Beginning)? {
            Some((frame, body)) => writing.note_last(&frame, &body),
            None => writing.mend(length)?,
        }
        Ok(writing)
    }

    fn note_last(&mut self, frame: &RecordFrame, body: &[u8]) {
        self.head = frame.head;
        self.is_unfinished = matches!(parsed(&self.file, frame, body), Some((Record::Intent(_), _)));
    }

    /// Cuts what lies behind the last whole record.
    fn mend(&mut self, length: u64) -> io::Result<()> {
        let mut last = None;
        let scan = frame::scan_parts(&self.file, 0..length, BodyExtent::Beginning, &mut |frame, body| {
            last = Some((frame, body));
            Ok(())
        })?;
        if let Some((frame, body)) = last {
            self.note_last(&frame, &body);
        }
        self.end = scan.end;
        self.file.set_len(scan.end)?;
        self.file.sync_data()
    }

    /// Reads all records.
    pub(crate) fn reading(&self) -> io::Result<JournalSnapshot> {
        JournalSnapshot::of(self.file.try_clone()?)
    }

    /// Returns whether the last record is an intent: its outcome has not been written.
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
        let reading = JournalSnapshot::newest(self.file.try_clone()?, &|reading| reading.knows(set))?;
        let parts = reading.intents.iter().filter(|(intent, _)| intent.set == set).count();
        Ok(u32::try_from(parts).unwrap_or(u32::MAX))
    }

    /// Writes down what is about to be done. It is safe once it is synced.
    pub(crate) fn intend(&mut self, intent: &Intent, inline: &InlineContents) -> io::Result<()> {
        let is_secret = |path: &PathText| secret_kind(&path.path()).is_some();
        if !self.journal.has_secrets() && intent.steps.iter().flat_map(IntentStep::paths).any(is_secret) {
            private::append_file(&self.journal.mark_of_secrets())?;
        }
        let sets = self.head.sets.max(intent.set);
        self.append(&JournalRecordRef::Intent(intent), inline, sets)
    }

    /// Makes sure that everything written so far outlives a power cut.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Records how it ended. Not synced: after a power cut, the next process finds out by looking.
    pub(crate) fn conclude(&mut self, outcome: IntentOutcome) -> io::Result<()> {
        self.append(&JournalRecordRef::Outcome(&outcome), &InlineContents::default(), self.head.sets)?;
        self.is_unfinished = false;
        Ok(())
    }

    /// Returns the place for large contents.
    pub(crate) fn objects(&self) -> Objects {
        self.objects.clone()
    }

    /// Returns a place for the small contents of an intent.
    pub(crate) fn inline_contents(&self) -> InlineContents {
        InlineContents::in_folder(&self.journal.folder)
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

    fn append(&mut self, record: &JournalRecordRef<'_>, inline: &InlineContents, sets: u64) -> io::Result<()> {
        let head = Head { number: self.head.number + 1, sets };
        let mut to = BufWriter::with_capacity(256 * 1024, &self.file);
        let written = record.frame((self.end, head), inline, &mut to).and_then(|end| to.flush().map(|()| end));
        match written {
            Ok(end) => {
                drop(to);
                (self.end, self.head) = (end, head);
                Ok(())
            }
            Err(error) => {
                // What is left in memory is not written any more.
                drop(to.into_parts());
                // Half a record would be cut by the next one to come; better now, while the lock is ours.
                let _ = self.file.set_len(self.end);
                Err(error)
            }
        }
    }
}

/// A record that is about to be written to the journal.
#[derive(Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum JournalRecordRef<'a> {
    Intent(&'a Intent),
    Outcome(&'a IntentOutcome),
    Dropped { up_to: u64 },
}

impl JournalRecordRef<'_> {
    /// Writes it as a frame, without making its text in memory first: that of many files is long. Returns where it ends.
    fn frame(&self, (offset, head): (u64, Head), inline: &InlineContents, to: &mut dyn Write) -> io::Result<u64> {
        let mut measured = ByteCounter(0);
        serde_json::to_writer(&mut measured, self)?;
        let listed = u32::try_from(measured.0).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let length = 4 + measured.0 + inline.len();
        head.write(to, offset, length, &mut |to| {
            to.write_all(&listed.to_le_bytes())?;
            serde_json::to_writer(&mut *to, self)?;
            inline.write_to(to)
        })
    }
}

/// Counts the bytes that are written.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns this moment, in milliseconds since the epoch.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How the text of an intent begins.
const INTENT: &[u8] = br#"{"record":"intent","#;

/// Takes a body apart: the record, and where in the body its inline contents begin. Of a body that is long, only the
/// beginning is at hand; then the record is read from the file.
fn parsed(file: &File, frame: &RecordFrame, body: &[u8]) -> Option<(Record, usize)> {
    let length = u32::from_le_bytes(*body.first_chunk()?) as usize;
    let end = 4 + length;
    // Of a record whose kind is not known yet, everything would be in memory twice.
    let is_intent = body.get(4..)?.starts_with(INTENT);
    let record = match body.get(4..end) {
        Some(text) if is_intent => Record::Intent(serde_json::from_slice(text).ok()?),
        Some(text) => serde_json::from_slice(text).ok()?,
        None => {
            let stretch = frame.body.start + 4..(frame.body.start + end as u64).min(frame.body.end);
            let text = BufReader::with_capacity(256 * 1024, FileRangeReader { file, stretch });
            let mut record: Record = match is_intent {
                true => Record::Intent(serde_json::from_reader(text).ok()?),
                false => serde_json::from_reader(text).ok()?,
            };
            if let Record::Intent(intent) = &mut record {
                intent.steps.shrink_to_fit();
            }
            record
        }
    };
    Some((record, end))
}

/// Reads a range of a file.
struct FileRangeReader<'f> {
    file: &'f File,
    stretch: Range<u64>,
}

impl Read for FileRangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.stretch.end - self.stretch.start).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..wanted], self.stretch.start)?;
        self.stretch.start += read as u64;
        Ok(read)
    }
}
