//! Defines shapes of arguments that several tools read in the same way.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use serde_json::{Value, json};

/// What other agents call the path of a file.
pub(crate) const FILE_NAMES: &[&str] = &["file_path", "filepath", "filename", "file", "absolute_path", "target_file"];
/// What other agents call the path of a folder.
pub(crate) const FOLDER_NAMES: &[&str] = &["directory", "dir", "folder", "dir_path", "directory_path"];

/// Words about the call, which other agents ask their models for.
pub(crate) const EXPLANATION: ArgumentShape = ArgumentShape::new("explanation", Meaning::Anyway(&[]));
/// The same by another name.
pub(crate) const DESCRIPTION: ArgumentShape = ArgumentShape::new("description", Meaning::Anyway(&[]));
/// The encoding that is found anyway.
pub(crate) const ENCODING: ArgumentShape = ArgumentShape::new("encoding", Meaning::Anyway(&["\"utf-8\"", "\"utf8\""]));
/// Folders below are looked at anyway.
pub(crate) const RECURSIVE: ArgumentShape = ArgumentShape::new("recursive", Meaning::Anyway(&["true"]));

/// What to do where folders below shall not be looked at.
pub(crate) const NOT_BELOW: ArgumentShape = ArgumentShape::new(
    "recursive",
    Meaning::Instead("folders below are always looked at; for the names in one folder call list_dir"),
);

/// Returns the texts of a list of texts that is not empty.
pub(crate) fn texts(value: &Value) -> Option<Vec<&str>> {
    let texts = value.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
    Some(texts).filter(|texts| !texts.is_empty())
}

/// Reads a list of one path as that path.
pub(crate) fn only_path(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    match texts(value)?[..] {
        [path] => Some(vec![("path", json!(path))]),
        _ => None,
    }
}
