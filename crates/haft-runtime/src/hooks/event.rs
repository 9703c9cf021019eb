//! Writes the input for the command of a hook: one JSON object with the fields that such scripts know.

use std::path::Path;

use bytes::Bytes;
use haft_contract::outcome::output::{Content, ToolOutput};
use haft_policy::policy::Mode;
use serde_json::{Value, json};

use super::command::HookPoint;
use super::{HookContext, HookedCall};

/// Longest text of a result that a hook is told, in bytes.
const LONGEST_RESPONSE: usize = 1024 * 1024;

/// Writes the event: a call with its name and arguments as the hook knows them, and behind it the response.
pub(super) fn event(call: &HookedCall, output: Option<&ToolOutput>, cx: &HookContext<'_>, workspace: &Path) -> Bytes {
    let when = if output.is_some() { HookPoint::PostToolUse } else { HookPoint::PreToolUse };
    let mut event = json!({
        "session_id": cx.session(),
        "transcript_path": null,
        "cwd": workspace.to_string_lossy(),
        "permission_mode": permission_mode(cx.mode()),
        "hook_event_name": when.name(),
        "tool_name": call.tool,
        "tool_input": call.arguments,
        "tool_use_id": call.call.to_string(),
    });
    if let Some(output) = output {
        event["tool_response"] = response(output, cx);
    }
    // A script may read it by lines.
    Bytes::from(format!("{event}\n"))
}

fn permission_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Normal | Mode::Try => "default",
    }
}

/// The result as a hook is told it: without secrets, and bounded.
fn response(output: &ToolOutput, cx: &HookContext<'_>) -> Value {
    let texts: Vec<&str> = output.for_model.iter().filter_map(Content::text).collect();
    let text = texts.join("\n");
    let text = cx.hide(&text);
    let end = text.floor_char_boundary(LONGEST_RESPONSE);
    let mut response = json!({ "content": &text[..end] });
    if end < text.len() {
        response["truncated"] = json!(true);
    }
    response
}
