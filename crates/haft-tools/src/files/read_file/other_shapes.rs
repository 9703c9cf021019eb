//! Reads the other shapes in which models ask for a file or a part of one.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, whole};
use serde_json::{Value, json};

use crate::catalogue::shapes::{DESCRIPTION, ENCODING, EXPLANATION, texts};

/// What models write instead of `path`, `paths`, `offset` and `limit`.
pub(super) const SHAPES: &[ArgumentShape] = &[
    ArgumentShape::new("path", Meaning::Code(paths)),
    ArgumentShape::new("path", Meaning::Glob(globs)),
    ArgumentShape::new("path", Meaning::Lines(part_of_file)),
    ArgumentShape::new("files", Meaning::Code(paths_in)),
    ArgumentShape::new("paths", Meaning::Code(paths_in)),
    ArgumentShape::new("view_range", Meaning::Code(range)),
    ArgumentShape::new("line_range", Meaning::Code(range)),
    ArgumentShape::new("lines", Meaning::Code(range)),
    ArgumentShape::new("end_line", Meaning::Code(end)),
    ArgumentShape::new("line_end", Meaning::Code(end)),
    ArgumentShape::new("to_line", Meaning::Code(end)),
    ArgumentShape::new("last_line", Meaning::Code(end)),
    ArgumentShape::new("should_read_entire_file", Meaning::Anyway(&["true", "false"])),
    // Where nothing is said, the globs say how deep they go.
    ArgumentShape::new("recursive", Meaning::Words("deep", &[("false", "false")])),
    ArgumentShape::new("recursive", Meaning::Anyway(&["true"])),
    ArgumentShape::new("view_range", Meaning::Instead(PART)),
    ArgumentShape::new("line_range", Meaning::Instead(PART)),
    ArgumentShape::new("lines", Meaning::Instead(PART)),
    ArgumentShape::new("end_line", Meaning::Instead(PART)),
    ArgumentShape::new("line_end", Meaning::Instead(PART)),
    ArgumentShape::new("to_line", Meaning::Instead(PART)),
    ArgumentShape::new("last_line", Meaning::Instead(PART)),
    ENCODING,
    DESCRIPTION,
    EXPLANATION,
];

/// How a part of a file is read.
const PART: &str =
    "give the first line as \"offset\" and the number of lines as \"limit\": {\"offset\": 10, \"limit\": 40}";

/// Names of the first line of a part.
const FIRST: [&str; 5] = ["start_line", "line_start", "from_line", "first_line", "offset"];

fn paths(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    Some(match texts(value)?[..] {
        [path] => vec![("path", json!(path))],
        ref paths => vec![("paths", json!(paths)), ("path", Value::Null)],
    })
}

/// Reads a list of objects that have a path each and nothing else.
fn paths_in(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let path = |file: &Value| match file.as_object()?.iter().collect::<Vec<_>>()[..] {
        [(key, path)] if ["path", "file_path"].contains(&key.as_str()) => Some(path.clone()),
        _ => None,
    };
    let paths: Vec<Value> = value.as_array()?.iter().map(path).collect::<Option<_>>()?;
    Some(vec![("paths", paths.into())])
}

/// Reads a glob, or a list that came as text.
fn globs(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if value.is_array() {
        return paths(value, given);
    }
    Some(vec![("paths", json!([value])), ("path", Value::Null)])
}

/// Reads the path with the lines that stood behind it; from one line on, where only one is named.
fn part_of_file(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if given.get("offset").is_some() || given.get("limit").is_some() {
        return None;
    }
    let [path, lines @ ..] = &value.as_array()?[..] else { return None };
    let first = whole(lines.first()?)?;
    let mut meant = part(first, lines.get(1).map_or(Some(-1), whole)?)?;
    meant.insert(0, ("path", path.clone()));
    Some(meant)
}

/// Reads `[1, 50]`, `"1-50"` and `[10, -1]`.
fn range(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let (first, last) = match value {
        Value::Array(ends) => match &ends[..] {
            [first, last] => (whole(first)?, whole(last)?),
            _ => return None,
        },
        Value::String(text) => {
            let (first, last) = text.split_once(['-', ':'])?;
            (first.trim().parse().ok()?, last.trim().parse().ok()?)
        }
        _ => return None,
    };
    if given.get("offset").is_some() || given.get("limit").is_some() {
        return None;
    }
    part(first, last)
}

fn end(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let (name, first) =
        given.first_of(&FIRST).map_or(Some(("offset", 1)), |(name, first)| Some((name, whole(first)?)))?;
    if given.get("limit").is_some() {
        return None;
    }
    let mut part = part(first, whole(value)?)?;
    if name != "offset" {
        part.push((name, Value::Null));
    }
    Some(part)
}

fn part(first: i64, last: i64) -> Option<MeantArguments> {
    let first = first.max(1);
    match last {
        -1 => Some(vec![("offset", json!(first))]),
        last if last >= first => Some(vec![("offset", json!(first)), ("limit", json!(last - first + 1))]),
        _ => None,
    }
}
