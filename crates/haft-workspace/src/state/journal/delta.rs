//! Contents that are made of others: of a large file that changes a little, haft keeps only the new parts.
//!
//! A delta is beside the objects, under the hash of the content that it describes. It lists the parts of that content:
//! ranges of objects, and short bytes that it holds itself. The objects are whole contents or new parts of one, never
//! deltas: there are no chains, and every version stands alone. To drop old change sets, haft keeps the objects that the
//! deltas of the others name.
//!
//! An object may be a second name of a replaced file, and a program that still has it open can write into it. So a delta
//! notes when each of its objects was last written. haft does not reuse an object that no longer fits, and checks everything
//! that it restores by its hash.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frame::{self, Head};
use super::objects::{Durable, Objects, not_kept};
use super::record::ContentHash;
use crate::state::own_files::private;

/// New stretches up to this size are kept in the delta itself.
const SHORT: usize = 1024;
/// Most parts of a delta; more are put together, or the content is kept as a whole.
const MOST_PARTS: usize = 256;
/// Stretches up to this size are put together when there are too many parts.
const SMALL: u64 = 1024 * 1024;
/// Most bytes of one stretch that was put together.
const LARGEST_STRETCH: u64 = 4 * 1024 * 1024;
/// Objects up to this size may stay whatever little is used of them.
const LITTLE: u64 = 1024 * 1024;
/// How many bytes are copied in one step.
const STEP: usize = 1024 * 1024;

/// A part of a new content, described by what it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentPiece {
    /// So many bytes of the old content from here on.
    Old { at: u64, length: u64 },
    /// So many bytes of the new content from here on.
    New { at: u64, length: u64 },
}

/// A new content, and the pieces that it has in common with the content that it replaces.
pub(crate) struct ContentRevision<'a> {
    pub(crate) hash: ContentHash,
    pub(crate) old: ContentHash,
    pub(crate) pieces: &'a [ContentPiece],
    /// Reads the new content at a place.
    pub(crate) read: &'a dyn Fn(u64, &mut [u8]) -> io::Result<()>,
}

impl ContentRevision<'_> {
    fn size(&self) -> u64 {
        let length = |piece: &ContentPiece| match piece {
            ContentPiece::Old { length, .. } | ContentPiece::New { length, .. } => *length,
        };
        self.pieces.iter().map(length).sum()
    }
}

/// What a content is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delta {
    sources: Vec<DeltaSource>,
    parts: Vec<DeltaPart>,
    #[serde(skip)]
    bytes: Vec<u8>,
}

/// An object that parts are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DeltaSource {
    hash: ContentHash,
    size: u64,
    /// When it was last written: seconds and nanoseconds.
    written: (i64, i64),
}

/// One part of the content that a delta describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DeltaPart {
    /// A range of a source, which is named by its place in the list.
    Range { source: usize, at: u64, length: u64 },
    /// So many bytes of those that the delta itself holds.
    Bytes { at: usize, length: usize },
}

impl DeltaPart {
    fn length(self) -> u64 {
        match self {
            DeltaPart::Range { length, .. } => length,
            DeltaPart::Bytes { length, .. } => length as u64,
        }
    }
}

impl Delta {
    /// Returns the objects that it is made of.
    pub(super) fn sources(&self) -> impl Iterator<Item = ContentHash> {
        self.sources.iter().map(|source| source.hash)
    }

    fn read(file: &File) -> Option<Self> {
        let length = file.metadata().ok()?.len();
        let (_, body) = frame::frame_at(file, 0, length).ok()??;
        let listed = u32::from_le_bytes(*body.first_chunk()?) as usize;
        let mut delta: Self = serde_json::from_slice(body.get(4..4 + listed)?).ok()?;
        delta.bytes = body[4 + listed..].to_vec();
        let is_sound = |part: &DeltaPart| match part {
            DeltaPart::Range { source, at, length } => {
                delta.sources.get(*source).zip(at.checked_add(*length)).is_some_and(|(source, end)| end <= source.size)
            }
            DeltaPart::Bytes { at, length } => at.checked_add(*length).is_some_and(|end| end <= delta.bytes.len()),
        };
        delta.parts.iter().all(is_sound).then_some(delta)
    }

    fn written(&self) -> io::Result<Vec<u8>> {
        let listed = serde_json::to_vec(self)?;
        let length = u32::try_from(listed.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let body = [&length.to_le_bytes()[..], &listed, &self.bytes].concat();
        Ok(frame::frame(0, Head { number: 0, sets: 0 }, &body))
    }

    fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.length()).sum()
    }

    /// Returns whether it keeps more from being freed than it is worth.
    fn holds_too_much(&self) -> bool {
        let held: u64 = self.sources.iter().map(|source| source.size).sum();
        held > LITTLE.max(self.size().saturating_mul(2))
    }
}

impl Objects {
    /// Keeps a new content by what it has in common with an old one that is kept; returns whether that was worth it.
    pub(crate) fn keep_changed(&self, changed: &ContentRevision<'_>, durable: Durable) -> io::Result<bool> {
        let is_whole = |source: DeltaSource| source.size == changed.size();
        if self.usable(changed.hash).is_some() || self.source(changed.hash).is_some_and(is_whole) {
            return Ok(true);
        }
        let Some(old) = self.usable(changed.old).or_else(|| self.as_delta(changed.old)) else { return Ok(false) };
        let mut building = DeltaBuilder { objects: self, durable, delta: Delta::default(), known: HashMap::new() };
        for piece in changed.pieces {
            match *piece {
                ContentPiece::Old { at, length } => building.take(&old, at, length),
                ContentPiece::New { at, length } => {
                    let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?];
                    (changed.read)(at, &mut bytes)?;
                    building.add(&bytes);
                }
            }
        }
        building.put_away()?;
        if building.delta.parts.len() > MOST_PARTS {
            building.put_together()?;
        }
        let delta = building.delta;
        if delta.parts.len() > MOST_PARTS || delta.holds_too_much() {
            return Ok(false);
        }
        self.place_delta(changed.hash, &delta.written()?, durable)?;
        Ok(true)
    }

    fn place_delta(&self, hash: ContentHash, written: &[u8], durable: Durable) -> io::Result<()> {
        let temporary = self.temporary();
        let placed = private::create_file(&temporary).and_then(|mut file| {
            file.write_all(written)?;
            self.note_added(&file);
            if durable == Durable::Yes {
                file.sync_data()?;
            }
            std::fs::rename(&temporary, self.path_of_delta(hash))?;
            if durable == Durable::Yes { self.sync_folder() } else { Ok(()) }
        });
        if placed.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        placed.map_err(not_kept)
    }

    /// Reads the delta of a content, where there is one.
    pub(super) fn delta(&self, hash: ContentHash) -> Option<Delta> {
        Delta::read(&private::read_content(&self.path_of_delta(hash)).ok()?)
    }

    /// Reads the delta of a content, if no program has written into its objects since.
    fn usable(&self, hash: ContentHash) -> Option<Delta> {
        let is_as_it_was = |source: &DeltaSource| self.source(source.hash).as_ref() == Some(source);
        self.delta(hash).filter(|delta| delta.sources.iter().all(is_as_it_was))
    }

    /// Describes an object as a delta that is nothing but that object.
    fn as_delta(&self, hash: ContentHash) -> Option<Delta> {
        let source = self.source(hash)?;
        let parts = vec![DeltaPart::Range { source: 0, at: 0, length: source.size }];
        Some(Delta { sources: vec![source], parts, bytes: Vec::new() })
    }

    fn source(&self, hash: ContentHash) -> Option<DeltaSource> {
        let facts = self.path(hash).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(DeltaSource { hash, size: facts.len(), written: (facts.mtime(), facts.mtime_nsec()) })
    }

    /// Returns whether a content is kept as a delta, and makes that one outlive a power cut if it has to.
    pub(super) fn has_delta(&self, hash: ContentHash, durable: Durable) -> io::Result<bool> {
        let Some(delta) = self.usable(hash) else { return Ok(false) };
        if durable == Durable::Yes {
            // Their writer may have left the sync to a process that was killed.
            let files = delta.sources().map(|source| self.path(source)).chain([self.path_of_delta(hash)]);
            files.into_iter().try_for_each(|path| private::read_content(&path)?.sync_data()).map_err(not_kept)?;
            self.sync_folder().map_err(not_kept)?;
        }
        Ok(true)
    }

    pub(super) fn open_delta(&self, hash: ContentHash) -> io::Result<Option<DeltaReader>> {
        let Some(delta) = self.delta(hash) else { return Ok(None) };
        let missing = |_| io::Error::new(io::ErrorKind::InvalidData, "its kept content is missing");
        let open = |source: ContentHash| private::read_content(&self.path(source)).map(Arc::new).map_err(missing);
        let files = delta.sources().map(open).collect::<io::Result<Vec<_>>>()?;
        Ok(Some(DeltaReader { delta, files, part: 0, at: 0 }))
    }
}

/// Builds a delta.
struct DeltaBuilder<'o> {
    objects: &'o Objects,
    durable: Durable,
    delta: Delta,
    /// Where each source is in the list.
    known: HashMap<ContentHash, usize>,
}

impl DeltaBuilder<'_> {
    /// Adds a range of an old content.
    fn take(&mut self, old: &Delta, at: u64, length: u64) {
        let (mut begin, end) = (at, at.saturating_add(length));
        let mut from = 0;
        for part in &old.parts {
            let to = from + part.length();
            if begin < end && begin < to {
                let (skipped, taken) = (begin - from, end.min(to) - begin);
                match *part {
                    DeltaPart::Range { source, at, .. } => self.range(old.sources[source], at + skipped, taken),
                    DeltaPart::Bytes { at, .. } => {
                        let begin = at + usize::try_from(skipped).unwrap_or(usize::MAX);
                        self.add(&old.bytes[begin..begin + usize::try_from(taken).unwrap_or(0)]);
                    }
                }
                begin += taken;
            }
            from = to;
        }
    }

    fn range(&mut self, source: DeltaSource, at: u64, length: u64) {
        let index = *self.known.entry(source.hash).or_insert_with(|| {
            self.delta.sources.push(source);
            self.delta.sources.len() - 1
        });
        match self.delta.parts.last_mut() {
            Some(DeltaPart::Range { source, at: before, length: so_far })
                if (*source, *before + *so_far) == (index, at) =>
            {
                *so_far += length;
            }
            _ => self.delta.parts.push(DeltaPart::Range { source: index, at, length }),
        }
    }

    /// Adds new bytes.
    fn add(&mut self, bytes: &[u8]) {
        let at = self.delta.bytes.len();
        self.delta.bytes.extend_from_slice(bytes);
        match self.delta.parts.last_mut() {
            Some(DeltaPart::Bytes { length, .. }) => *length += bytes.len(),
            _ if bytes.is_empty() => {}
            _ => self.delta.parts.push(DeltaPart::Bytes { at, length: bytes.len() }),
        }
    }

    /// Keeps new stretches that are not short as objects.
    fn put_away(&mut self) -> io::Result<()> {
        let all = std::mem::take(&mut self.delta);
        self.known.clear();
        for part in &all.parts {
            match *part {
                DeltaPart::Range { source, at, length } => self.range(all.sources[source], at, length),
                DeltaPart::Bytes { at, length } if length > SHORT => self.stretch(&all.bytes[at..at + length])?,
                DeltaPart::Bytes { at, length } => self.add(&all.bytes[at..at + length]),
            }
        }
        Ok(())
    }

    /// Puts small stretches that follow each other together.
    fn put_together(&mut self) -> io::Result<()> {
        let all = std::mem::take(&mut self.delta);
        self.known.clear();
        let mut stretch = Vec::new();
        for part in &all.parts {
            let is_small = match part {
                DeltaPart::Range { source, .. } => all.sources[*source].size <= SMALL,
                DeltaPart::Bytes { .. } => true,
            };
            let is_full = stretch.len() as u64 + part.length() > LARGEST_STRETCH;
            if (!is_small || is_full) && !stretch.is_empty() {
                self.stretch(&std::mem::take(&mut stretch))?;
            }
            match *part {
                DeltaPart::Bytes { at, length } => stretch.extend_from_slice(&all.bytes[at..at + length]),
                DeltaPart::Range { source, at, length } if is_small => {
                    let file = private::read_content(&self.objects.path(all.sources[source].hash))?;
                    let begin = stretch.len();
                    stretch.resize(begin + usize::try_from(length).unwrap_or(0), 0);
                    file.read_exact_at(&mut stretch[begin..], at)?;
                }
                DeltaPart::Range { source, at, length } => self.range(all.sources[source], at, length),
            }
        }
        if stretch.is_empty() { Ok(()) } else { self.stretch(&stretch) }
    }

    fn stretch(&mut self, bytes: &[u8]) -> io::Result<()> {
        let hash = ContentHash::of(bytes);
        if !self.objects.has_whole(hash, self.durable)? {
            self.objects.keep(&mut &*bytes, self.durable, &|| false)?;
        }
        let source = self.objects.source(hash).ok_or(io::ErrorKind::NotFound)?;
        self.range(source, 0, bytes.len() as u64);
        Ok(())
    }
}

/// Reads the parts of a content one after the other.
pub(crate) struct DeltaReader {
    delta: Delta,
    files: Vec<Arc<File>>,
    part: usize,
    /// How much was read of the part.
    at: u64,
}

impl Read for DeltaReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = self.delta.parts.get(self.part).copied() {
            let left = part.length() - self.at;
            if left == 0 {
                (self.part, self.at) = (self.part + 1, 0);
                continue;
            }
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let read = match part {
                DeltaPart::Range { source, at, .. } => {
                    self.files[source].read_at(&mut buffer[..wanted], at + self.at)?
                }
                DeltaPart::Bytes { at, .. } => {
                    let begin = at + usize::try_from(self.at).unwrap_or(usize::MAX);
                    buffer[..wanted].copy_from_slice(&self.delta.bytes[begin..begin + wanted]);
                    wanted
                }
            };
            self.at += read as u64;
            return Ok(read);
        }
        Ok(0)
    }
}

/// A content that is kept, open to be read.
pub(crate) enum KeptContent {
    Whole(File),
    Parts(DeltaReader),
}

impl KeptContent {
    /// Reads all of it, and fails if it is damaged.
    pub(crate) fn checked(mut self, hash: ContentHash) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut self)?;
        if *hasher.finalize().as_bytes() != hash.0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its kept content is damaged"));
        }
        self.rewind()?;
        Ok(self)
    }

    /// Goes back to its beginning.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match self {
            Self::Whole(file) => file.seek(SeekFrom::Start(0)).map(drop),
            Self::Parts(parts) => {
                (parts.part, parts.at) = (0, 0);
                Ok(())
            }
        }
    }

    /// Writes the rest of it into a file.
    pub(crate) fn copy_to(&mut self, to: &mut File) -> io::Result<()> {
        match self {
            // The system may know how to copy a file without reading it.
            Self::Whole(file) => io::copy(file, to).map(drop),
            Self::Parts(parts) => {
                let mut buffer = vec![0; STEP];
                loop {
                    match parts.read(&mut buffer)? {
                        0 => return Ok(()),
                        read => to.write_all(&buffer[..read])?,
                    }
                }
            }
        }
    }
}

impl Read for KeptContent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Whole(file) => file.read(buffer),
            Self::Parts(parts) => parts.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests;
