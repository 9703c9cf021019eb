//! Turns what a model sent as arguments into a value a tool can trust, or says what is wrong with it.
//!
//! Models send almost-right JSON: a trailing comma, a number in quotes, `filePath` for `file_path`. haft repairs
//! input that has exactly one sensible reading and reports the repair. It refuses everything else with the place,
//! the expected value and the next step, because a guess that changes the meaning is worse than an error.
//!
//! The order for one call is [`read_text`], [`fit`], [`Checker::check`]; each step can be used alone.
//! Valid input passes all three unchanged.
//!
//! Not here: which tool the model means, its schema and its aliases (the catalog), how the model receives a fault (the
//! stages), and any file, process or network. A schema that refers to another document does not load.

mod check;
mod corrected;
mod example;
mod fault;
mod fit;
mod outline;
mod repairs;
mod shapes;
mod strict;
mod times;
mod words;

#[cfg(test)]
mod tests;

pub use check::Checker;
pub(crate) use corrected::corrected;
pub use example::minimal_example;
pub use fault::Fault;
pub(crate) use fault::{key_path, shown};
pub(crate) use fit::is_told_already;
pub use fit::{fit, fit_as};
pub use repairs::dropped::drop_unknown;
pub use repairs::envelope::out_of_envelope;
pub(crate) use repairs::literal::{Literal, read as read_literal};
pub(crate) use repairs::not_meant::{is_empty, is_word_for_nothing, leave_out};
pub use shapes::read_shapes;
pub(crate) use shapes::{Advice, advice, set};
pub use times::read_times;
pub use words::read_words;

use serde_json::{Map, Value};

/// Arguments that were read, and the repairs they needed, in lines for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentReading {
    /// The arguments. After [`read_text`] always an object.
    pub value: Value,
    /// One line per repair, `json: …` for the text and `$.path: …` for a key or a value.
    pub repairs: Vec<String>,
}

impl ArgumentReading {
    /// Returns whether brackets had to be closed at the end: there may have been more to come.
    pub fn is_completed(&self) -> bool {
        self.repairs.iter().any(|line| is_completed(line))
    }

    fn unchanged(value: Value) -> Self {
        Self { value, repairs: Vec::new() }
    }
}

/// Whether a repair closed brackets at the end.
pub(crate) fn is_completed(repair: &str) -> bool {
    repair.starts_with(repairs::repair::CLOSED)
}

/// Reads the raw text of a model as one JSON object.
///
/// Empty text, blanks and `null` are an object without entries. This function never alters valid JSON. It repairs
/// broken JSON only when the text has one sensible reading.
///
/// # Errors
///
/// Returns the place and the remedy when the text has no single reading as an object: cut off inside a
/// string, a key given twice, two objects, a number that would lose digits, nested deeper than 127.
pub fn read_text(text: &str) -> Result<ArgumentReading, Fault> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(ArgumentReading::unchanged(Value::Object(Map::new())));
    }
    match strict::parse(text) {
        Ok(Value::Null) => Ok(ArgumentReading::unchanged(Value::Object(Map::new()))),
        Ok(value @ Value::Object(_)) => Ok(ArgumentReading::unchanged(value)),
        Ok(Value::String(inner)) => repairs::repair::read_encoded(&inner),
        Ok(other) => Err(repairs::repair::no_object(&fault::shown(&other))),
        Err(strict::StrictParseError::Duplicate(fault)) => Err(fault),
        Err(strict::StrictParseError::Unread) => repairs::repair::read(text),
    }
}
