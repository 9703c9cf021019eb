//! Fits arguments to a schema where exactly one loss-free reading exists: `"5"` for a whole number.
//!
//! Keys come first (`fit/keys.rs`), because the schema of its property decides how to read a value. Then come values
//! (`fit/coerce.rs`), from the outside in. One line reports each change and begins with its path. A value with no
//! reading, or with two, stays unchanged, and the check complains about it.
//!
//! Not here: a verdict. A fitted value may still be wrong.

mod coerce;
mod keys;
mod lists;
mod nesting;
mod site;
mod wide;

#[cfg(test)]
mod tests;

use std::cell::Cell;

use haft_contract::description::dialect::Coercion;
use serde_json::{Map, Value};

use super::ArgumentReading;
use super::fault::{key_path, shown};
use super::outline::{Outline, item_schema, parts, property_schema, types};
use super::repairs::not_meant;
use site::Site;

/// Deepest nesting that is fitted; below it values stay as they are.
const DEEPEST: usize = 160;
/// Most parts fitted in one call: unions inside unions are tried branch by branch.
const MOST_STEPS: u32 = 50_000;

/// Fits a value to a schema; `aliases` are pairs of another name and the property it stands for.
///
/// A value the schema admits is returned as it is, with two exceptions that change no meaning: a key that
/// is spelled like exactly one property is renamed even where the schema tolerates unknown keys, and
/// `5.0` becomes `5` where a whole number is wanted.
#[must_use]
pub fn fit(value: Value, schema: &Value, aliases: &[(String, String)]) -> ArgumentReading {
    fit_as(value, schema, aliases, Coercion::Careful)
}

/// Fits a value to a schema like [`fit`], as freely as is said.
#[must_use]
pub fn fit_as(mut value: Value, schema: &Value, aliases: &[(String, String)], coercion: Coercion) -> ArgumentReading {
    let outline = Outline::new(schema);
    let mut fitting = Fitting { outline: &outline, aliases, repairs: Vec::new(), steps: &Cell::new(0), coercion };
    fitting.fit_part(&mut value, schema, &Site::ROOT);
    ArgumentReading { value, repairs: fitting.repairs }
}

/// Tells whether a repair of an argument that the model did not write says no more than the one that made the argument:
/// it was put to its place, or into a list.
pub(crate) fn is_told_already(repair: &str, written: &[String]) -> bool {
    let Some((place, what)) = repair.split_once(": ") else { return false };
    let is_argument = place.matches(['.', '[']).count() == 1;
    let is_listed = what.split_once(" → ").is_some_and(|(before, after)| after == format!("[{before}]"));
    is_argument && (what.starts_with("read as ") || is_listed) && written.iter().all(|key| key_path("$", key) != place)
}

/// Fits the values of an object without touching its keys and without telling.
pub(super) fn fit_values(mut value: Value, schema: &Value) -> Value {
    let outline = Outline::new(schema);
    let coercion = Coercion::Careful;
    let mut fitting = Fitting { outline: &outline, aliases: &[], repairs: Vec::new(), steps: &Cell::new(0), coercion };
    fitting.fit_values(&mut value, schema, &Site::ROOT);
    value
}

/// One run over a value, or a trial on a copy of a part.
struct Fitting<'o, 's> {
    outline: &'o Outline<'s>,
    /// Pairs of another name and the property that it stands for.
    aliases: &'o [(String, String)],
    repairs: Vec<String>,
    steps: &'o Cell<u32>,
    coercion: Coercion,
}

/// The schemas that all apply to one value.
type Layers<'a, 's> = &'a [&'s Map<String, Value>];

impl<'s> Fitting<'_, 's> {
    /// Fits the keys and values of one part.
    fn fit_part(&mut self, value: &mut Value, schema: &'s Value, site: &Site<'_, 's>) {
        self.steps.set(self.steps.get().saturating_add(1));
        if site.depth > DEEPEST || self.is_spent() {
            return;
        }
        self.rename_keys(value, schema, site);
        self.renest_keys(value, schema, site);
        self.fit_values(value, schema, site);
    }

    fn is_spent(&self) -> bool {
        self.steps.get() > MOST_STEPS
    }

    fn fit_values(&mut self, value: &mut Value, schema: &'s Value, site: &Site<'_, 's>) {
        let layers = self.outline.layers(schema);
        self.coerce(value, schema, &layers, site);
        self.renest(value, schema, &layers, site);
        for layer in &layers {
            for keyword in ["anyOf", "oneOf"] {
                self.fit_union(value, schema, parts(layer, keyword), site);
            }
        }
        match value {
            Value::Object(entries) => self.fit_properties(entries, &layers, site),
            Value::Array(items) => self.fit_items(items, &layers, site),
            _ => {}
        }
    }

    /// Takes the reading of the one branch that has one, unless the value fits a branch already.
    fn fit_union(&mut self, value: &mut Value, schema: &'s Value, branches: &'s [Value], site: &Site<'_, 's>) {
        if branches.is_empty() || branches.iter().any(|branch| self.outline.admits(value, branch)) {
            return;
        }
        let mut known = self.names(schema).known;
        known.extend(site.known);
        let site = site.in_branch(&known);
        let mut readings: Vec<ArgumentReading> = Vec::new();
        for branch in branches {
            if self.is_spent() {
                return;
            }
            let reading = self.trial(value.clone(), branch, &site);
            let is_new = readings.iter().all(|other| other.value != reading.value);
            if is_new && !reading.repairs.is_empty() && self.outline.admits(&reading.value, branch) {
                readings.push(reading);
            }
        }
        if let [reading] = &mut readings[..] {
            *value = reading.value.take();
            self.repairs.append(&mut reading.repairs);
        }
    }

    /// Fits a copy, without telling.
    fn trial(&self, mut value: Value, schema: &'s Value, site: &Site<'_, 's>) -> ArgumentReading {
        let Fitting { outline, aliases, steps, coercion, .. } = *self;
        let mut fitting = Fitting { outline, aliases, repairs: Vec::new(), steps, coercion };
        fitting.fit_part(&mut value, schema, site);
        ArgumentReading { value, repairs: fitting.repairs }
    }

    fn fit_properties(&mut self, entries: &mut Map<String, Value>, layers: Layers<'_, 's>, site: &Site<'_, 's>) {
        let mut left_out: Vec<(String, String)> = Vec::new();
        for layer in layers {
            for (key, entry) in entries.iter_mut() {
                let Some(property) = property_schema(layer, key) else { continue };
                if is_optional(layer, key) && self.is_no_value(entry, property) {
                    left_out.push((key.clone(), shown(entry)));
                } else {
                    self.fit_part(entry, property, &site.at_key(key));
                }
            }
        }
        for (key, written) in left_out {
            if entries.shift_remove(&key).is_some() {
                self.repairs.push(format!("{}: {written} left out", site.at_key(&key).path()));
            }
        }
    }

    /// Whether a value says that an argument is not meant: it is empty, or the word for that, and the schema wants
    /// neither. Where null is admitted, its word becomes null.
    fn is_no_value(&self, value: &Value, schema: &'s Value) -> bool {
        let wants_text = || self.outline.layers(schema).iter().any(|layer| types(layer).contains(&"string"));
        let is_null_word = value.is_null() || value.as_str().is_some_and(coerce::is_null_in_text);
        // A choice may be called "none", and then it is one that the schema does not have.
        let is_other_word = || value.as_str().is_some_and(not_meant::is_word_for_nothing) && !wants_text();
        (not_meant::is_empty(value) || is_null_word || is_other_word())
            && !self.outline.admits(value, schema)
            && !(is_null_word && self.outline.admits(&Value::Null, schema))
    }

    fn fit_items(&mut self, items: &mut [Value], layers: Layers<'_, 's>, site: &Site<'_, 's>) {
        for layer in layers {
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(schema) = item_schema(layer, index) {
                    self.fit_part(item, schema, &site.at_index(index));
                }
            }
        }
    }

    fn tell_change(&mut self, site: &Site<'_, '_>, before: &Value, after: &Value) {
        self.repairs.push(format!("{}: {} → {}", site.path(), shown(before), shown(after)));
    }
}

/// Whether a layer lists the property and does not require it.
fn is_optional(layer: &Map<String, Value>, key: &str) -> bool {
    let is_listed = layer.get("properties").is_some_and(|properties| properties.get(key).is_some());
    is_listed && !parts(layer, "required").iter().any(|name| name.as_str() == Some(key))
}
