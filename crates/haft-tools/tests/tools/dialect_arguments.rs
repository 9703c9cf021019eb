//! Arguments that the documents of other systems name and haft's own tools do not show.

use haft_contract::description::dialect::ForeignTool;
use haft_contract::effect::Host;
use haft_contract::limits::{EditNeeds, Encodings};
use haft_contract::outcome::kinds::ErrorKind;
use haft_policy::grant::GrantScope;
use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::scripted::web::Web;
use haft_testkit::snapshot;
use haft_tools::dialect::foreign_tool;
use serde_json::{Value, json};

/// A scene in a dialect, with those limits of its profile that matter here.
fn scene(dialect: &str) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = if dialect == "haft" { Scene::new() } else { Scene::new().dialect(dialect) };
    let scene = scene.approver(ScriptedApprover::of(answers));
    scene.limits(|limits| match dialect {
        "tunacode" | "wyrm" => {
            (limits.encodings, limits.edit_needs) = (Encodings::Utf8, EditNeeds::Nothing);
            limits.list_entries = 100;
        }
        "nexau" => {
            limits.usual_excludes = vec!["node_modules".to_owned()];
            limits.read_header = "--- {path} ---".to_owned();
        }
        _ => {}
    })
}

async fn text(scene: &Scene, tool: &str, arguments: Value) -> String {
    scene.call(tool, arguments).await.text()
}

/// Returns the native arguments of a call.
fn native(dialect: &str, tool: &str, arguments: Value) -> Value {
    let tool = foreign_tool(dialect, tool).expect("the dialect has it");
    let call = tool.inward(arguments.as_object().cloned().expect("an object")).expect("it has a counterpart");
    Value::Object(call.arguments)
}

fn tree(scene: Scene) -> Scene {
    scene
        .file("a.py", "x\n")
        .file("src/large.py", "x".repeat(500))
        .file("src/deep/b.py", "xx\n")
        .file("docs/c.py", "x\n")
        .file(".hidden/d.py", "x\n")
}

#[tokio::test]
async fn glob_of_tunacode_leaves_out_folders_and_stays_in_one_and_orders_by_size_and_depth() {
    let scene = tree(scene("tunacode"));
    let found = async |more: Value| {
        let mut arguments = json!({ "pattern": "*.py" });
        arguments.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        let shown = text(&scene, "glob", arguments).await;
        shown.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join(" ")
    };
    let by_size = "src/large.py src/deep/b.py a.py docs/c.py";
    assert_eq!(found(json!({ "sort_by": "size" })).await, by_size);
    assert_eq!(found(json!({ "sort_by": "size", "exclude_dirs": ["docs", "deep"] })).await, "src/large.py a.py");
    assert_eq!(found(json!({ "sort_by": "depth" })).await, "a.py docs/c.py src/large.py src/deep/b.py");
    assert_eq!(found(json!({ "recursive": false })).await, "a.py");
    let all = found(json!({ "include_hidden": true, "sort_by": "alphabetical" })).await;
    assert_eq!(all, ".hidden/d.py a.py docs/c.py src/deep/b.py src/large.py");
}

#[tokio::test]
async fn list_dir_of_tunacode_draws_a_tree_of_at_most_so_many_names() {
    let scene = tree(scene("tunacode"));
    snapshot!(text(&scene, "list_dir", json!({})).await, @"
    ./
    ├── a.py  2
    ├── docs/
    │   └── c.py  2
    └── src/
        ├── deep/
        │   └── b.py  3
        └── large.py  500
    [4 files, 3 folders; left out: 1 hidden: .hidden/ (set \"show_hidden\" to true to see it)]
    ");
    let few = text(&scene, "list_dir", json!({ "max_files": 2 })).await;
    assert!(few.contains("├── a.py  2\n└── docs/\n[4 files, 3 folders; the first 2 names shown, upper"), "{few}");
}

#[tokio::test]
async fn grep_of_tunacode_returns_matches_as_one_json_object() {
    let scene = tree(scene("tunacode")).file("b.txt", "say \"x\"\n");
    let told = text(&scene, "grep", json!({ "pattern": "x", "output_mode": "json", "include": "{a.py,b.txt}" })).await;
    let object: Value = serde_json::from_str(&told).expect("it is JSON");
    let expected = json!([
        { "file": "a.py", "line": 1, "text": "x" },
        { "file": "b.txt", "line": 1, "text": "say \"x\"" },
    ]);
    assert_eq!(object["matches"], expected);
    assert!(object["summary"].as_str().is_some_and(|words| words.starts_with("2 matches in 2 files")), "{told}");
    let none = text(&scene, "grep", json!({ "pattern": "zzz", "output_mode": "json" })).await;
    let none: Value = serde_json::from_str(&none).expect("it is JSON");
    assert_eq!(none["matches"], json!([]));
}

#[tokio::test]
async fn read_many_files_of_nexau_leaves_out_what_the_call_names() {
    let scene = tree(scene("nexau")).file(".git/HEAD", "").file(".gitignore", "*.log\n").file("e.log", "log\n");
    let read = async |arguments: Value| {
        let told = text(&scene, "read_many_files", arguments).await;
        let paths = told.lines().filter_map(|line| line.strip_prefix("--- ")?.strip_suffix(" ---"));
        paths.filter(|path| *path != "End of content").collect::<Vec<_>>().join(" ")
    };
    let all = "a.py docs/c.py src/deep/b.py src/large.py";
    assert_eq!(read(json!({ "include": ["**/*.py"] })).await, all);
    assert_eq!(read(json!({ "include": ["**/*.py"], "exclude": ["docs", "large*"] })).await, "a.py src/deep/b.py");
    assert_eq!(read(json!({ "include": ["src/**/*.py"], "recursive": false })).await, "src/deep/b.py");
    assert_eq!(read(json!({ "include": ["*.py"], "recursive": false })).await, "a.py");
    let ignored = json!({ "include": ["*.log"], "file_filtering_options": { "respect_git_ignore": false } });
    assert_eq!(read(ignored).await, "e.log");
}

#[tokio::test]
async fn usual_folders_are_left_out_where_no_ignore_file_is_and_told() {
    let lay_out = |scene: Scene| scene.file("node_modules/x.js", "hit\n").file("a.js", "hit\n");
    let nexau = lay_out(scene("nexau"));
    let found = text(&nexau, "glob", json!({ "pattern": "*.js" })).await;
    assert!(found.starts_with("a.js\n[1 path; left out: 1 ignored: node_modules/"), "{found}");
    let found = text(&nexau, "search_file_content", json!({ "pattern": "hit" })).await;
    assert!(found.contains("[1 match in 1 file") && found.contains("node_modules/"), "{found}");
    assert!(!text(&nexau, "list_directory", json!({ "dir_path": "." })).await.contains("node_modules/\n"));
    let all = json!({ "pattern": "*.js", "respect_git_ignore": false });
    assert!(text(&nexau, "glob", all).await.contains("node_modules/x.js\n"));
    let named = json!({ "pattern": "*.js", "dir_path": "node_modules" });
    assert!(text(&nexau, "glob", named).await.starts_with("node_modules/x.js\n"));
    let read = json!({ "include": ["**/*.js"], "use_default_excludes": false });
    assert!(text(&nexau, "read_many_files", read).await.contains("--- node_modules/x.js ---"));
    // An ignore file says what is left out, and nothing else is.
    let ruled = lay_out(scene("nexau")).file(".ignore", "*.log\n");
    assert!(text(&ruled, "glob", json!({ "pattern": "*.js" })).await.contains("node_modules/x.js\n"));
    let own = lay_out(scene("haft"));
    assert!(text(&own, "glob", json!({ "pattern": "*.js" })).await.contains("node_modules/x.js\n"));
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_an_error_where_the_system_reads_nothing_else() {
    let lay_out = |scene: Scene| {
        let scene = scene
            .file(
                "damaged.txt",
                "größer, naïve café – déjà vu\n"
                    .repeat(9)
                    .into_bytes()
                    .into_iter()
                    .chain(*b"bad \xff\n")
                    .collect::<Vec<u8>>(),
            )
            .file("old.txt", b"na\xefve caf\xe9 d\xe9j\xe0\n");
        scene.file("wide.txt", b"\xff\xfea\0\n\0").file("marked.txt", b"\xef\xbb\xbfmarked\n")
    };
    for (dialect, tool, path) in [("tunacode", "read_file", "filepath"), ("wyrm", "read_file", "path")] {
        let scene = lay_out(scene(dialect));
        for name in ["damaged.txt", "old.txt", "wide.txt"] {
            let result = scene.call(tool, json!({ path: name })).await;
            assert_eq!(result.error.map(|error| error.kind), Some(ErrorKind::BadEncoding), "{dialect} {name}");
        }
        assert!(text(&scene, tool, json!({ path: "marked.txt" })).await.contains("marked"), "{dialect}");
    }
    let tunacode = lay_out(scene("tunacode"));
    let result = tunacode.call("read_file", json!({ "filepath": "damaged.txt" })).await;
    let data = result.data.clone().expect("an error has an object");
    assert_eq!((&data["error"], &data["operation"]), (&json!("FileOperationError"), &json!("decode")));
    assert!(result.text().contains("line 10 has bytes that belong to no character"), "{}", result.text());
    let edit = json!({ "filepath": "old.txt", "old_text": "na", "new_text": "no" });
    let result = tunacode.call("update_file", edit).await;
    assert_eq!(result.error.map(|error| error.kind), Some(ErrorKind::BadEncoding));
    for (dialect, tool, path) in [("haft", "read_file", "path"), ("nexau", "read_file", "file_path")] {
        let shown = text(&lay_out(scene(dialect)), tool, json!({ path: "old.txt" })).await;
        assert!(shown.contains("naïve café"), "{dialect}: {shown}");
    }
}

#[test]
fn an_address_may_stand_in_a_prompt_unless_there_is_an_url() {
    let url = |arguments: Value| native("nexau", "web_fetch", arguments)["url"].clone();
    for (prompt, expected) in [
        ("Sum up https://a.example/x?y=1. Then stop.", "https://a.example/x?y=1"),
        ("See (http://a.example/wiki/A_(b)) and https://b.example", "http://a.example/wiki/A_(b)"),
        ("[guide](https://a.example/guide), please", "https://a.example/guide"),
        ("<https://a.example/>", "https://a.example/"),
    ] {
        assert_eq!(url(json!({ "prompt": prompt })), expected, "{prompt}");
    }
    assert_eq!(
        url(json!({ "url": "https://a.example/", "prompt": "What is https://b.example?" })),
        "https://a.example/"
    );
    let tool = foreign_tool("nexau", "web_fetch").expect("the dialect has it");
    let none = json!({ "prompt": "the guide" }).as_object().cloned().expect("an object");
    let error = tool.inward(none).expect_err("there is not an address").to_string();
    assert!(error.contains("\"prompt\" has no address"), "{error}");
}

#[test]
fn the_tools_of_the_web_code_and_data_of_nexau_are_those_of_haft() {
    let search = json!({ "query": "x", "num_results": 3, "search_type": "search" });
    assert_eq!(native("nexau", "google_web_search", search), json!({ "count": 3, "query": "x" }));
    assert_eq!(native("nexau", "google_web_search", json!({ "query": "x" })), json!({ "count": 10, "query": "x" }));
    let fetch = json!({ "url": "https://a.example/", "timeout": 5, "use_html_parser": false });
    let expected = json!({ "url": "https://a.example/", "timeout": 5, "raw": true });
    assert_eq!(native("nexau", "web_fetch", fetch), expected);
    let code = json!({ "code_block": "1 + 1", "timeout": 2000 });
    let expected = json!({ "timeout": 2.0, "code": "1 + 1", "language": "python" });
    assert_eq!(native("nexau", "run_code_tool", code), expected);
    let code = json!({ "code_block": "1 + 1" });
    assert_eq!(
        native("nexau", "run_code_tool", code),
        json!({ "timeout": 120, "code": "1 + 1", "language": "python" })
    );
    assert_eq!(native("nexau", "llm_friendly", json!({ "path": "a.csv" })), json!({ "path": "a.csv" }));
    let kill = json!({ "action": "kill", "pid": 2 });
    assert_eq!(native("nexau", "background_task_manage_tool", kill), json!({ "action": "stop", "job": "2" }));
}

#[tokio::test]
async fn documents_of_the_web_are_fetched_in_both_dialects_and_go_on_by_their_arguments() {
    let long: String = (1..=3_000).map(|line| format!("line {line}\n")).collect();
    let web = || Web::new().page("https://a.example/", "text/plain", long.clone());
    for (dialect, tool, rest) in
        [("wyrm", "fetch", "go on with start_line="), ("nexau", "web_fetch", "go on with offset=")]
    {
        let scene = scene(dialect).web(web());
        scene.session().grant(GrantScope::Host(Host("a.example".into())));
        let first = text(&scene, tool, json!({ "url": "https://a.example/" })).await;
        assert!(first.contains("\nline 1\n") && first.contains(rest), "{dialect}: {first}");
        let (name, _) = rest.trim_start_matches("go on with ").split_once('=').expect("it names an argument");
        let second = text(&scene, tool, json!({ "url": "https://a.example/", name: 2_999 })).await;
        assert!(second.contains("]\nline 2999\nline 3000\n"), "{dialect}: {second}");
    }
}

#[tokio::test]
async fn a_fact_goes_to_the_file_that_the_call_or_the_setting_names() {
    let scene = scene("nexau").limits(|limits| limits.memory_heading = "## Facts".into());
    let saved = text(&scene, "save_memory", json!({ "fact": "Use tabs.", "memory_file_path": "notes/mem.md" })).await;
    assert_eq!(
        (saved.as_str(), scene.read("notes/mem.md").as_str()),
        ("Remembered in notes/mem.md: Use tabs.", "## Facts\n\n- Use tabs.\n")
    );
}

#[tokio::test]
async fn errors_of_lists_name_the_places_that_the_dialect_has() {
    let nexau = scene("nexau");
    let two = json!({ "todos": [{ "description": "a", "status": "in_progress" }, { "description": "b", "status": "in_progress" }] });
    let told = text(&nexau, "write_todos", two).await;
    assert!(told.contains("$.todos[0] and $.todos[1] are \"in_progress\""), "{told}");
    let empty = text(&nexau, "write_todos", json!({ "todos": [{ "description": " ", "status": "pending" }] })).await;
    assert!(empty.contains("$.todos[0].description"), "{empty}");
    let tunacode =
        text(&scene("tunacode"), "todowrite", json!({ "todos": [{ "content": " ", "status": "pending" }] })).await;
    assert!(tunacode.contains("$.todos[0].content"), "{tunacode}");
}

#[tokio::test]
async fn an_argument_that_is_not_shown_works_by_its_name_and_those_that_models_use() {
    let scene = tree(scene("haft"));
    let entry = scene.runtime().catalog().find("glob").expect("it is there");
    let shown = entry.shown().input_schema["properties"].clone();
    assert!(shown.get("pattern").is_some() && shown.get("exclude").is_none(), "{shown}");
    for name in ["exclude", "exclude_dirs"] {
        let found = text(&scene, "glob", json!({ "pattern": "*.py", name: ["src", "docs"] })).await;
        assert!(found.starts_with("a.py\n[1 path"), "{found}");
        scene.session().begin_turn();
    }
    let wrong = scene.call("glob", json!({ "pattern": "*.py", "depth": "many" })).await;
    assert_eq!(wrong.error.map(|error| error.kind), Some(ErrorKind::BadArguments));
}
