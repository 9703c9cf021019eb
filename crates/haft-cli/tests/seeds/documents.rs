//! The runnable examples of the five documents, each with one of our own in its place: the same parts in the same form.
//!
//! TunaCode's "Agent Flows" has no example that runs.

#[path = "documents/code_ally_tool_system_architecture.rs"]
mod code_ally_tool_system_architecture;
#[path = "documents/nexau_tool_system_implementation_guide.rs"]
mod nexau_tool_system_implementation_guide;
#[path = "documents/tunacode_tools_architecture.rs"]
mod tunacode_tools_architecture;
#[path = "documents/wyrmspire_tools.rs"]
mod wyrmspire_tools;

use serde_json::Value;

fn text<'r>(record: &'r Value, name: &str) -> &'r str {
    record[name].as_str().unwrap_or_default()
}
