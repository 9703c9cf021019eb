//! Lists a folder, level by level, without following links.

use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;

use haft_contract::doors::door::FileKind;
use haft_contract::files::path::Target;
use haft_contract::files::search::{FolderListing, ListRequest, ListedEntry, WalkCoverage, WalkOmissions};
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::walk::{Met, TreeWalk, WalkOptions};
use crate::files::read::folder::stat_name;
use crate::files::read::missing;
use crate::files::read::names::{Letters, NameGlobs};
use crate::files::read::open::WorkspaceRoot;

/// Most entries that are counted beyond the limit; a listing never walks a whole disk.
const MOST_COUNTED: u64 = 200_000;

/// Lists what lies below a folder, level by level: a folder with very many names hides none of its siblings.
///
/// The levels that fit are walked one after the other, each from the top, and the rest is counted in one more walk.
pub(in crate::files) fn list(
    root: &WorkspaceRoot,
    target: &Target,
    request: &ListRequest,
    stop: &CancellationToken,
) -> Result<FolderListing, ToolError> {
    let exclude = NameGlobs::new(&request.ignore, ("ignore", Letters::Exact))?;
    let begin = |depth: usize| {
        let (hidden, ignored) = (request.hidden, request.ignored);
        let (exclude, wanted) = (exclude.clone(), NameGlobs::of_known(&[], Letters::Exact));
        let usual_excludes = NameGlobs::of_known(&request.usual_excludes, Letters::Exact);
        let options = WalkOptions { depth, hidden, ignored, exclude, usual_excludes, only: Vec::new(), wanted };
        TreeWalk::new(root, target, options, stop)
    };
    let mut levels = Levels { most: request.entries, ..Levels::default() };
    let mut level = 1;
    loop {
        let is_last = level >= request.depth || levels.is_full();
        let to = if is_last { request.depth } else { level };
        let mut walk = begin(to)?;
        let goes_on = levels.take(&mut walk, level..=to);
        let left_out = walk.end()?;
        if is_last || !goes_on {
            return Ok(levels.into_listing(left_out));
        }
        level += 1;
    }
}

/// The levels of a listing, the upper ones first.
#[derive(Default)]
struct Levels {
    most: usize,
    /// Each entry with its path, by which they are put in order.
    entries: Vec<(Vec<u8>, ListedEntry)>,
    files: u64,
    folders: u64,
    stopped_early: bool,
}

impl Levels {
    fn is_full(&self) -> bool {
        self.entries.len() >= self.most
    }

    /// Takes the entries of some levels; returns whether there may be more below them.
    fn take(&mut self, walk: &mut TreeWalk<'_>, levels: RangeInclusive<usize>) -> bool {
        let mut goes_on = false;
        while let Some(met) = walk.advance() {
            if !levels.contains(&met.depth) {
                continue;
            }
            if self.files + self.folders >= MOST_COUNTED {
                self.stopped_early = true;
                return false;
            }
            if met.kind == FileKind::Folder {
                self.folders += 1;
                goes_on = true;
            } else {
                self.files += 1;
            }
            if !self.is_full() {
                self.entries.push((walk.path_below().to_vec(), entry(walk, met)));
            }
        }
        goes_on
    }

    fn into_listing(mut self, left_out: WalkOmissions) -> FolderListing {
        self.entries.sort_by(|(a, _), (b, _)| a.split(is_slash).cmp(b.split(is_slash)));
        let entries = self.entries.into_iter().map(|(_, entry)| entry).collect();
        let reach = if self.stopped_early { WalkCoverage::StoppedEarly } else { WalkCoverage::Whole };
        FolderListing { entries, files: self.files, folders: self.folders, reach, left_out }
    }
}

fn is_slash(byte: &u8) -> bool {
    *byte == b'/'
}

fn entry(walk: &TreeWalk<'_>, met: Met) -> ListedEntry {
    // An entry may vanish between its listing and this look; then it has no size.
    let stat = walk.folder().and_then(|folder| stat_name(folder, walk.name()).ok());
    let size = stat.and_then(|stat| u64::try_from(stat.st_size).ok()).unwrap_or(0);
    let path = String::from_utf8_lossy(walk.path_below()).into_owned();
    ListedEntry { path, depth: met.depth, kind: met.kind, size }
}

/// Opens a folder to walk, or says what is there instead.
pub(in crate::files) fn open_folder(root: &WorkspaceRoot, target: &Target) -> Result<OwnedFd, ToolError> {
    match root.open_target(target, OFlags::DIRECTORY | OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => Err(missing_or_file(root, target)),
        opened => opened,
    }
}

fn missing_or_file(root: &WorkspaceRoot, target: &Target) -> ToolError {
    match crate::files::read::facts::facts(root, target) {
        Ok(facts) if facts.kind == FileKind::Special => crate::files::read::facts::special(&target.to_string()),
        Ok(_) => {
            let next = Next::UseInstead { tool: "read_file".into(), to: "to read it".into() };
            ToolError::new(ErrorKind::NotAFolder, format!("{target} is a file, not a folder."), next)
                .about_file(target.to_string(), FailedOperation::Read)
        }
        Err(_) => missing::missing(root, target),
    }
}
