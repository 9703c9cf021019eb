//! Keeps the cost of a check bounded, whatever the schema.
//!
//! The validator answers "valid?" fast. To explain a "no", it collects the errors of all branches of all unions.
//! If a schema refers to itself inside a union, that work grows exponentially with the depth of the value: minutes at
//! depth 20. Schemas come from strangers, so this module estimates the cost first. Above a limit it reports only one
//! fault. It refuses a schema immediately if the references of the schema double at every step.

use serde_json::Value;

use super::super::fault::{Fault, UnknownKey, ValuePathStep, shown, written_path};
use super::super::outline::{Outline, item_schema, parts, property_schema};
use super::wanted::wanted;

/// Most steps inside unions that collecting errors may take.
const MOST_STEPS: u32 = 20_000;
/// Deepest nesting that is followed.
const DEEPEST: usize = 200;

/// Most schemas that may apply to one value, counting each as often as it is reached.
const MOST_CASES: u32 = 10_000;
/// Keywords whose schemas look at the same value again.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Says why a schema cannot be used, if even "valid?" would take too long.
pub(super) fn refuse_multiplying(schema: &Value) -> Result<(), String> {
    let outline = Outline::new(schema);
    let mut pending = vec![schema];
    while let Some(part) = pending.pop() {
        let mut cases = MOST_CASES;
        if part.get("$ref").is_some() {
            count_cases(&outline, part, 0, &mut cases);
        }
        if cases == 0 {
            let place = part.get("$ref").map(shown).unwrap_or_default();
            return Err(format!("the schema behind {place} multiplies to more than {MOST_CASES} cases; flatten it"));
        }
        pending.extend(children(part));
    }
    Ok(())
}

fn count_cases<'s>(outline: &Outline<'s>, schema: &'s Value, depth: usize, cases: &mut u32) {
    *cases = cases.saturating_sub(1);
    let Some(map) = schema.as_object().filter(|_| *cases > 0 && depth <= DEEPEST) else { return };
    if let Some(target) = outline.target(map) {
        count_cases(outline, target, depth + 1, cases);
    }
    for keyword in SAME_VALUE {
        match map.get(keyword) {
            Some(Value::Array(parts)) => parts.iter().for_each(|part| count_cases(outline, part, depth + 1, cases)),
            Some(part) => count_cases(outline, part, depth + 1, cases),
            None => {}
        }
    }
}

/// The values directly inside a value.
pub(super) fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

/// Whether collecting the errors of all branches would take too long.
pub(super) fn is_costly<'s>(outline: &Outline<'s>, schema: &'s Value, value: &Value) -> bool {
    let mut scales = Scales { outline, steps_left: MOST_STEPS };
    scales.weigh(schema, value, Nesting { depth: 0, unions: 0 });
    scales.steps_left == 0
}

/// Counts the steps inside unions that the validator would take.
struct Scales<'o, 's> {
    outline: &'o Outline<'s>,
    steps_left: u32,
}

#[derive(Clone, Copy)]
struct Nesting {
    depth: usize,
    unions: usize,
}

impl<'s> Scales<'_, 's> {
    /// Walks as the validator does when it collects errors.
    fn weigh(&mut self, schema: &'s Value, value: &Value, Nesting { depth, unions }: Nesting) {
        if unions > 0 {
            self.steps_left = self.steps_left.saturating_sub(1);
        }
        if self.steps_left == 0 || depth > DEEPEST {
            self.steps_left = 0;
            return;
        }
        let inside = Nesting { depth: depth + 1, unions };
        for layer in self.outline.layers(schema) {
            for branch in ["anyOf", "oneOf"].iter().flat_map(|keyword| parts(layer, keyword)) {
                self.weigh(branch, value, Nesting { unions: unions + 1, ..inside });
            }
            match value {
                Value::Object(entries) => {
                    for (key, entry) in entries {
                        if let Some(property) = property_schema(layer, key) {
                            self.weigh(property, entry, inside);
                        }
                    }
                }
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        if let Some(schema) = item_schema(layer, index) {
                            self.weigh(schema, item, inside);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the innermost place that surely does not fit, looking into no union.
pub(super) fn one_fault<'s>(outline: &Outline<'s>, schema: &'s Value, value: &Value) -> Fault {
    let mut steps = Vec::new();
    let (mut schema, mut value) = (schema, value);
    while let Some((step, part, part_schema)) = misfit(outline, schema, value).filter(|_| steps.len() < DEEPEST) {
        steps.push(step);
        (value, schema) = (part, part_schema);
    }
    Fault {
        key: UnknownKey::Unsaid,
        path: written_path(steps.iter()),
        expected: super::shortened(wanted(outline, schema)),
        received: shown(value),
        hint: Some("this part does not fit, or something inside it; a flatter value gets a better answer".to_owned()),
    }
}

/// The first part of a value that its schema does not admit.
fn misfit<'s, 'v>(
    outline: &Outline<'s>,
    schema: &'s Value,
    value: &'v Value,
) -> Option<(ValuePathStep, &'v Value, &'s Value)> {
    outline.layers(schema).into_iter().find_map(|layer| match value {
        Value::Object(entries) => entries.iter().find_map(|(key, entry)| {
            let property = property_schema(layer, key)?;
            (!outline.admits(entry, property)).then(|| (ValuePathStep::Key(key.clone()), entry, property))
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let schema = item_schema(layer, index)?;
            (!outline.admits(item, schema)).then_some((ValuePathStep::Index(index), item, schema))
        }),
        _ => None,
    })
}
