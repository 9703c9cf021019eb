//! Holds the small contents of one intent until its record is written.
//!
//! For a change of many files they would need too much memory. Beyond a small amount, they wait in a file without a name.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::state::own_files::private;

/// This much is held in memory.
const MOST_IN_MEMORY: usize = 1024 * 1024;

/// Contents, one behind the other.
#[derive(Default)]
pub(crate) struct InlineContents {
    /// Where a file can be made; without one everything is held in memory.
    folder: Option<PathBuf>,
    /// What came first, where not everything is in memory.
    file: Option<Nameless>,
    written: usize,
    memory: Vec<u8>,
}

/// A file without a name, opened for writing and for reading.
struct Nameless {
    to: File,
    from: File,
}

impl InlineContents {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..Self::default() }
    }

    /// Returns how long all of them are.
    pub(crate) fn len(&self) -> usize {
        self.written + self.memory.len()
    }

    /// Adds one; returns where it begins.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<u32> {
        let at = u32::try_from(self.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.folder.is_some() && self.memory.len() + bytes.len() > MOST_IN_MEMORY {
            self.put_away()?;
        }
        self.memory.extend_from_slice(bytes);
        Ok(at)
    }

    /// Returns one of them.
    pub(crate) fn read(&self, at: u32, length: u32) -> io::Result<Vec<u8>> {
        let (at, length) = (at as usize, length as usize);
        let in_file = length.min(self.written.saturating_sub(at));
        let mut bytes = vec![0; in_file];
        if let Some(file) = self.file.as_ref().filter(|_| in_file > 0) {
            file.from.read_exact_at(&mut bytes, at as u64)?;
        }
        let begin = (at + in_file).saturating_sub(self.written);
        let rest = self.memory.get(begin..begin + length - in_file).ok_or(io::ErrorKind::InvalidData)?;
        bytes.extend_from_slice(rest);
        Ok(bytes)
    }

    /// Writes all of them.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> io::Result<()> {
        if let Some(Nameless { from, .. }) = &self.file {
            let mut from = from;
            from.rewind()?;
            io::copy(&mut from.take(self.written as u64), to)?;
        }
        to.write_all(&self.memory)
    }

    /// Moves what is in memory into the file.
    fn put_away(&mut self) -> io::Result<()> {
        let file = match (&self.file, &self.folder) {
            (Some(file), _) => file,
            (None, None) => return Ok(()),
            (None, Some(folder)) => {
                let path = folder.join(format!("{}.tmp", uuid::Uuid::now_v7().simple()));
                let to = private::create_file(&path)?;
                let from = private::read_file(&path);
                std::fs::remove_file(path)?;
                self.file.insert(Nameless { to, from: from? })
            }
        };
        file.to.write_all_at(&self.memory, self.written as u64)?;
        self.written += self.memory.len();
        self.memory.clear();
        Ok(())
    }
}

#[cfg(test)]
impl From<Vec<u8>> for InlineContents {
    fn from(memory: Vec<u8>) -> Self {
        Self { memory, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_the_same_in_memory_and_in_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut contents = InlineContents::in_folder(folder.path());
        let content = |number: u32| vec![(number % 251) as u8; 30_000 + number as usize];
        let places: Vec<u32> = (0..200).map(|number| contents.push(&content(number)).expect("there is room")).collect();
        assert!(contents.memory.len() <= MOST_IN_MEMORY && contents.len() > 6_000_000);
        for (number, at) in (0..).zip(places) {
            let wanted = content(number);
            let length = u32::try_from(wanted.len()).expect("it is small");
            assert!(contents.read(at, length).expect("it is there") == wanted, "{number}");
        }
        let mut all = Vec::new();
        contents.write_to(&mut all).expect("memory can be written");
        assert!(all == (0..200).flat_map(content).collect::<Vec<u8>>());
        assert!(contents.read(u32::try_from(contents.len()).expect("it is small"), 1).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
    }
}
