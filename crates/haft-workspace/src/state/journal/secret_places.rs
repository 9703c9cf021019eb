//! Remembers where the secret files of a workspace are, across processes: their paths, never their values.
//!
//! A process that reads one file does not search the whole workspace first. It reads the secret files that an earlier
//! process found, because the file may be a copy of one of them.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{Claim, Journal};
use crate::state::own_files::private;

/// Largest list that is read, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

impl Journal {
    /// Returns the places of the secret files, as they were found last; nothing where they were never looked for.
    pub(crate) fn secret_places(&self) -> Option<Vec<PathBuf>> {
        let mut bytes = Vec::new();
        private::read_file(&self.places_file()).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
        let places = bytes.split(|byte| *byte == 0).filter(|place| !place.is_empty());
        Some(places.map(|place| PathBuf::from(OsStr::from_bytes(place))).collect())
    }

    /// Remembers the places of the secret files.
    pub(crate) fn remember_secret_places(&self, places: &[PathBuf]) -> io::Result<()> {
        if let Some(state) = self.folder.parent() {
            private::create_folder(state)?;
        }
        self.claim.iter().for_each(Claim::stake);
        let mut bytes = Vec::new();
        for place in places {
            bytes.extend(place.clone().into_os_string().into_vec());
            bytes.push(0);
        }
        // Another process may write one at the same time: each is whole, and the last one counts.
        let beside = self.folder.with_file_name(format!("secret-places.{}", uuid::Uuid::now_v7().simple()));
        private::create_file(&beside)?.write_all(&bytes)?;
        std::fs::rename(&beside, self.places_file())
    }

    fn places_file(&self) -> PathBuf {
        self.folder.with_file_name("secret-places")
    }
}
