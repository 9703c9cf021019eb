//! Compares what came of a case with what it says.

use haft_contract::call::CallId;
use haft_contract::outcome::result::{Did, Status, ToolResult};
use haft_contract::tool::Tool;
use haft_tools::run::bash::Bash;
use regex::RegexBuilder;
use serde_json::{Map, Value};

use crate::case::{Case, Ran};
use crate::meanings::found;
use crate::server::BINARY;

/// Returns a sentence for everything that is not as the case says.
pub(crate) fn faults(case: &Case, ran: &Ran) -> Vec<String> {
    let last = ran.records.last().cloned().unwrap_or_default();
    let told = |key: &str, wanted: &Value| fault(key, wanted, &last, ran).map(|fault| format!("{fault}\n  {ran:?}"));
    case.then.iter().filter_map(|(key, wanted)| told(key, wanted)).collect()
}

/// Returns what is wrong with one thing that a case says; `record` is the call that it speaks of.
fn fault(key: &str, wanted: &Value, record: &Value, ran: &Ran) -> Option<String> {
    let content = text(&record["content"]);
    let data = &record["data"];
    let holds = match key {
        // What the originals did, where haft is to do better.
        "peer_differs" => true,
        key if ran.facts.contains_key(key) => ran.facts[key] == *wanted,
        "ok" => ran.records.iter().all(|record| wanted == (record["status"] == "ok")),
        "error_kind" => data["error"] == class(text(wanted)),
        "error_type" => data["error_type"] == *wanted || data["error"]["type"] == *wanted,
        "message_mentions" | "contains" => all(wanted, |mention| content.contains(mention)),
        "not_contains" => all(wanted, |mention| !content.contains(mention)),
        "error_mentions" => all(wanted, |mention| text(&data["error"]).contains(mention)),
        "suggestion_mentions" => all(wanted, |mention| text(&data["suggestion"]).contains(mention)),
        "preview_first_line_mentions" => all(wanted, |mention| preview(record).contains(mention)),
        "content_regex" => all(wanted, |pattern| {
            let pattern = RegexBuilder::new(pattern).multi_line(true).build().expect("the pattern is one");
            pattern.is_match(text(&data["content"]))
        }),
        "file_after" => object(wanted).iter().all(|(name, content)| file(ran, name) == text(content)),
        "blocked" => {
            let blocked = ran.records.iter().map(|record| Value::from(record["error"]["kind"] == "denied"));
            blocked.collect::<Value>() == *wanted
        }
        "prompts_shown" => wanted == &Value::Array(Vec::new()) && ran.records.iter().all(was_not_asked),
        "results" => {
            let results = wanted.as_array().expect("a list of results");
            results.len() == ran.records.len()
                && results.iter().zip(&ran.records).all(|(wanted, record)| means(text(wanted), record, ran))
        }
        "all_steps" => !ran.records.is_empty() && ran.records.iter().all(|record| means(text(wanted), record, ran)),
        "note" => means(text(wanted), record, ran),
        key if found::<1>(r"^step(\d+)$", key).is_some() => return step_fault(key, wanted, ran),
        key => data.get(key) == Some(wanted),
    };
    (!holds).then(|| format!("{key}: {wanted} does not hold"))
}

/// Compares one step: with an object, or with words.
fn step_fault(key: &str, wanted: &Value, ran: &Ran) -> Option<String> {
    let [number] = found(r"^step(\d+)$", key)?;
    let number: usize = number.parse().expect("a step has a number");
    // A step that ends the turn has no record.
    let record = ran.records.get(number - 1).or(ran.records.last())?;
    match wanted {
        Value::Object(wanted) => wanted.iter().find_map(|(key, wanted)| fault(key, wanted, record, ran)),
        wanted if means(text(wanted), record, ran) => None,
        wanted => Some(format!("{key}: {wanted} does not hold")),
    }
}

/// Says whether words are true of a call.
fn means(words: &str, record: &Value, ran: &Ran) -> bool {
    let content = text(&record["content"]);
    let status = text(&record["status"]);
    let is_bad = record["error"]["kind"] == "bad_arguments";
    match words {
        "executed" => record["error"]["kind"] != "redundant" && status == "ok",
        "created" => status == "ok" && record["did"] == "changed" && content.contains("Created"),
        "blocked, security error, nothing executed" => {
            status == "refused" && record["error"]["kind"] == "denied" && record["did"] == "nothing"
        }
        "validation error naming the parameter and expected type" => {
            record["error"]["kind"] == "bad_arguments" && content.contains("expected a") && content.contains("$.")
        }
        "peer leaves the string in place and then reports only that parameters are invalid" => true,
        "line cut after 2000 characters and visibly marked; file itself untouched" => {
            let cut = content.contains(&format!("| {}...\n", "x".repeat(2_000)));
            cut && file(ran, "f.txt") == "x".repeat(2_500)
        }
        "says nothing would change / target equals patch" => content.contains("new_text is there already"),
        "result = first 2500 chars + visible truncation marker + last 1000 chars" => {
            let ends = [2_500, 1_000].map(|letters| "a".repeat(letters));
            let (head, tail) = (format!("\n{}\n[…", ends[0]), format!("…]\n{}\n", ends[1]));
            content.contains(&head) && content.contains(&tail) && content.matches('a').count() < 4_000
        }
        "names the bad item's index" => content.contains("file_paths[1]"),
        "line number right-aligned to width 6, then a tab" => content.contains("\n     1\tL1\n"),
        "the missing file yields an inline error section" => {
            content.contains("=== missing.txt ===\nError: missing.txt does not exist.")
        }
        "no stack trace in the model-facing text" => {
            !["panicked at", "Traceback", ".rs:"].iter().any(|t| content.contains(t))
        }
        "retry: next_action needed" => is_bad && content.contains("needs \"next_action\""),
        "two numbered entries: think 't -> n', observe 'r'" => {
            content == "1. thought: t\n   next: n\n2. observation: r"
        }
        "says empty" | "cleared" => status == "ok" && content.contains("is empty"),
        "error: only one in_progress" => is_bad && content.contains("at most one item can be"),
        "error: empty description" => is_bad && content.contains("is empty"),
        "error: lists the four valid statuses" => {
            is_bad && ["pending", "in_progress", "completed", "cancelled"].iter().all(|status| content.contains(status))
        }
        "error naming http/https" => status != "ok" && content.contains("http") && content.contains("https"),
        "success, text states size and type, no raw bytes" => {
            let size = format!("{BINARY} bytes");
            status == "ok" && content.contains(&size) && content.contains("octet-stream") && content.len() < BINARY
        }
        "JSON text" => status == "ok" && content.contains("{\"a\":[1,2]}"),
        "'- likes tea' is appended inside the Memories section, before '## Other'; leading dashes stripped" => {
            file(ran, "MEM.md") == "# T\n\n## Memories\n- a\n- likes tea\n\n## Other\nx\n"
        }
        words => panic!("\"{words}\" has no meaning yet"),
    }
}

fn was_not_asked(record: &Value) -> bool {
    !["needs_approval", "declined"].iter().any(|kind| record["error"]["kind"] == *kind)
}

/// The class of an error, by the first word that the case has for it.
fn class(words: &str) -> &'static str {
    match words.split([' ', '(']).next().unwrap_or_default() {
        "retry" => "ModelRetry",
        "file-operation" => "FileOperationError",
        "tool-execution" => "ToolExecutionError",
        other => panic!("the kind of error \"{other}\" has no meaning yet"),
    }
}

/// The first line that a person is shown of a command.
fn preview(record: &Value) -> String {
    let result = ToolResult {
        id: CallId::new("1"),
        tool: "bash".into(),
        status: Status::Ok,
        content: vec![haft_contract::outcome::output::Content::Text(text(&record["content"]).to_owned())],
        display: None,
        error: None,
        stopped_at: None,
        data: None,
        did: Did::Nothing,
        repairs: Vec::new(),
        warnings: Vec::new(),
        spilled: None,
        limited: None,
        changes: None,
        exit_code: record["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
        sandbox: None,
        left_behind: 0,
        undeclared: Vec::new(),
        conflicts: Vec::new(),
        network: Vec::new(),
        job: None,
        home: 0,
        bits: Vec::new(),
        cached: None,
        took: std::time::Duration::ZERO,
    };
    Bash.summary(&result, 3).into_iter().next().unwrap_or_default()
}

fn file(ran: &Ran, name: &str) -> String {
    let home = ran.home.as_ref().expect("the case has a workspace");
    String::from_utf8_lossy(&std::fs::read(home.path("ws").join(name)).unwrap_or_default()).into_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn all(list: &Value, holds: impl Fn(&str) -> bool) -> bool {
    list.as_array().is_some_and(|list| list.iter().all(|one| holds(text(one))))
}
