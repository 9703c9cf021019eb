//! Explains a missing file by naming what exists instead.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use haft_contract::files::path::{Extent, FileLocation, Target, one_line};
use haft_contract::outcome::error::{FailedOperation, Next, Recovery, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::closest::nearest;
use rustix::fs::{Dir, FileType, OFlags};

use super::open::WorkspaceRoot;

/// Most names looked at in one folder.
const MOST_NAMES: usize = 2_000;
/// Most entries looked at when searching the same name elsewhere.
const MOST_ENTRIES: usize = 5_000;
/// Most names told.
const MOST_TOLD: usize = 5;

/// Says what is missing, which names are near, and how to look.
pub(in crate::files) fn missing(root: &WorkspaceRoot, target: &Target) -> ToolError {
    let path = target.place().path();
    let shown = target.to_string();
    let (folder, missing_name) = deepest_existing(root, path);
    let mut near = near_names(root, &folder, &missing_name);
    if near.is_empty() {
        near = same_name_elsewhere(root, path);
    }
    let folder_path = if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() };
    let folder_shown = one_line(&folder_path);
    let error = if near.is_empty() {
        let next =
            Next::LookFirst { tool: "list_dir".into(), at: format!("{folder_shown} and use a path that exists") };
        ToolError::new(ErrorKind::MissingFile, format!("{shown} does not exist."), next)
    } else {
        let next = Next::FixArguments(format!("use one of these, or call \"list_dir\" on {folder_shown}"));
        // Anybody may have named these files: a name must not add a line to the advice.
        let near: Vec<_> = near.iter().map(|name| one_line(name)).collect();
        let what = format!("{shown} does not exist. Near: {}.", near.join(", "));
        ToolError::new(ErrorKind::MissingFile, what, next)
    };
    let arguments = serde_json::Map::from_iter([("path".to_owned(), folder_path.into())]);
    let look = Recovery::Call { tool: "list_dir".to_owned(), arguments };
    error.about_file(shown, FailedOperation::Access).recover_with(look)
}

/// The deepest folder of the path that exists, and the first name that does not.
fn deepest_existing(root: &WorkspaceRoot, path: &Path) -> (PathBuf, String) {
    let mut folder = root.root_of(path).to_owned();
    let below = path.strip_prefix(&folder).unwrap_or(path);
    for part in below.iter() {
        let next = folder.join(part);
        if open_folder(root, &next).is_none() {
            return (folder, part.to_string_lossy().into_owned());
        }
        folder = next;
    }
    (folder, String::new())
}

fn near_names(root: &WorkspaceRoot, folder: &Path, name: &str) -> Vec<String> {
    let names = names_in(root, folder);
    let near = nearest(name, names.iter().map(String::as_str), MOST_TOLD);
    near.into_iter().map(|name| folder.join(name).display().to_string()).collect()
}

/// The names in a folder; of very many not all.
pub(in crate::files) fn names_in(root: &WorkspaceRoot, folder: &Path) -> Vec<String> {
    entries_of(root, folder).take(MOST_NAMES).map(|(name, _)| name).collect()
}

/// The same file name in another folder: models often forget a part of the path.
fn same_name_elsewhere(root: &WorkspaceRoot, path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = std::collections::VecDeque::from([root.root_of(path).to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        for (name, kind) in entries_of(root, &folder) {
            seen += 1;
            if seen > MOST_ENTRIES || found.len() == MOST_TOLD {
                return found;
            }
            match kind {
                FileType::RegularFile if name == wanted => found.push(folder.join(name).display().to_string()),
                FileType::Directory if !name.starts_with('.') => folders.push_back(folder.join(name)),
                _ => {}
            }
        }
    }
    found
}

/// Opened beneath the root like everything else: a link that was put there meanwhile reveals nothing.
fn open_folder(root: &WorkspaceRoot, folder: &Path) -> Option<OwnedFd> {
    let target = Target::Inside(FileLocation::new(folder, Extent::Tree));
    root.open_target(&target, OFlags::DIRECTORY | OFlags::RDONLY).ok()
}

fn entries_of(root: &WorkspaceRoot, folder: &Path) -> impl Iterator<Item = (String, FileType)> {
    let opened = open_folder(root, folder).and_then(|folder| Dir::read_from(folder).ok());
    let entries = opened.into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().to_str().ok()?.to_owned(), entry.file_type())));
    named.filter(|(name, _)| name != "." && name != "..")
}
