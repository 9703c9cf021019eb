//! Lists a zip archive by its directory at the end. It unpacks nothing.

use haft_contract::prelude::*;

use super::archive::{ArchiveEntry, ArchiveListing, EntryKind};
use super::source::{Deadline, FilePart};

/// How much of the end is searched for the directory's own place.
const END: usize = 66 * 1024;
/// Most bytes of the directory per read, and in all.
const PIECE: usize = 1 << 20;
const MOST_DIRECTORY: u64 = 64 << 20;
/// The length of an entry without its name.
const FIXED: usize = 46;

/// Where the directory is, and how many entries it has.
struct Directory {
    place: u64,
    length: u64,
    entries: u64,
}

/// Lists what an archive holds, as far as there is time; nothing where no directory is found.
pub(super) fn list(file: &mut FilePart, deadline: Deadline) -> Result<Option<ArchiveListing>, ToolError> {
    let Some(directory) = directory(file)? else { return Ok(None) };
    let mut listed = ArchiveListing::default();
    let end = directory.place.saturating_add(directory.length.min(MOST_DIRECTORY));
    let mut place = directory.place;
    while place < end && listed.count < directory.entries && !deadline.is_over() {
        let most = usize::try_from(end - place).unwrap_or(PIECE).min(PIECE);
        let piece = file.bytes_at(place, most)?;
        let mut taken = 0;
        while listed.count < directory.entries {
            let Some((entry, length)) = entry(&piece[taken..]) else { break };
            listed.add(entry);
            taken += length;
        }
        if taken == 0 {
            break;
        }
        place += taken as u64;
    }
    listed.is_whole = listed.count == directory.entries;
    if !listed.is_whole && !deadline.is_over() && directory.length <= MOST_DIRECTORY {
        listed.problems.push(format!("the directory names {} entries and is damaged", directory.entries));
    }
    Ok(Some(listed))
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn directory(file: &mut FilePart) -> Result<Option<Directory>, ToolError> {
    let from = file.size().saturating_sub(END as u64);
    let tail = file.bytes_at(from, END)?;
    let Some(at) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else { return Ok(None) };
    let end = &tail[at..];
    let fields = (number(end, 10, 2), number(end, 12, 4), number(end, 16, 4));
    let (Some(entries), Some(length), Some(place)) = fields else { return Ok(None) };
    if entries < 0xffff && length < 0xffff_ffff && place < 0xffff_ffff {
        return Ok(Some(Directory { place, length, entries }));
    }
    // What does not fit has a record of its own, whose place is in the twenty bytes before.
    let Some(locator) = at.checked_sub(20).map(|at| &tail[at..]).filter(|bytes| bytes.starts_with(b"PK\x06\x07"))
    else {
        return Ok(Some(Directory { place, length, entries }));
    };
    let record = file.bytes_at(number(locator, 8, 8).unwrap_or(0), 56)?;
    let fields = (number(&record, 32, 8), number(&record, 40, 8), number(&record, 48, 8));
    let (Some(entries), Some(length), Some(place)) = fields else { return Ok(None) };
    Ok(record.starts_with(b"PK\x06\x06").then_some(Directory { place, length, entries }))
}

/// Reads the first entry of a piece of the directory; nothing where it is cut or none.
fn entry(bytes: &[u8]) -> Option<(ArchiveEntry, usize)> {
    if !bytes.starts_with(b"PK\x01\x02") {
        return None;
    }
    let length = |at: usize| number(bytes, at, 2).and_then(|length| usize::try_from(length).ok());
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let whole = FIXED + name + extra + comment;
    let (packed, size) = (number(bytes, 20, 4)?, number(bytes, 24, 4)?);
    let extra = bytes.get(FIXED + name..FIXED + name + extra)?;
    let name = String::from_utf8_lossy(bytes.get(FIXED..FIXED + name)?).into_owned();
    bytes.get(..whole)?;
    let (size, packed) = large_sizes(extra, (size, packed));
    let kind = match (name.ends_with('/'), bytes[8] & 1) {
        (true, _) => EntryKind::Folder,
        (false, 1) => EntryKind::Encrypted,
        (false, _) => EntryKind::File,
    };
    Some((ArchiveEntry { name, size, packed: Some(packed), kind }, whole))
}

/// Returns the sizes of an entry, which are in its extra fields where they are large.
fn large_sizes(extra: &[u8], (size, packed): (u64, u64)) -> (u64, u64) {
    let mut rest = extra;
    while let (Some(id), Some(length)) = (number(rest, 0, 2), number(rest, 2, 2)) {
        let Some(field) = usize::try_from(length).ok().and_then(|length| rest.get(4..4 + length)) else { break };
        if id == 1 {
            let mut values = field.chunks_exact(8).map(|value| number(value, 0, 8).unwrap_or(0));
            let mut large = |value: u64| if value == 0xffff_ffff { values.next().unwrap_or(value) } else { value };
            return (large(size), large(packed));
        }
        rest = &rest[4 + field.len()..];
    }
    (size, packed)
}
