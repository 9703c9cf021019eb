//! The tools as the protocol lists them, in the order of the catalogue.

use std::sync::Arc;

use haft_contract::description::spec::{AtMost, Spec};
use haft_host::host::BUILT_IN_TOOLS;
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::runtime::Runtime;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Lists the tools.
pub(crate) fn tools(runtime: &Runtime) -> Vec<Tool> {
    runtime.catalog().list().iter().map(|entry| tool(entry, runtime)).collect()
}

/// Describes one tool.
pub(crate) fn tool(entry: &CatalogEntry, runtime: &Runtime) -> Tool {
    let spec = entry.shown();
    let words = spec.manual.words.clone();
    let tool = Tool::new(spec.name.clone(), words, object(&spec.input_schema));
    let tool = match (promised(spec, runtime), is_reported(entry, runtime)) {
        (Some(schema), _) => tool.with_raw_output_schema(object(schema)),
        (None, true) => tool.with_raw_output_schema(object(&report_schema())),
        (None, false) => tool,
    };
    let title = Some(spec.manual.title.clone()).filter(|title| !title.is_empty());
    let tool = tool.with_annotations(annotations(spec.does));
    match title {
        Some(title) => tool.with_title(title),
        None => tool,
    }
}

/// Returns the schema of structured results: one of objects, because older clients take no other, and none where results
/// are told as objects of another system.
pub(crate) fn promised<'s>(spec: &'s Spec, runtime: &Runtime) -> Option<&'s Value> {
    if runtime.dialect().is_some() {
        return None;
    }
    spec.output_schema.as_deref().filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"))
}

/// Says whether the results of a tool are also told as a report: those of haft's own tools are, under their own names.
pub(crate) fn is_reported(entry: &CatalogEntry, runtime: &Runtime) -> bool {
    runtime.dialect().is_none() && entry.toolset() == BUILT_IN_TOOLS && entry.shown().output_schema.is_none()
}

/// Describes the report of a call. It holds for every result, also for one that failed.
fn report_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "the result, as in the content" },
            "status": { "enum": ["ok", "failed", "refused", "timed_out", "cancelled"] },
            "did": { "enum": ["nothing", "changed", "unknown"], "description": "whether anything was changed" },
            "change_set": { "type": "integer", "description": "the number for \"haft undo\"" },
            "files": { "type": "array", "items": { "type": "string" }, "description": "files that were changed" },
            "exit_code": { "type": "integer" },
            "spill": { "type": "string", "description": "the resource with the whole output" },
            "error": { "type": "object", "properties": { "kind": { "type": "string" } } },
            "data": { "type": "object", "description": "more facts, left out where they are long" },
        },
        "required": ["text", "status", "did"],
    })
}

/// Says what a tool can do, as hints. What is not known is said as the worst.
fn annotations(does: AtMost) -> ToolAnnotations {
    let looks = does == AtMost::Looks;
    ToolAnnotations::new()
        .read_only(looks)
        // haft can undo a change, but this hint tells its reader whether a call overwrites something.
        .destructive(!looks)
        .idempotent(matches!(does, AtMost::Looks | AtMost::Puts))
        .open_world(does == AtMost::Anything)
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
