//! Reads a number whose form JSON does not allow, without losing a digit.
//!
//! `+5`, `.5` and `5.` have one reading. This module refuses `01` (eight? one?), `0x10`, `1_000` and `NaN`: some
//! languages read them as other numbers, or the model meant a text.

use serde_json::Value;

use super::object::Parser;
use crate::arguments::fault::Fault;

const PLAIN_DECIMAL: &str = "a plain decimal number, or a string in double quotes";

impl Parser<'_> {
    /// Reads the number that begins at the next byte.
    pub(super) fn number(&mut self) -> Result<Value, Fault> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        // Digits right before the end may be half a number.
        if word.len() == rest.len() {
            return Err(self.cut_off("inside a number"));
        }
        if let Some(value) = short_whole(word) {
            self.at += word.len();
            return Ok(value);
        }
        let Some(plain) = plain_decimal(word) else {
            return Err(self.broken(PLAIN_DECIMAL));
        };
        let Ok(value) = serde_json::from_str::<Value>(&plain) else {
            return Err(self.broken(PLAIN_DECIMAL));
        };
        if loses_digits(&plain, &value) {
            let hint = "nothing was run; send it as a string or send a smaller number";
            return Err(self.fault(self.at, "a number that 64 bits can hold exactly", hint));
        }
        if plain != word {
            self.note("json: a number rewritten in JSON notation");
        }
        self.at += word.len();
        Ok(value)
    }
}

/// Reads the usual case, a few digits, on a fast path.
fn short_whole(word: &str) -> Option<Value> {
    let is_plain = word.len() < 18 && word.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = word.len() > 1 && word.starts_with('0');
    if is_plain && !has_leading_zero { word.parse::<u64>().ok().map(Value::from) } else { None }
}

/// Returns the number as JSON writes it, when it is a decimal number without leading zeros.
fn plain_decimal(word: &str) -> Option<String> {
    let (sign, unsigned) = match word.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (digits, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at(at),
        None => (unsigned, ""),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if !has_digits || leading_zero || !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    if !exponent.is_empty() {
        let power = exponent[1..].strip_prefix(['+', '-']).unwrap_or(&exponent[1..]);
        if power.is_empty() || !all_digits(power) {
            return None;
        }
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction {
        Some("") => format!("{sign}{whole}.0{exponent}"),
        Some(fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
        None => format!("{sign}{whole}{exponent}"),
    })
}

/// Whether a whole number was too long for 64 bits and is not kept exactly as a float either.
fn loses_digits(plain: &str, value: &Value) -> bool {
    let is_whole = !plain.contains(['.', 'e', 'E']);
    is_whole
        && value.is_f64()
        && value.as_f64().is_none_or(|float| {
            // The negative zero is kept, only with another sign of its own.
            float != 0.0 && format!("{float:.0}") != plain
        })
}
