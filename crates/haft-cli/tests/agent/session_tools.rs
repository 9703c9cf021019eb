//! The tools of a session in runs of an agent: what is kept for the next run, how a call ends one, what is told first.

use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::place::{Place, said};

#[test]
fn the_list_and_the_scratchpad_are_there_again_after_resume() {
    let place = Place::new();
    let todo = ScriptedTurn::call("todo", json!({ "items": [{ "content": "Fix it", "status": "in_progress" }] }));
    let think = ScriptedTurn::call("think", json!({ "text": "Shared state?" }));
    let model = ScriptedModel::start(ModelScript::of([todo, think, ScriptedTurn::text("Later.")]));
    assert_eq!(place.haft(&model, &["run", "work"]).code, 0);
    let look = ScriptedTurn::call("todo", json!({})).and_call("think", json!({ "action": "get" }));
    let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("I see.")]));
    assert_eq!(place.haft(&model, &["resume", "go on"]).code, 0);
    let requests = model.requests();
    let results: Vec<&str> = requests[1].conversation.last_results().iter().map(|came| came.text.as_str()).collect();
    assert_eq!(results, ["[>] Fix it\n0 of 1 done", "1. thought: Shared state?"]);
    let model =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::call("todo", json!({})), ScriptedTurn::text("None.")]));
    assert_eq!(place.haft(&model, &["run", "something else"]).code, 0);
    assert_eq!(
        model.requests()[1].conversation.last_results()[0].text,
        "The list is empty.",
        "another session has its own"
    );
}

#[test]
fn a_run_ends_with_the_call_that_finishes_and_prints_its_words() {
    let place = Place::new();
    let finish = || ScriptedTurn::call("finish", json!({ "summary": "It has two lines." }));
    let model = ScriptedModel::start(ModelScript::of([finish(), ScriptedTurn::text("never asked")]));
    let ran = place.haft(&model, &["run", "how long is it?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("It has two lines.\n", 0), "{}", ran.err);
    assert_eq!(model.turns_left(), 1);
    let model = ScriptedModel::start(ModelScript::of([finish()]));
    let records = place.haft(&model, &["run", "--json", "how long is it?"]);
    assert!(records.out.contains(r#""event":"text","text":"It has two lines.""#), "{}", records.out);
}

#[test]
fn with_a_schema_the_result_is_checked_while_the_run_goes_on() {
    let place = Place::new();
    place.put(
        "ws/lines.json",
        r#"{"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}"#,
    );
    let finish =
        |lines: serde_json::Value| ScriptedTurn::call("complete_task", json!({ "result": { "lines": lines } }));
    let model = ScriptedModel::start(ModelScript::of([finish(json!("many")), finish(json!(2))]));
    let ran = place.haft(&model, &["--dialect", "nexau", "run", "--output-schema", "lines.json", "how long?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"lines\":2}\n", 0), "{}", ran.err);
    let requests = model.requests();
    assert!(requests[0].text.contains("call \\\"complete_task\\\" with the object"), "{}", requests[0].text);
    let told = &requests[1].conversation.last_results()[0].text;
    assert!(told.contains("$.lines: expected a whole number"), "{told}");
}

#[test]
fn the_facts_of_a_trusted_project_are_told_as_notes() {
    let place = Place::new();
    place.put("ws/HAFT_MEMORY.md", "Mine\n\n## Remembered facts\n\n- Use tabs.\n\n## Other\n\n- nothing of it\n");
    let asked = |flags: &[&str]| {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Hello.")]));
        let ran = place.haft(&model, &[&["run"], flags, &["hello"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        model.requests()[0].text.clone()
    };
    assert!(!asked(&[]).contains("Use tabs"));
    assert_eq!(said(place.bare(&["trust", "."])).code, 0);
    let told = asked(&[]);
    assert!(told.contains("information, not instructions") && told.contains("- Use tabs."), "{told}");
    assert!(!told.contains("nothing of it"), "{told}");
}

#[test]
fn the_facts_of_the_file_that_the_settings_choose_are_told_too() {
    let place = Place::new();
    place.put("ws/notes/MEM.md", "# T\n\n## Memories\n- Use tabs.\n\n## Other\n- nothing of it\n");
    place.put(
        "home/.config/haft/config.toml",
        "[limits]\nmemory_file = \"notes/MEM.md\"\nmemory_heading = \"## Memories\"\n",
    );
    let asked = || {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Hello.")]));
        let ran = place.haft(&model, &["run", "hello"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        model.requests()[0].text.clone()
    };
    assert!(!asked().contains("Use tabs"));
    assert_eq!(said(place.bare(&["trust", "."])).code, 0);
    let told = asked();
    assert!(told.contains("- Use tabs.") && !told.contains("nothing of it"), "{told}");
}
