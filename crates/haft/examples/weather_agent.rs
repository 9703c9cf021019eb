//! An agent with one tool and its own instructions, and a test of it with a mock model. The model gets none of haft's coding
//! prompt and none of its tools.
//!
//! `ANTHROPIC_API_KEY=… HAFT_MODEL=… cargo run -p haft --example weather_agent -- "Do I need a coat in Oslo?"`; `HAFT_MODEL` is a
//! model of the provider whose key is set. The test: `cargo test -p haft weather_first`

use haft::prelude::*;
use haft::{Agent, Model};

/// Tells the weather of a city today.
#[haft::tool]
async fn weather(
    /// The city.
    city: String,
) -> Result<String, ToolError> {
    // A real tool would ask a service here. It would have a parameter `host`, and declare it: `#[haft::tool(connects = host)]`.
    Ok(format!("{city}: 4 °C, rain"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    haft::sandbox_launcher();
    run()
}

#[tokio::main]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Do I need a coat in Oslo?".to_owned());
    let agent = Agent::builder()
        .model(Model::from_env()?)
        .tool(Weather)
        .instructions("You tell people what to wear. Ask for the weather first, then answer in one sentence.")
        .build()?;
    println!("{}", agent.ask(question).await?.text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haft::agent::Message;
    use haft::{Agent, MockModel};
    use serde_json::json;

    use super::Weather;

    #[tokio::test]
    async fn the_agent_asks_for_the_weather_first() -> Result<(), Box<dyn std::error::Error>> {
        let script = MockModel::new().calls("weather", json!({ "city": "Oslo" })).says("Take a coat.");
        let model = Arc::new(script);
        let agent = Agent::builder().model(model.clone()).tool(Weather).instructions("…").build()?;

        assert_eq!(agent.ask("Do I need a coat?").await?.text, "Take a coat.");

        // The second request ends with the answer of the tool.
        let requests = model.requests();
        assert_eq!(requests.len(), 2);
        let Some(Message::Tools { answers }) = requests[1].messages.last() else { panic!("the tool was not called") };
        assert_eq!(answers[0].text, "Oslo: 4 °C, rain");
        Ok(())
    }
}
