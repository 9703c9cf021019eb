//! Reads times that models give in another unit, or in words that are no number.
//!
//! A wrong time is never worth a failed call: the tool has a default, and haft reports what it did with the value. All
//! other errors in arguments stay errors.

use serde_json::{Number, Value};

use super::ArgumentReading;
use super::fault::shown;

/// Reads milliseconds as seconds, and leaves out what is no time; `times` are pairs of an argument in seconds and its
/// name in milliseconds.
#[must_use]
pub fn read_times(mut value: Value, times: &[(String, String)]) -> ArgumentReading {
    let mut repairs = Vec::new();
    for (seconds, milliseconds) in times {
        let Value::Object(entries) = &mut value else { break };
        if !entries.contains_key(seconds)
            && let Some(given) = entries.shift_remove(milliseconds)
        {
            match number_in(&given).and_then(|number| in_seconds(number / 1000.0)) {
                Some(converted) => {
                    repairs.push(format!("$.{milliseconds}: {} → {seconds} {converted} s", shown(&given)));
                    entries.insert(seconds.clone(), Value::Number(converted));
                }
                None if given.is_null() => repairs.push(format!("$.{milliseconds}: null left out")),
                None => repairs.push(no_time(milliseconds, &given)),
            }
        }
        if let Some(given) = entries.get(seconds)
            && let Some(converted) = given.as_str().and_then(with_unit).and_then(in_seconds)
        {
            repairs.push(format!("$.{seconds}: {} → {converted} s", shown(given)));
            entries.insert(seconds.clone(), Value::Number(converted));
        }
        if entries.get(seconds).is_some_and(|given| !given.is_null() && number_in(given).is_none())
            && let Some(given) = entries.shift_remove(seconds)
        {
            repairs.push(no_time(seconds, &given));
        }
    }
    ArgumentReading { value, repairs }
}

/// Writes a whole number as one: `2`, not `2.0`.
fn in_seconds(seconds: f64) -> Option<Number> {
    #[allow(clippy::cast_possible_truncation)] // whole and small, as is seen in the same line
    let whole = (seconds.fract() == 0.0 && seconds.abs() < 1e15).then_some(seconds as i64);
    whole.map(Number::from).or_else(|| Number::from_f64(seconds))
}

/// Reads a number with its unit behind it: `10s`, `500 ms`, `2m`.
fn with_unit(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("ms", 0.001),
        ("milliseconds", 0.001),
        ("seconds", 1.0),
        ("sec", 1.0),
        ("s", 1.0),
        ("minutes", 60.0),
        ("min", 60.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text.trim()[digits.len()..];
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    digits.trim_end().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * seconds)
}

fn no_time(name: &str, given: &Value) -> String {
    format!("$.{name}: {} is not a number; left out, so the default applies", shown(given))
}

fn number_in(given: &Value) -> Option<f64> {
    match given {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> (Value, String) {
        let reading = read_times(value, &[("timeout".to_owned(), "timeout_ms".to_owned())]);
        (reading.value, reading.repairs.join("; "))
    }

    #[test]
    fn milliseconds_become_seconds_and_that_is_told() {
        let (value, told) = read(json!({ "a": 1, "timeout_ms": 1500 }));
        assert_eq!((value, told.as_str()), (json!({ "a": 1, "timeout": 1.5 }), "$.timeout_ms: 1500 → timeout 1.5 s"));
    }

    #[test]
    fn a_number_with_its_unit_is_that_time() {
        for (text, seconds) in [("10s", json!(10)), ("500 ms", json!(0.5)), ("2m", json!(120)), ("1.5 sec", json!(1.5))]
        {
            assert_eq!(read(json!({ "timeout": text })).0, json!({ "timeout": seconds }), "{text}");
        }
        assert_eq!(read(json!({ "timeout": "10 x" })).0, json!({}));
    }

    #[test]
    fn both_units_at_once_have_no_meaning() {
        let both = json!({ "timeout": 1, "timeout_ms": 1000 });
        assert_eq!(read(both.clone()), (both, String::new()));
    }

    #[test]
    fn what_is_no_time_is_left_out_and_that_is_told() {
        let told = "$.timeout: \"abc\" is not a number; left out, so the default applies";
        assert_eq!(read(json!({ "timeout": "abc" })), (json!({}), told.to_owned()));
        assert_eq!(read(json!({ "timeout_ms": [1] })).0, json!({}));
    }

    #[test]
    fn a_number_in_quotes_is_left_to_those_who_read_numbers() {
        assert_eq!(read(json!({ "timeout": "3" })), (json!({ "timeout": "3" }), String::new()));
    }
}
