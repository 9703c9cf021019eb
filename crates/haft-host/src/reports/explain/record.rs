//! Writes the explanation of a command as a record for programs.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use haft_policy::decision::Decision;

use super::judged::{CommandExplanation, CommandJudge, JudgedPart};

/// Most characters of a part that a record quotes: parts may lie in each other, and each would hold the whole.
const LONGEST_PART: usize = 400;

/// A command with the id of its line. A key that stands twice is a mistake: another reader may take the other one.
#[derive(Deserialize)]
struct ExplainRequest {
    id: Option<Value>,
    command: String,
}

/// Answers a line: a JSON string, or an object with a command.
pub fn answer(judge: &CommandJudge, line: &[u8]) -> Value {
    // A byte order mark is what some editors begin a file with.
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    match serde_json::from_slice(line) {
        Ok(Value::String(command)) => of(&judge.explain(&command)),
        Ok(Value::Object(fields)) => match serde_json::from_slice::<ExplainRequest>(line) {
            Ok(asked) => with_id(asked.id.as_ref(), of(&judge.explain(&asked.command))),
            Err(_) if fields.get("command").is_some_and(Value::is_string) => {
                with_id(fields.get("id"), no_command("The object has a key twice."))
            }
            Err(_) => with_id(fields.get("id"), no_command("The object has no text \"command\".")),
        },
        _ => no_command("The line is neither a JSON string nor a JSON object."),
    }
}

/// Returns the record of a command.
pub fn of(explained: &CommandExplanation) -> Value {
    let CommandExplanation { command, ruling, parts, confined, in_session, grants } = explained;
    let mut record = json!({
        "command": command,
        "decision": ruling.decision.code(),
        "rule": ruling.rule,
        "reason": ruling.reason,
    });
    if !ruling.instead.is_empty() && ruling.decision != Decision::Allow {
        record["instead"] = json!(ruling.instead);
    }
    record["effects"] = parts.iter().map(|part| of_part(command, part)).collect();
    record["sandbox"] = json!({
        "required": confined.required.code(),
        "network": confined.network,
        "undo": confined.can_be_undone(),
    });
    if let Some(session) = in_session {
        record["in_session"] = json!({ "decision": session.decision.code(), "because": session.because });
    }
    record["grants"] = json!(grants);
    record
}

/// Returns the record of a line that holds no command. What is not understood is asked about.
pub fn no_command(reason: &str) -> Value {
    json!({
        "decision": Decision::Ask.code(),
        "rule": "not understood",
        "reason": reason,
        "instead": "write one JSON string, or {\"id\": …, \"command\": \"…\"}, per line",
        "effects": [],
        "grants": [],
    })
}

fn of_part(command: &str, part: &JudgedPart) -> Value {
    let text = command.get(part.part.clone()).unwrap_or_default();
    let cut =
        text.char_indices().nth(LONGEST_PART).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]));
    json!({
        "does": part.does,
        "part": cut,
        "sort": part.sort.name(),
        "decision": part.ruling.decision.code(),
        "rule": part.ruling.rule,
    })
}

/// Puts the id of the line in front, as it was written.
fn with_id(id: Option<&Value>, record: Value) -> Value {
    let Value::Object(fields) = record else { return record };
    let mut named = Map::new();
    named.extend(id.filter(|id| !id.is_null()).map(|id| ("id".to_owned(), id.clone())));
    named.extend(fields);
    Value::Object(named)
}
