//! Writes one element of each provider's tools list, and the list around it.
//!
//! Not here: the content of the schema, which is complete before.

use serde_json::{Map, Value, json};

use super::{Parameters, ProviderDialect, ToolOffer};

/// Returns the tool in the provider's form.
pub(super) fn tool(provider: ProviderDialect, tool: &ToolOffer<'_>, name: &str, parameters: &Parameters) -> Value {
    let description = match &parameters.words {
        Some(words) if tool.description.is_empty() => words.clone(),
        Some(words) => format!("{}\n\n{words}", tool.description),
        None => tool.description.to_owned(),
    };
    let schema = parameters.schema.clone();
    match provider {
        ProviderDialect::OpenAi => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }),
        ProviderDialect::OpenAiStrict => json!({
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": schema,
                "strict": true,
            },
        }),
        ProviderDialect::Anthropic => json!({
            "name": name,
            "description": description,
            "input_schema": schema,
        }),
        // `parametersJsonSchema` and not `parameters`: the latter is a subset of OpenAPI 3.0 that
        // answers 400 to maps, references and unions.
        ProviderDialect::Gemini => json!({
            "name": name,
            "description": description,
            "parametersJsonSchema": schema,
        }),
        ProviderDialect::Mcp => mcp_tool(tool, name, description, schema),
    }
}

/// Returns the value of the request's `tools` field.
pub(super) fn request(provider: ProviderDialect, tools: Vec<Value>) -> Value {
    match provider {
        ProviderDialect::OpenAi | ProviderDialect::OpenAiStrict | ProviderDialect::Anthropic | ProviderDialect::Mcp => {
            Value::Array(tools)
        }
        // A declaration list without declarations is refused; no tools is an empty list.
        ProviderDialect::Gemini if tools.is_empty() => json!([]),
        ProviderDialect::Gemini => json!([{ "functionDeclarations": tools }]),
    }
}

fn mcp_tool(tool: &ToolOffer<'_>, name: &str, description: String, schema: Value) -> Value {
    let mut value = Map::new();
    value.insert("name".to_owned(), json!(name));
    if let Some(title) = tool.title {
        value.insert("title".to_owned(), json!(title));
    }
    value.insert("description".to_owned(), json!(description));
    value.insert("inputSchema".to_owned(), schema);
    if let Some(read_only) = tool.read_only {
        value.insert("annotations".to_owned(), json!({ "readOnlyHint": read_only }));
    }
    Value::Object(value)
}
