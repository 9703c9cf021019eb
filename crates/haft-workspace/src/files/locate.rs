//! Says where a path leads: every link followed, nothing opened, nothing need exist.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use haft::error::{Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::{Extent, Place, RawPath, Target, one_line};

use super::open::Root;

/// Longer paths are refused by the kernel anyway.
const LONGEST_PATH: usize = 4_096;
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Locates a path as it was written, relative to the root.
pub(super) fn locate(root: &Root, raw: &RawPath, extent: Extent) -> Result<Target, ToolError> {
    let text = raw.as_str();
    if text.is_empty() || text.contains('\0') {
        let what = if text.is_empty() { "The path is empty." } else { "The path holds a NUL byte." };
        return Err(ToolError::of(ErrorKind::BadPath, what).about_file(text, Operation::Access));
    }
    if text.len() > LONGEST_PATH {
        return Err(unresolvable(io::ErrorKind::InvalidFilename.into(), text));
    }
    // A shell would put the home folder here. That is outside in any case, so nobody needs to know where.
    if text == "~" || text.starts_with("~/") {
        return Ok(Target::Outside(Place::new(text, extent)));
    }
    let real = resolve(&root.path().join(text)).map_err(|error| unresolvable(error, text))?;
    Ok(match root.place_of(&real) {
        Some(place) => Target::Inside(Place::new(place, extent)),
        // As it was written: where links outside lead is nobody's business.
        None => Target::Outside(Place::new(text, extent)),
    })
}

fn unresolvable(error: io::Error, text: &str) -> ToolError {
    let why = if error.kind() == io::ErrorKind::InvalidFilename { "is too long" } else { "runs in a circle of links" };
    ToolError::of(ErrorKind::BadPath, format!("The path {} {why}.", shortened(text)))
        .about_file(shortened(text), Operation::Access)
        .caused_by(error)
}

fn shortened(text: &str) -> String {
    let text = one_line(text);
    if text.len() <= 200 { text.into_owned() } else { text.chars().take(200).chain("…".chars()).collect() }
}

/// Walks the path as the kernel would, also through links whose end does not exist.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
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
