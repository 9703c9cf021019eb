//! Every step of every call as a line of JSON, for logs and dashboards.
//!
//! `cargo run -p haft --example event_log -- FOLDER`

use haft::{ToolCall, Toolbox, record};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let toolbox = Toolbox::open(folder)?;
    let mut events = toolbox.events();
    let calls = ["list_dir", "no_such_tool"].map(|tool| ToolCall::new(tool, json!({}).into()));
    toolbox.call_all(calls.into()).await;
    while let Some(event) = events.try_next() {
        println!("{}", record::of_event(&event));
    }
    Ok(())
}
