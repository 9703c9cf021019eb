//! Reads some lines of a text, in memory for one page whatever the size of the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use haft::door::{FileKind, Page, PageLine, PageRequest};
use haft::error::{Next, Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;
use haft::stamp::Stamp;
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::facts::{kind_of, special, stamp_of};
use super::open::Root;
use super::{missing, system_error};

/// How much is read in one step.
const STEP: usize = 64 * 1024;
/// How much of the beginning is looked at for a NUL.
const SNIFFED: usize = 8 * 1024;

/// Reads lines of a file of the workspace, with the version they came from.
pub(super) fn page_of_file(
    root: &Root,
    target: &Target,
    request: PageRequest,
    stop: &CancellationToken,
) -> Result<(Page, Stamp), ToolError> {
    let path = target.to_string();
    let opened = match root.open_target(target, OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let broken = |error: io::Error| system_error(error, &path, Operation::Read);
    let stat = rustix::fs::fstat(&opened).map_err(|errno| broken(errno.into()))?;
    match kind_of(&stat) {
        FileKind::File => {}
        FileKind::Folder => return Err(folder(&path)),
        FileKind::Link | FileKind::Special => return Err(special(&path)),
    }
    let stamp = stamp_of(&stat);
    let page = page_of(File::from(opened), request, &|| stop.is_cancelled());
    match page.map_err(broken)? {
        Text::Page(page) => Ok((page, stamp)),
        Text::Binary => Err(binary(&path, stamp.size)),
        Text::Stopped => Err(ToolError::of(ErrorKind::Cancelled, format!("Reading {path} was stopped."))),
    }
}

/// What a reader turned out to hold.
pub(crate) enum Text {
    /// Text, and here are its lines.
    Page(Page),
    /// No text.
    Binary,
    /// Nobody wants to know any more.
    Stopped,
}

/// Reads lines from anything, asking between the steps whether to stop.
pub(crate) fn page_of(source: impl Read, request: PageRequest, stopped: &dyn Fn() -> bool) -> io::Result<Text> {
    let mut reader = BufReader::with_capacity(STEP, source);
    let start = reader.fill_buf()?;
    if start[..start.len().min(SNIFFED)].contains(&0) {
        return Ok(Text::Binary);
    }
    let mut lines = Lines {
        first: request.first_line.max(1),
        request,
        number: 1,
        kept: Vec::new(),
        line: Vec::new(),
        length: 0,
        open: false,
    };
    loop {
        if stopped() {
            return Ok(Text::Stopped);
        }
        let step = reader.fill_buf()?;
        if step.is_empty() {
            break;
        }
        // A hole of a sparse file: there may be a terabyte of it, and no line.
        if step.len() >= SNIFFED && step.iter().all(|&byte| byte == 0) {
            return Ok(Text::Binary);
        }
        let taken = lines.take(step);
        reader.consume(taken);
        if lines.is_full() {
            break;
        }
    }
    let ended = reader.fill_buf()?.is_empty();
    Ok(Text::Page(lines.into_page(ended)))
}

/// Collects the wanted lines out of steps that end anywhere.
struct Lines {
    first: u64,
    request: PageRequest,
    /// The number of the line that is being read.
    number: u64,
    kept: Vec<PageLine>,
    /// The kept beginning of the line that is being read.
    line: Vec<u8>,
    /// Its whole length.
    length: usize,
    /// Whether anything of it was read.
    open: bool,
}

impl Lines {
    fn is_full(&self) -> bool {
        self.kept.len() >= self.request.lines
    }

    fn wanted(&self) -> bool {
        self.number >= self.first
    }

    /// Takes as much of the step as is wanted and returns how much that was.
    fn take(&mut self, step: &[u8]) -> usize {
        let mut taken = 0;
        while taken < step.len() && !self.is_full() {
            let rest = &step[taken..];
            let end = memchr::memchr(b'\n', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.wanted() {
                // Four bytes a character are enough for every character that may be shown.
                let room = self.request.line_length.saturating_mul(4).saturating_add(4).saturating_sub(self.line.len());
                self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            self.length += piece.len();
            self.open = true;
            taken += piece.len();
            if end.is_some() {
                taken += 1;
                self.end_line();
            }
        }
        taken
    }

    fn end_line(&mut self) {
        if self.wanted() {
            let bytes = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            let text = String::from_utf8_lossy(bytes);
            let mut shown: String = text.chars().take(self.request.line_length).collect();
            let mut cut = 0;
            if shown.len() < text.len() || self.length > self.line.len() {
                // What was not kept is counted in bytes, which is all that is known of it.
                cut = text.chars().count() - shown.chars().count() + (self.length - self.line.len());
            }
            shown.shrink_to_fit();
            self.kept.push(PageLine { text: shown, cut });
        }
        self.line.clear();
        self.length = 0;
        self.open = false;
        self.number += 1;
    }

    fn into_page(mut self, ended: bool) -> Page {
        if ended && self.open && !self.is_full() {
            self.end_line();
        }
        let more = !ended || self.open;
        Page { first_line: self.first, more, total_lines: (!more).then(|| self.number - 1), lines: self.kept }
    }
}

pub(super) fn folder(path: &str) -> ToolError {
    let next = Next::UseInstead { tool: "list_dir".into(), to: "to see what is in it".into() };
    ToolError::new(ErrorKind::IsFolder, format!("{path} is a folder."), next).about_file(path, Operation::Read)
}

fn binary(path: &str, size: u64) -> ToolError {
    ToolError::of(ErrorKind::Binary, format!("{path} is not text ({size} bytes, with NUL bytes in it)."))
        .about_file(path, Operation::Decode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &[u8], first_line: u64, lines: usize) -> Page {
        let request = PageRequest { first_line, lines, line_length: 10 };
        match page_of(text, request, &|| false).expect("memory can be read") {
            Text::Page(page) => page,
            Text::Binary | Text::Stopped => panic!("it is text"),
        }
    }

    fn texts(page: &Page) -> Vec<&str> {
        page.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn a_page_has_the_lines_asked_for_and_says_whether_there_are_more() {
        let whole = page(b"a\nb\r\nc", 1, 9);
        assert_eq!((texts(&whole), whole.more, whole.total_lines), (vec!["a", "b", "c"], false, Some(3)));
        let middle = page(b"a\nb\nc\n", 2, 1);
        assert_eq!((texts(&middle), middle.more, middle.total_lines), (vec!["b"], true, None));
        let last = page(b"a\nb\nc\n", 3, 1);
        assert_eq!((texts(&last), last.more, last.total_lines), (vec!["c"], false, Some(3)));
        let behind = page(b"a\n", 5, 1);
        assert_eq!((texts(&behind), behind.more, behind.total_lines), (vec![], false, Some(1)));
        assert_eq!(page(b"", 1, 1).total_lines, Some(0));
    }

    #[test]
    fn a_long_line_is_cut_and_its_rest_counted() {
        let text = format!("{}\nshort", "x".repeat(200_000));
        let page = page(text.as_bytes(), 1, 9);
        assert_eq!((page.lines[0].text.as_str(), page.lines[0].cut), ("xxxxxxxxxx", 199_990));
        assert_eq!(page.lines[1], PageLine { text: "short".into(), cut: 0 });
    }

    #[test]
    fn a_nul_near_the_beginning_means_binary() {
        let request = PageRequest { first_line: 1, lines: 1, line_length: 10 };
        assert!(matches!(page_of(&b"ab\0c"[..], request, &|| false), Ok(Text::Binary)));
    }
}
