//! Knows how much room the journal takes, without looking at every content.
//!
//! A process that writes to the journal notes the size of its contents, with the last change time of their folder. If the
//! note is missing, damaged or of another time, haft counts everything again.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Journal;
use crate::state::own_files::private;
use crate::state::read_state_file;

/// The room that the contents of the journal take.
#[derive(PartialEq, Serialize, Deserialize)]
struct ContentsSize {
    bytes: u64,
    /// When the folder of contents changed last.
    changed: (i64, i64),
}

impl Journal {
    /// Returns how much room the journal and its contents take.
    pub(super) fn used(&self) -> u64 {
        self.path().symlink_metadata().map_or(0, |facts| facts.len()) + self.objects_room()
    }

    /// Returns how much room the contents take.
    pub(super) fn objects_room(&self) -> u64 {
        let objects = self.objects();
        let Some(changed) = objects.changed() else { return 0 };
        match self.noted_size() {
            Some(size) if size.changed == changed => size.bytes,
            _ => objects.room(),
        }
    }

    /// Notes how much room the contents take. No other process writes meanwhile.
    pub(super) fn note_objects_room(&self, bytes: u64) {
        let Some(changed) = self.objects().changed() else { return };
        let size = ContentsSize { bytes, changed };
        if self.noted_size().as_ref() != Some(&size) {
            // What is not noted is counted by the next one.
            let _ = self.write_size(&size);
        }
    }

    fn noted_size(&self) -> Option<ContentsSize> {
        serde_json::from_str(&read_state_file(&self.size_file())?).ok()
    }

    fn write_size(&self, size: &ContentsSize) -> io::Result<()> {
        let (path, new) = (self.size_file(), self.size_file().with_extension("new"));
        // Left by a process that was killed here.
        let _ = std::fs::remove_file(&new);
        private::create_file(&new)?.write_all(&serde_json::to_vec(size)?)?;
        std::fs::rename(new, path)
    }

    fn size_file(&self) -> PathBuf {
        self.folder.join("objects-size")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::journal::{Durable, JournalLimits};

    #[test]
    fn a_note_that_is_missing_torn_or_old_is_counted_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let journal = Journal::new(folder.path().join("j"), JournalLimits::default());
        let keep = |byte: u8| {
            let kept = journal.objects().keep(&mut &*vec![byte; 100_000], Durable::Yes, &|| false);
            kept.expect("it can be kept")
        };
        assert_eq!(journal.objects_room(), 0);
        keep(1);
        assert_eq!(journal.objects_room(), 100_000);
        journal.note_objects_room(77);
        assert_eq!(journal.objects_room(), 77);
        let noted = std::fs::read(journal.size_file()).expect("it was noted");
        for length in 0..noted.len() {
            std::fs::write(journal.size_file(), &noted[..length]).expect("it is ours");
            assert_eq!(journal.objects_room(), 100_000, "torn at byte {length}");
        }
        journal.note_objects_room(77);
        let before = journal.objects().changed();
        keep(2);
        if journal.objects().changed() != before {
            assert_eq!(journal.objects_room(), 200_000);
        }
        std::fs::remove_file(journal.size_file()).expect("it was noted");
        assert_eq!(journal.objects_room(), 200_000);
    }
}
