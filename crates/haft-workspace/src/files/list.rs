//! Lists a folder, level by level, without following links.

use std::os::fd::OwnedFd;

use globset::{Glob, GlobSet, GlobSetBuilder};
use haft::door::{FileKind, Hidden, ListRequest, ListedEntry, Listing};
use haft::error::{Next, Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, statat};
use tokio_util::sync::CancellationToken;

use super::facts::kind_of;
use super::open::Root;
use super::{missing, system_error};

/// Most entries that are counted beyond the limit; a listing never walks a whole disk.
const MOST_COUNTED: u64 = 100_000;

/// Lists what lies below a folder.
pub(super) fn list(
    root: &Root,
    target: &Target,
    request: &ListRequest,
    stop: &CancellationToken,
) -> Result<Listing, ToolError> {
    let folder = match root.open_target(target, OFlags::DIRECTORY | OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => {
            return Err(missing_or_file(root, target));
        }
        opened => opened?,
    };
    let walk = Walk {
        request,
        ignore: globs(&request.ignore)?,
        stop,
        listing: Listing { entries: Vec::new(), left_out: 0, unreadable: Vec::new() },
    };
    walk.whole(folder, target)
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

fn globs(patterns: &[String]) -> Result<GlobSet, ToolError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = Glob::new(pattern).map_err(|error| {
            ToolError::new(
                ErrorKind::BadArguments,
                format!("\"{pattern}\" is not a glob: {}.", error.kind()),
                Next::FixArguments("write a glob such as \"*.log\" or \"target\"".into()),
            )
        })?;
        set.add(glob);
    }
    set.build().map_err(|error| ToolError::of(ErrorKind::BadArguments, format!("The globs cannot be used: {error}.")))
}

struct Walk<'a> {
    request: &'a ListRequest,
    ignore: GlobSet,
    stop: &'a CancellationToken,
    listing: Listing,
}

impl Walk<'_> {
    fn whole(mut self, folder: OwnedFd, target: &Target) -> Result<Listing, ToolError> {
        self.folder(folder, "", 1).map_err(|errno| system_error(errno.into(), &target.to_string(), Operation::Read))?;
        if self.stop.is_cancelled() {
            return Err(ToolError::of(ErrorKind::Cancelled, format!("Listing {target} was stopped.")));
        }
        Ok(self.listing)
    }

    fn folder(&mut self, folder: OwnedFd, above: &str, depth: usize) -> rustix::io::Result<()> {
        let mut names = self.names(&folder)?;
        names.sort_unstable();
        for name in names {
            if self.stop.is_cancelled() || self.listing.left_out >= MOST_COUNTED {
                return Ok(());
            }
            let shown = name.to_string_lossy();
            let path = if above.is_empty() { shown.into_owned() } else { format!("{above}/{shown}") };
            // An entry may vanish between its listing and this look; then it is not there.
            let Ok(stat) = statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = kind_of(&stat);
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            if self.listing.entries.len() >= self.request.entries {
                self.listing.left_out += 1;
                continue;
            }
            self.listing.entries.push(ListedEntry { path: path.clone(), depth, kind, size });
            if kind == FileKind::Folder && depth < self.request.depth {
                let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let opened = rustix::fs::openat(&folder, &name, flags, Mode::empty());
                if opened.and_then(|below| self.folder(below, &path, depth + 1)).is_err() {
                    self.listing.unreadable.push(path);
                }
            }
        }
        Ok(())
    }

    fn names(&self, folder: &OwnedFd) -> rustix::io::Result<Vec<std::ffi::OsString>> {
        use std::os::unix::ffi::OsStrExt;
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let hidden = name.as_encoded_bytes().starts_with(b".") && self.request.hidden == Hidden::Skip;
            if !hidden && !self.ignore.is_match(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}
