//! What programs do with their words, by a table that is data.

use super::act::{Act, Reading};
use super::value::Value;

/// Reads a program with its words; the first one is its name.
pub(crate) fn read(words: &[Value]) -> Reading {
    let name = words.first().map(Value::shown).unwrap_or_default();
    Reading { acts: vec![Act::Program(name)], ..Reading::default() }
}
