//! Compares a large content with its replacement, while haft reads it to compute its hash.
//!
//! Both are compared at the same distance from the beginning. This finds bytes that were appended or written in place,
//! however many bytes lie between them. If bytes were inserted or removed in the middle, the ends are compared as well. Only
//! the pieces are held in memory.
//!
//! Not here: what is kept of it (`image`, `state::journal::delta`).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use super::change::snapshot::LARGEST_MIDDLE;
use crate::state::journal::{ContentHash, ContentPiece};

/// How many bytes are read in one step.
const STEP: usize = 1024 * 1024;
/// Most of it is compared in blocks, which is several times as fast.
const BLOCK: usize = 4 * 1024;
/// What lies between two new stretches counts as new too when it is this short.
const GAP: u64 = 64;
/// Most new stretches; a content with more is another one.
const MOST_STRETCHES: usize = 512;
/// Less is not worth a look at the ends.
const LITTLE: u64 = 1024;

/// A content that replaces another one.
#[derive(Clone, Copy)]
pub(super) enum IncomingContent<'c> {
    Bytes(&'c [u8]),
    /// A large one, with its size.
    File(&'c File, u64),
}

impl IncomingContent<'_> {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, size) => *size,
        }
    }

    pub(super) fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => {
                let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..at.checked_add(into.len())?));
                into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Self::File(file, _) => file.read_exact_at(into, at),
        }
    }
}

/// The comparison of an old content with the content that replaces it.
pub(super) struct RevisionComparison<'c> {
    old: &'c File,
    /// How large the old content was when it was looked at.
    size: u64,
    coming: Option<IncomingContent<'c>>,
    /// The new stretches: where each begins and ends.
    stretches: Vec<(u64, u64)>,
    /// Whether so much is new that only the ends can still be the same.
    is_other: bool,
}

impl<'c> RevisionComparison<'c> {
    pub(super) fn of(old: &'c File, size: u64, coming: Option<IncomingContent<'c>>) -> Self {
        Self { old, size, coming, stretches: Vec::new(), is_other: false }
    }

    /// Returns the hash of the old content, and what the new one is made of, where there is one that has something in
    /// common with it. `stopped` is asked between pieces.
    pub(super) fn run(mut self, stopped: &dyn Fn() -> bool) -> io::Result<(ContentHash, Option<Vec<ContentPiece>>)> {
        let mut hasher = blake3::Hasher::new();
        let (mut old, mut new) = (vec![0; STEP], Vec::new());
        let mut at = 0;
        loop {
            let read = read_full(self.old, &mut old)?;
            hasher.update(&old[..read]);
            self.compare(at, &old[..read], &mut new)?;
            at += read as u64;
            if read < STEP {
                break;
            }
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        // If the content grew meanwhile, the code that replaces it notices.
        let pieces = if at == self.size { self.pieces()? } else { None };
        Ok((ContentHash(*hasher.finalize().as_bytes()), pieces))
    }

    /// Compares a stretch of the old content with what stands in its place.
    fn compare(&mut self, at: u64, old: &[u8], buffer: &mut Vec<u8>) -> io::Result<()> {
        let Some(coming) = self.coming.filter(|_| !self.is_other) else { return Ok(()) };
        let there = usize::try_from(coming.size().saturating_sub(at)).unwrap_or(usize::MAX).min(old.len());
        let new = match coming {
            IncomingContent::Bytes(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                &bytes[at..at + there]
            }
            IncomingContent::File(..) => {
                buffer.resize(there, 0);
                coming.read_at(at, buffer)?;
                &buffer[..]
            }
        };
        let blocks = old[..there].chunks(BLOCK).zip(new.chunks(BLOCK));
        for (index, (old, new)) in blocks.enumerate().filter(|(_, (old, new))| old != new) {
            let begin = shared_beginning(old, new);
            let end = new.len() - shared_end(&old[begin..], &new[begin..]);
            let block = at + (index * BLOCK) as u64;
            self.note(block + begin as u64, block + end as u64);
        }
        Ok(())
    }

    fn note(&mut self, begin: u64, end: u64) {
        match self.stretches.last_mut() {
            Some((_, last)) if begin - *last <= GAP => *last = end,
            _ => self.stretches.push((begin, end)),
        }
        self.is_other = self.stretches.len() > MOST_STRETCHES || self.new_bytes() > LARGEST_MIDDLE as u64;
    }

    /// Returns how many bytes are new.
    fn new_bytes(&self) -> u64 {
        self.stretches.iter().map(|(begin, end)| end - begin).sum()
    }

    fn pieces(mut self) -> io::Result<Option<Vec<ContentPiece>>> {
        let Some(coming) = self.coming else { return Ok(None) };
        let size = coming.size();
        if let (true, Some(first)) = (self.is_other, self.stretches.first().copied()) {
            self.stretches = vec![(first.0, size.min(self.size))];
        }
        if size > self.size {
            self.note(self.size, size);
        }
        let first = self.stretches.first().map_or(size, |(begin, _)| *begin);
        let is_moved = size != self.size && self.new_bytes() > LITTLE;
        let end = if is_moved { self.shared_end(coming, first)? } else { 0 };
        let mut pieces = Vec::new();
        let mut at = 0;
        for (begin, to) in self.stretches {
            let to = to.min(size - end);
            if begin < to {
                pieces.push(ContentPiece::Old { at, length: begin - at });
                pieces.push(ContentPiece::New { at: begin, length: to - begin });
                at = to;
            }
        }
        pieces.push(ContentPiece::Old { at, length: size - end - at });
        pieces.push(ContentPiece::Old { at: self.size - end, length: end });
        pieces.retain(|piece| !matches!(piece, ContentPiece::Old { length: 0, .. }));
        Ok(Some(pieces))
    }

    /// Returns how many bytes are the same at the ends, without so many at the beginning.
    fn shared_end(&self, coming: IncomingContent<'_>, without: u64) -> io::Result<u64> {
        let most = self.size.min(coming.size()).saturating_sub(without);
        let (mut old, mut new) = (vec![0; STEP], vec![0; STEP]);
        let mut shared = 0;
        while shared < most {
            let step = usize::try_from(most - shared).unwrap_or(STEP).min(STEP);
            self.old.read_exact_at(&mut old[..step], self.size - shared - step as u64)?;
            coming.read_at(coming.size() - shared - step as u64, &mut new[..step])?;
            let same = shared_end(&old[..step], &new[..step]);
            shared += same as u64;
            if same < step {
                break;
            }
        }
        Ok(shared)
    }
}

fn read_full(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

pub(super) fn shared_beginning(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.chunks(BLOCK).zip(new.chunks(BLOCK)).take_while(|(old, new)| old == new).count();
    let begin = (blocks * BLOCK).min(old.len()).min(new.len());
    begin + old[begin..].iter().zip(&new[begin..]).take_while(|(old, new)| old == new).count()
}

pub(super) fn shared_end(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.rchunks(BLOCK).zip(new.rchunks(BLOCK)).take_while(|(old, new)| old == new).count();
    let end = (blocks * BLOCK).min(old.len()).min(new.len());
    let rest = old[..old.len() - end].iter().rev().zip(new[..new.len() - end].iter().rev());
    end + rest.take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file can be made");
        file.write_all(bytes).expect("it can be written");
        file.rewind().expect("it is a file");
        file
    }

    /// What the pieces make of both contents, and how many bytes of the new one they name.
    fn made(old: &[u8], new: &[u8], pieces: &[ContentPiece]) -> (Vec<u8>, usize) {
        let (mut made, mut named) = (Vec::new(), 0);
        let range = |at: u64, length: u64| usize::try_from(at).unwrap()..usize::try_from(at + length).unwrap();
        for piece in pieces {
            match *piece {
                ContentPiece::Old { at, length } => made.extend_from_slice(&old[range(at, length)]),
                ContentPiece::New { at, length } => {
                    made.extend_from_slice(&new[range(at, length)]);
                    named += usize::try_from(length).unwrap();
                }
            }
        }
        (made, named)
    }

    #[test]
    fn the_pieces_make_the_new_content_and_name_little_of_it() {
        let text: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let changed = |at: usize, gone: usize, come: &[u8]| [&text[..at], come, &text[at + gone..]].concat();
        let mut scattered = text.clone();
        for at in (0..text.len()).step_by(100_000) {
            scattered[at] ^= 1;
        }
        let others: [(Vec<u8>, usize); 11] = [
            (text.clone(), 0),
            (Vec::new(), 0),
            (changed(0, 1, b""), 0),
            (changed(0, 0, b"new"), 3),
            (changed(9_000, 10, b"ten bytes."), 10),
            (changed(9_000, 251, b""), 0),
            (changed(1_048_576, 0, &[7; 5_000]), 5_000),
            (changed(2_999_999, 1, b"end"), 3),
            (changed(3_000_000, 0, b"more"), 4),
            (changed(1_000, 2_990_000, b"-"), 1),
            (scattered, 30),
        ];
        for (index, (new, least)) in others.iter().enumerate() {
            for (old, new, least) in [(&text, new, Some(*least)), (new, &text, None)] {
                let (old_file, new_file) = (file(old), file(new));
                for coming in [IncomingContent::Bytes(new), IncomingContent::File(&new_file, new.len() as u64)] {
                    (&old_file).rewind().expect("it is a file");
                    let comparison = RevisionComparison::of(&old_file, old.len() as u64, Some(coming));
                    let (hash, pieces) = comparison.run(&|| false).expect("both can be read");
                    assert_eq!(hash, ContentHash::of(old));
                    let (made, named) = made(old, new, &pieces.expect("both were compared"));
                    assert!(made == *new, "case {index}");
                    assert!(least.is_none_or(|least| named <= least + LITTLE as usize), "case {index}: {named}");
                }
            }
        }
    }
}
