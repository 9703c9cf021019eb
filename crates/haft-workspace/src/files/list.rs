//! Lists a folder, level by level, without following links.

use std::os::fd::OwnedFd;

use haft::door::FileKind;
use haft::error::{Next, Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;
use haft::search::{LeftOut, ListRequest, ListedEntry, Listing, Reach};
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::folder::stat_name;
use super::missing;
use super::names::{Letters, NameGlobs};
use super::open::Root;
use super::walk::{Met, Walk, WalkOptions};

/// Most entries that are counted beyond the limit; a listing never walks a whole disk.
const MOST_COUNTED: u64 = 200_000;

/// Lists what lies below a folder.
pub(super) fn list(
    root: &Root,
    target: &Target,
    request: &ListRequest,
    stop: &CancellationToken,
) -> Result<Listing, ToolError> {
    let folder = open_folder(root, target)?;
    let exclude = NameGlobs::new(&request.ignore, ("ignore", Letters::Exact))?;
    let options = WalkOptions { depth: request.depth, hidden: request.hidden, exclude, only: Vec::new() };
    let mut walk = Walk::new(root, (target, folder), options, stop)?;
    let mut listing =
        Listing { entries: Vec::new(), files: 0, folders: 0, reach: Reach::Whole, left_out: LeftOut::default() };
    while let Some(met) = walk.advance() {
        let counted = listing.files + listing.folders;
        if counted >= MOST_COUNTED {
            listing.reach = Reach::StoppedEarly;
            break;
        }
        if met.kind == FileKind::Folder {
            listing.folders += 1
        } else {
            listing.files += 1
        }
        if listing.entries.len() < request.entries {
            listing.entries.push(entry(&walk, met));
        }
    }
    listing.left_out = walk.end()?;
    Ok(listing)
}

fn entry(walk: &Walk<'_>, met: Met) -> ListedEntry {
    // An entry may vanish between its listing and this look; then it has no size.
    let stat = walk.folder().and_then(|folder| stat_name(folder, walk.name()).ok());
    let size = stat.and_then(|stat| u64::try_from(stat.st_size).ok()).unwrap_or(0);
    let path = String::from_utf8_lossy(walk.path_below()).into_owned();
    ListedEntry { path, depth: met.depth, kind: met.kind, size }
}

/// Opens a folder to walk, or says what is there instead.
pub(super) fn open_folder(root: &Root, target: &Target) -> Result<OwnedFd, ToolError> {
    match root.open_target(target, OFlags::DIRECTORY | OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => Err(missing_or_file(root, target)),
        opened => opened,
    }
}

fn missing_or_file(root: &Root, target: &Target) -> ToolError {
    match super::facts::facts(root, target) {
        Ok(facts) if facts.kind == FileKind::Special => super::facts::special(&target.to_string()),
        Ok(_) => {
            let next = Next::UseInstead { tool: "read_file".into(), to: "to read it".into() };
            ToolError::new(ErrorKind::NotAFolder, format!("{target} is a file, not a folder."), next)
                .about_file(target.to_string(), Operation::Read)
        }
        Err(_) => missing::missing(root, target),
    }
}
