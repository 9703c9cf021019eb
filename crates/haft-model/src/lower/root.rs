//! Makes the root of every schema one plain object.
//!
//! A tool's arguments are an object, and every provider wants an object at the root; most refuse the whole request for
//! a union there. haft merges alternatives into one object with the properties of all, and words say which belong
//! together. The tool's own schema still checks that when the tool is called.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::SchemaRefusal;
use super::bounds::DEEPEST;
use super::receipt::{inside, place};
use super::simplify::Simplifier;

/// What becomes of a union at the root.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Unions {
    /// It stays.
    Kept,
    /// It becomes one object.
    Merged,
}

/// A root schema that is one plain object.
pub(super) struct RootSchema {
    /// `type` is `object`, `properties` is there.
    pub(super) schema: Map<String, Value>,
    /// Which properties belong together, where the schema cannot say it.
    pub(super) words: Option<String>,
}

/// Returns the root of the document as one object.
pub(super) fn settle(simplifier: &mut Simplifier<'_>, unions: Unions) -> Result<RootSchema, SchemaRefusal> {
    let mut schema = simplifier.document.root.clone();
    let mut words = None;
    flatten_fully(simplifier, &mut schema, "")?;
    match unions {
        Unions::Merged => words = merge_unions(simplifier, &mut schema, "", 0)?,
        Unions::Kept => refuse_hopeless_unions(simplifier, schema.clone())?,
    }
    if !may_be_object(&schema) {
        return Err(SchemaRefusal(format!(
            "the arguments of a tool are an object, but the root has the type {}. Next: put it into a property of an object",
            schema.get("type").unwrap_or(&Value::Null)
        )));
    }
    let mut settled = Map::from_iter([("type".to_owned(), json!("object"))]);
    schema.shift_remove("type");
    settled.extend(schema);
    settled.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    Ok(RootSchema { schema: settled, words })
}

/// Merges `allOf` and inlines references, also those with nothing beside them.
fn flatten_fully(
    simplifier: &mut Simplifier<'_>,
    schema: &mut Map<String, Value>,
    at: &str,
) -> Result<(), SchemaRefusal> {
    for _ in 0..=DEEPEST {
        simplifier.flatten(schema, at)?;
        if !schema.contains_key("$ref") {
            return Ok(());
        }
        simplifier.inline(schema, at)?;
    }
    Err(SchemaRefusal(format!(
        "references at {} do not come to an end. Next: write the schema itself there",
        place(at)
    )))
}

/// Refuses a union that would not merge either, because no alternative is an object.
fn refuse_hopeless_unions(
    simplifier: &mut Simplifier<'_>,
    mut schema: Map<String, Value>,
) -> Result<(), SchemaRefusal> {
    let receipt = std::mem::take(&mut simplifier.receipt);
    let merged = merge_unions(simplifier, &mut schema, "", 0);
    simplifier.receipt = receipt;
    merged.map(|_| ())
}

fn merge_unions(
    simplifier: &mut Simplifier<'_>,
    schema: &mut Map<String, Value>,
    at: &str,
    depth: usize,
) -> Result<Option<String>, SchemaRefusal> {
    if depth > 8 {
        return Err(SchemaRefusal(
            "unions at the root are nested deeper than 8 levels. Next: write one union".to_owned(),
        ));
    }
    let mut said = Vec::new();
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.shift_remove(keyword) else {
            continue;
        };
        let here = inside(at, keyword);
        let mut objects = Vec::new();
        for (i, branch) in branches.into_iter().enumerate() {
            let place = inside(&here, &i.to_string());
            let Value::Object(mut branch) = branch else {
                continue;
            };
            flatten_fully(simplifier, &mut branch, &place)?;
            merge_unions(simplifier, &mut branch, &place, depth + 1)?;
            if may_be_object(&branch) {
                objects.push(branch);
            } else {
                let why = "is not an object, and arguments are; the alternative is not offered";
                simplifier.receipt.lose(&place, "type", why);
            }
        }
        if objects.is_empty() {
            return Err(SchemaRefusal(format!(
                "no alternative at {here} is an object, and the arguments of a tool are. Next: put the union into a property"
            )));
        }
        let why = "was merged into one object; the description says which properties belong together";
        simplifier.receipt.lose(at, keyword, why);
        said.extend(describe(&objects));
        absorb(schema, &objects);
    }
    Ok((!said.is_empty()).then(|| said.join(" ")))
}

/// Adds to `schema` what all alternatives together have.
fn absorb(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let mut properties = match schema.shift_remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut seen = HashSet::new();
    let names = branches.iter().filter_map(members).flat_map(Map::keys);
    for name in names.filter(|name| seen.insert(*name)) {
        let mut variants: Vec<&Value> = Vec::new();
        for branch in branches {
            if let Some(variant) = members(branch).and_then(|own| own.get(name))
                && !variants.contains(&variant)
            {
                variants.push(variant);
            }
        }
        let merged = merged_variants(&variants);
        match properties.get(name) {
            None => {
                properties.insert(name.clone(), merged);
            }
            Some(base) if *base == merged || is_empty(&merged) => {}
            Some(base) if is_empty(base) => {
                properties.insert(name.clone(), merged);
            }
            Some(base) => {
                properties.insert(name.clone(), json!({ "allOf": [base, merged] }));
            }
        }
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    absorb_required(schema, branches);
    let closed = |map: &Map<String, Value>| map.get("additionalProperties") == Some(&json!(false));
    if branches.iter().all(closed) {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// Requires what every alternative requires.
fn absorb_required(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let mut required = required_names(schema);
    let common = required_names(&branches[0])
        .into_iter()
        .filter(|name| branches.iter().all(|branch| required_names(branch).contains(name)));
    for name in common {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
}

/// Returns one schema for a property that alternatives describe differently.
fn merged_variants(variants: &[&Value]) -> Value {
    let mut values: Vec<Value> = Vec::new();
    for variant in variants {
        match tag_values(variant) {
            Some(own) => values.extend(own),
            None => {
                return match variants {
                    [only] => (*only).clone(),
                    _ => json!({ "anyOf": variants }),
                };
            }
        }
    }
    match variants {
        [only] => (*only).clone(),
        _ => {
            let mut merged = Map::new();
            if variants.iter().all(|variant| variant["type"] == variants[0]["type"])
                && let Some(name) = variants[0].get("type")
            {
                merged.insert("type".to_owned(), name.clone());
            }
            let mut unique: Vec<Value> = Vec::new();
            for value in values {
                if !unique.contains(&value) {
                    unique.push(value);
                }
            }
            merged.insert("enum".to_owned(), Value::Array(unique));
            Value::Object(merged)
        }
    }
}

/// Says which properties belong together.
fn describe(branches: &[Map<String, Value>]) -> Option<String> {
    let tag = members(&branches[0])?.keys().find(|name| {
        branches.iter().all(|branch| {
            members(branch).and_then(|own| own.get(*name)).is_some_and(|variant| tag_values(variant).is_some())
        })
    });
    let sets: Vec<String> = branches.iter().map(|branch| describe_one(branch, tag)).collect();
    (sets.len() > 1).then(|| format!("Give one of these sets of arguments: {}.", sets.join("; ")))
}

fn describe_one(branch: &Map<String, Value>, tag: Option<&String>) -> String {
    let required = required_names(branch);
    let own = members(branch).into_iter().flat_map(Map::keys);
    let mut names: Vec<String> = required.iter().filter(|name| Some(*name) != tag).cloned().collect();
    for name in own {
        if Some(name) != tag && !required.contains(name) {
            names.push(format!("{name} (optional)"));
        }
    }
    let names = names.join(", ");
    let value = tag
        .and_then(|tag| members(branch)?.get(tag))
        .and_then(tag_values)
        .map(|values| values.iter().map(Value::to_string).collect::<Vec<_>>().join(" or "));
    match (tag, value) {
        (Some(tag), Some(value)) if names.is_empty() => format!("{tag} {value} alone"),
        (Some(tag), Some(value)) => format!("{tag} {value} with {names}"),
        _ => names,
    }
}

/// Returns the scalar constants a property is limited to.
fn tag_values(schema: &Value) -> Option<Vec<Value>> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return None,
    };
    values.iter().all(|value| !value.is_array() && !value.is_object()).then_some(values)
}

fn members(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn required_names(schema: &Map<String, Value>) -> Vec<String> {
    let list = schema.get("required").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn may_be_object(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.contains(&json!("object")),
        Some(name) => name == "object",
    }
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(Map::is_empty)
}
