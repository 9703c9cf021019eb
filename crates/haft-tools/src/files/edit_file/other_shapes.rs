//! Reads the other shapes in which models write edits: patches, one edit beside the path, a path in each edit.
//!
//! One edit at the top level needs no shape: the fitting already moves arguments that belong into `edits` there, under
//! any of the names that `EditFile::ALIASES` lists.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use serde_json::{Map, Value, json};

use super::patch::{self, FilePatch};
use crate::catalogue::shapes::{DESCRIPTION, EXPLANATION, FILE_NAMES, only_path, texts};

const NOT_READ: &str = "each change of a hunk needs a line that is in the file now; give \"path\" and \"edits\", or \"files\", where an \
                        entry can also have \"content\" (a new file), \"move_to\" or \"remove\": true";
const BY_LINE: &str = "edit_file finds the text itself: give the current lines as \"old_text\" and the lines that \
                       replace them as \"new_text\"; to insert, \"new_text\" has the current line and the new ones";

/// What models write instead of `path`, `edits` and `files`.
pub(super) const SHAPES: &[ArgumentShape] = &[
    ArgumentShape::new("patch", Meaning::Raw(is_raw_patch)),
    ArgumentShape::new("path", Meaning::Code(only_path)),
    ArgumentShape::new("patch", Meaning::Code(of_text)),
    ArgumentShape::new("input", Meaning::Code(of_text)),
    ArgumentShape::new("diff", Meaning::Code(of_text)),
    ArgumentShape::new("edits", Meaning::Code(of_edits)),
    ArgumentShape::new("files", Meaning::Code(of_files)),
    ArgumentShape::new("replace_all", Meaning::Code(every_place)),
    ArgumentShape::new("instruction", Meaning::Anyway(&[])),
    ArgumentShape::new("command", Meaning::Anyway(&["\"str_replace\"", "\"replace\"", "\"edit\"", "\"update\""])),
    ArgumentShape::new("patch", Meaning::Instead(NOT_READ)),
    ArgumentShape::new("input", Meaning::Instead(NOT_READ)),
    ArgumentShape::new("diff", Meaning::Instead(NOT_READ)),
    ArgumentShape::new("insert_line", Meaning::Instead(BY_LINE)),
    ArgumentShape::new("start_line", Meaning::Instead(BY_LINE)),
    ArgumentShape::new("end_line", Meaning::Instead(BY_LINE)),
    DESCRIPTION,
    EXPLANATION,
];

/// Whether the text of a call is a patch and no JSON.
fn is_raw_patch(text: &str) -> bool {
    !text.trim_start().starts_with(['{', '"']) && patch::looks_like_patch(text)
}

fn of_text(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let text = value.as_str().filter(|text| patch::looks_like_patch(text))?;
    arguments(patch::read(text)?, given)
}

/// Says the changes of files as arguments; one without a path means the file that is given beside it.
fn arguments(files: Vec<FilePatch>, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if given.first_of(&["files", "old_text", "old_string"]).is_some() {
        return None;
    }
    let beside = path_beside(given).and_then(Value::as_str);
    match (&files[..], beside) {
        ([file], beside) => {
            let path = file.path.as_deref().or(beside)?;
            let is_same = beside.is_none_or(|beside| beside == path || beside.ends_with(&format!("/{path}")));
            let path = beside.unwrap_or(path);
            let others = path_names().map(|name| (name, Value::Null));
            let meant = if file.only_edits() {
                vec![("path", json!(path)), ("edits", list(&file.edits))]
            } else {
                vec![("files", json!([entry(path, file)])), ("edits", Value::Null)]
            };
            is_same.then(|| others.chain(meant).collect())
        }
        (several, None) => {
            let entries = several.iter().map(|file| Some(entry(file.path.as_ref()?, file)));
            Some(vec![("files", entries.collect::<Option<Value>>()?), ("edits", Value::Null)])
        }
        _ => None,
    }
}

/// Says the changes of one file as an entry of `files`.
fn entry(path: &str, file: &FilePatch) -> Value {
    let mut entry = json!({ "path": path });
    if !file.edits.is_empty() {
        entry["edits"] = list(&file.edits);
    }
    if let Some(content) = &file.content {
        entry["content"] = json!(content);
    }
    if let Some(to) = &file.move_to {
        entry["move_to"] = json!(to);
    }
    if file.is_removed {
        entry["remove"] = json!(true);
    }
    entry
}

fn list(edits: &[(String, String)]) -> Value {
    edits.iter().map(|(old, new)| json!({ "old_text": old, "new_text": new })).collect()
}

/// Reads `edits` that are a patch, or say in each edit what belongs beside or below.
fn of_edits(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if let Some(read) = of_text(value, given) {
        return Some(read);
    }
    if let Some(texts) = texts(value) {
        return of_text(&json!(texts.join("\n")), given);
    }
    let mut edits: Vec<Map<String, Value>> = match value {
        Value::Array(items) => items.iter().map(|item| item.as_object().cloned()).collect::<Option<_>>()?,
        Value::Object(edit) => vec![edit.clone()],
        _ => return None,
    };
    edits.iter_mut().for_each(count_in);
    let paths: Vec<Option<Value>> = edits.iter_mut().map(path_in).collect();
    let has_path = paths.iter().any(Option::is_some);
    let changed: Value = edits.iter().cloned().map(Value::Object).collect();
    if !has_path {
        return (changed != *value).then(|| vec![("edits", changed)]);
    }
    let paths: Vec<Value> = paths.into_iter().collect::<Option<_>>()?;
    let beside = path_beside(given);
    if paths.iter().all(|path| *path == paths[0]) {
        return beside
            .is_none_or(|beside| *beside == paths[0])
            .then(|| vec![("edits", changed), ("path", paths[0].clone())]);
    }
    if beside.is_some() || given.get("files").is_some() {
        return None;
    }
    let mut files: Vec<(Value, Vec<Value>)> = Vec::new();
    for (path, edit) in paths.into_iter().zip(edits) {
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, edits)) => edits.push(Value::Object(edit)),
            None => files.push((path, vec![Value::Object(edit)])),
        }
    }
    let files: Value = files.into_iter().map(|(path, edits)| json!({ "path": path, "edits": edits })).collect();
    Some(vec![("files", files), ("edits", Value::Null)])
}

/// Reads what each file says of its edits.
fn of_files(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let mut files = value.as_array()?.clone();
    for file in &mut files {
        count_in(file.as_object_mut()?);
        for edit in file.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten() {
            count_in(edit.as_object_mut()?);
        }
    }
    (files != *value.as_array()?).then(|| vec![("files", files.into())])
}

fn every_place(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let is_beside = given.get("edits").is_none() && given.get("files").is_none() && given.get("count").is_none();
    is_beside.then(|| Some(vec![("count", count(value)?)]))?
}

/// Says `replace_all` of an edit as its `count`.
fn count_in(edit: &mut Map<String, Value>) {
    let key = edit.keys().find(|key| ArgumentShape::new("replace_all", Meaning::Anyway(&[])).is(key)).cloned();
    if let Some((key, count)) = key.and_then(|key| Some((key.clone(), count(&edit[&key])?)))
        && !edit.contains_key("count")
    {
        edit.shift_remove(&key);
        edit.insert("count".to_owned(), count);
    }
}

fn count(replaces_all: &Value) -> Option<Value> {
    match replaces_all {
        Value::Bool(true) => Some(json!("all")),
        Value::Bool(false) => Some(json!("unique")),
        Value::String(word) if word.eq_ignore_ascii_case("true") => Some(json!("all")),
        Value::String(word) if word.eq_ignore_ascii_case("false") => Some(json!("unique")),
        _ => None,
    }
}

/// Takes the path out of an edit.
fn path_in(edit: &mut Map<String, Value>) -> Option<Value> {
    let name = path_names().find(|name| edit.contains_key(*name))?;
    edit.shift_remove(name)
}

fn path_beside<'a>(given: &ArgumentLookup<'a>) -> Option<&'a Value> {
    path_names().find_map(|name| given.get(name))
}

fn path_names() -> impl Iterator<Item = &'static str> {
    std::iter::once("path").chain(FILE_NAMES.iter().copied())
}
