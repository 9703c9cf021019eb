//! What haft remembers of servers: one text per server, and a folder that belongs to the server.
//!
//! It is in the user's state folder, which no tool and no server sees.

use std::io;
use std::path::{Path, PathBuf};

use haft_workspace::state::{
    OwnFileLock, lock_own_file, make_own_folder, read_secret_file, read_state_file, replace_own_file,
    replace_private_file,
};

use super::ServerScope;

/// The records of all servers.
#[derive(Clone, Debug)]
pub struct ServerRecords {
    folder: PathBuf,
}

impl ServerRecords {
    /// Names the records of a user. Creates nothing.
    #[must_use]
    pub fn of(scope: &ServerScope) -> Self {
        Self::in_folder(scope.settings.environment.state_folder.join("mcp"))
    }

    /// Names the records in this folder. Creates nothing.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder that they are in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the record of a server; nothing where there is none, or another user could have written it.
    #[must_use]
    pub fn read(&self, key: &str) -> Option<String> {
        read_state_file(&self.file(key))
    }

    /// Writes the record of a server.
    ///
    /// # Errors
    ///
    /// Fails if the state folder cannot be written.
    pub fn write(&self, key: &str, text: &str) -> io::Result<()> {
        replace_own_file(&self.file(key), text)
    }

    /// Forgets a server: its record becomes empty.
    ///
    /// # Errors
    ///
    /// Fails if the state folder cannot be written.
    pub fn forget(&self, key: &str) -> io::Result<()> {
        match self.read(key) {
            Some(text) if !text.is_empty() => self.write(key, ""),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns what haft keeps of the user's login to a server; nothing where there is none.
    ///
    /// # Errors
    ///
    /// Fails if another user can read or write it.
    pub fn read_login(&self, key: &str) -> io::Result<Option<String>> {
        read_secret_file(&self.login_file(key))
    }

    /// Writes what haft keeps of the user's login to a server, for the user alone.
    ///
    /// # Errors
    ///
    /// Fails if the state folder cannot be written.
    pub fn write_login(&self, key: &str, text: &str) -> io::Result<()> {
        replace_private_file(&self.login_file(key), text)
    }

    /// Waits until no other process of the user changes the login to a server; others wait as long as the answer lives.
    ///
    /// # Errors
    ///
    /// Fails if the state folder cannot be written.
    pub fn lock_login(&self, key: &str) -> io::Result<OwnFileLock> {
        lock_own_file(&self.login_file(key).with_extension("lock"))
    }

    /// Makes the folder of a server, with its home in it, and returns it.
    ///
    /// # Errors
    ///
    /// Fails if the state folder cannot be written.
    pub fn own_folder(&self, key: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(format!("{key}.own"));
        make_own_folder(&folder.join("home"))?;
        Ok(haft_workspace::state::real_path_of(&folder))
    }

    fn login_file(&self, key: &str) -> PathBuf {
        let name = Path::new(key).file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.folder.join(format!("{name}.login"))
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(Path::new(key).file_name().unwrap_or_default()).with_extension("json")
    }
}
