//! What a model sends, and what it is told.

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::outcome::result::Status;
use haft_contract::prelude::*;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use haft_testkit::tools::Add;
use serde_json::json;

#[tokio::test]
async fn every_repair_is_told_to_the_model_in_one_line() {
    let scene = Scene::new().tool(Add);
    let result = scene.call_text("add", "{'a': '1', B: 2,}").await;
    snapshot!(told(&result), @r#"
    ok: 3
    [repaired json: single quotes read as double quotes; json: unquoted keys quoted; json: removed a trailing comma; $.B: read as "b"; $.a: "1" → 1]
    repaired: json: single quotes read as double quotes
    repaired: json: unquoted keys quoted
    repaired: json: removed a trailing comma
    repaired: $.B: read as "b"
    repaired: $.a: "1" → 1
    did: nothing
    "#);
    assert!(result.text().ends_with("; $.a: \"1\" → 1]"), "{}", result.text());
}

#[tokio::test]
async fn an_error_names_tool_path_expected_received_and_a_call_that_fits() {
    let scene = Scene::new().tool(Add);
    snapshot!(scene.told("add", json!({ "a": "one", "c": 2 })).await, @r#"
    failed at prepare (bad_arguments): add: $.b: expected the property "b" (a whole number), received nothing.
    add: $.a: expected a whole number, received "one".
    add: $.c: expected only the properties "a", "b", received 2; the property "b" is missing; if "c" is meant for it, send it under that name.
    next: fix $.b, $.a, $.c; a call that fits: add({"a":1,"b":2})
    did: nothing
    "#);
    snapshot!(scene.told("read_file", json!({ "path": "x", "offset": -1 })).await, @r#"
    failed at prepare (bad_arguments): read_file: $.offset: expected a whole number of at least 1, received -1.
    next: fix $.offset; a call that fits: read_file({"path":"x"})
    did: nothing
    "#);
}

#[tokio::test]
async fn text_that_was_cut_off_runs_nothing() {
    let scene = Scene::new().tool(Add);
    let result = scene.call_text("read_file", r#"{"path": "src/ma"#).await;
    assert_eq!(result.status, Status::Failed);
    assert!(result.text().contains("cut off"), "{}", result.text());
    scene.assert_untouched();
}

#[tokio::test]
async fn an_exact_repeat_of_a_failing_call_is_told_so() {
    let scene = Scene::new().tool(Add);
    for (arguments, again) in
        [(r#"{"a": "one", "b": 2}"#, false), (r#"{"b": 2, "a": "one"}"#, true), (r#"{"a": "two", "b": 2}"#, false)]
    {
        let result = scene.call_text("add", arguments).await;
        assert_eq!(
            result.text().contains("Exactly this call failed in the same way before"),
            again,
            "{}",
            result.text()
        );
    }
    assert!(scene.call_text("add", r#"{"a": "#).await.text().contains("failed 4 times in a row"));
    assert_eq!(scene.told("add", json!({ "a": 1, "b": 2 })).await, "ok: 3\ndid: nothing");
    assert!(!scene.call_text("add", r#"{"a": "#).await.text().contains("in a row"));
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_one_or_all() {
    let scene = Scene::new();
    snapshot!(scene.told("reed_file", json!({})).await, @r#"
    failed at resolve (unknown_tool): There is no tool "reed_file".
    next: call "read_file" instead
    did: nothing
    "#);
    let told = scene.told("launch_rocket", json!({})).await;
    assert!(told.contains("next: call one of read_file, write_file, edit_file, list_dir, glob, grep"), "{told}");
}

#[tokio::test]
async fn a_tool_in_another_spelling_or_by_the_name_of_another_agent_is_found_and_told() {
    for name in ["Read", "READ_FILE", "readFile", "functions.read_file", "read_file<|channel|>commentary", "view"] {
        let result = Scene::sample().call(name, json!({ "path": "notes.txt" })).await;
        assert_eq!((&*result.tool, result.status), ("read_file", Status::Ok), "{name}");
        assert_eq!(result.repairs, [format!("$: the tool \"{name}\" read as \"read_file\"")]);
    }
    let without_command = Scene::sample().call("str_replace_editor", json!({ "path": "notes.txt" })).await;
    assert_eq!(without_command.status, Status::Failed);
}

#[tokio::test]
async fn a_tool_of_that_very_name_is_called_whatever_other_agents_mean_by_it() {
    let scene = Scene::new().tool(Add).tool(View);
    assert_eq!(scene.told("view", json!({})).await, "ok: seen\ndid: nothing");
    assert!(scene.told("ADD", json!({ "a": 1, "b": 2 })).await.starts_with("ok: 3\n"));
}

/// A tool that has the name which another agent has for "read_file".
struct View;

impl Tool for View {
    const NAME: &'static str = "view";
    type Args = NoArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Sees.")
    }

    async fn plan(&self, _args: &NoArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, _args: NoArgs, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("seen"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

#[tokio::test]
async fn words_of_a_command_line_are_read_by_the_schema_without_repair() {
    let scene = Scene::new().tool(Add);
    let words = vec![("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
    let result = scene.send(ToolCall::new("add", RawArguments::Words(words))).await;
    assert_eq!(told(&result), "ok: 3\ndid: nothing");
}

#[tokio::test]
async fn a_lift_turns_lowered_arguments_back_without_a_word() {
    use haft_model::lower::{ProviderDialect, ToolOffer, lower};
    let scene = Scene::sample();
    let catalog = scene.runtime().catalog();
    let entry = catalog.find("read_file").expect("it is built in");
    let spec = entry.shown();
    let offered = ToolOffer {
        name: &spec.name,
        title: None,
        description: &spec.manual.words,
        input_schema: &spec.input_schema,
        read_only: None,
    };
    let lowered = lower(&offered, ProviderDialect::OpenAiStrict).expect("read_file can be told to everybody");
    // A strict provider makes the model send every property; what it does not want is null.
    let text = r#"{"path": "README.md", "paths": null, "offset": null, "limit": 1}"#;
    let call = ToolCall::new("read_file", RawArguments::Text(text.into())).lifted_by(lowered.lift.into());
    let result = scene.send(call).await;
    assert!(result.error.is_none() && result.repairs.is_empty(), "{}", told(&result));
}

#[tokio::test]
async fn bombs_end_quickly_in_a_clear_error() {
    let scene = Scene::new().tool(Add);
    let deep = "{\"a\":".repeat(100_000);
    let garbage = "\u{1}{]'\"x,:".repeat(50 * 1024 * 1024 / 8);
    for text in [deep, garbage] {
        let began = std::time::Instant::now();
        let result = scene.call_text("add", &text).await;
        assert_eq!(result.status, Status::Failed);
        assert!(result.text().len() < 4_000, "an error is short");
        assert!(began.elapsed().as_secs() < 20, "it took {:?}", began.elapsed());
    }
}
