//! Compares a value with the limits of a schema: sizes of numbers, texts, lists and objects.

use serde_json::{Map, Value};

/// Above this a 64-bit float skips whole numbers, so "equal" proves nothing.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the value keeps the limits. `false` is certain.
pub(super) fn admits(value: &Value, map: &Map<String, Value>) -> bool {
    match value {
        Value::Number(_) => admits_number(value, map),
        Value::String(text) => {
            let has_limit = map.contains_key("minLength") || map.contains_key("maxLength");
            !has_limit || admits_size(text.chars().count(), map, ("minLength", "maxLength"))
        }
        Value::Array(items) => admits_size(items.len(), map, ("minItems", "maxItems")),
        Value::Object(entries) => admits_size(entries.len(), map, ("minProperties", "maxProperties")),
        Value::Null | Value::Bool(_) => true,
    }
}

fn admits_number(value: &Value, map: &Map<String, Value>) -> bool {
    let Some(number) = value.as_f64() else { return true };
    let limit = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
    // Rounding keeps the order, so "less" as floats is less; only "equal" needs care.
    let surely_equal = |limit: f64| number == limit && number.abs() < EXACT;
    limit("minimum").is_none_or(|least| number >= least)
        && limit("maximum").is_none_or(|most| number <= most)
        && limit("exclusiveMinimum").is_none_or(|least| number >= least && !surely_equal(least))
        && limit("exclusiveMaximum").is_none_or(|most| number <= most && !surely_equal(most))
}

fn admits_size(size: usize, map: &Map<String, Value>, (least, most): (&str, &str)) -> bool {
    let limit = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
    #[allow(clippy::cast_precision_loss)] // a size is far below 2^53
    let size = size as f64;
    limit(least).is_none_or(|least| size >= least) && limit(most).is_none_or(|most| size <= most)
}
