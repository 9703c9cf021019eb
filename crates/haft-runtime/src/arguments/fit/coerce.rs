//! Reads one value as the type its schema wants, if that loses nothing and only one reading exists.
//!
//! A reading counts only if the schema admits the result. So `"5"` for a number of at least 10 stays a text, and the
//! check reports the value that the model sent. A text stays a text wherever the schema admits a text.

use serde_json::{Map, Number, Value};

use super::super::outline::{admits_choice, admits_type, is_whole, parts, types};
use super::site::Site;
use super::{Fitting, Layers, lists, wide};
use crate::arguments::repairs::literal;
use crate::arguments::repairs::literal::Literal;
use haft_contract::description::dialect::Coercion;

impl<'s> Fitting<'_, 's> {
    /// Replaces the value by its single reading, if it needs one and has one.
    pub(super) fn coerce(&mut self, value: &mut Value, schema: &'s Value, layers: Layers<'_, 's>, site: &Site<'_, 's>) {
        if let Some(whole) = self.whole_number(value, schema) {
            self.tell_change(site, value, &whole);
            *value = whole;
            return;
        }
        if layers.iter().all(|layer| admits_type(value, layer) && admits_choice(value, layer)) {
            return;
        }
        let mut readings: Vec<Value> = Vec::new();
        for layer in layers {
            for reading in self.readings(value, layer, schema, site) {
                if self.outline.admits(&reading, schema) && !readings.contains(&reading) {
                    readings.push(reading);
                }
            }
        }
        if let [reading] = &mut readings[..] {
            self.tell_change(site, value, reading);
            *value = reading.take();
        }
    }

    fn readings(
        &self,
        value: &Value,
        layer: &'s Map<String, Value>,
        schema: &'s Value,
        site: &Site<'_, 's>,
    ) -> Vec<Value> {
        if admits_type(value, layer) {
            return other_spellings(value, layer);
        }
        let types = types(layer);
        let mut readings = match value {
            Value::String(text) => self.in_text(text, layer, site),
            Value::Array(items) => only_item(items, layer, site).into_iter().collect(),
            _ => Vec::new(),
        };
        let is_one = !matches!(value, Value::Null | Value::Array(_) | Value::String(_));
        if is_one && types.contains(&"array") && !site.is_item() {
            readings.push(Value::Array(vec![value.clone()]));
        }
        readings.into_iter().map(|reading| self.settled(reading, schema, site)).collect()
    }

    /// Reads a text as anything else that may be meant by it.
    fn in_text(&self, text: &str, layer: &'s Map<String, Value>, site: &Site<'_, 's>) -> Vec<Value> {
        let types = types(layer);
        let mut readings: Vec<Value> = types.iter().filter_map(|name| scalar_in_text(text, name)).collect();
        if self.coercion == Coercion::Wide && readings.is_empty() {
            readings.extend(types.iter().filter_map(|name| wide::scalar_in_text(text, name)));
        }
        let [wants_list, wants_object] = ["array", "object"].map(|name| types.contains(&name));
        if !wants_list && !wants_object {
            return readings;
        }
        match literal::read(text) {
            Literal::Container(Value::Array(items)) if !wants_list => readings.extend(only_item(&items, layer, site)),
            Literal::Container(value @ Value::Object(_)) if !wants_object => {
                readings.extend((!site.is_item()).then(|| Value::Array(vec![value])));
            }
            Literal::Container(value) => readings.push(value),
            Literal::Plain if wants_list && !site.is_item() => match self.coercion {
                Coercion::Wide => readings.push(wide::list_in_text(text).into()),
                Coercion::Careful => readings.extend(lists::in_text(text)),
            },
            Literal::Plain | Literal::Broken => {}
        }
        readings
    }

    /// Fits the parts of a reading, where it does not fit as it is.
    pub(super) fn settled(&self, reading: Value, schema: &'s Value, site: &Site<'_, 's>) -> Value {
        if self.outline.admits(&reading, schema) {
            return reading;
        }
        self.trial(reading, schema, &site.in_branch(site.known)).value
    }

    /// Returns `5` for `5.0` where only whole numbers are wanted: typed tools do not read the other form.
    fn whole_number(&self, value: &Value, schema: &'s Value) -> Option<Value> {
        if !value.is_f64() || !is_whole(value) || !self.wants_whole(value, schema, 0) {
            return None;
        }
        let float = value.as_f64()?;
        // 2^53: up to here every whole float is exactly one whole number.
        if float.abs() > 9_007_199_254_740_992.0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // whole and below 2^53, as was just seen
        let whole = float as i64;
        Some(Value::from(whole))
    }

    fn wants_whole(&self, value: &Value, schema: &'s Value, depth: usize) -> bool {
        self.outline.layers(schema).iter().any(|layer| {
            let types = types(layer);
            let own = types.contains(&"integer") && !types.contains(&"number");
            own || depth < 2
                && ["anyOf", "oneOf"].iter().any(|keyword| {
                    let mut fitting =
                        parts(layer, keyword).iter().filter(|branch| self.outline.admits(value, branch)).peekable();
                    fitting.peek().is_some() && fitting.all(|branch| self.wants_whole(value, branch, depth + 1))
                })
        })
    }
}

/// Choices that differ from a text in case only.
fn other_spellings(value: &Value, layer: &Map<String, Value>) -> Vec<Value> {
    let Value::String(text) = value else { return Vec::new() };
    let letters = text.to_lowercase();
    let listed = layer.get("enum").and_then(Value::as_array).into_iter().flatten();
    listed
        .chain(layer.get("const"))
        .filter(|choice| choice.as_str().is_some_and(|choice| choice.to_lowercase() == letters))
        .cloned()
        .collect()
}

/// Reads a number or a truth value written as text, in the one way it is usually written.
fn scalar_in_text(text: &str, wanted: &str) -> Option<Value> {
    match wanted {
        "integer" => whole_in_text(text).or_else(|| whole_in_text(text.strip_suffix(".0")?).filter(|_| text != "-0.0")),
        "number" => whole_in_text(text).or_else(|| decimal_in_text(text)),
        "boolean" => match text {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        "null" => is_null_in_text(text).then_some(Value::Null),
        _ => None,
    }
}

/// Whether a text is the word for no value, in JSON or in Python.
pub(super) fn is_null_in_text(text: &str) -> bool {
    matches!(text, "null" | "None")
}

/// The item of a list of one, where neither a list nor free text belongs: file content is never unwrapped.
fn only_item(items: &[Value], layer: &Map<String, Value>, site: &Site<'_, '_>) -> Option<Value> {
    let is_choice = layer.contains_key("enum") || layer.contains_key("const");
    let [item] = items else { return None };
    let may_be = !site.is_item() && (is_choice || !types(layer).contains(&"string"));
    may_be.then(|| item.clone())
}

fn whole_in_text(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let unsigned = || text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    signed.map(Value::from).or_else(|| unsigned().map(Value::from))
}

fn decimal_in_text(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.')?;
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = unsigned.len() > 1 && unsigned.starts_with('0');
    // Fifteen digits always survive a 64-bit float.
    if !is_plain(unsigned) || !is_plain(fraction) || leading_zero || unsigned.len() + fraction.len() > 15 {
        return None;
    }
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}
