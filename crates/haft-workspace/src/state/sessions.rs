//! Keeps sessions of agents: everything said and done, one append-only file each, so that haft can resume a killed one.
//!
//! A file holds framed records (`journal::frame`): haft cuts a torn end, loses only damaged records, and reports both. The
//! writer of a session locks it as long as it is open. haft hands a record to the system before dependent work continues:
//! the record outlives the process. Records are not synced one by one: a power cut may cost the last ones.
//!
//! Not here: what a record says (the runner of the agent knows that).

mod id;
mod listing;
#[cfg(test)]
mod tests;

pub use id::SessionId;
pub use listing::SessionSummary;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::journal::frame::{self, Head};
use super::own_files::private;
use super::own_files::registry::Claim;

/// Most sessions of a workspace; the oldest go when there are more.
const MOST_SESSIONS: usize = 500;
/// Room for one session.
const ROOM: u64 = 256 * 1024 * 1024;
/// Longest record.
const LONGEST_RECORD: usize = 64 * 1024 * 1024;
/// Most sessions that an error names.
const MOST_NAMED: usize = 10;
/// Longest first words that are kept for a list, in characters.
const LONGEST_WORDS: usize = 200;
/// Longest name that a person gives a session, in characters.
const LONGEST_NAME: usize = 60;

/// The sessions of one workspace.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
    room: u64,
    most: usize,
    claim: Option<Claim>,
}

/// How far a session is, as the last record says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How often the model was asked.
    pub steps: u64,
    /// What that cost, in tokens of requests.
    pub input: u64,
    /// What that cost, in tokens of replies.
    pub output: u64,
}

/// The form in which one record of a session is written to its file.
#[derive(Serialize, Deserialize)]
struct SessionLogEntry {
    at_ms: u64,
    /// In the first record: how the session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    /// The name that a person gave the session; in every record since then, so that its last one tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    tally: Tally,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Box<RawValue>>,
}

/// A session as read back from its file: its records, and the extent of what is lost.
#[derive(Debug, Default)]
pub struct StoredSession {
    /// Its records, as they were written.
    pub records: Vec<Box<RawValue>>,
    /// When each of them was written, in milliseconds since 1970.
    pub times: Vec<u64>,
    /// How it began, in the words of the person; nothing where the record of it is lost.
    pub words: Option<String>,
    /// The name that a person gave it.
    pub name: Option<String>,
    /// When it was begun, in milliseconds since 1970; nothing where no record is left.
    pub began_ms: Option<u64>,
    /// How far it was.
    pub tally: Tally,
    /// What is lost of it.
    pub damage: Damage,
}

/// What is lost of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// So many places between whole records are none.
    pub places: usize,
    /// So many bytes they are.
    pub bytes: u64,
    /// So many bytes at the end were no whole record; they are cut.
    pub torn: u64,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none of that name.
    #[error("there is no session {0} in this workspace; \"haft sessions\" lists them")]
    NotThere(SessionId),
    /// No name begins like this.
    #[error("\"{0}\" is neither the ID nor the name of a session in this workspace; \"haft sessions\" lists them")]
    NoneBegins(String),
    /// Several names begin like this.
    #[error("the IDs of {} sessions begin with \"{prefix}\": {}; write more of the one you mean", all.len(), named(all))]
    Several {
        /// The beginning.
        prefix: String,
        /// The names, of the session used last first.
        all: Vec<SessionId>,
    },
    /// Another process writes it.
    #[error("session {0} is in use by another haft; wait until it ends, or stop it")]
    Busy(SessionId),
    /// Nothing of it can be read.
    #[error(
        "nothing of session {id} can be read: {} holds {bytes} bytes and no record, so it was damaged or replaced; begin \
         another session, and remove that file when you do not need it",
        path.display()
    )]
    Unreadable {
        /// Its name.
        id: SessionId,
        /// Where it lies.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
    },
    /// The system says no.
    #[error("the session cannot be opened in {}", .1.display())]
    Io(#[source] io::Error, PathBuf),
}

impl Sessions {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, room: ROOM, most: MOST_SESSIONS, claim: None }
    }

    /// Records whose sessions these are when the first one begins.
    pub(super) fn claiming(mut self, claim: Claim) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Returns whether there is any session.
    pub(super) fn exist(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Begins a session with these words. The oldest ones go where there are too many.
    pub fn begin(&self, words: &str) -> Result<SessionLog, SessionError> {
        self.create(words).map_err(|error| SessionError::Io(error, self.folder.clone()))
    }

    /// Opens a session to go on with it; returns what is left of it.
    pub fn take_up(&self, id: &SessionId) -> Result<(SessionLog, StoredSession), SessionError> {
        let path = self.path_of(id);
        let failed = |error| SessionError::Io(error, path.clone());
        // Not created: a session that is not there is a mistake.
        private::read_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::NotThere(id.clone()),
            _ => failed(error),
        })?;
        let file = private::append_file(&path).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(SessionError::Busy(id.clone())),
            Err(errno) => return Err(failed(errno.into())),
        }
        // Another process may have made room between the two looks.
        if file.metadata().map_err(failed)?.nlink() == 0 {
            return Err(SessionError::NotThere(id.clone()));
        }
        self.restored(id, file)
    }

    /// Reads a session without changing it, even a torn end. A session that a process is writing is not read.
    pub fn read(&self, id: &SessionId) -> Result<StoredSession, SessionError> {
        let path = self.path_of(id);
        let failed = |error| SessionError::Io(error, path.clone());
        let file = private::read_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::NotThere(id.clone()),
            _ => failed(error),
        })?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(self.scanned(id, &file)?.kept),
            Err(Errno::WOULDBLOCK) => Err(SessionError::Busy(id.clone())),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// Finds a session by its ID, by a beginning that no other has, or by the name that a person gave it.
    pub fn find(&self, text: &str) -> Result<SessionId, SessionError> {
        if let Ok(id) = text.to_ascii_lowercase().parse() {
            return Ok(id);
        }
        let all = self.list().map_err(|error| SessionError::Io(error, self.folder.clone()))?;
        let has_name =
            |listed: &&SessionSummary| listed.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(text));
        if let Some(named) = all.iter().find(has_name) {
            return Ok(named.id.clone());
        }
        let mut all: Vec<SessionId> =
            all.into_iter().map(|listed| listed.id).filter(|id| !text.is_empty() && id.begins_with(text)).collect();
        match all.len() {
            0 => Err(SessionError::NoneBegins(text.to_owned())),
            1 => Ok(all.remove(0)),
            _ => Err(SessionError::Several { prefix: text.to_owned(), all }),
        }
    }

    /// Lists the sessions, those that were used last first. Of each only its ends are read.
    pub fn list(&self) -> io::Result<Vec<SessionSummary>> {
        listing::list(&self.folder)
    }

    fn create(&self, words: &str) -> io::Result<SessionLog> {
        private::create_folder(&self.folder)?;
        self.claim.iter().for_each(Claim::stake);
        self.make_room();
        let (id, file) = loop {
            let id = SessionId::new();
            match private::create_file(&self.path_of(&id)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => break (id, file?),
            }
        };
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let writing = SessionWriter { file, end: 0, number: 0, room: self.room, name: None };
        let log = SessionLog { id, writing: Mutex::new(writing) };
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_WORDS).collect();
        log.write(|name| SessionLogEntry {
            at_ms: now_ms(),
            words: Some(words),
            name,
            tally: Tally::default(),
            record: None,
        })?;
        File::open(&self.folder)?.sync_all()?;
        Ok(log)
    }

    /// Reads a file. One in which there is no record is none of ours, and left alone.
    fn scanned(&self, id: &SessionId, file: &File) -> Result<SessionFileScan, SessionError> {
        let path = self.path_of(id);
        let scanned = SessionFileScan::of(file).map_err(|error| SessionError::Io(error, path.clone()))?;
        match scanned.kept.damage.torn + scanned.kept.damage.bytes {
            bytes @ 1.. if scanned.number == 0 => Err(SessionError::Unreadable { id: id.clone(), path, bytes }),
            _ => Ok(scanned),
        }
    }

    fn restored(&self, id: &SessionId, file: File) -> Result<(SessionLog, StoredSession), SessionError> {
        let path = self.path_of(id);
        let failed = |error| SessionError::Io(error, path.clone());
        let SessionFileScan { kept, end, number } = self.scanned(id, &file)?;
        if kept.damage.torn > 0 {
            file.set_len(end).and_then(|()| file.sync_data()).map_err(failed)?;
        }
        let writing = SessionWriter { file, end, number, room: self.room, name: kept.name.clone() };
        Ok((SessionLog { id: id.clone(), writing: Mutex::new(writing) }, kept))
    }

    /// Removes the oldest sessions that no process is writing. Best effort: another process may do the same.
    fn make_room(&self) {
        let mut names = listing::names_by_age(&self.folder);
        let too_many = (names.len() + 1).saturating_sub(self.most);
        for path in names.drain(..too_many) {
            let Ok(file) = private::read_file(&path) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Returns when a session was begun, in milliseconds since 1970; nothing where the record of it is lost.
    pub(super) fn began_ms(&self, id: &SessionId) -> Option<u64> {
        listing::began_ms(&self.path_of(id))
    }

    fn path_of(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.{ENDING}"))
    }
}

/// The content of a session file, and the place of its next record.
struct SessionFileScan {
    kept: StoredSession,
    /// Where the next record goes.
    end: u64,
    /// The number of that record.
    number: u64,
}

impl SessionFileScan {
    fn of(file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut kept = StoredSession::default();
        let mut number = 0;
        let scan = frame::scan(file, length, &mut |frame, body| {
            number = number.max(frame.head.number);
            match serde_json::from_slice::<SessionLogEntry>(&body) {
                Ok(entry) => {
                    kept.began_ms.get_or_insert(entry.at_ms);
                    kept.tally = entry.tally;
                    kept.words = kept.words.take().or(entry.words);
                    kept.name = entry.name;
                    kept.times.extend(entry.record.as_ref().map(|_| entry.at_ms));
                    kept.records.extend(entry.record);
                }
                // Whole, but of another version or not from haft.
                Err(_) => kept.damage.note(body.len() as u64),
            }
            Ok(())
        })?;
        scan.damaged.iter().for_each(|place| kept.damage.note(place.end - place.start));
        // One record is written at a time, so only one can be torn. More than that was whole once, and is left there.
        if frame::next_mark(file, scan.end + 1, length)?.is_some() {
            kept.damage.note(length - scan.end);
            return Ok(Self { kept, end: length, number });
        }
        kept.damage.torn = length - scan.end;
        Ok(Self { kept, end: scan.end, number })
    }
}

/// How the names of the files end.
const ENDING: &str = "session";

/// Returns the id of the session in a file; nothing where the file is none of ours.
fn id_in(path: &Path) -> Option<SessionId> {
    path.file_name()?.to_str()?.strip_suffix(&format!(".{ENDING}"))?.parse().ok()
}

/// Names a few sessions.
fn named(all: &[SessionId]) -> String {
    let mut names: Vec<String> = all.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    if all.len() > MOST_NAMED {
        names.push(format!("and {} more", all.len() - MOST_NAMED));
    }
    names.join(", ")
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Damage {
    /// Returns whether anything is lost.
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }

    fn note(&mut self, bytes: u64) {
        self.places += 1;
        self.bytes += bytes;
    }
}

/// A session that is open for writing. No other process can write it as long as this lives.
#[derive(Debug)]
pub struct SessionLog {
    id: SessionId,
    writing: Mutex<SessionWriter>,
}

/// The file of a session, and the place and the room for its next record.
#[derive(Debug)]
struct SessionWriter {
    file: File,
    end: u64,
    number: u64,
    room: u64,
    name: Option<String>,
}

impl SessionLog {
    /// Returns the name of the session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Writes a record at the end. When this returns, the record outlives the process.
    pub fn append(&self, record: &impl Serialize, tally: Tally) -> io::Result<()> {
        let record = serde_json::value::to_raw_value(record)?;
        self.write(|name| SessionLogEntry { at_ms: now_ms(), words: None, name, tally, record: Some(record) })
    }

    /// Gives the session a name; without one, it has none any more.
    pub fn rename(&self, name: Option<&str>, tally: Tally) -> io::Result<()> {
        let name = name.map(|name| name.chars().take(LONGEST_NAME).collect::<String>());
        self.writing.lock().unwrap_or_else(PoisonError::into_inner).name = name;
        self.write(|name| SessionLogEntry { at_ms: now_ms(), words: None, name, tally, record: None })
    }

    /// Reads what is written so far.
    pub fn read_back(&self) -> io::Result<StoredSession> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(SessionFileScan::of(&writing.file)?.kept)
    }

    fn write(&self, entry: impl FnOnce(Option<String>) -> SessionLogEntry) -> io::Result<()> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let body = serde_json::to_vec(&entry(writing.name.clone()))?;
        if body.len() > LONGEST_RECORD {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the record is longer than 64 MiB"));
        }
        writing.append(&body)
    }
}

impl SessionWriter {
    fn append(&mut self, body: &[u8]) -> io::Result<()> {
        let head = Head { number: self.number + 1, sets: 0 };
        let bytes = frame::frame(self.end, head, body);
        if self.end + bytes.len() as u64 > self.room {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the session is full; begin another one"));
        }
        if let Err(error) = self.file.write_all_at(&bytes, self.end) {
            // Half a record would be cut by the next one to come; better now, while the lock is ours.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += bytes.len() as u64;
        self.number = head.number;
        Ok(())
    }
}
