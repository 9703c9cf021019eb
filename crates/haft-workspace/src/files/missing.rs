//! Explains a missing file by what is there instead.

use std::path::{Path, PathBuf};

use haft::closest::nearest;
use haft::error::{Next, Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;

use super::open::Root;

/// Most names looked at in one folder.
const MOST_NAMES: usize = 2_000;
/// Most entries looked at when searching the same name elsewhere.
const MOST_ENTRIES: usize = 5_000;
/// Most names told.
const MOST_TOLD: usize = 5;

/// Says what is missing, which names are near, and how to look.
pub(super) fn missing(root: &Root, target: &Target) -> ToolError {
    let path = target.place().path();
    let shown = target.to_string();
    let (folder, missing_name) = deepest_existing(root.path(), path);
    let mut near = near_names(root.path(), &folder, &missing_name);
    if near.is_empty() {
        near = same_name_elsewhere(root.path(), path);
    }
    let folder_shown = if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() };
    let error = if near.is_empty() {
        let next =
            Next::LookFirst { tool: "list_dir".into(), at: format!("{folder_shown} and use a path that exists") };
        ToolError::new(ErrorKind::MissingFile, format!("{shown} does not exist."), next)
    } else {
        let next = Next::FixArguments(format!("use one of these, or call \"list_dir\" on {folder_shown}"));
        let what = format!("{shown} does not exist. Near: {}.", near.join(", "));
        ToolError::new(ErrorKind::MissingFile, what, next)
    };
    let look = serde_json::json!({ "path": folder_shown });
    error.about_file(shown, Operation::Access).recover_with(format!("list_dir {look}"))
}

/// The deepest folder of the path that exists, and the first name that does not.
fn deepest_existing(root: &Path, path: &Path) -> (PathBuf, String) {
    let mut folder = PathBuf::new();
    for part in path.iter() {
        let next = folder.join(part);
        if !root.join(&next).is_dir() {
            return (folder, part.to_string_lossy().into_owned());
        }
        folder = next;
    }
    (folder, String::new())
}

fn near_names(root: &Path, folder: &Path, name: &str) -> Vec<String> {
    let names = names_in(&root.join(folder));
    let near = nearest(name, names.iter().map(String::as_str), MOST_TOLD);
    near.into_iter().map(|name| folder.join(name).display().to_string()).collect()
}

fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.take(MOST_NAMES).flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The same file name in another folder: models often forget a part of the path.
fn same_name_elsewhere(root: &Path, path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name() else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = std::collections::VecDeque::from([PathBuf::new()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = std::fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES || found.len() == MOST_TOLD {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let below = folder.join(entry.file_name());
            if kind.is_file() && entry.file_name() == wanted {
                found.push(below.display().to_string());
            } else if kind.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                folders.push_back(below);
            }
        }
    }
    found
}
