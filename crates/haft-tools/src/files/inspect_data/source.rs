//! Supplies the bytes of a scan: a file or a part of it, raw or unpacked.
//!
//! All reading is in steps, and a scan has a time limit. So neither a large file nor a small one that unpacks to a large
//! one takes long or much memory.

use std::time::{Duration, Instant};

use haft_contract::doors::door::FileBytes;
use haft_contract::prelude::*;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

/// How long one look reads before it answers with what it has.
const TIME: Duration = Duration::from_secs(2);
/// How much is read in one step. Even, so that no unit of UTF-16 is cut.
pub(super) const STEP: usize = 256 * 1024;
/// How much of packed data is unpacked at most.
const MOST_UNPACKED: u64 = 512 << 20;

/// When a look ends, finished or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub(super) fn from_now() -> Self {
        Self(Instant::now() + TIME)
    }

    /// Returns the moment at which half of the time is over.
    pub(super) fn half(self) -> Self {
        Self(self.0 - TIME / 2)
    }

    pub(super) fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// A source of bytes, one after the other.
pub(super) trait ByteSource {
    /// Fills the buffer; less than all of it only at the end.
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ToolError>;

    /// Passes over bytes; returns how many there were.
    fn skip(&mut self, bytes: u64) -> Result<u64, ToolError>;

    /// Says why the bytes ended early, where they did.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// A part of a file.
pub(super) struct FilePart {
    file: Box<dyn FileBytes>,
    place: u64,
    end: u64,
}

impl FilePart {
    pub(super) fn whole(file: Box<dyn FileBytes>) -> Self {
        let end = file.size();
        Self { file, place: 0, end }
    }

    /// Goes to another part of the same file.
    pub(super) fn go_to(&mut self, place: u64, length: u64) {
        self.place = place;
        self.end = place.saturating_add(length).min(self.file.size());
    }

    pub(super) fn size(&self) -> u64 {
        self.file.size()
    }

    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Reads bytes at a place, and stays where it is.
    pub(super) fn bytes_at(&mut self, place: u64, most: usize) -> Result<Vec<u8>, ToolError> {
        let left = usize::try_from(self.file.size().saturating_sub(place)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; most.min(left)];
        let read = self.file.read_at(place, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

impl ByteSource for FilePart {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ToolError> {
        let left = usize::try_from(self.end.saturating_sub(self.place)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let read = self.file.read_at(self.place, &mut into[..wanted])?;
        self.place += read as u64;
        Ok(read)
    }

    fn skip(&mut self, bytes: u64) -> Result<u64, ToolError> {
        let skipped = bytes.min(self.end.saturating_sub(self.place));
        self.place += skipped;
        Ok(skipped)
    }
}

/// Unpacks gzip, one member after the other.
pub(super) struct Gunzip {
    packed: FilePart,
    input: Vec<u8>,
    at: usize,
    state: Box<InflateState>,
    unpacked: u64,
    ended: bool,
    problem: Option<String>,
}

impl Gunzip {
    pub(super) fn new(packed: FilePart) -> Self {
        let state = InflateState::new_boxed(DataFormat::Raw);
        let mut gunzip = Self { packed, input: Vec::new(), at: 0, state, unpacked: 0, ended: false, problem: None };
        gunzip.ended = !matches!(gunzip.header(), Ok(true));
        if gunzip.ended {
            gunzip.problem = Some("the gzip header is damaged".to_owned());
        }
        gunzip
    }

    pub(super) fn packed_size(&self) -> u64 {
        self.packed.size()
    }

    fn refill(&mut self) -> Result<bool, ToolError> {
        self.input.resize(64 * 1024, 0);
        let read = self.packed.read(&mut self.input)?;
        self.input.truncate(read);
        self.at = 0;
        Ok(read > 0)
    }

    fn byte(&mut self) -> Result<Option<u8>, ToolError> {
        if self.at == self.input.len() && !self.refill()? {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(self.input[self.at - 1]))
    }

    /// Reads the header of a member; returns whether there was one.
    fn header(&mut self) -> Result<bool, ToolError> {
        let mut fixed = [0; 10];
        for byte in &mut fixed {
            let Some(read) = self.byte()? else { return Ok(false) };
            *byte = read;
        }
        if fixed[..3] != [0x1f, 0x8b, 8] {
            return Ok(false);
        }
        let flags = fixed[3];
        if flags & 4 != 0 {
            let length = [self.byte()?.unwrap_or(0), self.byte()?.unwrap_or(0)];
            for _ in 0..u16::from_le_bytes(length) {
                self.byte()?;
            }
        }
        // The name and the comment end with a zero.
        for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
            while self.byte()?.is_some_and(|byte| byte != 0) {}
        }
        for _ in 0..flags & 2 {
            self.byte()?;
        }
        Ok(true)
    }

    fn end_with(&mut self, problem: &str) {
        self.ended = true;
        self.problem = Some(problem.to_owned());
    }

    /// Goes on behind the end of a member.
    fn next_member(&mut self) -> Result<(), ToolError> {
        for _ in 0..8 {
            self.byte()?;
        }
        self.ended = !self.header()?;
        self.state = InflateState::new_boxed(DataFormat::Raw);
        Ok(())
    }
}

impl ByteSource for Gunzip {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ToolError> {
        let mut filled = 0;
        while filled < into.len() && !self.ended {
            if self.at == self.input.len() && !self.refill()? {
                self.end_with("the packed data ends in the middle");
                break;
            }
            let outcome = inflate(&mut self.state, &self.input[self.at..], &mut into[filled..], MZFlush::None);
            self.at += outcome.bytes_consumed;
            filled += outcome.bytes_written;
            self.unpacked += outcome.bytes_written as u64;
            match outcome.status {
                Ok(MZStatus::StreamEnd) => self.next_member()?,
                Ok(_) if outcome.bytes_consumed + outcome.bytes_written > 0 => {}
                _ => self.end_with("the packed data is damaged"),
            }
            if self.unpacked > MOST_UNPACKED {
                self.end_with("only the first 512 MiB were unpacked");
            }
        }
        Ok(filled)
    }

    fn skip(&mut self, bytes: u64) -> Result<u64, ToolError> {
        let mut passed = 0;
        let mut buffer = vec![0; STEP];
        while passed < bytes {
            let wanted = usize::try_from(bytes - passed).unwrap_or(STEP).min(STEP);
            let read = self.read(&mut buffer[..wanted])?;
            if read == 0 {
                break;
            }
            passed += read as u64;
        }
        Ok(passed)
    }

    fn problem(&self) -> Option<String> {
        self.problem.clone()
    }
}
