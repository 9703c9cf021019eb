//! Keeps an output while it arrives.
//!
//! A command must not fail because its output cannot be kept: haft counts the bytes that exceed the room or that a full disk
//! refuses. After the first failure it writes nothing more, because an output with a hole in its middle would deceive.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use haft_contract::doors::door::{SessionName, Spilling};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;

use super::{ROOM, Spills};

/// How much is gathered before it is written.
const STEP: usize = 64 * 1024;
/// How much is written before older outputs have to make room.
const BETWEEN_ROOM: u64 = 8 * 1024 * 1024;

/// An output that is being kept.
pub(super) struct BegunSpill {
    spills: Spills,
    id: String,
    path: PathBuf,
    file: File,
    gathered: String,
    /// What may still be taken.
    left: u64,
    written: u64,
    left_out: u64,
    state: SpillState,
}

/// The state of an output that is kept while it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpillState {
    Open,
    /// Nothing more is taken.
    Full,
    Finished,
}

impl BegunSpill {
    pub(super) fn begin(spills: &Spills, session: &SessionName, most: u64) -> io::Result<Self> {
        let (id, path, file) = spills.create(session)?;
        Ok(Self {
            spills: spills.clone(),
            id,
            path,
            file,
            gathered: String::new(),
            left: most.min(ROOM),
            written: 0,
            left_out: 0,
            state: SpillState::Open,
        })
    }

    fn write_gathered(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        let before = self.written;
        let done = write_counted(&mut self.file, gathered.as_bytes());
        if done < gathered.len() {
            // Half a character at the end is no text.
            let whole = gathered.floor_char_boundary(done);
            let _ = self.file.set_len(before + whole as u64);
            self.left_out += (gathered.len() - whole) as u64;
            self.written += whole as u64;
            self.state = SpillState::Full;
        } else {
            self.written += done as u64;
        }
        if before / BETWEEN_ROOM != self.written / BETWEEN_ROOM {
            self.spills.make_room();
        }
    }
}

impl Spilling for BegunSpill {
    fn keep(&mut self, text: &str) {
        if self.state != SpillState::Open {
            self.left_out += text.len() as u64;
            return;
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let end = text.floor_char_boundary(room.min(text.len()));
        self.gathered.push_str(&text[..end]);
        self.left -= end as u64;
        if end < text.len() {
            self.left_out += (text.len() - end) as u64;
            self.state = SpillState::Full;
        }
        if self.gathered.len() >= STEP {
            self.write_gathered();
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(String, u64), ToolError> {
        self.write_gathered();
        self.spills.make_room();
        // Many outputs together may have pushed each other out.
        if self.file.metadata().is_ok_and(|facts| facts.nlink() == 0) {
            let what = "The whole output could not be kept: too many long outputs came at the same time.";
            return Err(ToolError::of(ErrorKind::Io, what));
        }
        self.state = SpillState::Finished;
        Ok((self.id.clone(), self.left_out))
    }
}

impl Drop for BegunSpill {
    fn drop(&mut self) {
        if self.state != SpillState::Finished {
            // What stays in spite of this is removed when room is needed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes as much as the system takes; returns how much that was.
fn write_counted(file: &mut impl Write, bytes: &[u8]) -> usize {
    let mut done = 0;
    while done < bytes.len() {
        match file.write(&bytes[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that takes only so much.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.0).min(3);
            self.0 -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_counted() {
        assert_eq!(write_counted(&mut Small(100), b"0123456789"), 10);
        assert_eq!(write_counted(&mut Small(4), b"0123456789"), 4);
    }
}
