//! Every shape, for every provider: accepted, and undone.

use haft_model::lower::{LoweredList, LoweredTool, ProviderDialect, ToolOffer, lower_all};
use serde_json::Value;

use crate::table::{Shape, shapes};

/// Returns what the provider accepts as one tool, as JSON Schema.
fn accepted_by(provider: ProviderDialect) -> jsonschema::Validator {
    let text = match provider {
        ProviderDialect::OpenAi => include_str!("accepted/openai.json"),
        ProviderDialect::OpenAiStrict => include_str!("accepted/openai-strict.json"),
        ProviderDialect::Anthropic => include_str!("accepted/anthropic.json"),
        ProviderDialect::Mcp => include_str!("accepted/mcp.json"),
        ProviderDialect::Gemini => include_str!("accepted/gemini.json"),
    };
    let schema: Value = serde_json::from_str(text).expect("the file is JSON");
    validator(&schema)
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{error}\n{schema:#}"))
}

fn lower_shapes(shapes: &[Shape], provider: ProviderDialect) -> LoweredList {
    let tools: Vec<ToolOffer<'_>> = shapes
        .iter()
        .map(|shape| ToolOffer {
            name: &shape.name,
            title: None,
            description: &shape.about,
            input_schema: &shape.schema,
            read_only: Some(true),
        })
        .collect();
    lower_all(&tools, provider)
}

/// Runs `check` for every shape that is offered, with every provider.
fn for_every_offer(check: impl Fn(&Shape, &LoweredTool, ProviderDialect)) {
    let shapes = shapes();
    for provider in ProviderDialect::ALL {
        let list = lower_shapes(&shapes, provider);
        for shape in shapes.iter().filter(|shape| shape.quarantined.is_none()) {
            let lowered = list.tools.iter().find(|tool| tool.name == shape.name);
            let lowered = lowered.unwrap_or_else(|| panic!("{} for {provider}: {:?}", shape.name, list.quarantined));
            check(shape, lowered, provider);
        }
    }
}

fn schema_of(lowered: &LoweredTool, provider: ProviderDialect) -> &Value {
    let pointer = match provider {
        ProviderDialect::OpenAi | ProviderDialect::OpenAiStrict => "/function/parameters",
        ProviderDialect::Anthropic => "/input_schema",
        ProviderDialect::Mcp => "/inputSchema",
        ProviderDialect::Gemini => "/parametersJsonSchema",
    };
    lowered.value.pointer(pointer).expect("a tool has a schema")
}

#[test]
fn every_shape_is_in_the_form_the_provider_accepts() {
    for provider in ProviderDialect::ALL {
        let accepted = accepted_by(provider);
        for_every_offer(|shape, lowered, offered_to| {
            if offered_to == provider
                && let Err(error) = accepted.validate(&lowered.value)
            {
                panic!("{} for {provider}: {error}\n{:#}", shape.name, lowered.value);
            }
        });
    }
}

#[test]
fn every_lowered_schema_is_a_json_schema() {
    for_every_offer(|_, lowered, provider| {
        validator(schema_of(lowered, provider));
    });
}

#[test]
fn strict_objects_require_all_their_properties() {
    fn check(value: &Value) {
        if value["type"] == "object"
            && let Some(properties) = value["properties"].as_object()
            && value["additionalProperties"] == false
        {
            let names: Vec<&String> = properties.keys().collect();
            assert_eq!(value["required"], serde_json::json!(names), "{value:#}");
        }
        match value {
            Value::Object(map) => map.values().for_each(check),
            Value::Array(list) => list.iter().for_each(check),
            _ => {}
        }
    }
    for_every_offer(|_, lowered, provider| {
        if provider == ProviderDialect::OpenAiStrict {
            check(schema_of(lowered, provider));
        }
    });
}

#[test]
fn samples_are_valid_for_the_tool_before_and_for_the_model_after_lowering() {
    for_every_offer(|shape, lowered, provider| {
        let original = (!shape.unchecked_original).then(|| validator(&shape.schema));
        let schema = validator(schema_of(lowered, provider));
        for sample in &shape.samples {
            if let Some(original) = &original {
                let valid = original.validate(&sample.args);
                assert!(valid.is_ok(), "{}: {valid:?}", shape.name);
            }
            let wire = sample.lowered(provider.name());
            if let Err(error) = schema.validate(wire) {
                let schema = schema_of(lowered, provider);
                panic!("{} for {provider}: {error}\n{wire}\n{schema:#}", shape.name);
            }
        }
    });
}

#[test]
fn the_lift_gives_back_exactly_the_arguments_of_the_tool() {
    for_every_offer(|shape, lowered, provider| {
        for sample in &shape.samples {
            let wire = sample.lowered(provider.name()).clone();
            let lifted = lowered.lift.apply(wire);
            assert_eq!(
                lifted.to_string(),
                in_order_of(&lifted, &sample.args).to_string(),
                "{} for {provider}",
                shape.name
            );
            assert_eq!(lifted, sample.args, "{} for {provider}", shape.name);
        }
    });
}

/// The order of members is not part of a value; the comparison of texts catches 1 for 1.0.
fn in_order_of(order: &Value, value: &Value) -> Value {
    match (order, value) {
        (Value::Object(order), Value::Object(object)) => {
            order.iter().filter_map(|(key, inner)| Some((key.clone(), in_order_of(inner, object.get(key)?)))).collect()
        }
        (Value::Array(order), Value::Array(list)) => {
            order.iter().zip(list).map(|(order, value)| in_order_of(order, value)).collect()
        }
        (_, value) => value.clone(),
    }
}

#[test]
fn only_strict_mode_and_odd_names_need_a_lift() {
    for_every_offer(|shape, lowered, provider| {
        let may_lift = match provider {
            ProviderDialect::OpenAiStrict => true,
            ProviderDialect::Anthropic => shape.name == "odd_names",
            ProviderDialect::OpenAi | ProviderDialect::Mcp | ProviderDialect::Gemini => false,
        };
        assert!(may_lift || lowered.lift.is_none(), "{} for {provider}", shape.name);
    });
}

#[test]
fn a_hopeless_schema_is_kept_back_with_the_reason_and_the_others_stay() {
    let shapes = shapes();
    for provider in ProviderDialect::ALL {
        let list = lower_shapes(&shapes, provider);
        for shape in &shapes {
            let kept_back = list.quarantined.iter().find(|tool| tool.name == shape.name);
            match (&shape.quarantined, kept_back) {
                (Some(because), Some(tool)) => {
                    assert!(tool.reason.contains(because), "{tool}");
                    assert!(tool.reason.contains("Next: "), "{tool}");
                }
                (None, None) => {}
                (expected, found) => panic!("{} for {provider}: {expected:?}, {found:?}", shape.name),
            }
        }
    }
}
