//! Calls as other systems make them, turned into ours.

use haft_runtime::approval::Verdict;
use haft_testkit::approver::Script;
use haft_testkit::scene::Scene;
use haft_tools::dialect::{foreign_tool, foreign_tools};
use serde_json::{Value, json};

async fn told(scene: &Scene, dialect: &str, name: &str, arguments: Value) -> String {
    let tool = foreign_tool(dialect, name).expect("the dialect has it");
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    scene.told(&tool.tool, Value::Object(tool.inward(arguments))).await
}

#[test]
fn every_dialect_leads_to_tools_and_arguments_that_there_are() {
    let tools = haft_tools::all();
    for (dialect, name, foreign) in foreign_tools() {
        let native = tools.iter().find(|tool| tool.spec().name == foreign.tool);
        let native = native.unwrap_or_else(|| panic!("{dialect}.{name} leads to {}", foreign.tool));
        for argument in foreign.native_arguments() {
            let known = native.spec().input_schema["properties"].get(argument).is_some();
            assert!(known, "{dialect}.{name} leads to {}.{argument}", foreign.tool);
        }
    }
}

#[tokio::test]
async fn calls_of_other_systems_work() {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = Scene::sample().approver(Script::of(answers)).limits(|limits| limits.read_end = "--- End ---".into());
    let read = told(&scene, "nexau", "read_file", json!({ "file_path": "notes.txt", "offset": 1, "limit": 1 })).await;
    assert!(read.contains("     2\ttwo\n"), "{read}");
    let many = told(&scene, "nexau", "read_many_files", json!({ "include": ["src/*.rs"], "recursive": true })).await;
    assert!(many.contains("=== src/lib.rs ===") && many.contains("=== src/main.rs ==="), "{many}");
    assert!(many.contains("--- End ---"), "{many}");
    let all = told(&scene, "ally", "read", json!({ "file_paths": ["notes.txt"], "limit": 0 })).await;
    assert!(all.contains("end of file: 5 lines"), "{all}");
    let replaced = json!({ "file_path": "notes.txt", "old_string": "two", "new_string": "2", "instruction": "x" });
    assert!(told(&scene, "nexau", "replace", replaced).await.contains("+ 2"));
    let exists = told(&scene, "tunacode", "write_file", json!({ "filepath": "notes.txt", "content": "x" })).await;
    assert!(exists.contains("already_exists"), "{exists}");
    let patched = json!({ "filepath": "notes.txt", "target": "one", "patch": "1" });
    assert!(told(&scene, "tunacode", "update_file", patched).await.contains("+ 1"));
    let found = told(&scene, "nexau", "search_file_content", json!({ "pattern": "HELLO", "include": "*.rs" })).await;
    assert!(found.contains("src/main.rs"), "{found}");
    let listed = told(&scene, "wyrm", "list_files", json!({ "path": "src" })).await;
    assert!(listed.contains("main.rs"), "{listed}");
}
