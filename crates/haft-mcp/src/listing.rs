//! The tools as the protocol lists them, in the order of the catalogue.

use std::sync::Arc;

use haft_contract::spec::{AtMost, Spec};
use haft_runtime::entry::Entry;
use haft_runtime::runtime::Runtime;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

/// Lists the tools.
pub(crate) fn tools(runtime: &Runtime) -> Vec<Tool> {
    runtime.catalog().list().iter().map(|entry| tool(entry, runtime)).collect()
}

/// Describes one tool.
pub(crate) fn tool(entry: &Entry, runtime: &Runtime) -> Tool {
    let spec = entry.shown();
    let words = spec.manual.words.clone();
    let tool = Tool::new(spec.name.clone(), words, object(&spec.input_schema));
    let tool = match promised(spec, runtime) {
        Some(schema) => tool.with_raw_output_schema(object(schema)),
        None => tool,
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

/// Says what a tool can do, as hints. What is not known is said as the worst.
fn annotations(does: AtMost) -> ToolAnnotations {
    let looks = does == AtMost::Looks;
    ToolAnnotations::new()
        .read_only(looks)
        // Taking a change back is possible, but whoever reads this wants to know whether something is overwritten.
        .destructive(!looks)
        .idempotent(matches!(does, AtMost::Looks | AtMost::Puts))
        .open_world(does == AtMost::Anything)
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
