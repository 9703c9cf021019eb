//! What the words of the cases mean: content of files, commands, and steps that are written as a sentence.

use regex::Regex;
use serde_json::{Map, Value, json};

/// What a file holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// Its mode, for another user than the system's own.
    pub(crate) mode: Option<u32>,
}

/// Returns what a file holds that is described in words, or the words themselves.
pub(crate) fn content(words: &str) -> Content {
    let plain = |bytes: Vec<u8>| Content { bytes, mode: None };
    if let Some([count, letter]) = found(r"^one line of (\d+) '(.)'$", words) {
        return plain(repeated(letter, count).into_bytes());
    }
    if let Some([hex]) = found(r"^bytes ((?:[0-9a-f]{2} ?)+)$", words) {
        let byte = |byte: &str| u8::from_str_radix(byte, 16).expect("the words have two digits for each byte");
        return plain(hex.split_whitespace().map(byte).collect());
    }
    if let Some([mode]) = found(r"^mode (\d+), process not root$", words) {
        let mode = u32::from_str_radix(mode, 8).expect("a mode has digits from 0 to 7");
        return Content { bytes: b"x\n".to_vec(), mode: Some(mode) };
    }
    plain(words.as_bytes().to_vec())
}

/// Returns an argument that is described in words, or the argument itself.
pub(crate) fn argument(name: &str, value: &Value) -> Value {
    let words = value.as_str().unwrap_or_default();
    if let ("command", Some([count, letter])) = (name, found(r"^print (\d+) '(.)'$", words)) {
        return json!(format!("head -c {count} /dev/zero | tr '\\0' {letter}"));
    }
    if let Some([count, letter]) = found(r"^(\d+) '(.)' on one line$", words) {
        return json!(repeated(letter, count));
    }
    value.clone()
}

/// A step of a case.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// A call, with an id where the case has one.
    Call(Option<String>, String, Map<String, Value>),
    /// The turn ends.
    EndOfTurn,
    /// Something that only the library can do, in the words of the case.
    Operation(String),
}

/// Reads a step: an object, or a sentence. `path` is what a dialect calls the path of a file.
pub(crate) fn step(step: &Value, path: &str) -> Step {
    let Value::String(words) = step else { return call(step) };
    if words == "clear current turn" {
        return Step::EndOfTurn;
    }
    let call = |tool: &str, arguments: Value| {
        Step::Call(None, tool.to_owned(), arguments.as_object().cloned().expect("arguments are an object"))
    };
    if let Some([tool, content]) = found(r"^(write_file) content '(.*)'$", words) {
        return call(tool, json!({ path: "w.txt", "content": content }));
    }
    if let Some([tool, file]) = found(r"^(write_file) (\S+)$", words) {
        return call(tool, json!({ path: file, "content": "x\n" }));
    }
    if let Some([address]) = found(r"^fetch (\S+)", words) {
        return call("fetch", json!({ "url": address }));
    }
    if let Some([time]) = found(r"^bash timeout=(\S+)", words) {
        let time = time.parse::<i64>().map_or_else(|_| json!(time.trim_matches('\'')), |seconds| json!(seconds));
        return call("bash", json!({ "command": "true", "timeout": time }));
    }
    if words == "bash no timeout" {
        return call("bash", json!({ "command": "true" }));
    }
    if let Some([tool, command]) = found(r"^(bash|shell) '?(.*?)'?$", words) {
        return call(tool, json!({ "command": command }));
    }
    if let Some([arguments]) = found(r"^call (\{.*\})$", words) {
        // They are written as people do, without quotes.
        let read = haft_runtime::arguments::read_text(arguments).expect("the arguments can be read");
        return call("t", read.value);
    }
    panic!("the step \"{words}\" has no meaning yet")
}

fn call(step: &Value) -> Step {
    let text = |name: &str| step.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(operation) = text("op") {
        return Step::Operation(operation);
    }
    // A step may be the arguments alone, where they tell which tool is meant.
    if let (Some(_), Some(arguments)) = (step.get("todos"), step.as_object()) {
        return Step::Call(None, "write_todos".to_owned(), arguments.clone());
    }
    let tool = text("tool").or_else(|| text("name")).expect("a step has a tool");
    let arguments = step.get("args").or_else(|| step.get("arguments")).and_then(Value::as_object);
    let arguments = arguments.into_iter().flatten();
    Step::Call(text("id"), tool, arguments.map(|(name, value)| (name.clone(), argument(name, value))).collect())
}

/// Returns the groups of a pattern that fits.
pub(crate) fn found<'t, const N: usize>(pattern: &str, text: &'t str) -> Option<[&'t str; N]> {
    let captures = Regex::new(pattern).expect("the pattern is one").captures(text)?;
    Some(std::array::from_fn(|group| captures.get(group + 1).map_or("", |part| part.as_str())))
}

fn repeated(letter: &str, count: &str) -> String {
    letter.repeat(count.parse().expect("a count is a number"))
}
