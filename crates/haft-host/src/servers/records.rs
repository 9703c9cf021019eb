//! What haft remembers of servers: one text per server, and a folder that belongs to the server.
//!
//! It is in the user's state folder, which no tool and no server sees.

use std::io;
use std::path::{Path, PathBuf};

use haft_workspace::state::{make_own_folder, read_state_file, replace_own_file};

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
        Self { folder: scope.settings.environment.state_folder.join("mcp") }
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

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(Path::new(key).file_name().unwrap_or_default()).with_extension("json")
    }
}
