//! Makes the smallest arguments a schema admits, to show a model what a right call looks like.
//!
//! An example is worth a page of rules, but only if it is valid. So the result keeps the limits that this module knows,
//! and prefers what the author of the schema wrote (`const`, `examples`, `default`, `enum`).
//!
//! Not here: texts that match a `pattern`. Without an example from the author, such a text is a placeholder.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::outline::{Outline, item_schema, parts, property_schema, types};

/// Most schemas looked at for one example: unions of unions are tried branch by branch.
const MOST_STEPS: usize = 1_000;
/// Deepest nesting of an example; a schema that requires more describes no finite value.
const DEEPEST: usize = 12;

/// Returns a smallest value for the schema: its required properties and nothing else.
#[must_use]
pub fn minimal_example(schema: &Value) -> Value {
    let sketch = Sketch { outline: Outline::new(schema), steps: Cell::new(0) };
    sketch.example(schema, 0).unwrap_or_else(|| json!({}))
}

struct Sketch<'s> {
    outline: Outline<'s>,
    steps: Cell<usize>,
}

impl<'s> Sketch<'s> {
    /// Returns an example, or nothing when there is none within the depth.
    fn example(&self, schema: &'s Value, depth: usize) -> Option<Value> {
        self.steps.set(self.steps.get() + 1);
        if depth > DEEPEST || self.steps.get() > MOST_STEPS {
            return None;
        }
        let layers = self.outline.layers(schema);
        let written = layers
            .iter()
            .find_map(|layer| written_examples(layer).find(|value| self.outline.admits(value, schema)).cloned());
        if written.is_some() {
            return written;
        }
        let branch = layers.iter().find_map(|layer| {
            ["anyOf", "oneOf"].iter().find_map(|keyword| self.branch_example(parts(layer, keyword), &layers, depth))
        });
        if let Some(branch) = branch.filter(|branch| self.outline.admits(branch, schema)) {
            return Some(branch);
        }
        self.typed_example(&layers, depth)
    }

    /// Returns the example of the first branch that has one, with what the layers around it require.
    fn branch_example(&self, branches: &'s [Value], layers: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let value = branches
            .iter()
            .filter(|branch| branch.get("type") != Some(&json!("null")))
            .find_map(|branch| self.example(branch, depth + 1))?;
        match (value, self.typed_example(layers, depth)) {
            (Value::Object(mut entries), Some(Value::Object(around))) => {
                for (key, value) in around {
                    entries.entry(key).or_insert(value);
                }
                Some(Value::Object(entries))
            }
            (value, _) => Some(value),
        }
    }

    fn typed_example(&self, layers: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let typed = layers.iter().flat_map(|layer| types(layer)).find(|name| *name != "null");
        let is_object = layers.iter().any(|layer| layer.contains_key("properties") || layer.contains_key("required"));
        match typed {
            Some("string") => Some(Value::String(text(layers))),
            Some("integer") => Some(number(layers, 1.0)),
            Some("number") => Some(number(layers, 0.0)),
            Some("boolean") => Some(Value::Bool(true)),
            Some("array") => self.list(layers, depth),
            Some("object") => self.object(layers, depth),
            _ if is_object => self.object(layers, depth),
            _ if layers.iter().any(|layer| types(layer).contains(&"null")) => Some(Value::Null),
            _ if depth == 0 => Some(json!({})),
            _ => Some(Value::String("text".to_owned())),
        }
    }

    fn object(&self, layers: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let mut entries = Map::new();
        for layer in layers {
            for name in parts(layer, "required").iter().filter_map(Value::as_str) {
                let property = layers.iter().find_map(|layer| property_schema(layer, name));
                let value = match property {
                    Some(property) => self.example(property, depth + 1)?,
                    None => Value::String("text".to_owned()),
                };
                entries.entry(name).or_insert(value);
            }
        }
        Some(Value::Object(entries))
    }

    fn list(&self, layers: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        // A list of thousands is no help. A schema that requires one has an example, or gets a short list.
        let least = limit(layers, "minItems").unwrap_or(0.0).clamp(0.0, 16.0);
        let mut items = Vec::new();
        #[allow(clippy::cast_precision_loss)] // at most 16
        while (items.len() as f64) < least {
            let schema = layers.iter().find_map(|layer| item_schema(layer, items.len()));
            items.push(match schema {
                Some(schema) => self.example(schema, depth + 1)?,
                None => Value::String("text".to_owned()),
            });
        }
        Some(Value::Array(items))
    }
}

/// What the author of the schema wrote, in the order of trust.
fn written_examples(layer: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    layer
        .get("const")
        .into_iter()
        .chain(parts(layer, "examples"))
        .chain(layer.get("example"))
        .chain(layer.get("default"))
        .chain(parts(layer, "enum"))
}

fn text(layers: &[&Map<String, Value>]) -> String {
    let format = layers.iter().find_map(|layer| layer.get("format")).and_then(Value::as_str);
    let mut text = match format {
        Some("uri" | "url" | "iri") => "https://example.com/",
        Some("date-time") => "2025-01-31T12:00:00Z",
        Some("date") => "2025-01-31",
        Some("time") => "12:00:00Z",
        Some("email") => "name@example.com",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("hostname") => "example.com",
        _ => "text",
    }
    .to_owned();
    if let Some(most) = limit(layers, "maxLength") {
        text = text
            .chars()
            .scan(0.0, |length, c| {
                *length += 1.0;
                (*length <= most).then_some(c)
            })
            .collect();
    }
    let least = limit(layers, "minLength").unwrap_or(0.0).min(200.0);
    let mut length = text.chars().count();
    #[allow(clippy::cast_precision_loss)] // at most 200
    while (length as f64) < least {
        text.push('x');
        length += 1;
    }
    text
}

/// The number nearest to `wish` that keeps the limits.
fn number(layers: &[&Map<String, Value>], wish: f64) -> Value {
    let step = limit(layers, "multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let mut number = wish;
    if let Some(most) = limit(layers, "maximum") {
        number = number.min(most);
    }
    if let Some(most) = limit(layers, "exclusiveMaximum").filter(|most| number >= *most) {
        number = most - step;
    }
    if let Some(least) = limit(layers, "minimum") {
        number = number.max(least);
    }
    if let Some(least) = limit(layers, "exclusiveMinimum").filter(|least| number <= *least) {
        number = least + step;
    }
    if limit(layers, "multipleOf").is_some() {
        number = (number / step).ceil() * step;
    }
    #[allow(clippy::cast_possible_truncation)] // whole and below 2^53
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Value::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or(Value::from(0), Value::Number)
}

/// The limit a keyword sets in any of the layers.
fn limit(layers: &[&Map<String, Value>], keyword: &str) -> Option<f64> {
    layers.iter().find_map(|layer| layer.get(keyword).and_then(Value::as_f64))
}

#[cfg(test)]
mod tests {
    use super::super::Checker;
    use super::minimal_example;
    use serde_json::{Value, json};

    /// The example is `expected`, and the schema admits it.
    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        let example = minimal_example(schema);
        assert_eq!(&example, expected);
        let faults = Checker::new(schema).expect("the schema is valid").check(&example);
        assert_eq!(faults, Ok(()));
    }

    #[test]
    fn an_example_holds_what_is_required_and_nothing_else() {
        let schema = json!({"type": "object", "required": ["path", "n", "list", "mode", "url", "short", "sub", "yes"], "properties": {
            "path": {"type": "string", "minLength": 6}, "n": {"type": "integer", "minimum": 10, "multipleOf": 4},
            "list": {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 2},
            "mode": {"enum": ["fast", "slow"]}, "url": {"type": "string", "format": "uri"}, "short": {"type": "string", "maxLength": 2},
            "sub": {"$ref": "#/$defs/sub"}, "optional": {"type": "string"}, "yes": {"type": "boolean", "default": false},
        }, "$defs": {"sub": {"type": "object", "required": ["a"], "properties": {"a": {"type": ["null", "string"], "examples": ["src/lib.rs"]}}}}});
        check(
            &schema,
            &json!({"path": "textxx", "n": 12, "list": [1, 1], "mode": "fast", "url": "https://example.com/",
            "short": "te", "sub": {"a": "src/lib.rs"}, "yes": false}),
        );
    }

    #[test]
    fn an_example_of_a_union_is_its_first_branch_with_what_is_around_it() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}, "oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {"anyOf": [{"type": "null"}, {"type": "string"}]}}, "required": ["kind", "x"]},
            {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ]});
        check(&schema, &json!({"kind": "a", "x": "text", "id": 1}));
        check(
            &json!({"allOf": [{"required": ["a"], "properties": {"a": {"type": "string"}}}, {"required": ["b"]}]}),
            &json!({"a": "text", "b": "text"}),
        );
    }

    #[test]
    fn a_schema_without_a_finite_value_ends() {
        let endless = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert_eq!(minimal_example(&endless), json!({}));
        let tree = json!({"type": "object", "required": ["next"], "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}}});
        assert!(Checker::new(&tree).expect("valid").check(&minimal_example(&tree)).is_ok());
    }
}
