//! Rewords the result of a call for the person or the script that made it.
//!
//! haft writes errors and notes for models. Only haft's own words change; the output of a tool or a command stays the same.

use haft_contract::doors::reader::Audience;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::Content;
use haft_contract::outcome::result::ToolResult;
use serde_json::Value;

/// Returns the result as its reader needs it.
pub fn for_reader(mut result: ToolResult, reader: Audience) -> ToolResult {
    let mut said: Vec<(String, String)> = Vec::new();
    let mut note = |words: &str, (before, behind): (&str, &str)| {
        let read = reader.reads(words);
        if read != words {
            said.push((format!("{before}{words}{behind}"), format!("{before}{read}{behind}")));
        }
    };
    if let Some(error) = &result.error {
        note(&error.what, ("", ""));
        note(&error.next.to_string(), ("Next: ", ""));
    }
    for words in notes_of(result.data.as_ref()) {
        note(words, ("[", "]"));
    }
    if said.is_empty() {
        return result;
    }
    for piece in &mut result.content {
        if let Content::Text(text) = piece {
            for (model, person) in &said {
                *text = text.replace(model, person);
            }
        }
    }
    if let Some(Value::Array(notes)) = result.data.as_mut().and_then(|data| data.get_mut("notes")) {
        for words in notes {
            *words = words.as_str().map(|words| reader.reads(words).into_owned()).into();
        }
    }
    result.error = result.error.map(|error| error_for(error, reader));
    result
}

fn error_for(mut error: ToolError, reader: Audience) -> ToolError {
    error.what = reader.reads(&error.what).into_owned();
    error.next.reword(|words| reader.reads(words).into_owned());
    error
}

/// Returns what haft says of a command beside what it printed.
fn notes_of(data: Option<&Value>) -> Vec<&str> {
    let notes = data.and_then(|data| data.get("notes")).and_then(Value::as_array);
    notes.into_iter().flatten().filter_map(Value::as_str).collect()
}
