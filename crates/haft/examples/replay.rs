//! Replays recorded replies with the current tools: a conversation is recorded, then replayed without a model.
//!
//! `cargo run -p haft --example replay -- FOLDER`; the folder needs a file `notes.txt`.

use haft::agent::{Message, RecordedModel};
use haft::{Agent, AgentEvent, MockModel, Model, Toolbox};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    // Here a script stands for the model, so that the example needs no key.
    let script = MockModel::new().calls("read_file", json!({ "path": "notes.txt" })).says("Three lines about fish.");
    let first = Agent::builder().model(script).toolbox(Toolbox::open(&folder)?).coding_prompt().build()?;
    println!("recorded: {}", first.ask("What is in notes.txt?").await?.text);

    let recorded = first.messages().await;
    let replies = recorded.into_iter().filter_map(|message| match message {
        Message::Model(reply) => Some(reply),
        Message::User { .. } | Message::Tools { .. } => None,
    });
    let replies: Vec<_> = replies.collect();
    let wire = replies[0].native.wire;
    let again = Model::custom(RecordedModel::new("recorded", wire, replies));
    let second = Agent::builder().model(again).toolbox(Toolbox::open(&folder)?).coding_prompt().build()?;
    let mut events = second.events();
    println!("replayed: {}", second.ask("What is in notes.txt?").await?.text);
    while let Some(event) = events.try_next() {
        if let AgentEvent::CallEnded { result, .. } = event {
            println!("{} {:?}: {}", result.tool, result.status, result.text().lines().next().unwrap_or_default());
        }
    }
    Ok(())
}
