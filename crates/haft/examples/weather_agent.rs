//! An agent with one tool and its own instructions: none of haft's coding prompt, none of its tools.
//!
//! `ANTHROPIC_API_KEY=… HAFT_MODEL=… cargo run -p haft --example weather_agent -- "Do I need a coat in Oslo?"`

use haft::prelude::*;
use haft::{Agent, Model};

/// Tells the weather of a city today.
#[haft::tool]
async fn weather(
    /// The city.
    city: String,
) -> Result<String, ToolError> {
    // A real tool would ask a service here, and declare that: `#[haft::tool(connects = host)]`.
    Ok(format!("{city}: 4 °C, rain"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Do I need a coat in Oslo?".to_owned());
    let agent = Agent::builder()
        .model(Model::from_env()?)
        .tool(Weather)
        .instructions("You tell people what to wear. Ask for the weather first, then answer in one sentence.")
        .build()?;
    println!("{}", agent.ask(question).await?.text);
    Ok(())
}
