//! Conditions of a rule on the arguments of a call, by name: for any tool, also for tools that haft does not know.
//!
//! A rule that asks or denies reads widely: one value that fits is enough, and capitals do not matter. One that allows
//! reads narrowly: every value must fit as it is written.

use serde_json::Value;

use crate::decision::Decision;

/// The name that stands for every argument, at any depth.
const ANY: &str = "*";
/// What is between the names on the way to an inner argument.
const BELOW: char = '.';

/// What an argument must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPattern {
    name: String,
    texts: Vec<TextPattern>,
    reads: MatchBreadth,
}

/// Whether a pattern fits widely (any value, in any case) or narrowly (every value, in its exact case).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchBreadth {
    Widely,
    Narrowly,
}

/// Text in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TextPattern {
    written: String,
    /// What stands between the stars.
    pieces: Vec<String>,
}

impl ArgumentPattern {
    /// Reads the name of an argument, such as `database` or `edits.new_text`, and the patterns one of which it must fit.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, and the fix.
    pub fn new(name: &str, patterns: &[String], decision: Option<Decision>) -> Result<Self, (String, String)> {
        let is_name = name == ANY || (!name.trim().is_empty() && name.split(BELOW).all(|part| !part.is_empty()));
        if !is_name {
            let fix = "write its name, such as database, edits.new_text, or \"*\" for any".to_owned();
            return Err((format!("\"{name}\" is not the name of an argument"), fix));
        }
        if patterns.is_empty() || patterns.iter().any(String::is_empty) {
            let fix = "write the text to match, with * for any text".to_owned();
            return Err((format!("the pattern of the argument \"{name}\" is empty"), fix));
        }
        let reads = if decision == Some(Decision::Allow) { MatchBreadth::Narrowly } else { MatchBreadth::Widely };
        let text = |written: &String| {
            let pieces = written.split('*').map(|piece| folded(piece, reads)).collect();
            TextPattern { written: written.clone(), pieces }
        };
        Ok(Self { name: name.to_owned(), texts: patterns.iter().map(text).collect(), reads })
    }

    /// Returns whether the arguments of a call fit.
    pub fn fits(&self, arguments: &Value) -> bool {
        let mut values = Vec::new();
        if self.name == ANY {
            leaves(arguments, &mut values);
        } else {
            let way: Vec<&str> = self.name.split(BELOW).collect();
            at(arguments, &way, &mut values);
        }
        let fits = |value: &&Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = folded(&text, self.reads);
            self.texts.iter().any(|pattern| pattern.fits(&text))
        };
        match self.reads {
            MatchBreadth::Widely => values.iter().any(fits),
            MatchBreadth::Narrowly => !values.is_empty() && values.iter().all(fits),
        }
    }

    /// Returns it as it was written.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.texts.iter().map(|pattern| pattern.written.as_str()).collect();
        format!("{} = {}", self.name, texts.join(" or "))
    }
}

impl TextPattern {
    fn fits(&self, text: &str) -> bool {
        let [first, between @ .., last] = self.pieces.as_slice() else {
            return self.pieces.first().is_some_and(|whole| whole == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        for piece in between {
            let Some(at) = rest.find(piece.as_str()) else { return false };
            rest = &rest[at + piece.len()..];
        }
        true
    }
}

fn folded(text: &str, reads: MatchBreadth) -> String {
    if reads == MatchBreadth::Widely { text.to_lowercase() } else { text.to_owned() }
}

/// Collects what lies at the end of a way; a list stands for each of its items.
fn at<'v>(value: &'v Value, way: &[&str], found: &mut Vec<&'v Value>) {
    match (way, value) {
        (_, Value::Array(items)) => items.iter().for_each(|item| at(item, way, found)),
        ([], value) => leaves(value, found),
        ([name, below @ ..], Value::Object(fields)) => {
            if let Some(inner) = fields.get(*name) {
                at(inner, below, found);
            }
            // A name may have a dot itself.
            if let (false, Some(inner)) = (below.is_empty(), fields.get(&way.join("."))) {
                at(inner, &[], found);
            }
        }
        _ => {}
    }
}

/// Collects texts, numbers and truths, at any depth.
fn leaves<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, found)),
        Value::Null => {}
        value => found.push(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(decision: Decision, (name, pattern): (&str, &str), arguments: Value) -> bool {
        let pattern = ArgumentPattern::new(name, &[pattern.to_owned()], Some(decision)).expect("it is a pattern");
        pattern.fits(&arguments)
    }

    #[test]
    fn an_argument_is_compared_as_a_whole_and_a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("prod", "prod", true),
            ("prod", "production", false),
            ("prod*", "production", true),
            ("*drop*table*", "x; DROP\nTABLE users", true),
            ("*a*a", "a", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(Decision::Deny, ("db", pattern), json!({ "db": text })), expected, "{pattern} and {text}");
        }
        assert!(!fits(Decision::Deny, ("db", "prod"), json!({ "other": "prod" })));
        assert!(
            fits(Decision::Deny, ("n", "5"), json!({ "n": 5 }))
                && fits(Decision::Deny, ("b", "true"), json!({ "b": true }))
        );
    }

    #[test]
    fn inner_arguments_and_items_of_lists_have_their_names_on_the_way() {
        let call = json!({ "edits": [{ "new_text": "a" }, { "new_text": "secret" }], "a.b": "c" });
        assert!(fits(Decision::Deny, ("edits.new_text", "secret"), call.clone()));
        assert!(fits(Decision::Deny, ("edits", "secret"), call.clone()));
        assert!(fits(Decision::Deny, ("a.b", "c"), call.clone()));
        assert!(fits(Decision::Deny, ("*", "secret"), call.clone()));
        assert!(!fits(Decision::Deny, ("new_text", "secret"), call));
    }

    #[test]
    fn a_permission_reads_narrowly_every_value_and_its_capitals() {
        assert!(fits(Decision::Allow, ("paths", "docs/*"), json!({ "paths": ["docs/a", "docs/b"] })));
        assert!(!fits(Decision::Allow, ("paths", "docs/*"), json!({ "paths": ["docs/a", "src/b"] })));
        assert!(!fits(Decision::Allow, ("paths", "docs/*"), json!({ "paths": [] })));
        assert!(!fits(Decision::Allow, ("mode", "read"), json!({ "mode": "READ" })));
    }

    #[test]
    fn a_name_or_a_pattern_of_nothing_is_refused() {
        for (name, patterns) in
            [("", vec!["x".to_owned()]), ("a..b", vec!["x".to_owned()]), ("a", vec![]), ("a", vec![String::new()])]
        {
            assert!(ArgumentPattern::new(name, &patterns, None).is_err(), "{name}");
        }
    }
}
