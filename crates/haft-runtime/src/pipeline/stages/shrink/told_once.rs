//! Decides which repairs a session reports only once, and which it reports again.
//!
//! A model that writes `file_path` writes it in every call. It need not read the same note each time, as long as haft
//! read none of its values differently than the model may expect. The record of a call has all repairs.

use serde_json::Value;

use crate::arguments::is_completed;

/// Tells whether a repair changed nothing that the call does.
pub(super) fn is_idle(repair: &str) -> bool {
    repair.ends_with("left out, it changes nothing")
}

/// Returns the kind of a repair that is told once; nothing for one that is told each time.
pub(super) fn kind(repair: &str) -> Option<String> {
    let (place, what) = repair.split_once(": ")?;
    let place = without_indexes(place);
    if place == "json" {
        // There may have been more to come.
        return (!is_completed(repair)).then(|| repair.to_owned());
    }
    // Whatever is in a patch, the model expects it to be read.
    if let Some((patch, _)) = what.split_once(" read as ").filter(|(read, _)| *read == "the patch") {
        return Some(format!("{place}: {patch}"));
    }
    if what.contains("read as ") || what.ends_with(" left out") {
        return Some(format!("{place}: {what}"));
    }
    let (before, after) = what.split_once(" → ")?;
    if before.ends_with(" ms\"") || place.ends_with("_ms") {
        return Some(format!("{place}: milliseconds"));
    }
    let (read, meant) = (serde_json::from_str(before).ok()?, serde_json::from_str(after).ok()?);
    match &read {
        // The same value in another type.
        Value::String(text) if *text == bare(&meant) || meant == Value::Array(vec![read.clone()]) => {
            Some(format!("{place}: {} as text", kind_of(&meant)))
        }
        Value::Number(_) | Value::Bool(_) => Some(format!("{place}: {what}")),
        _ => None,
    }
}

fn bare(value: &Value) -> String {
    match value {
        Value::String(_) | Value::Array(_) | Value::Object(_) => String::new(),
        scalar => scalar.to_string(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Bool(_) => "true or false",
        _ => "a number",
    }
}

/// Writes a place without the numbers of items: `$.edits[].old_text`.
fn without_indexes(place: &str) -> String {
    let mut plain = String::new();
    for part in place.split_inclusive('[') {
        plain.push_str(if plain.ends_with('[') { part.trim_start_matches(|c: char| c.is_ascii_digit()) } else { part });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_repair_of_other_values_is_of_one_kind() {
        for (one, other) in [
            ("$.file_path: read as \"path\"", "$.file_path: read as \"path\""),
            ("$.limit: \"5\" → 5", "$.limit: \"70\" → 70"),
            ("$.include: \"*.rs\" → [\"*.rs\"]", "$.include: \"*.md\" → [\"*.md\"]"),
            ("$.edits[0].new_str: read as \"new_text\"", "$.edits[12].new_str: read as \"new_text\""),
            ("json: removed a trailing comma", "json: removed a trailing comma"),
            ("$.path: \"\" left out", "$.path: \"\" left out"),
            ("$.input: the patch read as edits of a.rs", "$.input: the patch read as changes of 3 files"),
            ("$.timeout: \"300000 ms\" → 300 s", "$.timeout: \"60000 ms\" → 60 s"),
            ("$.timeout_ms: 1500 → timeout 1.5 s", "$.timeout_ms: 2500 → timeout 2.5 s"),
        ] {
            assert_eq!(kind(one), kind(other));
            assert!(kind(one).is_some(), "{one}");
        }
        assert_ne!(
            kind("$[\"-i\"]: true → {\"case\":\"insensitive\"}"),
            kind("$[\"-i\"]: false → {\"case\":\"sensitive\"}")
        );
    }

    #[test]
    fn a_value_that_was_read_otherwise_is_told_each_time() {
        for repair in [
            "$.path: \"/workspace/a.rs\" → \"a.rs\"",
            "$.command: [\"ls\",\"-la\"] → \"ls -la\"",
            "$.include: \"*.rs,*.md\" → [\"*.rs\",\"*.md\"]",
            "$.timeout: \"abc\" is not a number; left out, so the default applies",
            "$.glob: \"!x\" → {\"exclude\":[\"x\"]}",
            "$: 3 more of this kind",
        ] {
            assert_eq!(kind(repair), None, "{repair}");
        }
    }
}
