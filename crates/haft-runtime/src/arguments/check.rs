//! Checks arguments against the schema of a tool and explains each error to the model.
//!
//! The `jsonschema` crate gives the verdict. Its messages speak of keywords ("not valid under any of the schemas"), so
//! haft translates each error: the place, the expected value, the received value, the next step. `check/report.rs`
//! does that. `check/wanted.rs` describes what a schema wants, `check/union.rs` picks the branch of a union to report,
//! `check/unknown.rs` says where a key belongs, and `check/narrow.rs` limits the cost. `check/plain.rs` accepts
//! values of plain schemas without the crate.
//!
//! Not here: changing a value (`fit.rs`), fetching a schema from elsewhere: a reference to another
//! document is an error when the checker is made.

mod narrow;
mod plain;
mod report;
mod union;
mod unknown;
mod wanted;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use haft_contract::description::schema_rules::contradicting_values;
use jsonschema::Validator;
use serde_json::Value;

use super::fault::{Fault, UnknownKey};
use super::outline::Outline;
use plain::Plain;
use report::FaultReport;

/// Most faults in one answer: enough to correct a call in one step, few enough to read.
const MOST_FAULTS: usize = 8;
/// Most errors looked at, so that a list of a million wrong items costs no more than its check.
const MOST_ERRORS: usize = 64;
/// Deepest nesting of a schema.
const DEEPEST_SCHEMA: usize = 128;
/// Most characters of a description: a schema of a stranger may list thousands of names.
const LONGEST_WORDS: usize = 400;

/// A schema made ready for checking many values. It can be shared between threads.
#[derive(Debug)]
pub struct Checker {
    schema: Value,
    /// Built immediately, unless the schema is plain.
    validator: OnceLock<Result<Validator, String>>,
    /// Accepts most values without it.
    plain: Option<Plain>,
}

impl Checker {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the schema: an unknown type, a reference that leads nowhere or to another
    /// document, a pattern that is none, nesting that is too deep, or references that multiply.
    pub fn new(schema: &Value) -> Result<Checker, String> {
        if is_deeper_than(schema, DEEPEST_SCHEMA) {
            return Err(format!("the schema nests deeper than {DEEPEST_SCHEMA} levels; flatten it"));
        }
        narrow::refuse_multiplying(schema)?;
        let mut schema = schema.clone();
        leave_out_contradictions(&mut schema);
        let checker = Checker { plain: Plain::of(&schema), schema, validator: OnceLock::new() };
        if checker.plain.is_none() {
            checker.validator()?;
        }
        Ok(checker)
    }

    #[cfg(test)]
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    fn validator(&self) -> Result<&Validator, String> {
        let built = self.validator.get_or_init(|| {
            jsonschema::options().offline().build(&self.schema).map_err(|error| {
                let place = error.instance_path().as_str();
                let place = if place.is_empty() { "its root" } else { place };
                shortened(format!("the schema is not valid at {place}: {error}"))
            })
        });
        built.as_ref().map_err(Clone::clone)
    }

    /// Returns whether the value fits, without a word on why not.
    pub fn accepts(&self, value: &Value) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.accepts(value))
            || self.validator().is_ok_and(|validator| validator.is_valid(value))
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Returns at most eight faults, missing properties first.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Fault>> {
        if self.accepts(value) {
            return Ok(());
        }
        let outline = Outline::new(&self.schema);
        if narrow::is_costly(&outline, &self.schema, value) {
            return Err(vec![narrow::one_fault(&outline, &self.schema, value)]);
        }
        let mut report = FaultReport::new(&self.schema, value);
        let validator = self.validator().map_err(|wrong| vec![no_validator(wrong)])?;
        let mut errors = validator.iter_errors(value);
        for error in errors.by_ref().take(MOST_ERRORS) {
            report.add(&error);
        }
        if errors.next().is_some() {
            report.note_more();
        }
        Err(report.finish(MOST_FAULTS))
    }
}

/// Leaves out lists of values of which none has the type beside them: no call would fit, and models are shown the type.
fn leave_out_contradictions(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(keyword) = contradicting_values(map) {
                map.shift_remove(keyword);
            }
            let is_data = |keyword: &str| matches!(keyword, "const" | "enum" | "default" | "examples");
            map.iter_mut().filter(|(key, _)| !is_data(key)).for_each(|(_, value)| leave_out_contradictions(value));
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_contradictions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Says that nothing can be said of a value.
fn no_validator(wrong: String) -> Fault {
    let (path, expected, received) = ("$".to_owned(), "what the schema says".to_owned(), "something else".to_owned());
    Fault { path, expected, received, hint: Some(wrong), key: UnknownKey::default() }
}

/// Cuts a description that would take more room than it is worth.
fn shortened(mut words: String) -> String {
    if let Some((end, _)) = words.char_indices().nth(LONGEST_WORDS) {
        words.truncate(end);
        words.push('…');
    }
    words
}

fn is_deeper_than(value: &Value, most: usize) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((part, depth)) = pending.pop() {
        if depth > most {
            return true;
        }
        pending.extend(narrow::children(part).into_iter().map(|child| (child, depth + 1)));
    }
    false
}
