//! What errors advise in a dialect: only what it has, by the names it has for it.

use haft_contract::call::CallId;
use haft_contract::description::dialect::CallOutcome;
use haft_contract::doors::process::HowEnded;
use haft_contract::limits::EditNeeds;
use haft_contract::outcome::error::{Next, ToolError};
use haft_runtime::asking::approval::Verdict;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_tools::dialect::named;
use serde_json::{Value, json};

fn scene(dialect: &str) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = Scene::new().file("a.txt", "x\nx\ny\n").file("bin", b"a\0b");
    let scene = if dialect == "haft" { scene } else { scene.dialect(dialect) };
    scene.approver(ScriptedApprover::of(answers)).limits(|limits| limits.edit_needs = EditNeeds::Nothing)
}

/// Returns what an error of this call advises.
async fn advice(scene: &Scene, tool: &str, arguments: Value) -> String {
    let result = scene.call(tool, arguments).await;
    result.error.map(|error| error.next.to_string()).expect("it fails")
}

#[tokio::test]
async fn an_edit_is_advised_by_the_arguments_that_the_dialect_has_for_it() {
    let replace = |count: Option<u32>| {
        let mut call = json!({ "file_path": "a.txt", "old_string": "x", "new_string": "z" });
        if let Some(count) = count {
            call["expected_replacements"] = count.into();
        }
        call
    };
    let nexau = scene("nexau");
    snapshot!(advice(&nexau, "replace", replace(None)).await, @r#"add a line before or after it so that it occurs once, or give "expected_replacements": 2 to replace every one"#);
    snapshot!(advice(&nexau, "replace", replace(Some(3))).await, @r#"give "expected_replacements": 2 if every one is meant, or copy the text exactly as it is in the file"#);
    let ally = json!({ "file_path": "a.txt", "old_string": "x", "new_string": "z" });
    snapshot!(advice(&scene("ally"), "edit", ally).await, @r#"add a line before or after it so that it occurs once, or give "replace_all": true to replace every one"#);
}

#[tokio::test]
async fn a_command_that_took_too_long_is_advised_by_the_arguments_that_the_dialect_has() {
    for (dialect, tool, expected) in [
        (
            "haft",
            "bash",
            r#"do less in one call, give it more time with "timeout", or let it run on with "background": true"#,
        ),
        ("tunacode", "bash", r#"do less in one call, or give it more time with "timeout""#),
        ("wyrm", "shell", "do less in one call"),
        (
            "nexau",
            "run_shell_command",
            r#"do less in one call, give it more time with "timeout_ms", or let it run on with "is_background": true"#,
        ),
    ] {
        let command = ScriptedCommand::default().ends(HowEnded::TimedOut);
        let scene = scene(dialect).command(&command);
        assert_eq!(advice(&scene, tool, json!({ "command": "sleep 9" })).await, expected, "{dialect}");
    }
}

#[tokio::test]
async fn no_write_mode_is_advised_to_those_who_have_none() {
    let write = json!({ "file_path": "bin", "content": "x" });
    assert_eq!(advice(&scene("ally"), "write", write).await, "write to another path");
    let native = json!({ "path": "bin", "content": "x" });
    let told = advice(&scene("haft"), "write_file", native).await;
    assert_eq!(told, r#"give "write_mode": "overwrite" to replace it anyway, or write to another path"#);
}

#[tokio::test]
async fn bad_arguments_of_tunacode_are_a_validation_error() {
    let result = scene("tunacode").call("read_file", json!({ "filepath": 7 })).await;
    assert_eq!(result.data.expect("an error has an object")["error"], "ValidationError");
}

#[tokio::test]
async fn a_target_that_is_not_there_is_told_with_the_first_ten_lines_of_the_file() {
    let lines: String = (1..=12).map(|line| format!("line {line}\n")).collect();
    let scene = scene("tunacode").file("b.txt", lines);
    let arguments = json!({ "filepath": "b.txt", "target": "zzzz qqqq", "patch": "x" });
    let text = scene.call("update_file", arguments).await.text();
    assert!(text.contains("It begins:\n1| line 1\n2| line 2\n") && text.contains("\n10| line 10\n"), "{text}");
    assert!(!text.contains("line 11"), "{text}");
}

#[test]
fn the_sort_of_an_error_that_a_tool_names_is_the_error_type_of_ally() {
    let arguments = json!({});
    let object = |own_type: Option<&str>| {
        let mut error = ToolError::failed("no such city", Next::FixArguments("call list_cities first".into()));
        error.about.own_type = own_type.map(str::to_owned);
        let outcome = CallOutcome {
            call: &CallId::new("1"),
            tool: "city",
            native: Some("city"),
            arguments: &arguments,
            text: "",
            said: "",
            data: None,
            error: Some(&error),
            exit_code: None,
        };
        named("ally").expect("there is such a dialect").object("", &outcome).expect("an error has an object")
    };
    assert_eq!(object(None)["error_type"], "system_error");
    let told = object(Some("user_error"));
    assert_eq!((&told["error_type"], &told["suggestion"]), (&json!("user_error"), &json!("call list_cities first")));
}
