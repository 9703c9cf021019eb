//! Lists a tar archive. It unpacks nothing and skips the content of each file.

use std::collections::VecDeque;

use haft_contract::prelude::*;

use super::archive::{ArchiveEntry, ArchiveListing, EntryKind};
use super::source::{ByteSource, Deadline};

/// Longest name in a header of its own.
const LONGEST_NAME: u64 = 64 * 1024;

/// Lists what an archive holds, as far as there is time.
pub(super) fn list(source: &mut dyn ByteSource, deadline: Deadline) -> Result<ArchiveListing, ToolError> {
    let mut listed = ArchiveListing::default();
    let mut names: VecDeque<String> = VecDeque::new();
    loop {
        let mut header = [0; 512];
        let read = source.read(&mut header)?;
        if read == 0 || header.iter().all(|byte| *byte == 0) {
            listed.is_whole = source.problem().is_none();
            return Ok(listed);
        }
        let Some((name, size, kind)) = entry(&header[..read]) else {
            listed.problems.push(format!("entry {} is damaged", listed.count + 1));
            return Ok(listed);
        };
        let padded = size.div_ceil(512).saturating_mul(512);
        match kind {
            b'L' | b'x' => {
                let mut text = vec![0; usize::try_from(size.min(LONGEST_NAME)).unwrap_or(0)];
                let read = source.read(&mut text)? as u64;
                source.skip(padded.saturating_sub(read))?;
                names.extend(long_name(&text, kind));
            }
            b'g' | b'K' => {
                source.skip(padded)?;
            }
            kind => {
                let kind = match kind {
                    b'5' => EntryKind::Folder,
                    b'1' | b'2' => EntryKind::Link,
                    b'3' | b'4' | b'6' => EntryKind::Special,
                    _ => EntryKind::File,
                };
                let name = names.pop_back().unwrap_or(name);
                names.clear();
                listed.add(ArchiveEntry { name, size, packed: None, kind });
                if source.skip(padded)? < padded {
                    listed.problems.push("the archive ends in the middle of an entry".to_owned());
                    return Ok(listed);
                }
            }
        }
        if deadline.is_over() {
            return Ok(listed);
        }
    }
}

/// Reads name, size and kind of an entry; nothing where the header is none.
fn entry(header: &[u8]) -> Option<(String, u64, u8)> {
    let sum = octal(header.get(148..156)?)?;
    let counted = |(at, byte): (usize, &u8)| u64::from(if (148..156).contains(&at) { b' ' } else { *byte });
    if header.len() < 512 || header.iter().enumerate().map(counted).sum::<u64>() != sum {
        return None;
    }
    let is_posix = header[257..].starts_with(b"ustar\0");
    let name = text(&header[..100]);
    let prefix = text(&header[345..500]);
    let name = if is_posix && !prefix.is_empty() { format!("{prefix}/{name}") } else { name };
    Some((name, number(&header[124..136])?, header[156]))
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn octal(field: &[u8]) -> Option<u64> {
    let digits: String = text(field).trim().to_owned();
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(&digits, 8).ok() }
}

/// Reads a size: octal, or binary where it is large.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 == 0 {
        return octal(field);
    }
    field[4..].iter().try_fold(0_u64, |value, byte| Some(value.checked_mul(256)? + u64::from(*byte)))
}

/// Returns the name that a header for a long one holds.
fn long_name(content: &[u8], kind: u8) -> Option<String> {
    if kind == b'L' {
        return Some(text(content));
    }
    let records = String::from_utf8_lossy(content);
    let path = records.lines().find_map(|record| record.split_once(' ')?.1.strip_prefix("path="));
    path.map(str::to_owned)
}
