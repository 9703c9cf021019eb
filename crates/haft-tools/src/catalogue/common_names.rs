//! Translates tools and arguments into the names that hooks of other coding agents use.
//!
//! A hook whose matcher has these names (`Bash`, `Edit|Write`) receives calls in them, so it works unchanged. If these
//! names cannot express a call, that is an error: a hook must not approve what it did not see.
//!
//! Not here: calls of models in other names (`dialect`).

use std::path::Path;

use serde_json::{Map, Value, json};

/// Each tool with its common name.
const NAMES: &[(&str, &str)] = &[
    ("bash", "Bash"),
    ("read_file", "Read"),
    ("write_file", "Write"),
    ("edit_file", "Edit"),
    ("list_dir", "LS"),
    ("glob", "Glob"),
    ("grep", "Grep"),
    ("fetch", "WebFetch"),
    ("web_search", "WebSearch"),
];
/// The name of a call that makes several edits in one file.
const SEVERAL_EDITS: &str = "MultiEdit";

/// Returns the common name of a tool.
pub fn name(tool: &str) -> Option<&'static str> {
    NAMES.iter().find(|(native, _)| *native == tool).map(|(_, name)| *name)
}

/// Says a call in common names; fails with the reason where it cannot be said.
pub fn outward(tool: &str, arguments: &Value, workspace: &Path) -> Result<(&'static str, Value), String> {
    let name = name(tool).ok_or_else(|| format!("\"{tool}\" has no other name"))?;
    let mut fields = arguments.as_object().cloned().unwrap_or_default();
    if let Some(created) = created_file(&fields) {
        return outward("write_file", created, workspace);
    }
    if fields.contains_key("paths") || fields.contains_key("files") {
        return Err("takes one file at a time; call the tool once for each file".to_owned());
    }
    if names_a_file(tool)
        && let Some(Value::String(path)) = fields.remove("path")
    {
        fields.insert("file_path".to_owned(), json!(workspace.join(path).to_string_lossy()));
    }
    let edits = (tool == "edit_file").then(|| fields.remove("edits")).flatten();
    let name = match edits {
        Some(Value::Array(edits)) if edits.len() == 1 => {
            fields.extend(edits.into_iter().flat_map(|edit| edit_outward(&edit)));
            name
        }
        Some(Value::Array(edits)) => {
            let edits = edits.iter().map(|edit| Value::Object(edit_outward(edit))).collect();
            fields.insert("edits".to_owned(), edits);
            SEVERAL_EDITS
        }
        _ => name,
    };
    if tool == "bash" {
        convert(&mut fields, "timeout", |seconds| seconds * 1000.0);
    }
    Ok((name, Value::Object(fields)))
}

/// Returns the one new file that a call of `edit_file` creates, where it does nothing else.
fn created_file(fields: &Map<String, Value>) -> Option<&Value> {
    let [file] = fields.get("files")?.as_array()?.as_slice() else { return None };
    let is_new = file.get("content").is_some() && file.as_object().is_some_and(|entry| entry.len() == 2);
    is_new.then_some(file)
}

/// Turns arguments in common names back into the tool's own.
pub fn inward(tool: &str, arguments: Value, workspace: &Path) -> Value {
    let Value::Object(mut fields) = arguments else { return arguments };
    if names_a_file(tool)
        && let Some(path) = fields.remove("file_path")
    {
        let inside = path.as_str().and_then(|path| Path::new(path).strip_prefix(workspace).ok());
        let inside = inside.map(|inside| json!(inside.to_string_lossy()));
        fields.insert("path".to_owned(), inside.unwrap_or(path));
    }
    if tool == "edit_file" && fields.contains_key("content") {
        return json!({ "files": [fields] });
    }
    if tool == "edit_file" {
        let edits = match fields.remove("edits") {
            Some(Value::Array(edits)) => edits.into_iter().map(edit_inward).collect(),
            _ => {
                let keys = ["old_string", "new_string", "replace_all", "count"];
                let one = keys.iter().filter_map(|key| fields.remove(*key).map(|value| ((*key).to_owned(), value)));
                vec![edit_inward(Value::Object(one.collect()))]
            }
        };
        fields.insert("edits".to_owned(), edits.into());
    }
    if tool == "bash" {
        convert(&mut fields, "timeout", |milliseconds| milliseconds / 1000.0);
    }
    Value::Object(fields)
}

fn names_a_file(tool: &str) -> bool {
    matches!(tool, "read_file" | "write_file" | "edit_file")
}

fn edit_outward(edit: &Value) -> Map<String, Value> {
    let mut fields = edit.as_object().cloned().unwrap_or_default();
    let all = fields.get("count").is_some_and(|count| count == "all");
    for (native, common) in [("old_text", "old_string"), ("new_text", "new_string")] {
        if let Some(text) = fields.remove(native) {
            fields.insert(common.to_owned(), text);
        }
    }
    if all {
        fields.remove("count");
    }
    fields.insert("replace_all".to_owned(), json!(all));
    fields
}

fn edit_inward(edit: Value) -> Value {
    let Value::Object(mut fields) = edit else { return edit };
    for (native, common) in [("old_text", "old_string"), ("new_text", "new_string")] {
        if let Some(text) = fields.remove(common) {
            fields.insert(native.to_owned(), text);
        }
    }
    if fields.remove("replace_all") == Some(json!(true)) {
        fields.insert("count".to_owned(), json!("all"));
    }
    Value::Object(fields)
}

/// Puts a number in another unit, as a whole one where it is whole.
fn convert(fields: &mut Map<String, Value>, key: &str, by: impl Fn(f64) -> f64) {
    let Some(number) = fields.get(key).and_then(Value::as_f64).map(by) else { return };
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    let number = if is_whole { json!(number as i64) } else { json!(number) };
    fields.insert(key.to_owned(), number);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, native: Value, expected: (&str, Value)) {
        let workspace = Path::new("/w");
        let (name, common) = outward(tool, &native, workspace).expect("it can be said");
        assert_eq!((name, &common), (expected.0, &expected.1));
        assert_eq!(inward(tool, common, workspace), native);
    }

    #[test]
    fn calls_go_out_and_come_back() {
        check("bash", json!({ "command": "ls", "timeout": 2 }), ("Bash", json!({ "command": "ls", "timeout": 2000 })));
        check("read_file", json!({ "limit": 3, "path": "a" }), ("Read", json!({ "limit": 3, "file_path": "/w/a" })));
        check(
            "write_file",
            json!({ "content": "x", "path": "a" }),
            ("Write", json!({ "content": "x", "file_path": "/w/a" })),
        );
        check("grep", json!({ "pattern": "x", "path": "a" }), ("Grep", json!({ "pattern": "x", "path": "a" })));
        check(
            "edit_file",
            json!({ "path": "a", "edits": [{ "old_text": "x", "new_text": "y", "count": "all" }] }),
            ("Edit", json!({ "file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": true })),
        );
        check(
            "edit_file",
            json!({ "files": [{ "content": "x", "path": "a" }] }),
            ("Write", json!({ "content": "x", "file_path": "/w/a" })),
        );
        let two = json!([{ "old_text": "x", "new_text": "y" }, { "old_text": "p", "new_text": "q", "count": 2 }]);
        let said = json!([
            { "old_string": "x", "new_string": "y", "replace_all": false },
            { "old_string": "p", "new_string": "q", "replace_all": false, "count": 2 },
        ]);
        let said = json!({ "file_path": "/w/a", "edits": said });
        check("edit_file", json!({ "path": "a", "edits": two }), ("MultiEdit", said));
    }

    #[test]
    fn what_cannot_be_said_is_not_left_out() {
        assert!(outward("read_file", &json!({ "paths": ["a", "b"] }), Path::new("/w")).is_err());
        assert!(outward("edit_file", &json!({ "files": [] }), Path::new("/w")).is_err());
    }
}
