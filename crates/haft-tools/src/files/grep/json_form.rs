//! Writes matches as one JSON object, a line for each, for programs that read results.
//!
//! Not here: the form for models (`grep`).

use haft_contract::files::search::FoundLine;
use haft_contract::prelude::*;
use serde_json::{Value, json};

/// Writes what was found; `summary` is the last line of the form for models.
pub(super) fn written(searched: &SearchResult, summary: &str) -> String {
    let lines = searched.files.iter().flat_map(|file| file.lines.iter().map(|line| found(&file.path, line)));
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    let list = if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join(",\n")) };
    let summary = Value::from(summary.trim().trim_start_matches('[').trim_end_matches(']'));
    format!("{{\"matches\": [{list}], \"summary\": {summary}}}\n")
}

fn found(path: &str, line: &FoundLine) -> Value {
    let mut found = json!({ "file": path, "line": line.number, "text": line.text });
    if line.kind == LineKind::Context {
        found["context"] = true.into();
    }
    if line.cut_before + line.cut_after + line.cut_below > 0 {
        found["cut"] = true.into();
    }
    found
}
