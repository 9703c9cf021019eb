//! Frames the records of a file, to find damage and limit its cost to the records that it touches.
//!
//! A frame begins with a mark and ends with a checksum over everything in it *and its place in the file*. So haft does not
//! take bytes inside a saved content for a frame when it skips a damaged part. The length is at both ends: haft finds the
//! last frame without reading the file.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

const MARK: [u8; 8] = *b"haft\x01rec";
const END: [u8; 4] = *b"\x04end";
/// Mark, length of the body, number of the record, highest change set.
const HEAD: usize = 8 + 4 + 8 + 8;
/// Checksum, length of the body, end.
const TAIL: usize = 16 + 4 + 4;
/// No body is longer; a length beyond it is damage.
pub(in crate::state) const LONGEST_BODY: usize = 512 * 1024 * 1024;
/// Beginnings up to this size are kept whole; of others only so much.
const MOST_KEPT: usize = 1024 * 1024;
const LEAST_KEPT: usize = 64;
/// How many bytes are searched for the next mark in one step.
const STEP: usize = 256 * 1024;

/// What every frame says before its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) struct Head {
    /// The number of the record, higher than that of every record before it.
    pub(in crate::state) number: u64,
    /// The highest number of a change set up to here; nothing in a log that has none.
    pub(in crate::state) sets: u64,
}

/// A whole frame that was found in a file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::state) struct RecordFrame {
    pub(in crate::state) head: Head,
    /// Where the body lies in the file.
    pub(in crate::state) body: Range<u64>,
}

impl RecordFrame {
    /// Returns where it begins.
    pub(in crate::state) fn begin(&self) -> u64 {
        self.body.start - HEAD as u64
    }

    /// Returns where the next frame would begin.
    pub(in crate::state) fn end(&self) -> u64 {
        self.body.end + TAIL as u64
    }
}

/// The end of the last whole frame and the damaged stretches that a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct FrameScan {
    /// Where the last whole frame ends; what lies behind it is torn.
    pub(in crate::state) end: u64,
    /// Stretches between whole frames that are none.
    pub(in crate::state) damaged: Vec<Range<u64>>,
}

/// The extent to which a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum BodyExtent {
    Whole,
    /// As much as the number in its first four bytes says, and those: what lies behind it may be large. Where that is more
    /// than a little, only how it begins.
    Beginning,
}

/// Frames a body that is to be written at `offset`.
pub(in crate::state) fn frame(offset: u64, head: Head, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + body.len() + TAIL);
    let framed = head.write(&mut bytes, offset, body.len(), &mut |to| to.write_all(body));
    framed.expect("memory can be written, and a body is shorter than 512 MiB");
    bytes
}

impl Head {
    /// Writes a frame at `offset`, with a body of this length that is written piece by piece; returns where the frame ends.
    pub(in crate::state) fn write(
        self,
        to: &mut dyn Write,
        offset: u64,
        length: usize,
        body: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let listed =
            u32::try_from(length).ok().filter(|_| length <= LONGEST_BODY).ok_or(io::ErrorKind::FileTooLarge)?;
        let mut checked = ChecksumWriter::new(to, offset);
        checked.write_all(&MARK)?;
        checked.write_all(&listed.to_le_bytes())?;
        checked.write_all(&self.number.to_le_bytes())?;
        checked.write_all(&self.sets.to_le_bytes())?;
        body(&mut checked)?;
        if checked.hasher.count() != (8 + HEAD + length) as u64 {
            return Err(io::Error::other("a record is not as long as it was measured"));
        }
        let check = check_of(&checked.hasher);
        to.write_all(&check)?;
        to.write_all(&listed.to_le_bytes())?;
        to.write_all(&END)?;
        Ok(offset + (HEAD + length + TAIL) as u64)
    }
}

/// Writes through to another writer, and hashes the bytes that were written.
struct ChecksumWriter<'w> {
    to: &'w mut dyn Write,
    hasher: blake3::Hasher,
}

impl<'w> ChecksumWriter<'w> {
    fn new(to: &'w mut dyn Write, offset: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&offset.to_le_bytes());
        Self { to, hasher }
    }
}

impl Write for ChecksumWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Copies the body of a frame, piece by piece.
pub(in crate::state) fn copy_body(file: &File, frame: &RecordFrame, to: &mut dyn Write) -> io::Result<()> {
    let mut at = frame.body.start;
    // A journal has many small records: each would pay for clearing a large buffer.
    let mut buffer = vec![0; STEP.min(usize::try_from(frame.body.end - at).unwrap_or(STEP))];
    while at < frame.body.end {
        let size = STEP.min(usize::try_from(frame.body.end - at).unwrap_or(STEP));
        file.read_exact_at(&mut buffer[..size], at)?;
        to.write_all(&buffer[..size])?;
        at += size as u64;
    }
    Ok(())
}

/// Finds the last frame of a file by its end, if that is whole.
pub(in crate::state) fn last(file: &File, length: u64) -> io::Result<Option<(RecordFrame, Vec<u8>)>> {
    last_part(file, length, BodyExtent::Whole)
}

/// The same, with a part of its body.
pub(in crate::state) fn last_part(
    file: &File,
    length: u64,
    part: BodyExtent,
) -> io::Result<Option<(RecordFrame, Vec<u8>)>> {
    if length < (HEAD + TAIL) as u64 {
        return Ok(None);
    }
    let mut end = [0; 8];
    file.read_exact_at(&mut end, length - 8)?;
    let body = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    match length.checked_sub((HEAD + TAIL) as u64 + body) {
        Some(offset) => Ok(part_at(file, offset..length, part)?.filter(|(frame, _)| frame.end() == length)),
        None => Ok(None),
    }
}

/// Goes through all whole frames of a file, over whatever is damaged.
pub(in crate::state) fn scan(
    file: &File,
    length: u64,
    visit: &mut dyn FnMut(RecordFrame, Vec<u8>) -> io::Result<()>,
) -> io::Result<FrameScan> {
    scan_parts(file, 0..length, BodyExtent::Whole, visit)
}

/// The same for a stretch of a file that begins with a frame, with a part of each body.
pub(in crate::state) fn scan_parts(
    file: &File,
    stretch: Range<u64>,
    part: BodyExtent,
    visit: &mut dyn FnMut(RecordFrame, Vec<u8>) -> io::Result<()>,
) -> io::Result<FrameScan> {
    let Range { start: mut offset, end: length } = stretch;
    let mut scan = FrameScan { end: offset, damaged: Vec::new() };
    while offset < length {
        if let Some((frame, body)) = part_at(file, offset..length, part)? {
            if offset > scan.end {
                scan.damaged.push(scan.end..offset);
            }
            offset = frame.end();
            scan.end = offset;
            visit(frame, body)?;
        } else {
            offset = next_mark(file, offset + 1, length)?.unwrap_or(length);
        }
    }
    Ok(scan)
}

/// Returns whether a file ends with a part of a frame.
pub(in crate::state) fn has_torn_end(file: &File, length: u64) -> io::Result<bool> {
    let scan = scan_parts(file, 0..length, BodyExtent::Beginning, &mut |_, _| Ok(()))?;
    Ok(scan.end < length && is_torn(file, scan.end..length)?)
}

/// Returns whether the bytes behind the last whole frame are a frame that a killed process had begun to write. A frame of
/// its full length is damaged instead.
pub(in crate::state) fn is_torn(file: &File, behind: Range<u64>) -> io::Result<bool> {
    let size = behind.end - behind.start;
    let Some(claimed) = size.checked_sub((HEAD + TAIL) as u64) else { return Ok(true) };
    let length_at = |at: u64| {
        let mut length = [0; 4];
        file.read_exact_at(&mut length, at).map(|()| u64::from(u32::from_le_bytes(length)))
    };
    // The length stands at both ends, so one of them tells where the other one is damaged.
    if length_at(behind.start + MARK.len() as u64)? == claimed {
        return Ok(false);
    }
    let Some(begin) = claimed.checked_sub(length_at(behind.end - 8)?) else { return Ok(true) };
    let (mut mark, mut end) = (MARK, END);
    file.read_exact_at(&mut mark, behind.start + begin)?;
    file.read_exact_at(&mut end, behind.end - END.len() as u64)?;
    Ok(mark != MARK || end != END)
}

/// Reads the frame that begins here, if a whole one does.
pub(in crate::state) fn frame_at(file: &File, offset: u64, length: u64) -> io::Result<Option<(RecordFrame, Vec<u8>)>> {
    part_at(file, offset..length, BodyExtent::Whole)
}

/// The same, with a part of its body. All of it is checked.
pub(in crate::state) fn part_at(
    file: &File,
    stretch: Range<u64>,
    part: BodyExtent,
) -> io::Result<Option<(RecordFrame, Vec<u8>)>> {
    let Range { start: offset, end: length } = stretch;
    if length.saturating_sub(offset) < (HEAD + TAIL) as u64 {
        return Ok(None);
    }
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, offset)?;
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| head[at + index]));
    let body = u32::from_le_bytes(std::array::from_fn(|index| head[8 + index])) as usize;
    let whole = HEAD + body + TAIL;
    if head[..8] != MARK || body > LONGEST_BODY || offset + whole as u64 > length {
        return Ok(None);
    }
    let begin = offset + HEAD as u64;
    let frame = RecordFrame { head: Head { number: number(12), sets: number(20) }, body: begin..begin + body as u64 };
    let mut hasher = blake3::Hasher::new();
    hasher.update(&offset.to_le_bytes()).update(&head);
    let mut kept = FrameBodySink { bytes: Vec::new(), part, hasher };
    copy_body(file, &frame, &mut kept)?;
    let mut tail = [0; TAIL];
    file.read_exact_at(&mut tail, frame.body.end)?;
    let sound = tail[..16] == check_of(&kept.hasher) && tail[16..20] == head[8..12] && tail[20..] == END;
    Ok(sound.then_some((frame, kept.bytes)))
}

/// Keeps the requested part of a body, and hashes all of it.
struct FrameBodySink {
    bytes: Vec<u8>,
    part: BodyExtent,
    hasher: blake3::Hasher,
}

impl Write for FrameBodySink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.hasher.update(piece);
        let wanted = match (self.part, self.bytes.first_chunk().or_else(|| piece.first_chunk())) {
            (BodyExtent::Whole, _) | (BodyExtent::Beginning, None) => usize::MAX,
            (BodyExtent::Beginning, Some(length)) => match 4 + u32::from_le_bytes(*length) as usize {
                little @ ..=MOST_KEPT => little,
                _ => LEAST_KEPT,
            },
        };
        let more = wanted.saturating_sub(self.bytes.len()).min(piece.len());
        self.bytes.extend_from_slice(&piece[..more]);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Finds the next place from here on at which a frame may begin.
pub(in crate::state) fn next_mark(file: &File, mut offset: u64, length: u64) -> io::Result<Option<u64>> {
    let mut window = vec![0; STEP];
    while offset < length {
        let size = STEP.min(usize::try_from(length - offset).unwrap_or(STEP));
        file.read_exact_at(&mut window[..size], offset)?;
        if let Some(found) = memchr::memmem::find(&window[..size], &MARK) {
            return Ok(Some(offset + found as u64));
        }
        // A mark may lie across two windows.
        offset += if size < STEP { size } else { size - MARK.len() + 1 } as u64;
    }
    Ok(None)
}

fn check_of(hasher: &blake3::Hasher) -> [u8; 16] {
    let hash = hasher.finalize();
    std::array::from_fn(|index| hash.as_bytes()[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(bodies: &[&[u8]]) -> (File, Vec<u8>) {
        let mut bytes = Vec::new();
        for (body, number) in bodies.iter().zip(1..) {
            bytes.extend(frame(bytes.len() as u64, Head { number, sets: number }, body));
        }
        (file_with(&bytes), bytes)
    }

    fn file_with(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file can be made");
        file.write_all(bytes).expect("it can be written");
        file
    }

    fn found(file: &File) -> (Vec<Vec<u8>>, FrameScan) {
        let mut bodies = Vec::new();
        let length = file.metadata().expect("it is open").len();
        let mut visit = |_, body| {
            bodies.push(body);
            Ok(())
        };
        let scan = scan(file, length, &mut visit).expect("it can be read");
        (bodies, scan)
    }

    #[test]
    fn a_flipped_byte_costs_exactly_the_record_it_lies_in() {
        let inner = frame(0, Head { number: 9, sets: 9 }, b"a frame in somebody's content");
        let bodies: [&[u8]; 4] = [b"one", &inner, b"", b"four"];
        let (file, bytes) = file_of(&bodies);
        assert_eq!(found(&file).0, bodies);
        let mut starts = vec![0];
        for body in bodies {
            starts.push(starts[starts.len() - 1] + HEAD + body.len() + TAIL);
        }
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x20;
            let hit = starts.iter().rposition(|start| *start <= index).expect("every byte lies in a record");
            let left: Vec<&[u8]> =
                bodies.iter().enumerate().filter(|(at, _)| *at != hit).map(|(_, body)| *body).collect();
            assert_eq!(found(&file_with(&damaged)).0, left, "byte {index}");
        }
    }

    #[test]
    fn a_cut_costs_the_record_that_was_cut() {
        let bodies: [&[u8]; 3] = [b"one", b"two", b"three"];
        let (_, bytes) = file_of(&bodies);
        let ends: Vec<usize> = bodies
            .iter()
            .scan(0, |end, body| {
                *end += HEAD + body.len() + TAIL;
                Some(*end)
            })
            .collect();
        for length in 0..bytes.len() {
            let (left, scan) = found(&file_with(&bytes[..length]));
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(left, bodies[..whole]);
            assert_eq!(scan.end, ends[..whole].last().copied().unwrap_or(0) as u64);
        }
    }

    #[test]
    fn a_cut_record_is_torn_and_a_flipped_byte_at_the_end_is_damage() {
        let (_, bytes) = file_of(&[b"one", b"two", b"a longer body than the others"]);
        let is_torn = |bytes: &[u8]| {
            let (file, length) = (file_with(bytes), bytes.len() as u64);
            let end = found(&file).1.end;
            assert!(end < length);
            is_torn(&file, end..length).expect("it can be read")
        };
        let last = 2 * (HEAD + 3 + TAIL);
        for length in last + 1..bytes.len() {
            assert!(is_torn(&bytes[..length]), "cut at {length}");
        }
        for index in last..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x20;
            assert!(!is_torn(&damaged), "byte {index}");
        }
    }

    #[test]
    fn the_last_frame_is_found_without_reading_the_others() {
        let (file, bytes) = file_of(&[b"one", b"two"]);
        let (frame, body) = last(&file, bytes.len() as u64).expect("it can be read").expect("it is whole");
        assert_eq!((frame.head.number, body.as_slice(), frame.end()), (2, &b"two"[..], bytes.len() as u64));
        assert_eq!(last(&file_with(&bytes[..bytes.len() - 1]), bytes.len() as u64 - 1).expect("it can be read"), None);
    }
}
