//! Lowers for providers that take JSON Schema 2020-12 nearly unchanged: OpenAI, Anthropic, MCP.
//!
//! Their few requirements concern mostly the root. Not here: strict mode of OpenAI.

use std::collections::{BTreeMap, BTreeSet};

use haft_contract::description::lift::{Field, InverseLowering, LiftRule, Null, PropertyPlace};
use serde_json::{Map, Value, json};

use super::cycles::{Follow, references};
use super::modern::SchemaDocument;
use super::root::{RootSchema, Unions, settle};
use super::simplify::Simplifier;
use super::{Parameters, ProviderDialect, SchemaRefusal, names};

/// Keywords OpenAI refuses at the root, besides those that are merged away.
const NOT_AT_THE_ROOT: [&str; 3] = ["enum", "const", "not"];

/// Lowers a document for `provider`.
pub(super) fn lower(document: SchemaDocument, provider: ProviderDialect) -> Result<Parameters, SchemaRefusal> {
    let mut simplifier = Simplifier::new(&document, document.receipt.clone());
    let unions = match provider {
        ProviderDialect::Mcp => Unions::Kept,
        _ => Unions::Merged,
    };
    let RootSchema { mut schema, words } = settle(&mut simplifier, unions)?;
    let mut receipt = simplifier.receipt;
    if provider == ProviderDialect::OpenAi {
        for keyword in NOT_AT_THE_ROOT {
            receipt.drop_keyword(&mut schema, keyword, "");
        }
    }
    let rule = match provider {
        ProviderDialect::Anthropic => rename_arguments(&mut schema),
        _ => LiftRule::Same,
    };
    let mut schema = Value::Object(schema);
    add_definitions(&mut schema, &document);
    tidy(&mut schema, provider);
    Ok(Parameters { schema, lift: InverseLowering::new(rule, Vec::new()), losses: receipt.into_losses(), words })
}

/// Adds the definitions that are still referred to.
fn add_definitions(schema: &mut Value, document: &SchemaDocument) {
    let mut needed = BTreeSet::new();
    let mut rest: Vec<usize> = references(document, schema, Follow::Everything).into_iter().collect();
    while let Some(index) = rest.pop() {
        if needed.insert(index) {
            let def = &document.defs[index].schema;
            rest.extend(references(document, def, Follow::Everything));
        }
    }
    if !needed.is_empty() {
        let defs: Map<String, Value> = needed
            .into_iter()
            .map(|index| &document.defs[index])
            .map(|def| (def.name.clone(), def.schema.clone()))
            .collect();
        schema["$defs"] = Value::Object(defs);
    }
}

/// Anthropic accepts only some property names, at the root. Others get a safe one, undone by the
/// rule.
fn rename_arguments(schema: &mut Map<String, Value>) -> LiftRule {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return LiftRule::Same;
    };
    let accepted = |name: &str| {
        (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    if properties.keys().all(|name| accepted(name)) {
        return LiftRule::Same;
    }
    let natives: Vec<&str> = properties.keys().map(String::as_str).filter(|name| !accepted(name)).collect();
    let kept: Vec<&str> = properties.keys().map(String::as_str).filter(|name| accepted(name)).collect();
    let renamed: BTreeMap<String, String> =
        natives.iter().map(|name| (*name).to_owned()).zip(names::free_names(&natives, &kept)).collect();
    let wire = |name: &str| renamed.get(name).cloned().unwrap_or_else(|| name.to_owned());
    *properties = std::mem::take(properties).into_iter().map(|(name, value)| (wire(&name), value)).collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for name in required {
            *name = json!(wire(name.as_str().unwrap_or_default()));
        }
    }
    let fields = renamed.into_iter().map(|(name, wire)| {
        let field = Field { place: PropertyPlace::Property(name), null: Null::Value, rule: LiftRule::Same };
        (wire, field)
    });
    LiftRule::Fields(fields.collect())
}

/// Drops titles, which cost tokens and say nothing, and gives lists the `items` OpenAI insists on.
fn tidy(schema: &mut Value, provider: ProviderDialect) {
    let Value::Object(map) = schema else {
        return;
    };
    if provider != ProviderDialect::Mcp && map.get("title").is_some_and(Value::is_string) {
        map.shift_remove("title");
    }
    let is_list = match map.get("type") {
        Some(Value::Array(names)) => names.contains(&json!("array")),
        Some(name) => name == "array",
        None => false,
    };
    if provider == ProviderDialect::OpenAi && is_list && !map.contains_key("items") {
        map.insert("items".to_owned(), json!({}));
    }
    for (keyword, value) in map.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" => {
                let members = value.as_object_mut().into_iter().flatten();
                members.for_each(|(_, schema)| tidy(schema, provider));
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let branches = value.as_array_mut().into_iter().flatten();
                branches.for_each(|schema| tidy(schema, provider));
            }
            "items"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else" => {
                tidy(value, provider);
            }
            _ => {}
        }
    }
}
