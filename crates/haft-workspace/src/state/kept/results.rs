//! Keeps results of earlier calls that may serve identical ones, one file each, for the user alone.
//!
//! A file is named by a keyed hash of what the result depends on, and sealed with the same key. haft draws the key once for
//! each workspace, and the key never leaves the workspace's state. So names reveal no arguments, and a torn or foreign file
//! is no result. haft writes files under another name and then renames them: several processes may read and write together.
//!
//! Not here: what a result depends on, and hiding secrets in it (`haft-runtime`).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use haft_contract::doors::door::RecalledEntry;

use crate::state::own_files::private;

/// Room for the results of one workspace.
const ROOM: u64 = 64 * 1024 * 1024;
/// Most results of one workspace.
const MOST: usize = 4_096;
/// Largest result that is kept, in bytes.
const LARGEST: usize = 1024 * 1024;
/// How a file begins.
const MAGIC: &[u8] = b"haft result 1\n";
/// The bytes before the result itself: beginning, time, seal.
const HEAD: usize = MAGIC.len() + 8 + 32;
/// The file with the key.
const KEY: &str = "key";

/// The kept results of one workspace.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
    room: u64,
}

type Secret = [u8; 32];

impl Results {
    pub(in crate::state) fn new(folder: PathBuf) -> Self {
        Self { folder, room: ROOM }
    }

    /// Returns what was kept under a key, where it is whole and no older than this.
    pub(in crate::state) fn recall(&self, key: &[u8], no_older: Duration) -> Option<RecalledEntry> {
        let secret = self.secret()?;
        let path = self.path(&secret, key);
        let mut bytes = Vec::new();
        private::read_file(&path).ok()?.take((HEAD + LARGEST + 1) as u64).read_to_end(&mut bytes).ok()?;
        let (time, kept) = opened(&secret, key, &bytes)?;
        // A result from the future was written by another clock: its age is unknown.
        let age = now()?.checked_sub(time)?;
        (age <= no_older).then(|| RecalledEntry { kept: kept.to_vec().into(), age })
    }

    /// Keeps something under a key, in the place of what was there; makes room for it.
    pub(in crate::state) fn remember(&self, key: &[u8], kept: &[u8]) {
        if kept.len() <= LARGEST {
            // A lost result is harmless: a full disk costs a run.
            let _ = self.write(key, kept);
            self.make_room();
        }
    }

    fn write(&self, key: &[u8], kept: &[u8]) -> io::Result<()> {
        private::create_folder(&self.folder)?;
        let secret = match self.secret() {
            Some(secret) => secret,
            None => self.draw_secret()?,
        };
        let time = now().ok_or(io::ErrorKind::InvalidData)?;
        let time = u64::try_from(time.as_millis()).map_err(io::Error::other)?;
        let sealed = [MAGIC, &time.to_le_bytes(), &seal(&secret, key, time, kept), kept].concat();
        self.put(&self.path(&secret, key), &sealed, |from, to| std::fs::rename(from, to))
    }

    /// Writes a file under another name and then gives it its own.
    fn put(&self, path: &Path, bytes: &[u8], place: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let begun = self.folder.join(format!(".{}", uuid::Uuid::now_v7().simple()));
        let written = private::create_file(&begun).and_then(|mut file| file.write_all(bytes));
        let placed = written.and_then(|()| place(&begun, path));
        if begun.symlink_metadata().is_ok() {
            let _ = std::fs::remove_file(&begun);
        }
        placed
    }

    /// Returns the key of the workspace, where there is one.
    fn secret(&self) -> Option<Secret> {
        let mut bytes = Vec::new();
        private::read_file(&self.folder.join(KEY)).ok()?.take(33).read_to_end(&mut bytes).ok()?;
        bytes.try_into().ok()
    }

    /// Draws the key of the workspace. If several processes do so together, all get the key of the first.
    fn draw_secret(&self) -> io::Result<Secret> {
        let path = self.folder.join(KEY);
        let mut secret = Secret::default();
        File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let draw = || self.put(&path, &secret, |from, to| std::fs::hard_link(from, to));
        match draw() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.secret().is_none() => {
                // It is there and is no key, so nothing can be read with it.
                std::fs::remove_file(&path)?;
                draw()?;
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.secret().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn path(&self, secret: &Secret, key: &[u8]) -> PathBuf {
        self.folder.join(blake3::keyed_hash(secret, key).to_hex().as_str())
    }

    /// Removes the oldest results until room and number are enough. Best effort: another process may do the same.
    fn make_room(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.file_name() != KEY)
            .filter_map(|entry| {
                let facts = entry.metadata().ok()?;
                Some((facts.modified().ok()?, facts.len(), entry.path()))
            })
            .collect();
        files.sort_unstable_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
        let mut used = 0;
        for (index, (_, size, path)) in files.into_iter().enumerate() {
            used += size;
            if used > self.room || index >= MOST {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Takes a file apart: when it was written, and what was kept. Nothing when it is not sealed for this key.
fn opened<'b>(secret: &Secret, key: &[u8], bytes: &'b [u8]) -> Option<(Duration, &'b [u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (time, rest) = rest.split_first_chunk::<8>()?;
    let (sealed, kept) = rest.split_first_chunk::<32>()?;
    let time = u64::from_le_bytes(*time);
    // Compared as hashes, which takes the same time wherever they differ.
    let is_sealed = blake3::Hash::from_bytes(*sealed) == blake3::Hash::from_bytes(seal(secret, key, time, kept));
    is_sealed.then_some((Duration::from_millis(time), kept))
}

fn seal(secret: &Secret, key: &[u8], time: u64, kept: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_keyed(secret);
    hasher.update(MAGIC).update(&(key.len() as u64).to_le_bytes()).update(key).update(&time.to_le_bytes()).update(kept);
    *hasher.finalize().as_bytes()
}

fn now() -> Option<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const HOUR: Duration = Duration::from_secs(3600);

    struct ResultsFixture {
        folder: tempfile::TempDir,
    }

    impl ResultsFixture {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("a folder can be made") }
        }

        fn results(&self) -> Results {
            Results::new(self.folder.path().join("cache"))
        }

        fn recalled(&self, key: &[u8]) -> Option<Vec<u8>> {
            self.results().recall(key, HOUR).map(|recalled| recalled.kept.to_vec())
        }

        fn files(&self) -> Vec<PathBuf> {
            let entries = std::fs::read_dir(self.folder.path().join("cache")).expect("it is there");
            let paths = entries.map(|entry| entry.expect("it can be read").path());
            paths.filter(|path| path.file_name().is_some_and(|name| name != KEY)).collect()
        }
    }

    #[test]
    fn what_was_kept_comes_back_for_its_key_while_it_is_young() {
        let scene = ResultsFixture::new();
        assert_eq!(scene.recalled(b"a"), None);
        scene.results().remember(b"a", b"one");
        scene.results().remember(b"b", b"two");
        assert_eq!((scene.recalled(b"a"), scene.recalled(b"b")), (Some(b"one".to_vec()), Some(b"two".to_vec())));
        assert_eq!(scene.recalled(b"c"), None);
        scene.results().remember(b"a", b"three");
        assert_eq!(scene.recalled(b"a"), Some(b"three".to_vec()));
        let secret = scene.results().secret().expect("it was drawn");
        let old = now().expect("there is a clock") - 2 * HOUR;
        let time = u64::try_from(old.as_millis()).expect("it fits");
        let sealed = [MAGIC, &time.to_le_bytes(), &seal(&secret, b"a", time, b"old"), b"old"].concat();
        std::fs::write(scene.results().path(&secret, b"a"), sealed).expect("it can be written");
        assert_eq!(scene.recalled(b"a"), None);
        assert!(scene.results().recall(b"a", 3 * HOUR).is_some_and(|recalled| recalled.age >= 2 * HOUR));
    }

    #[test]
    fn everything_is_for_the_user_alone_and_tells_nothing_of_its_key() {
        let scene = ResultsFixture::new();
        scene.results().remember(b"argument", b"one");
        for path in scene.files().into_iter().chain([scene.folder.path().join("cache").join(KEY)]) {
            let mode = path.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{path:?}");
            assert!(!String::from_utf8_lossy(&std::fs::read(&path).expect("it can be read")).contains("argument"));
        }
        assert_eq!(
            scene.folder.path().join("cache").metadata().expect("it is there").permissions().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn torn_and_foreign_files_are_no_results() {
        let scene = ResultsFixture::new();
        scene.results().remember(b"a", b"one");
        let path = scene.files().pop().expect("there is one");
        let whole = std::fs::read(&path).expect("it can be read");
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).expect("it can be written");
            assert_eq!(scene.recalled(b"a"), None, "{length}");
        }
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            std::fs::write(&path, &other).expect("it can be written");
            assert_eq!(scene.recalled(b"a"), None, "{at}");
        }
        std::fs::write(&path, &whole).expect("it can be written");
        std::fs::write(scene.folder.path().join("cache").join(KEY), b"short").expect("it can be written");
        assert_eq!(scene.recalled(b"a"), None);
        scene.results().remember(b"a", b"two");
        assert_eq!(scene.recalled(b"a"), Some(b"two".to_vec()), "another key was drawn");
    }

    #[test]
    fn the_room_is_bounded_and_what_is_too_large_is_not_kept() {
        let scene = ResultsFixture::new();
        scene.results().remember(b"large", &vec![0; LARGEST + 1]);
        assert_eq!(scene.recalled(b"large"), None);
        let small = Results { room: 1000, ..scene.results() };
        for number in 0..20_u8 {
            small.remember(&[number], &[number; 200]);
        }
        let used: u64 = scene.files().iter().map(|path| path.metadata().map_or(0, |facts| facts.len())).sum();
        assert!(used <= 1000, "{used}");
        assert_eq!(scene.recalled(&[19]), Some(vec![19; 200]));
    }

    #[test]
    fn several_at_once_share_one_key() {
        let scene = ResultsFixture::new();
        std::thread::scope(|threads| {
            for number in 0..8_u8 {
                let results = scene.results();
                threads.spawn(move || results.remember(&[number], &[number]));
            }
        });
        for number in 0..8_u8 {
            assert_eq!(scene.recalled(&[number]), Some(vec![number]));
        }
    }
}
