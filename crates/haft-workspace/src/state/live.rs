//! Lists sessions that keep something running, and where other processes of the user can reach them.
//!
//! Each has a private folder for its socket, which it locks as long as it lives. An unlocked folder was left by a killed
//! process. The name of the socket cannot be guessed: a command that cannot list haft's state cannot reach it, whatever else
//! it may do as the same user.
//!
//! Not here: what is said over the socket (`haft-net`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::held::HeldFolder;
use super::own_files::private;
use super::own_files::registry::Claim;
use super::sessions::SessionId;

/// Longest name of a session, and how many letters are added to one that others may have.
const LONGEST_NAME: usize = 40;
const ADDED: usize = 4;
/// Longest name of a session that several processes share.
const LONGEST_ID: usize = 100;
/// How many letters the part behind the name of the session has.
const UNIQUE: usize = 32;

/// The live sessions of one workspace.
#[derive(Clone, Debug)]
pub struct LiveSessions {
    folder: PathBuf,
    claim: Claim,
    serves: Serves,
}

/// What sessions serve over their sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Their jobs.
    Jobs,
    /// Commands of other processes.
    Commands,
}

impl Serves {
    /// Returns how the names of the folders go on, before the name of the session.
    fn words(self) -> &'static str {
        match self {
            Serves::Jobs => "live",
            Serves::Commands => "held",
        }
    }
}

/// A session of another process.
#[derive(Debug)]
pub struct LiveSession {
    /// Its name.
    pub id: String,
    /// Where it listens.
    pub socket: SocketPlace,
}

/// The place of a socket.
#[derive(Debug)]
pub struct SocketPlace {
    folder: File,
    name: String,
}

/// The place of the socket of a session of this process; it goes when this is dropped.
#[derive(Debug)]
pub struct HeldSocket {
    _folder: HeldFolder,
    /// Where to listen.
    pub socket: SocketPlace,
}

impl LiveSessions {
    pub(super) fn new(folder: PathBuf, claim: Claim, serves: Serves) -> Self {
        Self { folder, claim, serves }
    }

    /// Returns whether there is any, or what is left of one.
    pub(super) fn exist(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Makes a place for the socket of a session of this process. Its name goes on where others may have the same.
    ///
    /// # Errors
    ///
    /// Fails where no private folder can be made.
    pub fn hold(&self, name: &str) -> io::Result<HeldSocket> {
        let id = match name.parse::<SessionId>() {
            Ok(id) => id.to_string(),
            Err(_) => {
                let is_usual = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
                let usual: String = name.chars().filter(is_usual).take(LONGEST_NAME).collect();
                format!("{usual}-{}", &unguessable()[..ADDED])
            }
        };
        self.hold_exactly(&id)
    }

    /// Makes a place for the socket of a session of this process, which has exactly this name: letters, digits, `-`, `_`
    /// and `.` only.
    ///
    /// # Errors
    ///
    /// Fails where no private folder can be made, or where it is no name.
    pub fn hold_exactly(&self, id: &str) -> io::Result<HeldSocket> {
        if !is_session_name(id) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        private::create_folder(&self.folder)?;
        self.claim.stake();
        self.remove_abandoned();
        let folder = HeldFolder::beneath(&self.folder, &format!("{}-{id}", self.serves.words()))?;
        let socket = SocketPlace { folder: open_folder(folder.path())?, name: unguessable() };
        Ok(HeldSocket { _folder: folder, socket })
    }

    /// Returns the sessions that live, in the order of their names. Removes what killed ones have left.
    pub fn all(&self) -> Vec<LiveSession> {
        self.remove_abandoned();
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut live: Vec<LiveSession> = entries.filter_map(|entry| live_at(&entry.path(), self.serves)).collect();
        live.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        live
    }

    /// Returns the session of this name, if it lives.
    pub fn find(&self, id: &str) -> Option<LiveSession> {
        let beginning = format!("haft-{}-{id}-", self.serves.words());
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning));
        let mut live = named.filter_map(|entry| live_at(&entry.path(), self.serves));
        live.find(|session| session.id == id)
    }

    /// Waits until no other process of the user is about to start a session; others wait as long as the answer lives.
    ///
    /// # Errors
    ///
    /// Fails where no private folder can be made.
    pub fn starting(&self) -> io::Result<File> {
        private::create_folder(&self.folder)?;
        let path = self.folder.join("starting");
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    fn remove_abandoned(&self) {
        HeldFolder::remove_abandoned(&self.folder, self.serves.words());
    }
}

/// Returns whether this can be the name of a session that several processes share.
pub fn is_session_name(id: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(is_usual)
}

impl SocketPlace {
    /// Returns a short path of the socket in this process, however deep haft's state is: sockets have no long ones.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{}", self.folder.as_raw_fd(), self.name))
    }
}

fn live_at(path: &Path, serves: Serves) -> Option<LiveSession> {
    let words = path.file_name()?.to_str()?.strip_prefix("haft-")?.strip_prefix(serves.words())?.strip_prefix('-')?;
    let id = words.get(..words.len().checked_sub(UNIQUE + 1)?)?.to_owned();
    let entries = std::fs::read_dir(path).ok()?.flatten();
    let mut sockets = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    // It begins to listen just now, where there is none yet.
    let name = sockets.next()?.file_name().into_string().ok()?;
    Some(LiveSession { id, socket: SocketPlace { folder: open_folder(path).ok()?, name } })
}

fn open_folder(path: &Path) -> io::Result<File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn unguessable() -> String {
    let hash = blake3::hash(uuid::Uuid::now_v7().as_bytes());
    hash.to_hex()[..UNIQUE].to_owned()
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "a test listens")]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::super::WorkspaceState;
    use super::*;

    #[test]
    fn a_session_is_found_as_long_as_it_lives_also_beneath_a_long_path() {
        let home = tempfile::tempdir().unwrap();
        let (state, root) = (home.path().join("x".repeat(120)), home.path().join("ws"));
        std::fs::create_dir_all(&root).unwrap();
        let live = WorkspaceState::new(&state, &root).live_sessions();
        assert!(live.all().is_empty() && !state.exists(), "looking makes nothing");

        let held = live.hold("k3f9-q2bx").unwrap();
        assert!(live.all().is_empty(), "it does not listen yet");
        let _listener = UnixListener::bind(held.socket.path()).unwrap();
        let found = live.all();
        assert_eq!(found.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["k3f9-q2bx"]);
        std::os::unix::net::UnixStream::connect(found[0].socket.path()).unwrap();
        let mode = std::fs::metadata(held._folder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);

        drop(held);
        assert!(live.all().is_empty() && !live.exist());
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("ws");
        std::fs::create_dir_all(&root).unwrap();
        let live = WorkspaceState::new(&home.path().join("state"), &root).live_sessions();
        drop(live.hold("one").unwrap());
        let left = live.folder.join(format!("haft-live-one-{}", "0".repeat(UNIQUE)));
        std::fs::create_dir(&left).unwrap();
        let place = SocketPlace { folder: open_folder(&left).unwrap(), name: "socket".to_owned() };
        drop(UnixListener::bind(place.path()).unwrap());

        assert!(live.all().is_empty());
        assert!(!left.exists());
    }
}
