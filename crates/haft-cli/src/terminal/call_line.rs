//! A call as a person types it: `read_file path=Cargo.toml`, `bash command='cargo test'`, or one JSON object.
//!
//! Quotes work as in a shell. haft expands nothing, and an open quote is not an error while the user still types the
//! line.

use std::ops::Range;

use serde_json::Value;

use super::tool_facts::ToolFacts;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) text: String,
    /// Its position in the line, with its quotes.
    pub(super) bytes: Range<usize>,
}

/// A line that calls a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallLine {
    pub(super) tool: String,
    pub(super) given: GivenArguments,
}

/// The arguments of such a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GivenArguments {
    /// The words behind the name.
    Words(Vec<String>),
    /// One JSON object.
    Json(Value),
}

/// Splits a line into words; says whether the last one has an open quote.
pub(super) fn words(line: &str) -> (Vec<Word>, bool) {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.char_indices();
    while let Some((at, c)) = characters.next() {
        let end = at + c.len_utf8();
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                open(&mut word, at, end);
            }
            (Some(open), c) if open == c => {
                quote = None;
                word.iter_mut().for_each(|word| word.bytes.end = end);
            }
            // Only what would end a word or a quote needs a backslash.
            (None | Some('"'), '\\') if escapes(&line[end..], quote) => {
                let (at, c) = characters.next().unwrap_or((at, c));
                open(&mut word, at, at + c.len_utf8()).push(c);
            }
            (_, c) => open(&mut word, at, end).push(c),
        }
    }
    words.extend(word);
    (words, quote.is_some())
}

fn open(word: &mut Option<Word>, at: usize, end: usize) -> &mut String {
    let word = word.get_or_insert_with(|| Word { text: String::new(), bytes: at..end });
    word.bytes.end = end;
    &mut word.text
}

fn escapes(rest: &str, quote: Option<char>) -> bool {
    let is_special = |c: char| match quote {
        Some(_) => matches!(c, '"' | '\\'),
        None => matches!(c, '"' | '\'' | '\\') || c.is_whitespace(),
    };
    rest.chars().next().is_some_and(is_special)
}

/// Returns the word as it must be typed.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| !(c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    match text {
        text if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        text if !text.contains('\'') => format!("'{text}'"),
        text => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Splits `key=value`.
pub(super) fn pair(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_key.then_some((key, value))
}

/// Returns the pairs among the words behind the name.
pub(super) fn pairs(words: &[Word]) -> Vec<(String, String)> {
    let pairs = words.iter().skip(1).filter_map(|word| pair(&word.text));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Reads a line as a call of one of these tools, whatever else it could mean.
pub(super) fn read(line: &str, tools: &[ToolFacts]) -> Option<CallLine> {
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
pub(super) fn read_if_plain(line: &str, tools: &[ToolFacts]) -> Option<CallLine> {
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

    fn texts(line: &str) -> (Vec<String>, bool) {
        let (words, is_open) = words(line);
        (words.into_iter().map(|word| word.text).collect(), is_open)
    }

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        let expected = vec!["bash".to_owned(), "command=echo \"a b\" \\n".to_owned(), "timeout=5".to_owned()];
        assert_eq!(texts("bash command='echo \"a b\" \\n'  timeout=5"), (expected, false));
        assert_eq!(texts(r#"a "b \" c" d\ e C:\x"#).0, ["a", "b \" c", "d e", "C:\\x"]);
        assert_eq!(texts("a 'b c"), (vec!["a".to_owned(), "b c".to_owned()], true));
        for text in ["plain", "two words", "it's", "say \"hi\" it's", "", "back\\slash \"'"] {
            assert_eq!(texts(&quoted(text)).0, [text], "{text}");
        }
        let (words, _) = words("ab 'c d' e");
        assert_eq!(words.iter().map(|word| word.bytes.clone()).collect::<Vec<_>>(), [0..2, 3..8, 9..10]);
    }

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
