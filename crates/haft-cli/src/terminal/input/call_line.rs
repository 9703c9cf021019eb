//! A call as a person types it: `read_file path=Cargo.toml`, `bash command='cargo test'`, or one JSON object.
//!
//! Not here: how words are quoted (`haft_host::calling::typed_words`).

use haft_host::calling::typed_words::{TypedWord, words};
use serde_json::Value;

use crate::terminal::tool_facts::ToolFacts;

/// A line that calls a tool.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::terminal) struct CallLine {
    pub(in crate::terminal) tool: String,
    pub(in crate::terminal) given: GivenArguments,
}

/// The arguments of such a line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::terminal) enum GivenArguments {
    /// The words behind the name.
    Words(Vec<String>),
    /// One JSON object.
    Json(Value),
}

/// Splits `key=value`.
pub(in crate::terminal) fn pair(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_key.then_some((key, value))
}

/// Returns the pairs among the words behind the name.
pub(in crate::terminal) fn pairs(words: &[TypedWord]) -> Vec<(String, String)> {
    let pairs = words.iter().skip(1).filter_map(|word| pair(&word.text));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Reads a line as a call of one of these tools, whatever else it could mean.
pub(in crate::terminal) fn read(line: &str, tools: &[ToolFacts]) -> Option<CallLine> {
    if line.trim_start().starts_with('{') {
        return read_json(line);
    }
    let (words, _) = words(line);
    let tool = tools.iter().find(|tool| words.first().is_some_and(|word| word.text == tool.name))?;
    let rest = line[words[0].bytes.end..].trim();
    let given = match serde_json::from_str::<Value>(rest) {
        Ok(value @ Value::Object(_)) => GivenArguments::Json(value),
        _ => GivenArguments::Words(words.into_iter().skip(1).map(|word| word.text).collect()),
    };
    Some(CallLine { tool: tool.name.clone(), given })
}

/// Reads a line as a call if it is hardly a sentence: it has a parameter of the tool, or is JSON.
pub(in crate::terminal) fn read_if_plain(line: &str, tools: &[ToolFacts]) -> Option<CallLine> {
    let call = read(line, tools)?;
    let is_plain = match &call.given {
        GivenArguments::Json(_) => true,
        GivenArguments::Words(words) => {
            let tool = tools.iter().find(|tool| tool.name == call.tool);
            let names =
                |word: &String| pair(word).is_some_and(|(key, _)| tool.is_some_and(|t| t.parameter(key).is_some()));
            !words.is_empty() && words.first().is_some_and(names)
        }
    };
    is_plain.then_some(call)
}

/// Reads a pasted call: `{"name": …, "arguments": {…}}`, in the forms that providers and clients use.
fn read_json(line: &str) -> Option<CallLine> {
    let value: Value = serde_json::from_str(line.trim()).ok()?;
    let call = value.get("function").unwrap_or(&value);
    let tool = ["name", "tool"].iter().find_map(|key| call[*key].as_str())?.to_owned();
    let given = ["arguments", "input", "args", "parameters"].iter().find_map(|key| call.get(*key));
    let given = match given {
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(value) => value.clone(),
        None => Value::Object(serde_json::Map::new()),
    };
    given.is_object().then_some(CallLine { tool, given: GivenArguments::Json(given) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tool_facts::tests::read_file;
    use serde_json::json;

    #[test]
    fn a_line_is_a_call_of_a_known_tool_or_a_pasted_one() {
        let tools = [read_file()];
        let by_words = read("read_file Cargo.toml limit=3", &tools).expect("it is a call");
        assert_eq!(by_words.given, GivenArguments::Words(vec!["Cargo.toml".into(), "limit=3".into()]));
        for line in [
            r#"read_file {"path": "a"}"#,
            r#"{"name": "read_file", "arguments": {"path": "a"}}"#,
            r#"{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a\"}"}}"#,
            "{\"type\": \"tool_use\", \"name\": \"read_file\",\n \"input\": {\"path\": \"a\"}}",
        ] {
            let expected = CallLine { tool: "read_file".into(), given: GivenArguments::Json(json!({ "path": "a" })) };
            assert_eq!(read(line, &tools), Some(expected), "{line}");
        }
        assert_eq!(read("hello there", &tools), None);
    }

    #[test]
    fn a_sentence_that_begins_with_the_name_of_a_tool_stays_one() {
        let tools = [read_file()];
        assert!(read_if_plain("read_file path=a", &tools).is_some());
        for line in ["read_file is slow, why?", "read_file", "read_file a=b is what I typed"] {
            assert_eq!(read_if_plain(line, &tools), None, "{line}");
        }
    }
}
