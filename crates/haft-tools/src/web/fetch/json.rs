//! Compacts JSON: removes useless indentation but keeps lines that can be paged.

use serde_json::Value;

/// Longest value that stands in one line, in bytes.
const ONE_LINE: usize = 100;
/// Longest item of a list that shares its line with others, in bytes.
const SHORT: usize = 24;
/// Deepest level that gets lines of its own.
const DEEPEST: usize = 40;

/// Returns the text in fewer characters; nothing where it is no JSON.
pub(super) fn compacted(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut out = String::new();
    write(&value, 0, &mut out);
    Some(out)
}

/// Returns lines of JSON, each compacted; nothing where one of them is no JSON.
pub(super) fn compacted_lines(text: &str) -> Option<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let compacted = lines.map(|line| serde_json::from_str::<Value>(line).ok().map(|value| value.to_string()));
    compacted.collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let whole = value.to_string();
    let is_leaf = !matches!(value, Value::Array(_) | Value::Object(_));
    if is_leaf || whole.len() <= ONE_LINE || depth >= DEEPEST {
        return out.push_str(&whole);
    }
    let indent = " ".repeat(depth + 1);
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    out.push(open);
    // Where the last line began, as long as more may stand in it.
    let mut line = None;
    let mut put = |key: Option<&String>, value: &Value, is_first: bool| {
        let short = value.to_string();
        let is_short = key.is_none() && short.len() <= SHORT;
        if !is_first {
            out.push(',');
        }
        match line {
            Some(begin) if is_short && out.len() - begin + short.len() <= ONE_LINE => out.push(' '),
            _ => {
                out.push('\n');
                line = is_short.then_some(out.len());
                out.push_str(&indent);
            }
        }
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Value::from(key.as_str())));
        }
        if is_short { out.push_str(&short) } else { write(value, depth + 1, out) }
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| put(None, item, at == 0)),
        Value::Object(fields) => {
            fields.iter().enumerate().for_each(|(at, (key, value))| put(Some(key), value, at == 0));
        }
        _ => {}
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_shorter_and_keeps_all_its_values_in_their_order() {
        let text = serde_json::json!({
            "z": (0..60).collect::<Vec<_>>(), "a": {"deep": ["x".repeat(90), null, true, 1.5]}, "short": {"b": 1, "a": [2]},
        });
        let pretty = serde_json::to_string_pretty(&text).unwrap();
        let compact = compacted(&pretty).unwrap();
        assert!(compact.len() < pretty.len() * 3 / 4, "{compact}");
        assert_eq!(serde_json::from_str::<Value>(&compact).unwrap().to_string(), text.to_string());
        assert!(compact.contains("\n \"short\": {\"b\":1,\"a\":[2]}\n"), "{compact}");
        assert_eq!(compacted("{\"a\": 1"), None);
        assert_eq!(compacted_lines("{ \"a\": 1 }\n\n[1, 2]\n").as_deref(), Some("{\"a\":1}\n[1,2]"));
    }
}
