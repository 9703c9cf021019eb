//! A review that runs in CI without anyone at a terminal: it reads, changes nothing, and its answer follows
//! a JSON schema.
//!
//! `ANTHROPIC_API_KEY=… HAFT_MODEL=… cargo run -p haft --example review_in_ci -- FOLDER`; the exit code is 1 when the review objects.

use std::process::ExitCode;

use haft::agent::OutputSchema;
use haft::prelude::*;
use haft::{Agent, AgentEvent, Mode, Model, Toolbox};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "verdict": { "enum": ["approve", "object"] },
        "reason": { "type": "string" }
    },
    "required": ["verdict", "reason"],
    "additionalProperties": false
}"#;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // haft starts this program again as the launcher of its sandbox: this line comes first.
    haft::sandbox_launcher();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(review())
}

async fn review() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    // In plan mode no call changes anything; commands run on a copy that is discarded.
    let toolbox = Toolbox::builder().folder(folder).mode(Mode::Plan).yes_to_ordinary().build()?;
    let agent = Agent::builder()
        .model(Model::from_env()?)
        .toolbox(toolbox)
        .instructions("Review the workspace. Object to anything that would break in production.")
        .output_schema(OutputSchema::from_text(SCHEMA)?)
        .max_steps(30)
        .build()?;
    let mut events = agent.events();
    let answer = agent.ask("Review this change.").await?;
    while let Some(event) = events.try_next() {
        if let AgentEvent::CallBegan { tool, arguments, .. } = event {
            eprintln!("{tool} {arguments}");
        }
    }
    let review = answer.output.unwrap_or_default();
    println!("{}: {}", review["verdict"], review["reason"]);
    Ok(if review["verdict"] == "approve" { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
