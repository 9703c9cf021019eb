//! Broken calls as models send them: each has one honest reading, which is found, or none, and then it is refused.
//!
//! A call has one honest reading when exactly one value of the schema's type follows from the text without dropping or
//! inventing anything. What counts is the native call that hooks and rules see.

use std::sync::{Arc, Mutex};

use haft_contract::BoxFuture;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::description::manual::Manual;
use haft_contract::description::spec::Spec;
use haft_contract::outcome::result::Status;
use haft_contract::prelude::{ErrorKind, ToolError, ToolOutput};
use haft_contract::tool::{AnyTool, ToolInvocation};
use haft_runtime::hooks::{Before, Hook, HookContext, HookedCall};
use haft_testkit::scene::Scene;
use serde_json::{Value, json};

const CASES: &str = include_str!("../../../../tests/cases/broken_calls.jsonl");
/// The least part of the calls with one honest reading that has to be understood.
const LEAST: f64 = 0.9;

/// Notes the native call and lets nothing happen.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Option<(String, Value)>>>);

impl Hook for Seen {
    fn name(&self) -> &str {
        "seen"
    }

    fn before<'a>(&'a self, call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
        *self.0.lock().expect("nobody panics with it") = Some((call.tool.clone(), call.arguments.clone()));
        Box::pin(async { Before::Refuse("it was seen".into()) })
    }
}

/// A tool with the schema of a case. It never runs.
struct AtHand(Spec);

impl AnyTool for AtHand {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn bind(self: Arc<Self>, _args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        Ok(Box::new(Never))
    }
}

struct Never;

impl ToolInvocation for Never {
    fn plan<'a>(
        &'a mut self,
        _cx: &'a haft_contract::context::PlanContext<'a>,
    ) -> BoxFuture<'a, Result<haft_contract::plan::Plan, ToolError>> {
        Box::pin(async { Ok(haft_contract::plan::Plan::nothing()) })
    }

    fn run<'a>(
        self: Box<Self>,
        _cx: &'a haft_contract::context::RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::text("")) })
    }
}

/// What became of a case: the native call, if there was one, and all words of the result.
async fn outcome(case: &Value) -> (Option<(String, Value)>, Vec<String>, String) {
    let seen = Seen::default();
    let scene = Scene::sample().hook(seen.clone());
    let raw = case["raw"].as_str().expect("a case has a text");
    let (scene, tool) = match case["tool"].as_str() {
        Some(tool) => (scene, tool),
        None => {
            let manual = Manual::plain("At hand", "Does what a case needs, and is there for the tests alone.");
            let spec = Spec::new("tool_at_hand", manual, case["schema"].clone());
            (scene.any_tool(Arc::new(AtHand(spec))), "tool_at_hand")
        }
    };
    let result = scene.send(ToolCall::new(tool, RawArguments::Text(raw.to_owned()))).await;
    let seen = seen.0.lock().expect("nobody panics with it").clone();
    (seen, result.repairs.clone(), result.text().to_owned())
}

#[tokio::test]
async fn no_broken_call_becomes_a_wrong_one_and_most_with_one_honest_reading_are_understood() {
    let (mut wrong, mut missed, mut readable, mut all) = (Vec::new(), Vec::new(), 0, 0);
    for line in CASES.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let tool = case["native"].as_str().unwrap_or("tool_at_hand");
        let meant = Some((tool.to_owned(), case["means"].clone())).filter(|(_, means)| !means.is_null());
        let (seen, repairs, words) = outcome(&case).await;
        let told = format!("{} {} ({}): {seen:?} {repairs:?} {words}", case["id"], case["class"], case["why"]);
        all += 1;
        readable += usize::from(meant.is_some());
        match (&seen, &meant) {
            (Some(_), _) if seen != meant => wrong.push(told),
            (None, Some(_)) => missed.push(told),
            _ => {}
        }
        for repair in &repairs {
            assert!(repair.starts_with("json: ") || repair.starts_with('$'), "{repair}");
        }
    }
    assert!(all >= 150, "there are only {all} cases");
    assert_eq!(wrong, Vec::<String>::new(), "wrong values");
    let understood = readable - missed.len();
    assert!(understood as f64 >= LEAST * readable as f64, "{understood} of {readable}: {missed:#?}");
    assert_eq!(missed, Vec::<String>::new(), "calls that were understood before");
}

#[tokio::test]
async fn what_has_a_counterpart_is_never_to_be_left_out() {
    for line in CASES.lines().filter(|line| line.contains("\"built-in tools\"")) {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let (_, _, words) = outcome(&case).await;
        assert!(!words.contains("leave it out"), "{}: {words}", case["id"]);
    }
}

#[tokio::test]
async fn paths_and_addresses_inside_the_workspace_are_found_and_others_stay_outside() {
    let scene = Scene::sample().file("a b.txt", "one\n").file("b.txt", "one\n");
    let root = scene.root().canonicalize().expect("the workspace is there");
    let root = root.to_str().expect("it is text");
    for path in [format!("{root}/notes.txt"), format!("file://{root}/b.txt"), format!("file://{root}/a%20b.txt")] {
        let told = scene.told("read_file", json!({ "path": path })).await;
        assert!(told.starts_with("ok:      1\tone"), "{path}: {told}");
    }
    let told = scene.told("glob", json!({ "pattern": format!("{root}/src/*.rs") })).await;
    assert!(told.contains("src/main.rs"), "{told}");
    for path in ["/etc/notes.txt", "/etc/passwd", "file:///etc/passwd", "/workspace/missing/x.txt", "~/notes.txt"] {
        let result = scene.call("read_file", json!({ "path": path })).await;
        assert_ne!(result.status, Status::Ok, "{path}");
        assert_eq!(result.repairs, Vec::<String>::new(), "{path}");
    }
}

#[tokio::test]
async fn a_path_that_names_something_is_never_read_otherwise() {
    let scene = Scene::sample().file("[a].txt", "class\n").file("a.txt", "plain\n").file("@notes.txt", "at\n");
    let missing = scene.call("read_file", json!({ "path": "src/[id]/page.rs" })).await;
    assert_eq!(missing.error.map(|error| error.kind), Some(ErrorKind::MissingFile));
    for (path, text) in [("[a].txt", "class"), ("@notes.txt", "at"), ("notes.txt", "one")] {
        let result = scene.call("read_file", json!({ "path": path })).await;
        assert!(result.text().contains(text) && result.repairs.is_empty(), "{path}: {}", result.text());
    }
}

#[tokio::test]
async fn a_name_that_is_none_of_a_job_is_answered_before_anything_runs() {
    let scene = Scene::new();
    for name in ["12", "a/b", "two\nlines", &"x".repeat(41)] {
        let told = scene.told("bash", json!({ "command": "npm test", "background": true, "name": name })).await;
        assert!(told.contains("\"name\" is not a name for a job") && told.contains("Nothing was run"), "{told}");
    }
    scene.assert_untouched();
}

/// What models send for arguments that they do not mean.
fn unmeant() -> [Value; 8] {
    [json!(null), json!(""), json!(" "), json!([]), json!({}), json!("null"), json!("None"), json!("undefined")]
}

#[tokio::test]
async fn an_argument_that_is_not_meant_is_left_out_of_the_calls_of_all_tools() {
    for tool in haft_tools::all() {
        let spec = tool.spec();
        let example = &spec.manual.examples[0].arguments;
        let required = spec.input_schema["required"].as_array().cloned().unwrap_or_default();
        let properties = spec.input_schema["properties"].as_object().expect("an object");
        let optional =
            properties.iter().filter(|(name, _)| !required.contains(&json!(name)) && example.get(name).is_none());
        for (name, property) in optional {
            for value in unmeant() {
                let mut arguments = example.clone();
                arguments[name] = value.clone();
                let case = json!({ "tool": spec.name, "raw": arguments.to_string() });
                let (seen, repairs, words) = outcome(&case).await;
                let is_path = spec.paths.iter().any(|path| path.trim_end_matches("[]") == name);
                let is_choice = property.get("enum").is_some();
                let takes = |kind: &str| match &property["type"] {
                    Value::Array(kinds) => kinds.contains(&json!(kind)),
                    only => only == kind,
                };
                let is_free_text = takes("string") && !is_path && !is_choice;
                let is_meant = is_free_text && value.is_string()
                    || value == json!({}) && property["type"].is_array() && takes("object")
                    || value == json!([]) && property.get("minItems").is_none() && takes("array");
                let said = format!("{} {arguments}: {seen:?} {repairs:?} {words}", spec.name);
                match seen {
                    Some((_, native)) if is_meant => assert_eq!(native[name], value, "{said}"),
                    Some((_, native)) => {
                        assert!(native.get(name).is_none() && repairs.len() == 1, "{said}");
                    }
                    // A word may be a choice that the tool does not have.
                    None => assert!(is_choice && value == json!("undefined"), "{said}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn an_empty_value_that_is_meant_stays() {
    let scene = Scene::sample().approver(haft_testkit::scripted::approver::ScriptedApprover::of(std::iter::repeat_n(
        haft_runtime::asking::approval::Verdict::AllowOnce,
        4,
    )));
    scene.call("write_file", json!({ "path": "empty.txt", "content": "" })).await;
    assert_eq!(scene.read("empty.txt"), "");
    scene.call("edit_file", json!({ "path": "notes.txt", "edits": [{ "old_text": "one\n", "new_text": "" }] })).await;
    assert!(!scene.read("notes.txt").contains("one"), "{}", scene.read("notes.txt"));
}

#[tokio::test]
async fn an_error_shows_the_models_own_call_as_one_that_fits() {
    let scene = Scene::sample();
    for (tool, arguments, shown) in [
        ("bash", json!({ "command": "npm test", "colour": "red" }), r#"bash({"command":"npm test"})"#),
        ("grep", json!({ "patern": "needle", "path": "src" }), r#"grep({"pattern":"needle","path":"src"})"#),
        ("grep", json!({ "pattern": "needle", "context": 99 }), r#"grep({"pattern":"needle"})"#),
        ("read_file", json!({ "path": "src/main.rs", "offset": -3 }), r#"read_file({"path":"src/main.rs"})"#),
        ("write_file", json!({ "path": "own.txt", "content": 5 }), r#"write_file({"path":"own.txt","content":"#),
        (
            "edit_file",
            json!({ "path": "own.txt", "edits": [{ "old_text": "own" }] }),
            r#"[{"old_text":"own","new_text":"#,
        ),
    ] {
        let told = scene.told(tool, arguments.clone()).await;
        assert!(told.contains("a call that fits: ") && told.contains(shown), "{tool} {arguments}: {told}");
    }
}

#[tokio::test]
async fn a_kind_of_repair_is_told_once_in_a_session_and_recorded_each_time() {
    let scene = Scene::sample();
    let mut told = Vec::new();
    for (path, limit) in [("notes.txt", "1"), ("src/main.rs", "2"), ("notes.txt", "3")] {
        let result = scene.call("read_file", json!({ "file_path": path, "limit": limit })).await;
        assert_eq!(result.repairs.len(), 2, "{:?}", result.repairs);
        told.push(result.text().matches("[repaired ").count());
    }
    assert_eq!(told, [1, 0, 0], "both are one line");
    let other = scene.call("list_dir", json!({ "file_path": "src" })).await;
    assert!(other.text().contains("[repaired "), "another tool: {}", other.text());
    for _ in 0..2 {
        let moved = scene.call("read_file", json!({ "path": "/workspace/notes.txt" })).await;
        assert!(moved.text().contains("[repaired $.path: "), "a value that was read otherwise: {}", moved.text());
    }
}
