//! The tools, resources and prompts that the official conformance suite calls: `haft mcp serve --fixture conformance`.
//!
//! The suite tests a server through things with fixed names. They are served beside the tools of the workspace, by the same
//! server, so what the suite finds is what users get. Nothing here touches files or runs anything.

mod asked;
mod conversation;
mod items;

use haft_contract::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, Prompt, PromptsCapability, ReadResourceResult, Resource,
    ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::asking::StateSeal;
use super::listeners::{Listeners, ServerChange};

/// A red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// Silence: a head and no samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// What the suite calls.
#[derive(Default)]
pub(crate) struct Fixture {
    seal: StateSeal,
}

/// A call of one of the suite's tools.
struct FixtureCall<'a> {
    request: &'a CallToolRequestParams,
    context: &'a RequestContext<RoleServer>,
}

impl FixtureCall<'_> {
    /// Returns an argument that is a text.
    fn text(&self, name: &str) -> Result<&str, ErrorData> {
        let given = self.request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        given.ok_or_else(|| ErrorData::invalid_params(format!("the argument \"{name}\" is missing"), None))
    }
}

type FixtureResult = Result<CallToolResponse, ErrorData>;

impl Fixture {
    /// Declares what only the suite uses.
    pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        capabilities.prompts = Some(prompts);
        capabilities.completions = Some(rmcp::model::JsonObject::default());
    }

    /// Lists the tools.
    pub(crate) fn tools(&self) -> impl Iterator<Item = Tool> {
        items::tools()
    }

    /// Says whether the suite has such a tool.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools().any(|tool| tool.name == name)
    }

    /// Lists the resources.
    pub(crate) fn resources(&self) -> Vec<Resource> {
        items::resources()
    }

    /// Lists the forms of addresses.
    pub(crate) fn templates(&self) -> Vec<ResourceTemplate> {
        items::templates()
    }

    /// Reads a resource; nothing where it is none of the suite's.
    pub(crate) fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        items::read(uri)
    }

    /// Lists the prompts.
    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        items::prompts()
    }

    /// Returns a prompt.
    pub(crate) fn prompt(&self, request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
        items::prompt(request)
    }

    /// Completes an argument.
    pub(crate) fn complete(&self, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
        let known = ["paris", "park", "party"].into_iter().filter(|word| word.starts_with(&request.argument.value));
        let values = known.map(str::to_owned).collect();
        let completion = CompletionInfo::new(values).map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(completion))
    }

    /// Calls a tool of the suite.
    pub(crate) fn call<'a>(
        &'a self,
        request: CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
        listeners: &'a Listeners,
    ) -> BoxFuture<'a, FixtureResult> {
        Box::pin(async move {
            let call = FixtureCall { request: &request, context };
            let name = &*request.name;
            if let Some(question) = name.strip_prefix("test_input_required_result_") {
                return asked::answer(&self.seal, question, &call);
            }
            if let Some(content) = content(name) {
                return completed(content);
            }
            match name {
                "test_error_handling" => {
                    let why = "This tool intentionally returns an error for testing";
                    Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into())
                }
                "test_trigger_tool_change" => {
                    listeners.tell(&ServerChange::Tools);
                    said("The list of tools has changed.")
                }
                "test_trigger_prompt_change" => {
                    listeners.tell(&ServerChange::Prompts);
                    said("The list of prompts has changed.")
                }
                name => conversation::call(name, &call).await,
            }
        })
    }
}

/// The results that are always the same.
fn content(name: &str) -> Option<Value> {
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let embedded = |uri: &str, media_type: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": media_type, "text": text } });
    let found = match name {
        "test_simple_text" => json!([{ "type": "text", "text": "This is a simple text response for testing." }]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]),
        "test_embedded_resource" => {
            json!([embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => json!([
            { "type": "text", "text": "Multiple content types test:" },
            image,
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "json_schema_2020_12_tool" | "test_header_parameters" => {
            json!([{ "type": "text", "text": "The arguments fit." }])
        }
        _ => return None,
    };
    Some(found)
}

fn completed(content: Value) -> FixtureResult {
    let content: Vec<ContentBlock> = read_as(content)?;
    Ok(CallToolResult::success(content).into())
}

fn said(text: impl Into<String>) -> FixtureResult {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// Reads what is written here as a type of the protocol.
fn read_as<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
