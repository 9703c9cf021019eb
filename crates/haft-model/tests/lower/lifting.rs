//! What the lift does with values that do not have the lowered form.

use haft_contract::description::lift::InverseLowering;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use serde_json::{Value, json};

fn lift(schema: Value) -> InverseLowering {
    let tool = ToolOffer { name: "t", title: None, description: "", input_schema: &schema, read_only: None };
    let lowered = lower(&tool, ProviderDialect::OpenAiStrict).expect("the schema is offered");
    lowered.lift
}

fn map() -> InverseLowering {
    lift(json!({
        "properties": {
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "note": { "type": "string" },
        },
    }))
}

#[test]
fn a_value_of_another_form_is_left_as_it_is() {
    for value in [
        json!(null),
        json!("text"),
        json!([1]),
        json!({ "env": { "A": "1" } }),
        json!({ "env": "A=1" }),
        json!({ "env": [{ "key": "A" }] }),
        json!({ "env": [{ "key": 1, "value": "x" }] }),
        json!({ "env": [{ "key": "A", "value": "x", "more": 1 }] }),
    ] {
        assert_eq!(map().apply(value.clone()), value);
    }
}

#[test]
fn a_repeated_key_is_left_for_validation_to_refuse() {
    let value = json!({ "env": [{ "key": "A", "value": "1" }, { "key": "A", "value": "2" }] });
    assert_eq!(map().apply(value.clone()), value);
}

#[test]
fn properties_the_schema_does_not_know_are_kept() {
    let lifted = map().apply(json!({ "env": null, "note": null, "other": null }));
    assert_eq!(lifted, json!({ "other": null }));
}

#[test]
fn an_optional_property_may_be_left_out_although_strict_mode_requires_it() {
    assert_eq!(map().apply(json!({ "note": "n" })), json!({ "note": "n" }));
}

#[test]
fn an_alternative_is_found_also_when_optional_properties_are_left_out() {
    let lift = lift(json!({
        "properties": {
            "by": {
                "anyOf": [
                    { "type": "object", "properties": { "kind": { "const": "a" }, "m": { "type": "object" } }, "required": ["kind"] },
                    { "type": "object", "properties": { "kind": { "const": "b" }, "m": { "type": "string" } }, "required": ["kind"] },
                ],
            },
        },
        "required": ["by"],
    }));
    assert_eq!(lift.apply(json!({ "by": { "kind": "a" } })), json!({ "by": { "kind": "a" } }));
    let lifted = lift.apply(json!({ "by": { "kind": "a", "m": "{}" } }));
    assert_eq!(lifted, json!({ "by": { "kind": "a", "m": {} } }));
    let lifted = lift.apply(json!({ "by": { "kind": "b", "m": "{}" } }));
    assert_eq!(lifted, json!({ "by": { "kind": "b", "m": "{}" } }));
}

#[test]
fn text_that_is_not_json_stays_text() {
    let lift = lift(json!({ "properties": { "value": {} }, "required": ["value"] }));
    assert_eq!(lift.apply(json!({ "value": "hello" })), json!({ "value": "hello" }));
}

#[test]
fn a_further_property_does_not_replace_a_declared_one() {
    let lift = lift(json!({
        "properties": { "a": { "type": "string" } },
        "additionalProperties": { "type": "string" },
    }));
    let more = |a: Value| json!({ "a": a, "additional_properties": [{ "key": "a", "value": "2" }] });
    assert_eq!(lift.apply(more(json!("1"))), json!({ "a": "1" }));
    assert_eq!(lift.apply(more(json!(null))), json!({ "a": "2" }));
}

#[test]
fn a_value_deeper_than_any_call_does_not_exhaust_the_stack() {
    let lift = lift(json!({
        "properties": { "root": { "$ref": "#/$defs/N" } },
        "$defs": { "N": { "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } } } },
    }));
    let mut value = json!({ "n": null });
    for _ in 0..2_000 {
        value = Value::Object([("n".to_owned(), value)].into_iter().collect());
    }
    let arguments = Value::Object([("root".to_owned(), value)].into_iter().collect());
    let lifted = lift.apply(arguments);
    assert!(lifted["root"]["n"]["n"].is_object());
}

#[test]
fn a_schema_of_required_scalars_needs_no_lift() {
    let lift = lift(json!({ "properties": { "a": { "type": "string" } }, "required": ["a"] }));
    assert!(lift.is_none());
    assert_eq!(lift, InverseLowering::none());
}
