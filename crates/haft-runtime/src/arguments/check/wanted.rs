//! Says in a few words what a schema wants: "a whole number of at least 1".

use serde_json::{Map, Value};

use super::super::fault::{shown, shown_text};
use super::super::outline::{Outline, item_schema, parts, types};
use super::union::choices_of;

/// Most choices or names listed; the rest is counted.
const MOST_LISTED: usize = 20;

/// Describes what a schema admits.
pub(super) fn wanted<'s>(outline: &Outline<'s>, schema: &'s Value) -> String {
    describe(outline, schema, 0)
}

/// Lists quoted names: `"a", "b" and 3 more`.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names.map(shown_text))
}

/// Lists values: `"GET", "HEAD", "POST"`.
pub(super) fn choices(values: &[&Value]) -> String {
    let list = joined(values.iter().map(|value| shown(value)));
    if values.len() == 1 { list } else { format!("one of {list}") }
}

fn joined(names: impl Iterator<Item = String>) -> String {
    let mut names = names;
    let mut list = names.by_ref().take(MOST_LISTED).collect::<Vec<_>>().join(", ");
    let rest = names.count();
    if rest > 0 {
        list.push_str(&format!(" and {rest} more"));
    }
    list
}

fn describe<'s>(outline: &Outline<'s>, schema: &'s Value, depth: usize) -> String {
    if schema == &Value::Bool(false) {
        return "nothing here".to_owned();
    }
    let layers = outline.layers(schema);
    if let Some(choice) = layers.iter().find_map(|layer| layer.get("const")) {
        return shown(choice);
    }
    if let Some(options) = layers.iter().map(|layer| parts(layer, "enum")).find(|options| !options.is_empty()) {
        return choices(&options.iter().collect::<Vec<_>>());
    }
    let union = layers.iter().flat_map(|layer| [parts(layer, "anyOf"), parts(layer, "oneOf")]).find(|u| !u.is_empty());
    let typed = layers.iter().find(|layer| !types(layer).is_empty());
    match (typed, union) {
        (None, Some(branches)) if depth < 3 => describe_union(outline, branches, depth),
        (Some(layer), _) => describe_types(outline, layer, &layers, depth),
        (None, _) => describe_limits(&layers),
    }
}

/// Describes a schema that names no type by what it limits.
fn describe_limits(layers: &[&Map<String, Value>]) -> String {
    let kinds = [("string", "a string"), ("number", "a number"), ("array", "a list"), ("object", "an object")];
    let words = kinds.map(|(kind, words)| (words, limits_of(kind, layers)));
    let limited: Vec<String> =
        words.iter().filter(|(_, limits)| !limits.is_empty()).map(|(a, b)| format!("{a}{b}")).collect();
    match limited.as_slice() {
        [] if layers.iter().any(|layer| layer.contains_key("properties")) => "an object".to_owned(),
        [] => "a value".to_owned(),
        limited => limited.join(" or "),
    }
}

/// Describes a union: its constants as one list, its other branches one after the other.
fn describe_union<'s>(outline: &Outline<'s>, branches: &'s [Value], depth: usize) -> String {
    let constants: Vec<&Value> = branches.iter().flat_map(|branch| choices_of(outline, branch)).collect();
    let mut words: Vec<String> = Vec::new();
    if !constants.is_empty() {
        words.push(choices(&constants));
    }
    for branch in branches.iter().take(MOST_LISTED) {
        if choices_of(outline, branch).is_empty() {
            let text = describe(outline, branch, depth + 1);
            if !words.contains(&text) {
                words.push(text);
            }
        }
    }
    words.join(" or ")
}

fn describe_types<'s>(
    outline: &Outline<'s>,
    layer: &'s Map<String, Value>,
    layers: &[&'s Map<String, Value>],
    depth: usize,
) -> String {
    let words: Vec<String> = types(layer)
        .iter()
        .map(|&name| match name {
            "string" => format!("a string{}", limits_of("string", layers)),
            "integer" => format!("a whole number{}", limits_of("number", layers)),
            "number" => format!("a number{}", limits_of("number", layers)),
            "boolean" => "true or false".to_owned(),
            "array" => list_of(outline, layers, depth),
            "object" => format!("an object{}", limits_of("object", layers)),
            other => other.to_owned(),
        })
        .collect();
    words.join(" or ")
}

fn list_of<'s>(outline: &Outline<'s>, layers: &[&'s Map<String, Value>], depth: usize) -> String {
    let item = layers.iter().find_map(|layer| item_schema(layer, 0));
    let limits = limits_of("array", layers);
    match item {
        Some(item) if depth < 2 => format!("a list{limits}, each item {}", describe(outline, item, depth + 1)),
        _ => format!("a list{limits}"),
    }
}

fn limits_of(kind: &str, layers: &[&Map<String, Value>]) -> String {
    let limit = |keyword: &str| layers.iter().find_map(|layer| layer.get(keyword)).filter(|value| !value.is_boolean());
    let range = |least: &str, most: &str, unit: &str| {
        let (words, last) = match (limit(least), limit(most)) {
            (Some(a), Some(b)) if a == b => (format!(" of exactly {a}"), b),
            (Some(a), Some(b)) => (format!(" of {a} to {b}"), b),
            (Some(a), None) => (format!(" of at least {a}"), a),
            (None, Some(b)) => (format!(" of at most {b}"), b),
            (None, None) => return String::new(),
        };
        let unit = if last == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
        words + unit
    };
    let mut words = match kind {
        "number" => range("minimum", "maximum", ""),
        "string" => range("minLength", "maxLength", " characters"),
        "array" => range("minItems", "maxItems", " items"),
        "object" => range("minProperties", "maxProperties", " entries"),
        _ => String::new(),
    };
    let extra = |keyword: &str, text: &str| limit(keyword).map(|value| format!(" {text} {}", shown(value)));
    let extras: &[(&str, &str)] = match kind {
        "number" => {
            &[("exclusiveMinimum", "above"), ("exclusiveMaximum", "below"), ("multipleOf", "that is a multiple of")]
        }
        "string" => &[("pattern", "that matches the pattern"), ("format", "in the format")],
        _ => &[],
    };
    for (keyword, text) in extras {
        words.extend(extra(keyword, text));
    }
    words
}
