//! Searches one opened file.
//!
//! haft reads a small file whole into a reused buffer, and a large one in steps: memory does not depend on the size of
//! files. It reads only regular files, and only up to the size they had when opened: a file that grows while it is read has
//! no end.
//!
//! Not here: how its bytes are text (`searchers`); memory maps, because a file that another program shortens would end this
//! process.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use haft_contract::files::search::{FoundLine, LineKind, SearchOutputMode, SearchRequest, Span};
use haft_contract::text::encoding::LOOKED_AT;
use rustix::fs::FileType;
use tokio_util::sync::CancellationToken;

use super::searchers::Searchers;
use super::through;

/// Files up to this size are read whole, in bytes.
const SMALL: usize = 256 * 1024;
/// Longest line, or longest content in a search across lines, in bytes.
pub(super) const LONGEST: usize = 64 << 20;
/// How far into a file matches are counted when enough were found, in bytes.
const COUNTED: u64 = 4 << 20;
/// Most lines of one match that are kept.
const MOST_LINES: usize = 100;

/// Searches files, one after the other.
pub(super) struct FileSearcher<'a> {
    matcher: RegexMatcher,
    request: &'a SearchRequest,
    stop: &'a CancellationToken,
    searchers: Searchers<'a>,
    buffer: Vec<u8>,
}

/// The outcome of searching one file.
pub(super) enum FileSearchOutcome {
    /// It was searched.
    Searched(FileMatches),
    /// It is no text.
    Binary,
    /// A line of it, or all of it in a search across lines, is too long.
    TooLong,
    /// The system did not let it be read.
    Unreadable,
    /// It is no regular file.
    Special,
    /// The caller has stopped the search.
    Stopped,
}

/// The matches of a file.
#[derive(Default)]
pub(super) struct FileMatches {
    /// How many.
    pub(super) matches: u64,
    /// Whether there may be more.
    pub(super) cut: bool,
    /// Their lines, where wanted.
    pub(super) lines: Vec<FoundLine>,
}

impl<'a> FileSearcher<'a> {
    pub(super) fn new(matcher: RegexMatcher, request: &'a SearchRequest, stop: &'a CancellationToken) -> Self {
        Self { matcher, request, stop, searchers: Searchers::new(request), buffer: Vec::new() }
    }

    /// Returns another for the same search, to be used on another thread.
    pub(super) fn fresh(&self) -> FileSearcher<'a> {
        Self::new(self.matcher.clone(), self.request, self.stop)
    }

    /// Returns what is searched for.
    pub(super) fn request(&self) -> &'a SearchRequest {
        self.request
    }

    /// Searches a file.
    pub(super) fn search(&mut self, file: &OwnedFd) -> FileSearchOutcome {
        let Ok(stat) = rustix::fs::fstat(file) else { return FileSearchOutcome::Unreadable };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return FileSearchOutcome::Special;
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let mut content = CancellableReader { file: file.as_fd(), left: size, stop: self.stop };
        let mut taken =
            MatchSink { matcher: &self.matcher, request: self.request, matched: FileMatches::default(), binary: false };
        // A match across lines may be anywhere, so there the content is needed as a whole.
        let whole = if self.request.span == Span::Lines { LONGEST } else { SMALL };
        let outcome = match usize::try_from(size) {
            // What has no size has no lines; the kernel's made-up files say so too, and must not be read.
            Ok(0) => Ok(()),
            Ok(size) if size <= whole => {
                let filled = content.fill(room(&mut self.buffer, size));
                filled.and_then(|length| self.searchers.search_whole(&self.buffer[..length], &mut taken))
            }
            _ if self.request.span == Span::Lines => return FileSearchOutcome::TooLong,
            _ => {
                let filled = content.fill(room(&mut self.buffer, LOOKED_AT));
                filled
                    .and_then(|length| self.searchers.search_in_steps(&self.buffer[..length], &mut content, &mut taken))
            }
        };
        match outcome {
            _ if self.stop.is_cancelled() => FileSearchOutcome::Stopped,
            Ok(()) if taken.binary => FileSearchOutcome::Binary,
            Ok(()) => FileSearchOutcome::Searched(taken.matched),
            Err(error) if error.raw_os_error().is_some() => FileSearchOutcome::Unreadable,
            // The searcher's own error: its buffer may not grow any more.
            Err(_) => FileSearchOutcome::TooLong,
        }
    }
}

/// Returns so much of the buffer, which grows where it is too small.
fn room(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    if buffer.len() < size {
        buffer.resize(size.max(SMALL), 0);
    }
    &mut buffer[..size]
}

/// Reads the content of a file up to the size that it had, until the call is stopped.
struct CancellableReader<'a> {
    file: BorrowedFd<'a>,
    left: u64,
    stop: &'a CancellationToken,
}

impl CancellableReader<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                length => filled += length,
            }
        }
        Ok(filled)
    }
}

impl Read for CancellableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 || self.stop.is_cancelled() {
            return Ok(0);
        }
        let length = rustix::io::retry_on_intr(|| rustix::io::read(self.file, &mut buffer[..room]))?;
        self.left -= length as u64;
        Ok(length)
    }
}

/// Takes the matches that the searcher finds.
pub(super) struct MatchSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    request: &'a SearchRequest,
    matched: FileMatches,
    /// Whether it turned out to be no text.
    pub(super) binary: bool,
}

impl MatchSink<'_> {
    /// Keeps the lines of a match, cut around its beginning.
    fn keep_lines(&mut self, found: &SinkMatch<'_>) {
        let mut at = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |range| range.start());
        let mut left = found.bytes().len();
        let mut kind = LineKind::Match;
        for (line, number) in found.lines().take(MOST_LINES).zip(found.line_number().unwrap_or(1)..) {
            let begins_here = if at < line.len() { at } else { 0 };
            let line_here = FoundLine { number, kind, ..cut(line, begins_here, self.request.line_length) };
            self.matched.lines.push(line_here);
            at = at.saturating_sub(line.len());
            left -= line.len();
            kind = LineKind::MatchGoesOn;
        }
        if let Some(last) = self.matched.lines.last_mut() {
            last.cut_below = left;
        }
    }
}

impl Sink for &mut MatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matched.matches += 1;
        match self.request.wanted {
            SearchOutputMode::Files => Ok(false),
            SearchOutputMode::Counts => Ok(true),
            SearchOutputMode::Lines => {
                let has_enough = self.matched.matches > through(self.request);
                // One more is kept: its context tells where that of the last one ends.
                if self.matched.matches <= through(self.request).saturating_add(1) {
                    self.keep_lines(found);
                }
                self.matched.cut = has_enough && found.absolute_byte_offset() >= COUNTED;
                Ok(!self.matched.cut)
            }
        }
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        if self.matched.matches > through(self.request) {
            return Ok(true);
        }
        let number = found.line_number().unwrap_or(1);
        self.matched.lines.push(FoundLine { number, ..cut(found.bytes(), 0, self.request.line_length) });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Cuts a line to a window around the place `at`; its number and its kind are not known here.
fn cut(line: &[u8], at: usize, length: usize) -> FoundLine {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let at = at.min(line.len());
    // Most lines fit: as many bytes are at most as many characters.
    let whole = std::str::from_utf8(line).ok().filter(|text| text.len() <= length && text.is_char_boundary(at));
    if let Some(text) = whole {
        let match_at = text[..at].chars().count();
        let (number, kind, text) = (0, LineKind::Context, text.to_owned());
        return FoundLine { number, kind, text, match_at, cut_before: 0, cut_after: 0, cut_below: 0 };
    }
    // Four bytes are enough for every character, so a window of bytes is cut before characters are counted.
    let reach = length.saturating_mul(4);
    let (start, end) = (at.saturating_sub(reach), at.saturating_add(reach).min(line.len()));
    let (start, end) = (character_start(line, start), character_start(line, end).max(at));
    let before = String::from_utf8_lossy(&line[start..at]);
    let behind = String::from_utf8_lossy(&line[at..end]);
    let before_length = before.chars().count();
    let behind_length = behind.chars().count();
    // Half of the window is for what stands before; what one side does not need is for the other.
    let wanted_before = (length / 2).max(length.saturating_sub(behind_length)).min(before_length);
    let wanted_behind = length.saturating_sub(wanted_before).min(behind_length);
    let mut text: String = before.chars().skip(before_length - wanted_before).collect();
    text.extend(behind.chars().take(wanted_behind));
    let characters = |part: &[u8]| String::from_utf8_lossy(part).chars().count();
    FoundLine {
        number: 0,
        kind: LineKind::Context,
        text,
        match_at: wanted_before,
        cut_before: characters(&line[..start]) + before_length - wanted_before,
        cut_after: characters(&line[end..]) + behind_length - wanted_behind,
        cut_below: 0,
    }
}

/// Goes back to where a character begins.
fn character_start(line: &[u8], at: usize) -> usize {
    let is_inside = |&place: &usize| line.get(place).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (at.saturating_sub(3)..=at).rev().find(|place| !is_inside(place)).unwrap_or(at)
}
