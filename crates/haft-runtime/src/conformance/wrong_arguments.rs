//! Checks that arguments that do not fit are refused, with words, before the tool receives them.

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Did, ToolResult};
use serde_json::{Map, Value, json};

use super::bench::{ConformanceBench, Good, shown};
use super::{Check, Finding};
use crate::arguments::{Checker, minimal_example};

const CHECK: Check = Check::WrongArguments;

/// Sends arguments that are wrong in one place each.
pub(super) async fn check(bench: &ConformanceBench<'_>, good: Option<&Good>) -> Finding {
    let schema = bench.schema();
    let Ok(checker) = Checker::new(&schema) else {
        return Finding::failed(CHECK, "haft cannot use its schema", "fix \"input_schema\"");
    };
    let right = good.map_or_else(|| minimal_example(&schema), |good| good.arguments.clone());
    let right = right.as_object().cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(name) = properties.iter().find(|(_, property)| takes_anything(property)).map(|(name, _)| name) {
        let what = format!("\"{name}\" may be anything, so haft cannot refuse wrong values");
        return Finding::failed(CHECK, what, format!("write the type of \"{name}\" into \"input_schema\""));
    }
    let wrong: Vec<Value> = wrong(&schema, &right).into_iter().filter(|value| !checker.accepts(value)).collect();
    for arguments in &wrong {
        let result = bench.call(arguments).await;
        if let Some(why) = not_refused(&result) {
            let what = format!("{} {why}", shown(arguments));
            return Finding::failed(CHECK, what, "say in \"input_schema\" what the tool needs");
        }
    }
    match wrong.len() {
        0 => Finding::skipped(CHECK, "its schema accepts every object"),
        many => Finding::passed(CHECK, format!("haft refused {many} kinds before the tool saw them")),
    }
}

/// A schema without a word on what fits.
fn takes_anything(property: &Value) -> bool {
    const SAYS: [&str; 9] = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not", "if"];
    match property {
        Value::Bool(all) => *all,
        property => !SAYS.iter().any(|keyword| property.get(keyword).is_some()),
    }
}

/// Makes calls that are wrong: an argument is missing, of another type, nothing, unknown.
fn wrong(schema: &Value, right: &Map<String, Value>) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut calls = Vec::new();
    for name in required {
        let mut without = right.clone();
        without.shift_remove(name);
        calls.push(Value::Object(without));
        calls.push(with(right, name, Value::Null));
    }
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties {
        let kind = property.get("type").and_then(Value::as_str);
        // Every reading of these loses something, so none of them is a slip that haft could repair.
        let odd = if kind == Some("object") { json!([[1, 2]]) } else { json!({ "of another": ["type"] }) };
        calls.push(with(right, name, odd));
    }
    calls.push(with(right, "no_such_argument_of_this_tool", json!(1)));
    calls
}

pub(super) fn with(right: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut arguments = right.clone();
    arguments.insert(name.to_owned(), value);
    Value::Object(arguments)
}

/// Says what is wrong where wrong arguments were taken, or refused without words.
fn not_refused(result: &ToolResult) -> Option<String> {
    match &result.error {
        // Arguments that haft repaired without loss were no mistake.
        None if !result.repairs.is_empty() || !result.warnings.is_empty() => None,
        None => Some("does not fit the schema, but haft calls the tool with it".to_owned()),
        Some(error) if error.kind != ErrorKind::BadArguments => {
            Some(format!("does not fit the schema, but fails in another way: {}", error.what))
        }
        Some(_) if result.did != Did::Nothing => Some("is refused after something was done".to_owned()),
        Some(error) if error.next.to_string().trim().is_empty() => Some("is refused without a next step".to_owned()),
        Some(_) => None,
    }
}
