//! Names that every provider accepts.

use haft_model::lower::{LoweredList, ProviderDialect, ToolOffer, lower, lower_all};
use serde_json::json;

fn lowered(names: &[&str]) -> LoweredList {
    let schema = json!({});
    let tools: Vec<ToolOffer<'_>> = names
        .iter()
        .map(|name| ToolOffer { name, title: None, description: "", input_schema: &schema, read_only: None })
        .collect();
    lower_all(&tools, ProviderDialect::OpenAi)
}

fn wire(names: &[&str]) -> Vec<String> {
    lowered(names).tools.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn a_safe_name_is_untouched() {
    let longest = "x".repeat(64);
    assert_eq!(wire(&["read_file", "a-b", "_x", &longest]), ["read_file", "a-b", "_x", &longest]);
}

#[test]
fn other_characters_become_underscores() {
    assert_eq!(wire(&["git.status", "zähle", "9lives"]), ["git_status", "z_hle", "_9lives"]);
    assert_eq!(wire(&["", "-x"]), ["_", "_-x"]);
}

#[test]
fn a_safe_name_wins_over_one_that_had_to_change() {
    let names = wire(&["git.status", "git_status"]);
    assert_eq!(names[1], "git_status");
    assert_eq!(names[0], "git_status_0495f6");
}

#[test]
fn names_differ_also_when_case_is_ignored() {
    let names = wire(&["Read", "read", "READ"]);
    assert_eq!(names[0], "Read");
    assert!(names[1].starts_with("read_") && names[1].len() == "read_".len() + 6, "{names:?}");
    assert!(names[2].starts_with("READ_"), "{names:?}");
}

#[test]
fn a_long_name_keeps_its_beginning_and_differs_by_its_hash() {
    let one = format!("{}one", "a".repeat(70));
    let two = format!("{}two", "a".repeat(70));
    let names = wire(&[&one, &two]);
    assert!(names.iter().all(|name| name.len() == 64 && name.starts_with("aaaa")), "{names:?}");
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_name_does_not_depend_on_the_other_tools_unless_they_collide() {
    let alone = wire(&["files/read"]);
    let among = wire(&["x", "files/write", "files/read"]);
    assert_eq!(alone[0], among[2]);
}

#[test]
fn names_lead_back_to_the_tool() {
    let list = lowered(&["git.status", "git_status", "zähle"]);
    let back: Vec<_> = list.tools.iter().map(|tool| list.native_name(&tool.name)).collect();
    assert_eq!(back, [Some("git.status"), Some("git_status"), Some("zähle")]);
    assert_eq!(list.native_name("git.status"), None);
}

#[test]
fn a_tool_that_is_kept_back_keeps_its_name_from_others() {
    let (good, bad) = (json!({}), json!({ "type": "string" }));
    let tool = |name, input_schema| ToolOffer { name, title: None, description: "", input_schema, read_only: None };
    let list = lower_all(&[tool("a_b", &bad), tool("a.b", &good)], ProviderDialect::Gemini);
    assert_eq!(list.tools[0].name, "a_b_08b918");
    assert_eq!(list.native_name("a_b_08b918"), Some("a.b"));
    assert_eq!(lower(&tool("a.b", &good), ProviderDialect::Gemini).map(|tool| tool.name), Ok("a_b".to_owned()));
}
