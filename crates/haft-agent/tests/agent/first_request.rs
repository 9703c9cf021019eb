//! The first request, as far as it does not depend on the wire: what a model is told and offered, and how long that is.

use haft_agent::instructions::Instructions;
use haft_agent::settings::AgentSettings;
use haft_model::lower::{ProviderDialect, ToolOffer, lower_all};
use haft_testkit::scene::Scene;

use crate::puppet::Puppet;
use crate::work::work;

/// Most bytes of the first request, with every built-in tool.
const MOST: usize = 10_000;
/// What a provider's form has around words and tools, at most.
const AROUND: usize = 300;

#[tokio::test]
async fn the_first_request_has_at_most_10_kb_with_every_built_in_tool() {
    let scene = Scene::new();
    let instructions = Instructions { workspace: Some("/home/user/project".into()), ..Instructions::default() };
    let entries = scene.runtime().catalog().list();
    let offered: Vec<ToolOffer<'_>> = entries.iter().map(|entry| ToolOffer::of(entry.shown())).collect();
    for provider in [ProviderDialect::Anthropic, ProviderDialect::OpenAi, ProviderDialect::Gemini] {
        let tools = lower_all(&offered, provider).request_value().to_string().len();
        let words = serde_json::Value::from(instructions.text()).to_string().len();
        assert!(tools + words + AROUND <= MOST, "{provider}: {tools} of tools and {words} of words");
    }
    let worked = work(&scene, &Puppet::of([]), AgentSettings { instructions, ..AgentSettings::default() }).await;
    assert_eq!(worked.messages.len(), 2);
}
