//! Records what the user has trusted in which folders.
//!
//! It is one file in the state folder, which no tool call and no command can see. If haft does not understand the file, that
//! is an error: haft then trusts nothing and does not overwrite the file.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::own_files::private;
use crate::project::copy::{folder_of, prune};
use crate::project::{Fingerprint, Project, TrustedCopy};

/// Everything that was trusted.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

/// The code and the words of one folder that the user trusts, and the copy of the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderTrust {
    /// Each file of code with the hashes of it and of what it names.
    #[serde(default)]
    pub code: BTreeMap<String, Fingerprint>,
    /// The words of the folder, with their hashes at that time; none where they are not trusted.
    #[serde(default)]
    pub words: Option<Fingerprint>,
    /// The copy that the code runs from.
    #[serde(default)]
    pub copy: Option<TrustedCopy>,
}

/// The content of the file that records the trusted folders.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustFile {
    #[serde(default)]
    folders: BTreeMap<String, FolderTrust>,
}

impl TrustStore {
    /// Names the store in haft's state folder. Creates nothing yet.
    pub fn new(state_folder: &Path) -> Self {
        Self { path: state_folder.join("trust.json") }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was trusted in a folder; nothing if the user has trusted nothing there.
    pub fn of(&self, folder: &Path) -> io::Result<FolderTrust> {
        let mut trusted = self.read()?.folders.remove(key(folder)?).unwrap_or_default();
        self.find_copy(&mut trusted);
        Ok(trusted)
    }

    /// Takes a copy of everything that trusted code of a project can run, and notes it with what is trusted.
    pub fn copy_code(&self, project: &Project, trusted: &mut FolderTrust) -> io::Result<()> {
        project.copy_code(trusted, self.state_folder())
    }

    /// Says where the copy lies. Code that names files and was trusted without a copy is not trusted: it could run what the
    /// user has not seen.
    fn find_copy(&self, trusted: &mut FolderTrust) {
        match &mut trusted.copy {
            Some(copy) => copy.folder = folder_of(self.state_folder(), copy.id.as_deref().unwrap_or_default()),
            None => trusted.code.retain(|_, fingerprint| fingerprint.len() == 1),
        }
    }

    fn state_folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Returns all folders in which something was trusted.
    pub fn list(&self) -> io::Result<Vec<(String, FolderTrust)>> {
        Ok(self.read()?.folders.into_iter().collect())
    }

    /// Trusts this in a folder, and nothing else there.
    pub fn put(&self, folder: &Path, trusted: FolderTrust) -> io::Result<()> {
        let key = key(folder)?.to_owned();
        self.change(|kept| {
            kept.folders.insert(key, trusted);
        })
    }

    /// Trusts nothing in a folder any more; returns whether something was.
    pub fn revoke(&self, folder: &Path) -> io::Result<bool> {
        let key = key(folder)?;
        self.change(|kept| kept.folders.remove(key).is_some())
    }

    fn read(&self) -> io::Result<TrustFile> {
        let mut bytes = Vec::new();
        match private::read_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TrustFile::default()),
            file => file?.read_to_end(&mut bytes)?,
        };
        serde_json::from_slice(&bytes).map_err(io::Error::from)
    }

    fn change<T>(&self, change: impl FnOnce(&mut TrustFile) -> T) -> io::Result<T> {
        private::create_folder(self.path.parent().unwrap_or(Path::new(".")))?;
        let lock = private::append_file(&self.path.with_extension("lock"))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        let mut kept = self.read()?;
        let answer = change(&mut kept);
        let new = self.path.with_extension("new");
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = private::create_file(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&kept)?)?;
        // A power cut leaves the old file or the new one.
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        let copies = kept.folders.values().filter_map(|trusted| trusted.copy.as_ref()?.id.as_deref());
        prune(self.state_folder(), &copies.collect());
        Ok(answer)
    }
}

/// A folder whose path is not text would share its key with others.
fn key(folder: &Path) -> io::Result<&str> {
    folder.to_str().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path of the folder is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn trusted() -> FolderTrust {
        let fingerprint = Fingerprint::from([(".haft/rules.toml".to_owned(), "abc".to_owned())]);
        FolderTrust { code: BTreeMap::from([(".haft/rules.toml".to_owned(), fingerprint)]), ..FolderTrust::default() }
    }

    #[test]
    fn what_is_trusted_stays_so_until_it_is_revoked_and_only_the_user_can_read_it() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let store = TrustStore::new(&folder.path().join("state/haft"));
        let (one, other) = (Path::new("/one"), Path::new("/other"));
        assert_eq!(store.of(one).expect("it can be read"), FolderTrust::default());
        store.put(one, trusted()).expect("it can be kept");
        assert_eq!(store.of(one).expect("it can be read"), trusted());
        assert_eq!(store.of(other).expect("it can be read"), FolderTrust::default());
        let mode = std::fs::metadata(store.path()).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(store.revoke(one).expect("it can be revoked"));
        assert!(!store.revoke(one).expect("it can be revoked"));
        assert_eq!(store.list().expect("it can be read"), []);
    }

    #[test]
    fn a_record_that_is_not_understood_trusts_nothing_and_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let store = TrustStore::new(folder.path());
        std::fs::write(store.path(), "{\"folders\": 3}").expect("a file can be written");
        assert!(store.of(Path::new("/one")).is_err() && store.put(Path::new("/one"), trusted()).is_err());
        assert_eq!(std::fs::read_to_string(store.path()).expect("it is there"), "{\"folders\": 3}");
    }
}
