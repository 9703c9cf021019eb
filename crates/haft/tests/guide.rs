//! The Rust programs that the guides show are examples, which the tests build and run. Shorter pieces are compiled here.

use haft::agent::AgentEndReason;
use haft::prelude::*;
use haft::{Agent, AgentEvent, CancellationToken, Model, Toolbox};

type Done = Result<(), Box<dyn std::error::Error>>;

/// Tells the weather of a city today.
#[haft::tool]
async fn weather(
    /// The city.
    city: String,
) -> Result<String, ToolError> {
    Ok(format!("{city}: 4 °C, rain"))
}

#[expect(dead_code, reason = "it is compiled, not run")]
async fn an_agent_with_a_toolbox(model: Model) -> Done {
    let toolbox = Toolbox::builder().folder("project").tool(Weather).yes_to_undoable().build()?;
    let agent = Agent::builder().model(model).toolbox(toolbox).coding_prompt().build()?;
    println!("{}", agent.ask("Write the weather of Oslo to oslo.txt.").await?.text);
    agent.toolbox().undo()?;
    Ok(())
}

#[expect(dead_code, reason = "it is compiled, not run")]
async fn events_of_a_run(agent: Agent) -> Done {
    let mut events = agent.events();
    let answer = agent.ask("Do I need a coat in Oslo?").await?;
    while let Some(event) = events.try_next() {
        if let AgentEvent::CallBegan { tool, arguments, .. } = event {
            eprintln!("{tool} {arguments}");
        }
    }
    println!("{}", answer.text);
    Ok(())
}

#[expect(dead_code, reason = "it is compiled, not run")]
async fn a_run_that_can_be_cancelled(agent: Agent, token: CancellationToken) -> Done {
    match agent.ask_until("Do I need a coat in Oslo?", &token).await {
        Ok(answer) => println!("{}", answer.text),
        Err(unfinished) if unfinished.ended == AgentEndReason::Stopped => {
            println!("cancelled after: {}", unfinished.text)
        }
        Err(unfinished) => return Err(unfinished.into()),
    }
    Ok(())
}

const FIRST_TOOL: &str = include_str!("../../../docs/guide/first-tool.md");
const OWN_AGENT: &str = include_str!("../../../docs/guide/build-your-own-agent.md");

/// Returns the Rust program that a guide shows at this place.
fn shown(guide: &str, nth: usize) -> &str {
    guide.split("```rust\n").nth(nth + 1).and_then(|rest| rest.split("```").next()).expect("it shows a program")
}

/// Returns an example without its head, which says what it is and how to run it.
fn program(example: &str) -> &str {
    example.split_once("\n\n").expect("it has a head").1
}

#[test]
fn the_program_of_the_guide_is_the_example_word_for_word() {
    assert_eq!(shown(FIRST_TOOL, 0), program(include_str!("../examples/custom_tool.rs")));
}

#[test]
fn the_agent_of_the_guide_and_its_test_are_the_example_word_for_word() {
    let shown = format!("{}\n{}", shown(OWN_AGENT, 0), shown(OWN_AGENT, 1));
    assert_eq!(shown, program(include_str!("../examples/weather_agent.rs")));
}

#[test]
fn the_toolbox_of_the_guide_is_the_example_word_for_word() {
    assert_eq!(shown(OWN_AGENT, 2), program(include_str!("../examples/toolbox_with_approval.rs")));
}

#[test]
fn the_shorter_pieces_of_the_guide_are_compiled_here() {
    let own = include_str!("guide.rs");
    for nth in 3..OWN_AGENT.matches("```rust\n").count() {
        let indented: String = shown(OWN_AGENT, nth).lines().map(|line| format!("    {line}\n")).collect();
        assert!(own.contains(&indented), "{indented}");
    }
}
