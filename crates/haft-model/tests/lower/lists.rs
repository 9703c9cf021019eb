//! The value of a request's `tools` field.

use haft_model::lower::{ProviderDialect, ToolOffer, lower_all};
use serde_json::{Value, json};

use crate::table::shapes;

fn request(name: &str, schema: &Value, provider: ProviderDialect) -> Value {
    let tool = ToolOffer { name, title: Some("A tool"), description: "d", input_schema: schema, read_only: Some(true) };
    lower_all(&[tool], provider).request_value()
}

#[test]
fn an_empty_schema_becomes_an_object_schema_for_openai() {
    let expected = json!([{
        "type": "function",
        "function": {
            "name": "t",
            "description": "d",
            "parameters": { "type": "object", "properties": {} },
        },
    }]);
    assert_eq!(request("t", &json!({}), ProviderDialect::OpenAi), expected);
}

#[test]
fn an_empty_schema_becomes_an_object_schema_for_anthropic() {
    let expected = json!([{
        "name": "t",
        "description": "d",
        "input_schema": { "type": "object", "properties": {} },
    }]);
    assert_eq!(request("t", &json!({}), ProviderDialect::Anthropic), expected);
}

#[test]
fn strict_mode_says_so_and_closes_the_object() {
    let expected = json!([{
        "type": "function",
        "function": {
            "name": "t",
            "description": "d",
            "parameters": {
                "type": "object",
                "properties": {},
                "required": [],
                "additionalProperties": false,
            },
            "strict": true,
        },
    }]);
    assert_eq!(request("t", &json!({}), ProviderDialect::OpenAiStrict), expected);
}

#[test]
fn mcp_keeps_title_and_hints() {
    let expected = json!([{
        "name": "t",
        "title": "A tool",
        "description": "d",
        "inputSchema": { "type": "object", "properties": {} },
        "annotations": { "readOnlyHint": true },
    }]);
    assert_eq!(request("t", &json!({}), ProviderDialect::Mcp), expected);
}

#[test]
fn gemini_has_one_list_of_declarations() {
    let expected = json!([{ "functionDeclarations": [{
        "name": "t",
        "description": "d",
        "parametersJsonSchema": { "type": "object", "properties": {} },
    }] }]);
    assert_eq!(request("t", &json!({}), ProviderDialect::Gemini), expected);
    assert_eq!(lower_all(&[], ProviderDialect::Gemini).request_value(), json!([]));
}

#[test]
fn the_order_of_properties_is_kept() {
    let schema = json!({
        "type": "object",
        "properties": { "z": { "type": "string" }, "a": { "type": "string" }, "m": {} },
    });
    for provider in ProviderDialect::ALL {
        let text = request("t", &schema, provider).to_string();
        let position = |name: &str| text.find(&format!("\"{name}\":{{")).expect("it is there");
        assert!(position("z") < position("a"), "{provider}: {text}");
        assert!(position("a") < position("m"), "{provider}: {text}");
    }
}

#[test]
fn a_provider_is_named_as_on_the_command_line() {
    for provider in ProviderDialect::ALL {
        assert_eq!(provider.to_string().parse(), Ok(provider));
    }
    let error = "grok".parse::<ProviderDialect>().expect_err("it is not known");
    insta::assert_snapshot!(error, @r#"there is no provider "grok". Next: use openai, openai-strict, anthropic, mcp or gemini"#);
}

/// A few shapes as every provider sees them; the rest is held by rules, not by pictures.
#[test]
fn lowered_lists_of_some_shapes() {
    let shown = [
        "optional",
        "documented_enum",
        "map",
        "open_object",
        "references",
        "tree",
        "root_union",
        "tuple",
        "formats",
        "ambiguous_union",
        "odd_names",
    ];
    let shapes = shapes();
    let tools: Vec<ToolOffer<'_>> = shapes
        .iter()
        .filter(|shape| shown.contains(&shape.name.as_str()))
        .map(|shape| ToolOffer {
            name: &shape.name,
            title: None,
            description: &shape.about,
            input_schema: &shape.schema,
            read_only: None,
        })
        .collect();
    assert_eq!(tools.len(), shown.len());
    for provider in ProviderDialect::ALL {
        let list = lower_all(&tools, provider);
        insta::assert_snapshot!(format!("lowered_for_{provider}"), format!("{:#}", list.request_value()));
    }
}
