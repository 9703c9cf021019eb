//! Messages for models reach models, and messages for people reach people.

use serde_json::{Value, json};

use super::Place;

/// Calls that are refused or fail, each with words for a model that speak of the user.
fn refused() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": "/etc/passwd" })),
        ("bash", json!({ "command": "rm src/main.rs" })),
        ("bash", json!({ "command": "cat ~/.ssh/id_rsa" })),
        ("bash", json!({ "command": "sudo ls" })),
        ("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        ("write_file", json!({ "path": "new.txt", "content": "x" })),
    ]
}

#[test]
fn a_person_who_calls_a_tool_is_not_told_to_ask_the_user() {
    let place = Place::new();
    for (tool, arguments) in refused() {
        let text = place.haft(&["call", tool, &arguments.to_string()], "");
        assert_eq!(text.code, 3, "{tool} {arguments}: {}", text.err);
        assert!(!text.err.to_lowercase().contains("the user"), "{}", text.err);
        let record = place.haft(&["--json", "call", tool, &arguments.to_string()], "");
        assert!(!record.out.to_lowercase().contains("the user"), "{}", record.out);
    }
}

#[test]
fn a_model_is_not_told_what_only_a_person_can_do() {
    let place = Place::new();
    let lines: Vec<String> = refused()
        .iter()
        .map(|(tool, arguments)| format!("{}\n", json!({ "name": tool, "arguments": arguments })))
        .collect();
    let records = place.lines(&lines.concat());
    assert!(records.iter().filter(|record| record.to_string().contains("ask the user")).count() >= 4, "{records:?}");
    for record in records {
        let said = record.to_string();
        assert!(!said.contains("--yes") && !said.contains("haft undo") && !said.contains("haft call"), "{said}");
    }
}
