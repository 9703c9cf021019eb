//! What text in another language than the shell's would do.

use super::act::{Act, Language, Reading};
use super::value::Value;

/// Reads text in a language.
pub(crate) fn read(_language: Language, _text: &Value) -> Reading {
    Reading { acts: vec![Act::Unknown("it is a program of its own".to_owned())], ..Reading::default() }
}
