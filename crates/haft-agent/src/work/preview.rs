//! Describes a call on one short line.

use haft_model::conversation::ModelToolCall;
use haft_runtime::redaction::redact::Redactor;
use serde_json::Value;

/// Longest preview, in characters.
const LONGEST: usize = 100;

/// Returns what a call is about: the first text among its arguments, which is its path, command or pattern. Secrets are
/// hidden, before anything is cut.
pub fn preview(call: &ModelToolCall, redactor: &Redactor) -> String {
    let shown = |text: &str| one_line(&redactor.redact(text));
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(fields)) => fields.values().find_map(first_text).map(shown).unwrap_or_default(),
        Ok(_) | Err(_) => shown(&call.arguments),
    }
}

fn first_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.iter().find_map(first_text),
        Value::Object(fields) => fields.values().find_map(first_text),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(LONGEST) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_the_first_text_on_one_short_line() {
        let redactor = Redactor::of_values(["hunter2-hunter2".to_owned()]);
        let check = |arguments: &str, shown: &str| {
            let call = ModelToolCall { id: "1".into(), name: "t".into(), arguments: arguments.into(), is_cut: false };
            assert_eq!(preview(&call, &redactor), shown);
        };
        check(r#"{"path":"src/a.rs","limit":3}"#, "src/a.rs");
        check(r#"{"limit":3,"paths":["a","b"]}"#, "a");
        check("{\"command\":\"cargo test \\\\\\n  -p haft\\u001b[2J\"}", "cargo test \\ -p haft [2J");
        check("{}", "");
        // Hidden before it is cut: half a secret is one, too.
        check(&format!("{{\"a\":\"{} hunter2-hunter2\"}}", "x".repeat(90)), &format!("{} [secret]", "x".repeat(90)));
        check("{\"path\": \"half", "{\"path\": \"half");
        check(&format!("{{\"a\":\"{}\"}}", "é".repeat(200)), &format!("{}…", "é".repeat(100)));
    }
}
