//! What the receipt says was lost.

use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use serde_json::{Value, json};

use crate::table::shapes;

/// Returns the losses of a schema, one line each.
fn losses(schema: &Value, provider: ProviderDialect) -> String {
    let tool = ToolOffer { name: "t", title: None, description: "", input_schema: schema, read_only: None };
    let lowered = lower(&tool, provider).expect("the schema is offered");
    let lines: Vec<String> = lowered.losses.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn shape(name: &str) -> Value {
    let shape = shapes().into_iter().find(|shape| shape.name == name);
    shape.expect("the table has it").schema
}

#[test]
fn strict_mode_loses_what_its_grammar_cannot_say() {
    insta::assert_snapshot!(losses(&shape("formats"), ProviderDialect::OpenAiStrict), @r"
    /properties/site: minLength is not accepted here; the description says it
    /properties/site: maxLength is not accepted here; the description says it
    /properties/site: format is not accepted here; the description says it
    /properties/word: pattern is not accepted here; the description says it
    /properties/count: format is not accepted here
    /properties/tags: uniqueItems is not accepted here; the description says it
    ");
}

#[test]
fn gemini_loses_what_is_not_on_its_list() {
    insta::assert_snapshot!(losses(&shape("numbers"), ProviderDialect::Gemini), @r"
    /properties/b: exclusiveMaximum is not accepted here; the description says it
    /properties/b: multipleOf is not accepted here; the description says it
    /properties/c: exclusiveMinimum is not accepted here; the description says it
    ");
}

#[test]
fn gemini_does_not_require_a_recursive_property() {
    insta::assert_snapshot!(losses(&shape("tree"), ProviderDialect::Gemini), @"/$defs/Node/properties/children: required is not said of this property, because it is recursive; the description says it");
}

#[test]
fn a_union_at_the_root_is_merged_and_said() {
    insta::assert_snapshot!(losses(&shape("root_union"), ProviderDialect::Anthropic), @"/: oneOf was merged into one object; the description says which properties belong together");
    assert_eq!(losses(&shape("root_union"), ProviderDialect::Mcp), "");
}

#[test]
fn conditions_are_lost_where_they_are_not_known() {
    insta::assert_snapshot!(losses(&shape("conditions"), ProviderDialect::OpenAiStrict), @r"
    /: if is not accepted here
    /: then is not accepted here
    /: dependentRequired is not accepted here
    /properties/a: not is not accepted here
    ");
    assert_eq!(losses(&shape("conditions"), ProviderDialect::Mcp), "");
}

#[test]
fn losses_name_the_place_in_the_schema_of_the_tool() {
    let schema = json!({
        "definitions": { "Name": { "type": "string", "maxLength": 9 } },
        "properties": { "a/b": { "$ref": "#/definitions/Name", "default": "x" } },
    });
    insta::assert_snapshot!(losses(&schema, ProviderDialect::OpenAiStrict), @r"
    /properties/a~1b: default is not accepted here; the description says it
    /definitions/Name: maxLength is not accepted here; the description says it
    ");
}

#[test]
fn left_out_and_null_look_the_same_where_the_tool_admits_both() {
    insta::assert_snapshot!(losses(&shape("optional_nullable"), ProviderDialect::OpenAiStrict), @r"
    /properties/a: default is not accepted here
    /properties/a: required cannot say that this may be left out; null stands for both
    ");
}

#[test]
fn titles_and_drafts_are_no_loss() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Args",
        "type": "object",
        "properties": { "a": { "type": "string", "title": "A" } },
        "required": ["a"],
    });
    for provider in ProviderDialect::ALL {
        assert_eq!(losses(&schema, provider), "", "{provider}");
    }
}

#[test]
fn forms_that_can_be_undone_are_no_loss() {
    for name in ["map", "map_of_maps", "open_object", "properties_and_more", "root_map"] {
        assert_eq!(losses(&shape(name), ProviderDialect::OpenAiStrict), "", "{name}");
    }
}

#[test]
fn values_that_contradict_their_type_are_said_in_the_description_to_every_provider() {
    let cases = [
        (
            json!({ "type": "boolean", "enum": ["True", "False", "dontcare"] }),
            r#"(one of "True", "False", "dontcare")"#,
        ),
        (
            json!({ "type": "integer", "enum": ["1", "2"], "description": "How many." }),
            r#"How many. (one of "1", "2")"#,
        ),
        (json!({ "type": "string", "enum": [1, 2] }), "(one of 1, 2)"),
        (json!({ "type": "array", "items": { "type": "string" }, "enum": ["a", "b"] }), r#"(one of "a", "b")"#),
        (json!({ "type": ["integer", "null"], "enum": ["1", null] }), r#"(one of "1", null)"#),
        (json!({ "type": "number", "const": "x" }), r#"(one of "x")"#),
    ];
    for (property, words) in cases {
        let keyword = if property.get("const").is_some() { "const" } else { "enum" };
        for at in ["properties", "$defs"] {
            let schema = match at {
                "$defs" => {
                    json!({ "type": "object", "properties": { "p": { "$ref": "#/$defs/p" } }, "$defs": { "p": property } })
                }
                _ => json!({ "type": "object", "properties": { "p": property } }),
            };
            for provider in ProviderDialect::ALL {
                let tool =
                    ToolOffer { name: "t", title: None, description: "", input_schema: &schema, read_only: None };
                let lowered = lower(&tool, provider).unwrap_or_else(|error| panic!("{provider}: {error}"));
                let shown = lowered.value.to_string();
                let expected = serde_json::to_string(words).expect("a text can be written");
                assert!(shown.contains(expected.trim_matches('"')), "{provider}: {shown}");
                assert!(!shown.contains(&format!("\"{keyword}\":")), "{provider}: {shown}");
                let said = format!("/{at}/p: {keyword} contradicts the type; the description says it");
                assert!(lowered.losses.iter().any(|loss| loss.to_string() == said), "{provider}: {:?}", lowered.losses);
            }
        }
    }
    let fits = json!({ "type": "object", "properties": { "p": { "type": "integer", "enum": [1, "x"] } } });
    assert!(!losses(&fits, ProviderDialect::Mcp).contains("contradicts"));
}
