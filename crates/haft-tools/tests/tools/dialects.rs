//! Calls as other systems make them, turned into ours.

use haft_contract::description::dialect::ForeignTool;
use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_tools::dialect::{foreign_tool, foreign_tools};
use serde_json::{Value, json};

async fn told(scene: &Scene, dialect: &str, name: &str, arguments: Value) -> String {
    let tool = foreign_tool(dialect, name).expect("the dialect has it");
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    match tool.inward(arguments) {
        Ok(call) => scene.told(&call.tool, Value::Object(call.arguments)).await,
        Err(error) => error.to_string(),
    }
}

/// What a call means here, on one line.
fn native(dialect: &str, name: &str, arguments: Value) -> String {
    let tool = foreign_tool(dialect, name).expect("the dialect has it");
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    match tool.inward(arguments) {
        Ok(call) => format!("{} {}", call.tool, Value::Object(call.arguments)),
        Err(error) => error.what.clone(),
    }
}

#[test]
fn every_dialect_leads_to_tools_and_arguments_that_there_are() {
    let tools = haft_tools::all();
    for (dialect, foreign) in foreign_tools() {
        let name = foreign.name();
        for (tool, argument) in foreign.leads_to() {
            let native = tools.iter().find(|native| native.spec().name == tool);
            let native = native.unwrap_or_else(|| panic!("{dialect}.{name} leads to {tool}"));
            let known = native.spec().input_schema["properties"].get(argument).is_some();
            assert!(known, "{dialect}.{name} leads to {tool}.{argument}");
        }
    }
}

#[tokio::test]
async fn calls_of_other_systems_work() {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene =
        Scene::sample().approver(ScriptedApprover::of(answers)).limits(|limits| limits.read_end = "--- End ---".into());
    let read = told(&scene, "nexau", "read_file", json!({ "file_path": "notes.txt", "offset": 1, "limit": 1 })).await;
    assert!(read.contains("     2\ttwo\n"), "{read}");
    let many = told(&scene, "nexau", "read_many_files", json!({ "include": ["src/*.rs"], "recursive": true })).await;
    assert!(many.contains("=== src/lib.rs ===") && many.contains("=== src/main.rs ==="), "{many}");
    assert!(many.contains("--- End ---"), "{many}");
    let all = told(&scene, "ally", "read", json!({ "file_paths": ["notes.txt"], "limit": 0 })).await;
    assert!(all.contains("end of file: 5 lines"), "{all}");
    let page = json!({ "file_paths": ["README.md"], "offset": 2, "limit": 1 });
    let second = told(&scene, "ally", "read", page).await;
    assert!(second.contains("\n     2\t") && second.contains("go on with offset=3"), "{second}");
    let replaced = json!({ "file_path": "notes.txt", "old_string": "two", "new_string": "2", "instruction": "x" });
    assert!(told(&scene, "nexau", "replace", replaced).await.contains("+ 2"));
    let exists = told(&scene, "tunacode", "write_file", json!({ "filepath": "notes.txt", "content": "x" })).await;
    assert!(exists.contains("already_exists"), "{exists}");
    let patched = json!({ "filepath": "notes.txt", "old_text": "one", "new_text": "1" });
    assert!(told(&scene, "tunacode", "update_file", patched).await.contains("+ 1"));
    let found = told(&scene, "nexau", "search_file_content", json!({ "pattern": "HELLO", "include": "*.rs" })).await;
    assert!(found.contains("src/main.rs"), "{found}");
    let listed = told(&scene, "wyrm", "list_files", json!({ "path": "src" })).await;
    assert!(listed.contains("main.rs"), "{listed}");
}

#[tokio::test]
async fn every_argument_of_the_originals_has_its_meaning_here() {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = Scene::sample().approver(ScriptedApprover::of(answers));
    let regex =
        json!({ "pattern": "^FN \\w+", "use_regex": true, "output_mode": "files_with_matches", "context_lines": 2 });
    snapshot!(told(&scene, "tunacode", "grep", regex).await, @"
    ok: src/main.rs
    [1 file with matches; 4 files searched]
    did: nothing
    ");
    let exact = json!({ "pattern": "Hello", "case_sensitive": true, "search_type": "ripgrep" });
    snapshot!(told(&scene, "tunacode", "grep", exact).await, @"
    ok: [no match; 4 files searched]
    did: nothing
    ");
    let named = json!({ "pattern": "*.RS", "recursive": true, "include_hidden": false, "exclude_dirs": [], "sort_by": "alphabetical" });
    snapshot!(told(&scene, "tunacode", "glob", named).await, @"
    ok: src/lib.rs
    src/main.rs
    [2 paths]
    did: nothing
    ");
    snapshot!(native("tunacode", "glob", json!({ "pattern": "*.RS", "case_sensitive": true, "exclude_dirs": null })), @r#"
    glob {"case":"sensitive","sort":"time","pattern":"*.RS","exclude":null}
    "#);
    let two = json!([
        { "old_string": "one", "new_string": "1" },
        { "old_string": "o", "new_string": "0", "replace_all": true },
    ]);
    snapshot!(native("nexau", "multiedit_tool", json!({ "file_path": "notes.txt", "edits": two })), @r#"
    edit_file {"path":"notes.txt","edits":[{"count":"first","old_text":"one","new_text":"1"},{"count":"all","old_text":"o","new_text":"0"}]}
    "#);
    told(&scene, "nexau", "read_file", json!({ "file_path": "notes.txt" })).await;
    let two = json!([{ "old_string": "one", "new_string": "1" }, { "old_string": "t", "new_string": "T", "replace_all": true }]);
    snapshot!(told(&scene, "nexau", "multiedit_tool", json!({ "file_path": "notes.txt", "edits": two })).await, @"
    ok: Edited notes.txt: 2 edits in 3 places, +3 −3 lines.
    @@ line 1 @@
    - one
    - two
    - three
    + 1
    + Two
    + Three
      four
      five
    did: changed notes.txt
    ");
    let options = json!({ "respect_git_ignore": true, "respect_gemini_ignore": false });
    let listed = json!({ "dir_path": "src", "file_filtering_options": options });
    assert!(told(&scene, "nexau", "list_directory", listed).await.contains("main.rs"));
}

#[tokio::test]
async fn ignored_files_are_shown_to_nexau_when_it_says_so() {
    let scene = Scene::new().file(".git/HEAD", "").file(".gitignore", "a.log\n").file("a.log", "").file("b", "");
    for (respect, shown) in [(true, false), (false, true)] {
        let listed = json!({ "dir_path": ".", "file_filtering_options": { "respect_git_ignore": respect } });
        assert_eq!(told(&scene, "nexau", "list_directory", listed).await.contains("a.log  0"), shown);
        let found = json!({ "pattern": "*", "respect_git_ignore": respect });
        assert_eq!(told(&scene, "nexau", "glob", found).await.contains("a.log\n"), shown);
    }
}

#[tokio::test]
async fn an_empty_old_text_of_nexau_makes_a_new_file() {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = Scene::sample().approver(ScriptedApprover::of(answers));
    let replace =
        |path: &str| json!({ "file_path": path, "old_string": "", "new_string": "new\n", "instruction": "x" });
    snapshot!(told(&scene, "nexau", "replace", replace("a/new.txt")).await, @"
    ok: Created a/new.txt (4 bytes; +1 −0 lines).
    did: changed a/new.txt
    ");
    snapshot!(told(&scene, "nexau", "replace", replace("notes.txt")).await, @r#"
    failed at line_up (already_exists): notes.txt exists already. It was not touched.
    next: call "edit_file" to change it, or give "write_mode": "overwrite" to replace it
    did: nothing
    "#);
    let edits = json!([{ "old_string": "", "new_string": "new\n" }]);
    snapshot!(told(&scene, "nexau", "multiedit_tool", json!({ "file_path": "b.txt", "edits": edits })).await, @"
    ok: Created b.txt (4 bytes; +1 −0 lines).
    did: changed b.txt
    ");
    let edits = json!([{ "old_string": "", "new_string": "new\n" }, { "old_string": "new", "new_string": "newer" }]);
    snapshot!(told(&scene, "nexau", "multiedit_tool", json!({ "file_path": "c.txt", "edits": edits })).await, @r#"
    A first edit with an empty "old_string" creates a file, and more edits follow it. Nothing was done.
    Next: create the file with one edit that has its whole text as "new_string"
    "#);
}

#[tokio::test]
async fn an_argument_without_counterpart_is_refused_by_its_name_and_says_what_to_do() {
    let scene = Scene::sample();
    snapshot!(told(&scene, "tunacode", "glob", json!({ "pattern": "*", "sort_by": "colour" })).await, @r#"
    The argument "sort_by": "colour" has no counterpart here. Nothing was done.
    Next: use one of these, or leave it out: alphabetical, depth, modified, size
    "#);
    snapshot!(told(&scene, "nexau", "google_web_search", json!({ "query": "x", "search_type": "news" })).await, @r#"
    The argument "search_type": "news" has no counterpart here. Nothing was done.
    Next: leave it out, and write what you want into the query: "news about …"
    "#);
    let proxied = json!({ "query": "x", "proxy_url": "http://p.example" });
    snapshot!(told(&scene, "nexau", "google_web_search", proxied).await, @r#"
    The argument "proxy_url": "http://p.example" has no counterpart here. Nothing was done.
    Next: leave it out: the user's environment says which proxy is used
    "#);
    snapshot!(told(&scene, "tunacode", "grep", json!({ "pattern": "x", "path": "a", "directory": "b" })).await, @r#"
    "path" and "directory" mean the same here.
    Next: leave out "directory"
    "#);
    snapshot!(told(&scene, "nexau", "glob", json!({ "pattern": "*", "colour": "red" })).await, @r#"
    failed at prepare (bad_arguments): glob: $.colour: expected only the properties "path", "pattern", "case", "sort", "limit", "offset", "ignored", "exclude", "depth", "hidden", received "red"; leave it out.
    next: fix $.colour; a call that fits: glob({"pattern":"*","sort":"time"})
    did: nothing
    "#);
}

#[test]
fn the_last_line_there_is_has_no_next() {
    let last = json!({ "file_path": "a", "offset": u64::MAX });
    assert_eq!(native("nexau", "read_file", last), format!(r#"read_file {{"path":"a","offset":{}}}"#, u64::MAX));
}

#[test]
fn commands_of_other_systems_are_commands_here() {
    snapshot!(native("tunacode", "run_command", json!({ "command": "ls" })), @r#"bash {"command":"ls"}"#);
    let bash = json!({ "command": "ls", "cwd": "src", "timeout": 3, "env": {}, "capture_output": true });
    snapshot!(native("tunacode", "bash", bash), @r#"bash {"command":"ls","working_dir":"src","timeout":3}"#);
    snapshot!(native("tunacode", "bash", json!({ "command": "ls", "env": { "A": "b" } })), @r#"
    The argument "env": {"A":"b"} has no counterpart here. Nothing was done.
    "#);
    snapshot!(native("wyrm", "shell", json!({ "command": "ls", "cwd": "src" })), @r#"bash {"command":"ls","working_dir":"src"}"#);
    let nexau = json!({ "command": "ls", "description": "List", "is_background": false, "dir_path": "src", "timeout_ms": 2500 });
    snapshot!(native("nexau", "run_shell_command", nexau), @r#"
    bash {"command":"ls","description":"List","background":false,"working_dir":"src","timeout":2.5}
    "#);
    snapshot!(native("nexau", "run_shell_command", json!({ "command": "ls", "timeout_ms": "300000" })), @r#"bash {"command":"ls","timeout":300.0}"#);
    snapshot!(native("nexau", "run_shell_command", json!({ "command": "ls &", "is_background": true })), @r#"bash {"command":"ls &","background":true}"#);
}

#[test]
fn the_dialect_of_the_guide_is_in_order() {
    let guide = include_str!("../../../../docs/guide/dialects.md");
    let example = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has one");
    let checked = haft_tools::dialect::check("ours", example);
    assert_eq!(checked.problems, []);
    assert_eq!(checked.dialect.expect("nothing is wrong").tools().len(), 1);
}
