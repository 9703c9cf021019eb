//! Deferred tools: who lists them, and that their names work anyway.

use serde_json::{Value, json};

use super::Place;

fn listed(place: &Place, arguments: &[&str]) -> Vec<String> {
    let said = place.haft(&[&["tools", "--json"], arguments].concat(), "");
    let list: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err));
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    list.as_array().expect("a list").iter().map(name).collect()
}

fn put_config(place: &Place, text: &str) {
    place.put("home/.config/haft/config.toml", text);
}

#[test]
fn a_deferred_tool_is_listed_only_with_all_and_marked_there() {
    let place = Place::new();
    assert!(!listed(&place, &[]).contains(&"todo".to_owned()));
    let said = place.haft(&["tools", "--all", "--json"], "");
    let list: Value = serde_json::from_str(&said.out).expect("a list");
    let deferred = |name: &str| {
        list.as_array().expect("a list").iter().find(|tool| tool["name"] == name).map(|tool| tool["deferred"].clone())
    };
    assert_eq!((deferred("todo"), deferred("bash")), (Some(json!(true)), Some(Value::Null)));
    let lowered = place.haft(&["tools", "--all", "--for", "openai"], "");
    assert!(lowered.out.contains("\"todo\"") && !lowered.out.contains("deferred"), "{}", lowered.out);
    assert!(place.haft(&["tools", "--all"], "").out.contains("(deferred)"));
    assert!(place.haft(&["tools", "todo"], "").out.contains("items (array)"));
}

#[test]
fn a_deferred_tool_is_called_by_its_name() {
    let place = Place::new();
    let said = place.haft(&["call", "todo", "{\"items\": [{\"content\": \"Fix\"}]}"], "");
    assert_eq!((said.code, said.out.as_str()), (0, "[ ] Fix\n0 of 1 done\n"), "{}", said.err);
}

#[test]
fn a_setting_a_profile_and_a_dialect_list_it() {
    let place = Place::new();
    put_config(&place, "[tools]\nshow = [\"todo\", \"think\"]\n");
    let names = listed(&place, &[]);
    assert!(
        names.contains(&"todo".to_owned())
            && names.contains(&"think".to_owned())
            && !names.contains(&"finish".to_owned()),
        "{names:?}"
    );
    let in_dialect = listed(&place, &["--dialect", "nexau"]);
    assert!(
        in_dialect.contains(&"write_todos".to_owned()) && !in_dialect.contains(&"todo".to_owned()),
        "{in_dialect:?}"
    );
    assert!(in_dialect.contains(&"think".to_owned()), "the dialect has no form of it: {in_dialect:?}");
    put_config(&place, "profile = \"tunacode\"\n");
    assert!(listed(&place, &[]).contains(&"finish".to_owned()));
}

#[test]
fn a_setting_that_names_no_tool_is_reported_with_the_nearest_one() {
    let place = Place::new();
    put_config(&place, "[tools]\nshow = [\"tood\"]\n");
    let said = place.haft(&["tools"], "");
    assert!(said.err.contains("there is no tool \"tood\" to show; did you mean \"todo\"?"), "{}", said.err);
    assert_eq!(said.code, 0);
}

#[test]
fn a_question_to_the_user_without_a_terminal_is_a_clear_refusal() {
    let place = Place::new();
    let said = place.haft(&["call", "ask_user", "{\"questions\": [{\"question\": \"Why?\"}]}", "--yes=all"], "");
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("cannot be asked: no one is here to answer"), "{}", said.err);
}

#[test]
fn a_fact_is_remembered_with_a_yes_given_beforehand_and_undone() {
    let place = Place::new();
    let said = place.haft(&["call", "remember", "fact=Use tabs.", "--yes"], "");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let file = place.path("ws/HAFT_MEMORY.md");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "## Remembered facts\n\n- Use tabs.\n");
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert!(!file.exists());
}
