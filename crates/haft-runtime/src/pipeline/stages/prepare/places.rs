//! Corrects paths that name nothing as written but name a file in exactly one other reading.
//!
//! Models write the folder that they have worked in elsewhere (`/workspace/src/main.rs`), file URLs, and globs in place of
//! one path. haft never changes a path that names a file here or elsewhere on this machine. Rules, hooks and memory see
//! the corrected path.
//!
//! Not here: where a path leads (`haft-workspace`), whether it may be touched (`authorize`).

use std::path::Path;

use haft_contract::description::shape::{ArgumentLookup, Meaning, folder_and_glob};
use haft_contract::description::spec::Spec;
use haft_contract::doors::door::Look;
use haft_contract::files::path::{Extent, RawPath, Target};
use serde_json::{Map, Value};

use crate::arguments::{ArgumentReading, Literal, is_empty, is_word_for_nothing, key_path, read_literal, set, shown};

/// Folders that workspaces have in the containers of other agents.
const ELSEWHERE: [&str; 8] =
    ["/workspace", "/workspaces", "/repo", "/project", "/app", "/testbed", "/code", "/mnt/workspace"];

/// Puts the paths that are meant in the place of those that name nothing.
pub(super) fn placed(arguments: Value, spec: &Spec, look: &dyn Look) -> ArgumentReading {
    let mut repairs = Vec::new();
    let Value::Object(mut fields) = arguments else { return ArgumentReading { value: arguments, repairs } };
    leave_out_unmeant(&mut fields, (spec, look), &mut repairs);
    for shape in spec.shapes.0 {
        let Some(text) = fields.get(shape.written).and_then(Value::as_str) else { continue };
        let (convert, written) = match shape.meaning {
            Meaning::Glob(convert) => (convert, unnamed_glob(text, look)),
            Meaning::Lines(convert) => (convert, path_with_lines(text, look)),
            _ => continue,
        };
        let Some(written) = written else { continue };
        let meant = convert(&written, &ArgumentLookup(&fields));
        repairs.extend(meant.and_then(|meant| set(&mut fields, shape.written, meant)));
    }
    for argument in spec.paths {
        let steps: Vec<&str> = argument.split('.').collect();
        PathRepair { meant: &|path| meant_by(path, look), repairs: &mut repairs }.place_in(&mut fields, "$", &steps);
    }
    ArgumentReading { value: Value::Object(fields), repairs }
}

/// Leaves out optional paths that name nothing because there is nothing in them, or only a word for that.
fn leave_out_unmeant(fields: &mut Map<String, Value>, (spec, look): (&Spec, &dyn Look), repairs: &mut Vec<String>) {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|needed| needed == name));
    let names_nothing = |path: &Value| match path {
        Value::String(text) => is_empty(path) || is_word_for_nothing(text) && !names_something(text, look),
        _ => false,
    };
    let is_unmeant = |value: &Value| match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(names_nothing),
        value => names_nothing(value),
    };
    for name in spec.paths.iter().map(|path| path.trim_end_matches("[]")).filter(|name| !is_required(name)) {
        if fields.get(name).is_some_and(is_unmeant)
            && let Some(written) = fields.shift_remove(name)
        {
            repairs.push(format!("{}: {} left out", key_path("$", name), shown(&written)));
        }
    }
}

/// Returns a path that names nothing as the glob that it is, from the root of the workspace, or as the list of paths.
fn unnamed_glob(text: &str, look: &dyn Look) -> Option<Value> {
    // Brackets alone are no glob: names of routes have them, and a missing one is told as missing.
    let is_glob = text.contains(['*', '?']) && RawPath::new(text).spill_id().is_none();
    let list = match read_literal(text) {
        Literal::Container(list) => Some(list),
        Literal::Plain | Literal::Broken => None,
    };
    if !is_glob && list.is_none() || names_something(text, look) {
        return None;
    }
    let (folder, glob) = folder_and_glob(text);
    if list.is_some() || !folder.starts_with('/') {
        return Some(list.unwrap_or_else(|| text.into()));
    }
    let inside = located(folder, look).map(|target| target.to_string()).or_else(|| meant_by(folder, look))?;
    Some(if inside == "." { glob.into() } else { format!("{inside}/{glob}").into() })
}

/// Takes the lines off a path that names nothing with them: `a.rs:10-20`, `a.rs:10:20`, `a.rs#L10-L20`.
fn path_with_lines(text: &str, look: &dyn Look) -> Option<Value> {
    if names_something(text, look) {
        return None;
    }
    let digits = |text: &str| text.trim_start_matches('L').parse::<u32>().ok().filter(|line| *line > 0);
    let candidates = text.match_indices([':', '#']).map(|(at, _)| (&text[..at], &text[at + 1..]));
    let mut readings = candidates.filter_map(|(path, lines)| {
        let (first, last) = match lines.split_once(['-', ':']) {
            Some((first, last)) => (digits(first)?, Some(digits(last)?)),
            None => (digits(lines)?, None),
        };
        names_something(path, look)
            .then(|| Vec::from_iter([path.into(), first.into()].into_iter().chain(last.map(Value::from))))
    });
    readings.next().map(Value::from)
}

/// What puts in place of a path the one that is meant.
struct PathRepair<'a> {
    meant: &'a dyn Fn(&str) -> Option<String>,
    repairs: &'a mut Vec<String>,
}

impl PathRepair<'_> {
    /// Changes the paths at one place of the arguments: `path`, `paths[]`, `files[].path`.
    fn place_in(&mut self, fields: &mut Map<String, Value>, at: &str, steps: &[&str]) {
        let Some((step, rest)) = steps.split_first() else { return };
        let name = step.trim_end_matches("[]");
        let place = key_path(at, name);
        let Some(value) = fields.get_mut(name) else { return };
        let values: Vec<(String, &mut Value)> = match value {
            Value::Array(items) if step.ends_with("[]") => {
                items.iter_mut().enumerate().map(|(index, item)| (format!("{place}[{index}]"), item)).collect()
            }
            value => vec![(place, value)],
        };
        for (place, value) in values {
            match value {
                Value::Object(inner) => self.place_in(inner, &place, rest),
                Value::String(text) => {
                    if let Some(path) = (self.meant)(text) {
                        let path = Value::String(path);
                        self.repairs.push(format!("{place}: {} → {}", shown(value), shown(&path)));
                        *value = path;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the one path that is meant by one that names nothing.
fn meant_by(text: &str, look: &dyn Look) -> Option<String> {
    if text.is_empty() || RawPath::new(text).spill_id().is_some() || names_something(text, look) {
        return None;
    }
    let mut readings = readings(text, look);
    readings.sort();
    readings.dedup();
    let first = readings.pop()?;
    readings.is_empty().then_some(first)
}

fn readings(text: &str, look: &dyn Look) -> Vec<String> {
    if let Some(path) = of_url(text) {
        return Vec::from_iter(located(&path, look).is_some().then_some(path));
    }
    let bare = text.trim().trim_matches(['"', '\'', '`']);
    let bare = bare.strip_prefix('@').unwrap_or(bare);
    let mut readings = vec![bare.to_owned(), bare.replace('\\', "/")];
    readings.retain(|path| path != text && names_something(path, look));
    if text.starts_with('/') && located(text, look).is_none() {
        readings.extend(from_elsewhere(text, look));
    }
    readings
}

/// Reads an absolute path as one of the workspace, where its first folder does not exist on this machine.
fn from_elsewhere(text: &str, look: &dyn Look) -> Vec<String> {
    let first = text.trim_start_matches('/').split('/').next().unwrap_or_default();
    if first.is_empty() || look.is_there(&Path::new("/").join(first)) {
        return Vec::new();
    }
    let mut readings = Vec::new();
    for root in ELSEWHERE {
        let Some(rest) = text.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            continue;
        };
        // `/workspaces/name/…` has the name of the project too.
        let below = rest.trim_start_matches('/').split_once('/').map_or("", |(_, below)| below);
        let rests = if root == "/workspaces" { vec![rest, below] } else { vec![rest] };
        readings.extend(rests.into_iter().map(relative).filter(|path| has_place(path, look)));
    }
    let whole = relative(text);
    if readings.is_empty() && names_something(&whole, look) {
        readings.push(whole);
    }
    readings
}

fn relative(rest: &str) -> String {
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() { ".".to_owned() } else { rest.to_owned() }
}

/// Whether a path names something, or a file that could be made in a folder that is there.
fn has_place(path: &str, look: &dyn Look) -> bool {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    names_something(path, look) || names_something(folder, look)
}

fn names_something(path: &str, look: &dyn Look) -> bool {
    located(path, look).is_some_and(|target| look.facts(&target).is_ok())
}

fn located(path: &str, look: &dyn Look) -> Option<Target> {
    look.locate(&RawPath::new(path), Extent::Entry).ok().filter(Target::is_inside)
}

/// Returns the path of a `file://` URL of this machine.
fn of_url(text: &str) -> Option<String> {
    let rest = text.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).map(|_| &text[7..])?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        let is_escape = *byte == b'%';
        bytes.push(if is_escape { hex? } else { *byte });
        rest = if is_escape { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}
