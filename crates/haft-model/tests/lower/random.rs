//! Arbitrary input never panics.

use haft_contract::description::lift::InverseLowering;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::table::shapes;

const KEYWORDS: [&str; 34] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "$ref",
    "$defs",
    "definitions",
    "$anchor",
    "$id",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "maxItems",
    "minProperties",
    "pattern",
    "format",
    "default",
    "description",
    "dependencies",
    "unevaluatedProperties",
    "key",
];
const TEXTS: [&str; 12] =
    ["object", "array", "string", "integer", "null", "a", "#", "#/$defs/a", "#/properties/a", "#a", "value", "{}"];

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => proptest::sample::select(&KEYWORDS[..]).prop_map(str::to_owned),
        1 => proptest::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        1 => ".{0,4}",
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..9).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(&TEXTS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((key(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A schema whose parts have the right form more often than chance would give.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!({ "$ref": "#/$defs/a" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "enum": ["a", null, 1] })),
        Just(json!({ "type": "integer", "minimum": 1 })),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, more)| json!({
                "type": "object",
                "properties": { "a": a, "b": b },
                "required": ["a"],
                "additionalProperties": more,
            })),
            inner.clone().prop_map(|more| json!({ "additionalProperties": more })),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            list.clone().prop_map(|list| json!({ "prefixItems": list })),
            list.clone().prop_map(|list| json!({ "anyOf": list, "description": "d" })),
            list.clone().prop_map(|list| json!({ "oneOf": list })),
            list.prop_map(|list| json!({ "allOf": list })),
            (inner.clone(), inner)
                .prop_map(|(a, root)| { json!({ "$defs": { "a": a }, "properties": { "x": root } }) }),
        ]
    })
}

fn lower_for_all(schema: &Value) -> Vec<InverseLowering> {
    let tool = ToolOffer { name: "t", title: None, description: "", input_schema: schema, read_only: None };
    let mut lifts = Vec::new();
    for provider in ProviderDialect::ALL {
        if let Ok(lowered) = lower(&tool, provider) {
            lifts.push(lowered.lift);
        }
    }
    lifts
}

proptest! {
    #[test]
    fn lowering_never_panics(schema in json_value()) {
        lower_for_all(&schema);
    }

    #[test]
    fn a_lift_of_any_schema_takes_any_value(schema in schema(), value in json_value()) {
        for lift in lower_for_all(&schema) {
            lift.apply(value.clone());
        }
    }

    #[test]
    fn what_is_lowered_is_a_json_schema(schema in schema()) {
        let tool = ToolOffer {
            name: "t",
            title: None,
            description: "",
            input_schema: &schema,
            read_only: None,
        };
        for provider in ProviderDialect::ALL {
            if let Ok(lowered) = lower(&tool, provider) {
                let pointers = ["/function/parameters", "/input_schema", "/inputSchema", "/parametersJsonSchema"];
                let lowered = pointers.iter().find_map(|pointer| lowered.value.pointer(pointer));
                let compiled = jsonschema::validator_for(lowered.expect("a tool has a schema"));
                prop_assert!(compiled.is_ok(), "{provider}: {:?}", compiled.err());
            }
        }
    }
}

#[test]
fn lifts_of_the_table_take_the_samples_of_every_other_shape() {
    let shapes = shapes();
    for shape in &shapes {
        for lift in lower_for_all(&shape.schema) {
            for sample in shapes.iter().flat_map(|shape| &shape.samples) {
                lift.apply(sample.lowered("openai-strict").clone());
            }
        }
    }
}
