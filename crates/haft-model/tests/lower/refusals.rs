//! Schemas that are kept back, quickly and with a way out.

use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use serde_json::{Map, Value, json};

fn reason(schema: &Value, provider: ProviderDialect) -> String {
    let tool = ToolOffer { name: "t", title: None, description: "", input_schema: schema, read_only: None };
    match lower(&tool, provider) {
        Ok(lowered) => panic!("{provider} is offered {:#}", lowered.value),
        Err(quarantined) => quarantined.reason,
    }
}

fn every_reason(schema: &Value) -> String {
    let first = reason(schema, ProviderDialect::OpenAi);
    for provider in ProviderDialect::ALL {
        assert_eq!(reason(schema, provider), first);
    }
    first
}

#[test]
fn a_very_deep_schema_is_refused() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..40 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    insta::assert_snapshot!(every_reason(&schema), @"the schema is nested deeper than 64 levels. Next: move inner parts into $defs and refer to them");
}

#[test]
fn a_schema_of_many_values_is_refused() {
    let properties: Map<String, Value> = (0..20_000).map(|i| (format!("p{i}"), json!(true))).collect();
    insta::assert_snapshot!(every_reason(&json!({ "properties": properties })), @"the schema has more than 20000 values or more than 1 MiB of text. Next: offer a smaller schema, or take this part as text");
}

#[test]
fn a_schema_of_much_text_is_refused() {
    let schema = json!({ "description": "x".repeat(2 << 20) });
    assert!(every_reason(&schema).starts_with("the schema has more than 20000 values"));
}

#[test]
fn a_loop_through_a_union_is_refused() {
    let schema = json!({
        "properties": { "a": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "anyOf": [{ "type": "string" }, { "allOf": [{ "$ref": "#/$defs/a" }] }] } },
    });
    insta::assert_snapshot!(every_reason(&schema), @"the reference at /$defs/a leads back to itself without reaching a type. Next: give that definition a type");
}

#[test]
fn a_root_that_refers_to_itself_is_refused() {
    let schema = json!({ "$ref": "#" });
    assert!(every_reason(&schema).contains("without reaching a type"));
}

#[test]
fn a_long_chain_of_references_is_refused() {
    let mut defs = Map::new();
    for i in 0..500 {
        defs.insert(format!("d{i}"), json!({ "$ref": format!("#/$defs/d{}", i + 1) }));
    }
    defs.insert("d500".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    assert!(every_reason(&schema).contains("follow each other more than 64 times"));
}

#[test]
fn merging_that_doubles_with_every_step_is_refused() {
    let mut defs = Map::new();
    for i in 0..30 {
        let next = format!("#/$defs/d{}", i + 1);
        let part = json!({ "allOf": [{ "$ref": next }, { "minProperties": i }] });
        defs.insert(format!("d{i}"), json!({ "type": "object", "properties": { "a": part, "b": part } }));
    }
    defs.insert("d30".to_owned(), json!({ "type": "object" }));
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    for provider in [ProviderDialect::OpenAiStrict, ProviderDialect::Gemini] {
        let reason = reason(&schema, provider);
        assert!(reason.contains("larger than 20000 values"), "{reason}");
    }
}

#[test]
fn a_large_base_of_many_alternatives_is_refused() {
    let many = |count: usize, prefix: &str| -> Map<String, Value> {
        (0..count).map(|i| (format!("{prefix}{i}"), json!({ "type": "null" }))).collect()
    };
    let branches: Vec<Value> =
        many(2_000, "b").into_iter().map(|(name, schema)| json!({ "properties": { name: schema } })).collect();
    let part = json!({ "type": "object", "properties": many(3_000, "p"), "anyOf": branches });
    let schema = json!({ "properties": { "a": part } });
    for provider in [ProviderDialect::OpenAiStrict, ProviderDialect::Gemini] {
        let reason = reason(&schema, provider);
        assert!(reason.contains("larger than 20000 values"), "{reason}");
    }
}

#[test]
fn a_recursive_definition_merged_with_another_form_of_itself_is_refused() {
    let schema = json!({
        "properties": { "a": { "allOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }] } },
        "$defs": {
            "A": { "type": "object", "properties": { "n": { "$ref": "#/$defs/A" } } },
            "B": { "type": "object", "properties": { "n": { "$ref": "#/$defs/B" } } },
        },
    });
    for provider in [ProviderDialect::OpenAiStrict, ProviderDialect::Gemini] {
        let reason = reason(&schema, provider);
        assert!(reason.contains("does not come to an end"), "{reason}");
    }
}

#[test]
fn strict_mode_has_limits_of_its_own() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..11 {
        deep = json!({ "type": "object", "properties": { "in": deep }, "required": ["in"] });
    }
    insta::assert_snapshot!(reason(&deep, ProviderDialect::OpenAiStrict), @"the schema has 11 levels of nesting, and strict mode takes 10. Next: offer it without strict mode, or make the schema smaller");

    let wide: Map<String, Value> = (0..5_001).map(|i| (format!("p{i}"), json!({ "type": "null" }))).collect();
    let wide = json!({ "type": "object", "properties": wide });
    assert!(reason(&wide, ProviderDialect::OpenAiStrict).contains("5001 properties"));

    let values: Vec<String> = (0..1_001).map(|i| i.to_string()).collect();
    let values = json!({ "properties": { "v": { "enum": values } }, "required": ["v"] });
    assert!(reason(&values, ProviderDialect::OpenAiStrict).contains("1001 enum values"));
}

#[test]
fn keywords_of_the_wrong_form_are_refused_with_their_place() {
    let cases = [
        (json!([]), "the root is [], but a schema has to be an object or a boolean"),
        (json!({ "required": true }), "/required is true"),
        (json!({ "properties": { "a": "string" } }), "/properties/a is \"string\""),
        (json!({ "properties": { "a": { "enum": [] } } }), "/properties/a/enum is []"),
        (json!({ "properties": { "a": { "minLength": -1 } } }), "/properties/a/minLength is -1"),
        (json!({ "properties": { "a": { "items": 3 } } }), "/properties/a/items is 3"),
        (json!({ "anyOf": [] }), "/anyOf is []"),
        (json!({ "properties": { "a": { "$ref": 3 } } }), "/properties/a/$ref is 3"),
        (json!({ "$defs": [] }), "/$defs is []"),
    ];
    for (schema, expected) in cases {
        let reason = every_reason(&schema);
        assert!(reason.contains(expected), "{reason}");
    }
}
