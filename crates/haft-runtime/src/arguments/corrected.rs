//! Corrects arguments as far as their faults allow, to show a model its own call in a form that fits.
//!
//! It removes wrong values, takes missing values from an example, and keeps everything else from the model. haft never
//! runs the corrected call.

use serde_json::{Map, Value};

use super::check::Checker;
use super::fault::{Fault, UnknownKey, key_path, push_index};

/// Longest text that is repeated whole, in characters.
const LONGEST_TEXT: usize = 80;
/// How much is repeated of a longer one.
const SHOWN_TEXT: usize = 40;

/// Returns the arguments without their faults; nothing where that does not fit, or leaves nothing of them.
pub(crate) fn corrected(given: &Value, faults: &[Fault], example: &Value, checker: &Checker) -> Option<Value> {
    let correction = Correction { faults };
    let mut own = correction.of(given, "$", Some(example))?;
    let is_own = given.as_object()?.keys().any(|key| !correction.is_wrong(&key_path("$", key)));
    if let Some(moved) = correction.with_meant_names(given, &own).filter(|moved| checker.accepts(moved)) {
        own = moved;
    } else if !is_own {
        return None;
    }
    shorten(&mut own);
    checker.accepts(&own).then_some(own)
}

struct Correction<'a> {
    faults: &'a [Fault],
}

impl Correction<'_> {
    fn is_wrong(&self, path: &str) -> bool {
        self.faults.iter().any(|fault| fault.path == path)
    }

    /// Corrects one part; nothing where it is wrong as a whole and the example has nothing for it.
    fn of(&self, value: &Value, path: &str, example: Option<&Value>) -> Option<Value> {
        if self.is_wrong(path) {
            return example.cloned();
        }
        match value {
            Value::Object(entries) => {
                let part = |key: &str| example.and_then(|example| example.get(key));
                let is_missing = |key: &str| !entries.contains_key(key) && self.is_wrong(&key_path(path, key));
                let own = |key: &str| self.of(entries.get(key)?, &key_path(path, key), part(key));
                let shown = example.and_then(Value::as_object).into_iter().flatten();
                // In the order of the example: what a call must have comes first there.
                let first = shown.filter_map(|(key, value)| {
                    let value = if is_missing(key) { Some(value.clone()) } else { own(key) };
                    Some((key.clone(), value?))
                });
                let rest = entries.keys().filter(|key| part(key).is_none());
                let rest = rest.filter_map(|key| Some((key.clone(), own(key)?)));
                Some(Value::Object(first.chain(rest).collect::<Map<String, Value>>()))
            }
            Value::Array(items) => {
                let corrected = |(index, item): (usize, &Value)| {
                    let mut path = path.to_owned();
                    push_index(&mut path, index);
                    self.of(item, &path, example.and_then(|example| example.get(index).or(example.get(0))))
                };
                Some(items.iter().enumerate().filter_map(corrected).collect())
            }
            value => Some(value.clone()),
        }
    }

    /// Puts values under the names that they may be meant for; nothing where no such name is known.
    fn with_meant_names(&self, given: &Value, own: &Value) -> Option<Value> {
        let (mut moved, entries) = (own.as_object()?.clone(), given.as_object()?);
        let mut is_moved = false;
        for fault in self.faults {
            let UnknownKey::MeantFor(name) = &fault.key else { continue };
            let written = entries.iter().find(|(key, _)| key_path("$", key) == fault.path);
            if let Some((_, value)) = written.filter(|_| !entries.contains_key(name)) {
                moved.insert(name.clone(), value.clone());
                is_moved = true;
            }
        }
        is_moved.then_some(Value::Object(moved))
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > LONGEST_TEXT => {
            *text = text.chars().take(SHOWN_TEXT).chain(['…']).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(given: Value, expected: Option<Value>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1 },
                "edits": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "old": { "type": "string" }, "new": { "type": "string" } },
                    "required": ["old", "new"],
                    "additionalProperties": false,
                } },
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let checker = Checker::new(&schema).expect("it is a schema");
        let faults = checker.check(&given).expect_err("it does not fit");
        let example = json!({ "path": "a.txt", "edits": [{ "old": "x", "new": "y" }] });
        assert_eq!(corrected(&given, &faults, &example, &checker), expected, "{given}: {faults:?}");
    }

    #[test]
    fn what_is_right_stays_and_what_is_wrong_goes() {
        check(json!({ "path": "own", "limit": 0 }), Some(json!({ "path": "own" })));
        check(json!({ "path": "own", "colour": 1 }), Some(json!({ "path": "own" })));
        check(json!({ "limit": 3 }), Some(json!({ "limit": 3, "path": "a.txt" })));
        check(
            json!({ "path": "own", "edits": [{ "old": "own" }] }),
            Some(json!({ "path": "own", "edits": [{ "old": "own", "new": "y" }] })),
        );
    }

    #[test]
    fn a_value_goes_under_the_name_that_is_meant() {
        check(json!({ "paht": "own" }), Some(json!({ "path": "own" })));
        check(json!({ "path": "own", "limits": 3 }), Some(json!({ "path": "own", "limit": 3 })));
    }

    #[test]
    fn a_long_text_is_shown_short() {
        let expected = json!({ "path": format!("{}…", "x".repeat(40)) });
        check(json!({ "path": "x".repeat(500), "limit": 0 }), Some(expected));
    }

    #[test]
    fn a_call_without_anything_of_its_own_is_no_example() {
        check(json!({ "path": 5 }), None);
    }
}
