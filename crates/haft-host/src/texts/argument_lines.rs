//! Shows the arguments of a call to a person: one key and its value on each line.

use serde_json::Value;

/// A value longer than this is written on several lines, in characters.
const LONG: usize = 80;

/// Returns the arguments, a line for each short value. Text of several lines stands below its key; so does a long list or
/// object, as indented JSON.
#[must_use]
pub fn argument_lines(arguments: &Value) -> Vec<String> {
    match arguments {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().flat_map(|(key, value)| field_lines(key, value)).collect()
        }
        other => pretty(other).lines().map(str::to_owned).collect(),
    }
}

fn field_lines(key: &str, value: &Value) -> Vec<String> {
    let text = match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        Value::String(text) => return vec![format!("{key}: {text}")],
        other => {
            let short = other.to_string();
            if short.chars().count() <= LONG {
                return vec![format!("{key}: {short}")];
            }
            pretty(other)
        }
    };
    let below = text.lines().map(|line| format!("  {line}"));
    std::iter::once(format!("{key}:")).chain(below).collect()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_argument_has_its_key_and_a_long_one_stands_below_it() {
        let arguments = json!({
            "path": "a b.txt", "count": 3, "tags": ["x", "y"], "text": "one\ntwo\n",
            "items": [{ "name": "a long name of an item" }, { "name": "another long name of one" }, { "name": "third" }]
        });
        insta::assert_snapshot!(argument_lines(&arguments).join("\n"), @r#"
        path: a b.txt
        count: 3
        tags: ["x","y"]
        text:
          one
          two
        items:
          [
            {
              "name": "a long name of an item"
            },
            {
              "name": "another long name of one"
            },
            {
              "name": "third"
            }
          ]
        "#);
        assert_eq!(argument_lines(&json!({})), ["{}"]);
        assert_eq!(argument_lines(&json!("text")), ["\"text\""]);
    }
}
