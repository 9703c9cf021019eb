//! Reads the wider forms that one dialect allows: `Yes` for true, `x, y` for a list of two.
//!
//! A word that is neither yes nor no stays a text, and the check names the expected value. Reading it as false would
//! turn a typing error into a decision.

use serde_json::{Number, Value};

/// Reads a number or a truth value, in any of the ways in which people write them.
pub(super) fn scalar_in_text(text: &str, wanted: &str) -> Option<Value> {
    let text = text.trim();
    match wanted {
        "integer" => text.parse::<i64>().ok().map(Value::from),
        "number" => text.parse().ok().and_then(Number::from_f64).map(Value::Number),
        "boolean" => match text.to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "0" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

/// Reads texts with commas between them.
pub(super) fn list_in_text(text: &str) -> Vec<Value> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fit_as;
    use haft_contract::description::dialect::Coercion;
    use serde_json::{Value, json};

    fn read(kind: Value, text: &str) -> Value {
        let schema = json!({ "type": "object", "properties": { "v": kind } });
        fit_as(json!({ "v": text }), &schema, &[], Coercion::Wide).value["v"].clone()
    }

    #[test]
    fn words_for_yes_and_no_are_truth_values_and_other_words_stay_words() {
        for (text, value) in [("Yes", true), ("ON", true), ("1", true), ("no", false), ("off", false), ("0", false)] {
            assert_eq!(read(json!({ "type": "boolean" }), text), json!(value), "{text}");
        }
        assert_eq!(read(json!({ "type": "boolean" }), "maybe"), json!("maybe"));
    }

    #[test]
    fn a_text_with_commas_is_a_list_and_each_part_is_read_too() {
        assert_eq!(read(json!({ "type": "array", "items": { "type": "string" } }), "x, y"), json!(["x", "y"]));
        assert_eq!(read(json!({ "type": "array", "items": { "type": "integer" } }), "1,2"), json!([1, 2]));
        assert_eq!(read(json!({ "type": "array", "items": { "type": "string" } }), "[\"a,b\"]"), json!(["a,b"]));
    }

    #[test]
    fn numbers_may_have_blanks_around_them_and_what_is_none_stays_text() {
        assert_eq!(read(json!({ "type": "integer" }), " 5 "), json!(5));
        assert_eq!(read(json!({ "type": "number" }), "1e3"), json!(1000.0));
        assert_eq!(read(json!({ "type": "integer" }), "abc"), json!("abc"));
        assert_eq!(read(json!({ "type": "object" }), "{bad"), json!("{bad"));
    }
}
