//! Checks the schemas of a definition: whether haft can use them, and which part prevents it.

use haft_contract::description::schema_rules;
use haft_contract::description::schema_rules::BrokenRule;
use haft_contract::description::spec::Spec;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::syntax::fields::Problems;
use super::syntax::keywords;
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};

/// Arguments that haft fills in itself where a function asks for them.
pub(super) const INJECTED: [&str; 2] = ["agent_state", "global_storage"];

const DRAFTS: [&str; 2] = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"];

/// Reads the schema of the arguments. Nothing, or a schema without a type, is that of an object.
pub(super) fn read_input(entry: Option<(&DefinitionKey, &DefinitionNode)>, problems: &mut Problems) -> Value {
    let Some((key, node)) = entry else { return json!({ "type": "object", "properties": {} }) };
    let DefinitionValue::Map(entries) = &node.value else {
        let what = format!("\"{}\" is {}, but it is a JSON Schema", key.name, node.sort());
        problems.error(key.line, what, "write type: object and the properties below it");
        return json!({ "type": "object", "properties": {} });
    };
    check_draft(node, problems);
    keywords::check(node, problems);
    for (reserved, _) in properties(node).iter().filter(|(key, _)| INJECTED.contains(&key.name.as_str())) {
        let what = format!("haft fills in \"{}\"; it is not an argument", reserved.name);
        problems.error(reserved.line, what, "remove it from the schema; the function gets it when it asks for it");
    }
    let mut schema = node.to_map();
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => {
            let line = node.entry("type").and_then(|(key, _)| key.line);
            problems.error(line, format!("the arguments are an object, but \"type\" is {other}"), "write type: object");
        }
        None => _ = schema.shift_insert(0, "type".to_owned(), json!("object")),
    }
    if entries.is_empty() {
        schema.insert("properties".to_owned(), json!({}));
    }
    Value::Object(schema)
}

/// Reads the schema of what the tool returns.
pub(super) fn read_output(entry: Option<(&DefinitionKey, &DefinitionNode)>, problems: &mut Problems) -> Option<Value> {
    let (key, node) = entry?;
    let DefinitionValue::Map(_) = &node.value else {
        let what = format!("\"{}\" is {}, but it is a JSON Schema", key.name, node.sort());
        problems.error(key.line, what, "write a schema such as {type: string}, or leave it out");
        return None;
    };
    check_draft(node, problems);
    keywords::check(node, problems);
    let schema = node.to_value();
    compile(&schema, (key, node), problems).map(|_| schema)
}

fn check_draft(node: &DefinitionNode, problems: &mut Problems) {
    let Some((key, draft)) = node.entry("$schema") else { return };
    let written = draft.text().unwrap_or_default().trim_end_matches('#');
    if !DRAFTS.iter().any(|known| known.trim_end_matches('#') == written) {
        let what = format!("\"$schema\" is {}, which haft does not know", draft.to_value());
        problems.error(key.line, what, format!("write {} or {}, or leave it out", DRAFTS[0], DRAFTS[1]));
    }
}

fn properties(schema: &DefinitionNode) -> &[(DefinitionKey, DefinitionNode)] {
    schema.entry("properties").map_or(&[], |(_, properties)| properties.entries())
}

/// Makes the schema of the arguments ready for checking them, or notes everything that is wrong with it.
pub(super) fn usable(
    spec: &Spec,
    entry: Option<(&DefinitionKey, &DefinitionNode)>,
    problems: &mut Problems,
) -> Option<Validator> {
    let mut found = Problems::default();
    check_rules(spec, entry, &mut found);
    // What breaks a rule is mostly no valid schema either, and is told once.
    let is_broken = found.has_errors();
    problems.0.append(&mut found.0);
    let entry = entry.filter(|_| !is_broken)?;
    compile(&spec.input_schema, entry, problems)
}

/// Makes a schema ready for checking values, or notes where it cannot be used.
fn compile(
    schema: &Value,
    (key, node): (&DefinitionKey, &DefinitionNode),
    problems: &mut Problems,
) -> Option<Validator> {
    match jsonschema::options().offline().build(schema) {
        Ok(validator) => Some(validator),
        Err(error) => {
            let place = error.instance_path().as_str();
            let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
            let line = node.line_at(place).filter(|_| !place.is_empty()).or(key.line);
            let what = format!("\"{}\" is not a valid schema{at}: {error}", key.name);
            let fix = match place.ends_with("/required") && error.instance().is_boolean() {
                true => "list the names that are required beside \"properties\": required: [NAME]",
                false => "fix the schema; JSON Schema says what each keyword takes",
            };
            problems.error(line, what, fix);
            None
        }
    }
}

/// Notes which rules for shown schemas a definition breaks.
fn check_rules(spec: &Spec, schema: Option<(&DefinitionKey, &DefinitionNode)>, problems: &mut Problems) {
    for BrokenRule { at, rule, fix, is_advice, .. } in schema_rules::check(spec) {
        // The name and the words are checked where they are read.
        let Some(pointer) = at.strip_prefix('#') else { continue };
        // A wrong root is told where it is read.
        if pointer.is_empty() && spec.input_schema.get("type").is_none_or(|kind| kind != "object") {
            continue;
        }
        let line = schema.and_then(|(key, node)| node.line_at(pointer).filter(|_| !pointer.is_empty()).or(key.line));
        let name = pointer.rsplit('/').next().unwrap_or_default();
        let what = if name.is_empty() { rule.to_owned() } else { format!("\"{name}\": {rule}") };
        match is_advice {
            true => problems.warn(line, what, fix),
            false => problems.error(line, what, fix),
        }
    }
}

/// Says why a value does not fit, in one sentence.
pub(super) fn misfit(validator: &Validator, value: &Value) -> Option<String> {
    let error = validator.iter_errors(value).next()?;
    let place = error.instance_path().as_str();
    Some(if place.is_empty() { error.to_string() } else { format!("{place}: {error}") })
}

/// Returns the schema of one argument.
pub(super) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    arguments(schema)?.get(name)
}

/// Returns the arguments that a schema names.
pub(super) fn arguments(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}
