//! Reads some lines of a text, with memory for one page whatever the size of the file.
//!
//! The beginning of a file tells its encoding. haft finds lines in the bytes and decodes only the lines of the page. Going
//! to the end of a large file therefore costs as much as counting its line ends.
//!
//! Not here: what encodings there are (`haft_contract::text::encoding`), how a page is shown (`read_file`).

mod binary_kind;
mod collect;
#[cfg(test)]
mod tests;

pub(in crate::files) use binary_kind::image;

use std::fs::File;
use std::io::{self, Read};

use haft_contract::doors::door::{FileKind, Page, PageRequest};
use haft_contract::files::path::Target;
use haft_contract::files::stamp::FileStamp;
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::encoding::{LOOKED_AT, NoText, TextForm, Whole};
use haft_contract::text::grouped::GroupedNumber;
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::facts::{kind_of, special, stamp_of};
use super::missing;
use super::open::WorkspaceRoot;
use crate::files::system_error;
use collect::{LineUnits, PageCollector};

/// How much is read in one step. Even, so that no unit of UTF-16 is cut.
const STEP: usize = 256 * 1024;
/// Texts up to this size are read to their end behind the page, to count their lines, in bytes.
const COUNTED: u64 = 8 << 20;
/// A step of at least so many zeros is a hole.
const HOLE: usize = 8 * 1024;

/// Reads lines of a file of the workspace, with the version they came from.
pub(in crate::files) fn page_of_file(
    root: &WorkspaceRoot,
    target: &Target,
    request: PageRequest,
    stop: &CancellationToken,
) -> Result<(Page, FileStamp), ToolError> {
    let path = target.to_string();
    let opened = match root.open_target(target, OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let broken = |error: io::Error| system_error(error, &path, FailedOperation::Read);
    let stat = rustix::fs::fstat(&opened).map_err(|errno| broken(errno.into()))?;
    match kind_of(&stat) {
        FileKind::File => {}
        FileKind::Folder => return Err(folder(&path)),
        FileKind::Link | FileKind::Special => return Err(special(&path)),
    }
    let stamp = stamp_of(&stat);
    let stopped = || stop.is_cancelled();
    let text = page_in(Steps::new(File::from(opened), &stopped, stamp.size), request).map_err(broken)?;
    Ok((text.page(&path, stamp.size)?, stamp))
}

/// Reads lines of a file of the workspace whose bytes are at hand.
pub(in crate::files) fn page_of_bytes(target: &Target, bytes: &[u8], request: PageRequest) -> Result<Page, ToolError> {
    let path = target.to_string();
    let steps = Steps::new(bytes, &|| false, bytes.len() as u64);
    let text = page_in(steps, request).map_err(|error| system_error(error, &path, FailedOperation::Read))?;
    text.page(&path, bytes.len() as u64)
}

/// The content of a reader: a page of text, or the reason why there is none.
pub(crate) enum PagedContent {
    /// Text, and here are its lines.
    Page(Page),
    /// No text.
    Binary {
        /// What it is, in words.
        kind: &'static str,
    },
    /// Text in an encoding that cannot be read here.
    Foreign {
        /// The name of the encoding.
        encoding: &'static str,
    },
    /// The caller has stopped the reading.
    Stopped,
}

impl PagedContent {
    /// Returns the page, or says why this file has none.
    fn page(self, path: &str, size: u64) -> Result<Page, ToolError> {
        match self {
            PagedContent::Page(page) => Ok(page),
            PagedContent::Binary { kind } => Err(binary(path, kind, size)),
            PagedContent::Foreign { encoding } => Err(foreign(path, encoding)),
            PagedContent::Stopped => Err(ToolError::of(ErrorKind::Cancelled, format!("Reading {path} was stopped."))),
        }
    }
}

fn page_in(mut steps: Steps<'_, impl Read>, request: PageRequest) -> io::Result<PagedContent> {
    steps.fill()?;
    let start = &steps.step()[..steps.step().len().min(LOOKED_AT)];
    let whole = if steps.ended && start.len() == steps.step().len() { Whole::Yes } else { Whole::No };
    let form = match TextForm::detect(start, whole) {
        Ok(form) => form,
        Err(NoText::Binary) => return Ok(PagedContent::Binary { kind: binary_kind::kind_of(start) }),
        Err(NoText::BadEncoding { looks_like: Some(encoding), .. }) => return Ok(PagedContent::Foreign { encoding }),
        // Nearly everything is meant as UTF-8; what is not is shown as U+FFFD.
        Err(NoText::BadEncoding { looks_like: None, .. }) => TextForm::utf8(),
    };
    let units = LineUnits::found_in(start, form, whole);
    collect(steps, PageCollector::new(request, units))
}

/// Reads lines from what is known to be UTF-8 with `\n`, because haft wrote it.
pub(crate) fn page_of_own(source: File, request: PageRequest) -> io::Result<PagedContent> {
    let size = source.metadata()?.len();
    let mut steps = Steps::new(source, &|| false, size);
    steps.fill()?;
    collect(steps, PageCollector::new(request, LineUnits::own()))
}

fn collect(mut steps: Steps<'_, impl Read>, mut collected: PageCollector) -> io::Result<PagedContent> {
    let mut step = &steps.step()[collected.mark_in(steps.step())..];
    loop {
        if steps.is_stopped() {
            return Ok(PagedContent::Stopped);
        }
        // A hole of a sparse file: there may be a terabyte of it, and no line.
        if !collected.is_full() && step.len() >= HOLE && step.iter().all(|&byte| byte == 0) {
            return Ok(PagedContent::Binary { kind: "data with long runs of zeros" });
        }
        let rest = step.len() - collected.take(step);
        if rest > 0 && steps.size <= COUNTED {
            collected.count(&step[step.len() - rest..]);
            return count_rest(steps, collected);
        }
        if rest > 0 || steps.ended {
            let page = if rest == 0 { collected.into_last_page() } else { collected.into_page() };
            return Ok(PagedContent::Page(page));
        }
        steps.fill()?;
        step = steps.step();
    }
}

/// Counts the lines behind a page. What grows while it is read has no end, so only so many are.
fn count_rest(mut steps: Steps<'_, impl Read>, mut collected: PageCollector) -> io::Result<PagedContent> {
    let mut counted = 0;
    while !steps.ended && counted <= COUNTED {
        steps.fill()?;
        if steps.is_stopped() {
            return Ok(PagedContent::Stopped);
        }
        collected.count(steps.step());
        counted += steps.step().len() as u64;
    }
    Ok(PagedContent::Page(if steps.ended { collected.into_counted_page() } else { collected.into_page() }))
}

/// A reader in steps of equal size, but for the last one.
struct Steps<'s, R> {
    source: R,
    stopped: &'s dyn Fn() -> bool,
    buffer: Vec<u8>,
    filled: usize,
    /// Whether the step is the last one.
    ended: bool,
    /// How many bytes are expected.
    size: u64,
}

impl<'s, R: Read> Steps<'s, R> {
    /// Reads in steps for so many bytes as are expected, one more to find the end, and never an odd number.
    fn new(source: R, stopped: &'s dyn Fn() -> bool, size: u64) -> Self {
        let expected = usize::try_from(size).unwrap_or(STEP).min(STEP);
        let step = (expected + 1).next_multiple_of(2).min(STEP);
        Self { source, stopped, buffer: vec![0; step], filled: 0, ended: false, size }
    }

    fn step(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    fn is_stopped(&self) -> bool {
        (self.stopped)()
    }

    /// Reads the next step.
    fn fill(&mut self) -> io::Result<()> {
        self.filled = 0;
        while self.filled < self.buffer.len() && !self.ended && !self.is_stopped() {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

pub(in crate::files) fn folder(path: &str) -> ToolError {
    let next = Next::UseInstead { tool: "list_dir".into(), to: "to see what is in it".into() };
    ToolError::new(ErrorKind::IsFolder, format!("{path} is a folder."), next).about_file(path, FailedOperation::Read)
}

fn binary(path: &str, kind: &str, size: u64) -> ToolError {
    ToolError::of(ErrorKind::Binary, format!("{path} is not text: {kind}, {} bytes.", GroupedNumber(size)))
        .about_file(path, FailedOperation::Decode)
}

fn foreign(path: &str, encoding: &str) -> ToolError {
    ToolError::of(ErrorKind::BadEncoding, format!("{path} is text in {encoding}, which cannot be read here."))
        .about_file(path, FailedOperation::Decode)
}
