//! Says where a path leads: it follows every link, opens nothing, and accepts paths that do not exist.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use haft_contract::files::path::{Extent, FileLocation, RawPath, Target, one_line};
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

use super::open::WorkspaceRoot;

/// Longer paths are refused by the kernel anyway.
const LONGEST_PATH: usize = 4_096;
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Locates a path as it was written, relative to the root.
pub(in crate::files) fn locate(root: &WorkspaceRoot, raw: &RawPath, extent: Extent) -> Result<Target, ToolError> {
    let text = raw.as_str();
    if text.is_empty() || text.contains('\0') {
        let what = if text.is_empty() { "The path is empty." } else { "The path holds a NUL byte." };
        return Err(ToolError::of(ErrorKind::BadPath, what).about_file(text, FailedOperation::Access));
    }
    if text.len() > LONGEST_PATH {
        return Err(unresolvable(io::ErrorKind::InvalidFilename.into(), text));
    }
    // A shell would put the home folder here. That is always outside, so haft need not know where it is.
    if text == "~" || text.starts_with("~/") {
        return Ok(Target::Outside(FileLocation::new(text, extent)));
    }
    if let Some(foreign) = Foreign::of(text).filter(|_| !begins_with_a_name(root, text)) {
        return Err(foreign.error(text));
    }
    let real = resolve(&root.path().join(text)).map_err(|error| unresolvable(error, text))?;
    Ok(match root.place_of(&real) {
        Some(place) => Target::Inside(FileLocation::new(place, extent)),
        // Keeps the path as written: haft does not reveal where links outside lead.
        None => Target::Outside(FileLocation::new(text, extent)),
    })
}

/// A way to name something that is not a path here. Taken for one, it would make folders such as `file:`.
enum Foreign<'t> {
    /// `file://` before a path.
    FileUrl(&'t str),
    Url,
    /// `C:\` or `C:/` before a path.
    Drive(&'t str),
}

impl<'t> Foreign<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (begin, rest) = text.split_once(':')?;
        let is_letter = begin.len() == 1 && begin.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_letter && rest.starts_with(['\\', '/']) {
            return Some(Self::Drive(rest));
        }
        let is_scheme = begin.starts_with(|c: char| c.is_ascii_alphabetic())
            && begin.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        let rest = rest.strip_prefix("//").filter(|_| is_scheme)?;
        if begin.eq_ignore_ascii_case("file") {
            return Some(Self::FileUrl(rest.strip_prefix("localhost").unwrap_or(rest)));
        }
        Some(Self::Url)
    }

    fn error(&self, text: &str) -> ToolError {
        let shown = shortened(text);
        let (what, next) = match self {
            Self::FileUrl(path) => (
                format!("\"{shown}\" is a URL, not a path."),
                format!("name the path without the scheme: \"{}\"", shortened(path)),
            ),
            Self::Url => (
                format!("\"{shown}\" is a URL, not a path."),
                "name a file of the workspace by its path, such as \"src/main.rs\"".to_owned(),
            ),
            Self::Drive(path) => {
                let path = path.trim_start_matches(['\\', '/']).replace('\\', "/");
                let example = if path.is_empty() { ".".to_owned() } else { shortened(&path) };
                (
                    format!("\"{shown}\" has a drive letter, and paths have none here."),
                    format!("name a path relative to the workspace, with \"/\", such as \"{example}\""),
                )
            }
        };
        ToolError::new(ErrorKind::BadPath, what, Next::FixArguments(next)).about_file(shown, FailedOperation::Access)
    }
}

/// Tells whether the first part of a path is really there: then it means what it says, however odd it looks.
fn begins_with_a_name(root: &WorkspaceRoot, text: &str) -> bool {
    let first = text.split('/').next().unwrap_or(text);
    root.path().join(first).symlink_metadata().is_ok()
}

fn unresolvable(error: io::Error, text: &str) -> ToolError {
    let why = if error.kind() == io::ErrorKind::InvalidFilename { "is too long" } else { "is a loop of links" };
    ToolError::of(ErrorKind::BadPath, format!("The path {} {why}.", shortened(text)))
        .about_file(shortened(text), FailedOperation::Access)
        .caused_by(error)
}

fn shortened(text: &str) -> String {
    let text = one_line(text);
    if text.len() <= 200 { text.into_owned() } else { text.chars().take(200).chain("…".chars()).collect() }
}

/// Walks the path as the kernel would, also through links whose end does not exist.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    resolve_through(path, &mut |_| {})
}

/// Walks the path as the kernel would, and tells of every link on the way.
pub(in crate::files) fn resolve_through(path: &Path, met: &mut dyn FnMut(&Path)) -> io::Result<PathBuf> {
    let mut ahead: Vec<OsString> = parts(path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part.to_str() {
            Some("/") => at = PathBuf::from("/"),
            Some(".") => {}
            Some("..") => {
                at.pop();
            }
            _ => {
                let next = at.join(&part);
                match std::fs::read_link(&next) {
                    Ok(leads_to) => {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(io::Error::from(io::ErrorKind::Other));
                        }
                        met(&next);
                        ahead.extend(parts(&leads_to));
                    }
                    Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Err(error),
                    Err(_) => at = next,
                }
            }
        }
    }
    Ok(at)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|component| match component {
            Component::RootDir | Component::Prefix(_) => OsString::from("/"),
            part => part.as_os_str().to_owned(),
        })
        .collect()
}
/// Returns the paths that a path leads through by links, itself first and the real one last.
pub(in crate::files) fn way_to(path: &Path) -> Vec<PathBuf> {
    let mut way = vec![path.to_owned()];
    while let Some(here) = way.last().filter(|_| way.len() <= MOST_LINKS) {
        let Ok(target) = here.read_link() else { break };
        way.push(here.parent().unwrap_or(Path::new("/")).join(target));
    }
    // A folder on the way may be a link too.
    way.extend(path.canonicalize());
    way.dedup();
    way
}
