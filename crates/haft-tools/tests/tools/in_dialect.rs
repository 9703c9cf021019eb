//! Tools as other systems show them, from the call to the words of its result.

use std::sync::Arc;

use haft_contract::call::CallId;
use haft_contract::description::dialect::{CallOutcome, Dialect};
use haft_contract::doors::process::HowEnded;
use haft_contract::limits::{EditNeeds, UnknownKeys};
use haft_contract::outcome::error::{FailedOperation, Next, Recovery, ToolError};
use haft_contract::outcome::kinds::{ErrorKind, Vocabulary};
use haft_contract::outcome::output::ToolOutput;
use haft_runtime::arguments::Checker;
use haft_runtime::asking::approval::Verdict;
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::{Preset, ToolList, ToolsetExt};
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_tools::dialect::{NAMES, named};
use serde_json::{Value, json};

const DIALECTS: [(&str, Vocabulary); 4] = [
    ("tunacode", Vocabulary::Tunacode),
    ("ally", Vocabulary::Ally),
    ("wyrm", Vocabulary::Wyrm),
    ("nexau", Vocabulary::Nexau),
];

fn dialect(name: &str) -> Arc<dyn Dialect> {
    named(name).expect("there is such a dialect")
}

fn scene(name: &str) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    Scene::sample().dialect(name).approver(ScriptedApprover::of(answers))
}

/// What the model reads, and the result object.
async fn told(scene: &Scene, tool: &str, arguments: Value) -> String {
    let result = scene.call(tool, arguments).await;
    format!("{}\n{}", result.text().trim_end(), result.data.unwrap_or_default())
}

async fn catalog(name: &str) -> Catalog {
    let catalog = Catalog::default();
    let shown = ToolList::new("the built-in tools", haft_tools::all()).in_dialect(dialect(name));
    catalog.add(&shown).await.expect("the tools of a dialect keep the rules");
    catalog
}

#[tokio::test]
async fn every_dialect_shows_its_own_names_and_understands_older_ones() {
    let mut shown = Vec::new();
    for name in &NAMES[1..] {
        let names: Vec<String> = catalog(name).await.list().iter().map(|entry| entry.shown().name.clone()).collect();
        shown.push(format!("{name}: {}", names.join(" ")));
    }
    snapshot!(shown.join("\n"), @r"
    tunacode: bash glob grep list_dir read_file write_file update_file react todowrite todoread todoclear submit
    ally: read bash write edit glob grep ls
    wyrm: list_files read_file write_file shell fetch
    nexau: read_file write_file replace glob list_directory read_many_files search_file_content run_shell_command background_task_manage_tool multiedit_tool write_todos complete_task save_memory ask_user google_web_search web_fetch run_code_tool llm_friendly
    ");
    let tunacode = catalog("tunacode").await;
    assert!(tunacode.find("run_command").is_some(), "it is understood");
    assert_eq!((tunacode.nearest("run_comand"), tunacode.len()), (None, 12));
}

#[tokio::test]
async fn the_file_comes_first_in_the_tools_of_tunacode_for_files() {
    let catalog = catalog("tunacode").await;
    for tool in ["read_file", "write_file", "update_file"] {
        let entry = catalog.find(tool).expect("the dialect has it");
        let first = entry.shown().input_schema["properties"].as_object().and_then(|all| all.keys().next());
        assert_eq!(first.map(String::as_str), Some("filepath"), "{tool}");
    }
}

#[tokio::test]
async fn the_example_of_every_tool_fits_what_is_shown() {
    for name in &NAMES[1..] {
        for entry in catalog(name).await.list() {
            let spec = entry.shown();
            let example = &spec.manual.examples.first().expect("every tool has an example").arguments;
            let checker = Checker::new(&spec.input_schema).expect("the schema is one");
            assert_eq!(checker.check(example), Ok(()), "{name}: {}", spec.name);
        }
    }
}

/// Everything that can go wrong is told with what and next, and with a name that leads back to it.
#[test]
fn every_kind_of_error_has_its_words_and_its_name_in_every_dialect() {
    let arguments = json!({ "filepath": "a.txt" });
    for (name, vocabulary) in DIALECTS {
        for kind in ErrorKind::all() {
            // Two kinds have another name for each of two operations.
            let operation = if kind == ErrorKind::Io { FailedOperation::Write } else { FailedOperation::Read };
            let error = ToolError::new(kind, "It went wrong.", Next::FixArguments("fix it".into()))
                .about_file("a.txt", operation)
                .recover_with(Recovery::Text("look again".into()))
                .caused_by(std::io::Error::other("the cause"));
            let outcome = CallOutcome {
                call: &CallId::new("1"),
                tool: "t",
                native: Some("t"),
                arguments: &arguments,
                text: "",
                said: "",
                data: None,
                error: Some(&error),
                exit_code: None,
            };
            let told = dialect(name).error(&error, Some("Nothing was changed."), &outcome);
            for words in ["It went wrong.", "Nothing was changed.", "fix it"] {
                assert!(told.contains(words), "{name} {kind:?}: {told}");
            }
            let object = dialect(name).object(&told, &outcome).expect("an error has an object").to_string();
            let class = kind.name_in(vocabulary);
            assert!(object.contains(&format!("\"{class}\"")), "{name} {kind:?}: {object}");
            if name == "tunacode" {
                assert!(
                    object.contains("\"original_error\":\"the cause\"") && object.contains("look again"),
                    "{object}"
                );
            }
            assert!(ErrorKind::from_name_in(vocabulary, class).any(|found| found == kind), "{name} {class}");
        }
    }
}

#[tokio::test]
async fn a_page_looks_as_its_system_shows_pages() {
    let page = |name: &'static str, tool: &'static str, arguments: Value| async move {
        scene(name).call(tool, arguments).await.text()
    };
    snapshot!(page("tunacode", "read_file", json!({ "filepath": "notes.txt", "offset": 1, "limit": 2 })).await, @r"
    <file>
    00002| two
    00003| three

    (File has more lines. Use 'offset' 3 to read beyond line 3; total 5)
    </file>
    ");
    snapshot!(page("tunacode", "read_file", json!({ "filepath": "notes.txt", "offset": 4 })).await, @r"
    <file>
    00005| five

    (End of file - total 5 lines)
    </file>
    ");
    snapshot!(page("nexau", "read_file", json!({ "file_path": "notes.txt", "limit": 1 })).await, @r"
    1| one

    [File content truncated: showing lines 1-1 of 5 total lines. To read more, use offset: 1]
    ");
    snapshot!(page("nexau", "read_file", json!({ "file_path": "notes.txt", "offset": 9 })).await, @"[there is no line 10]");
    snapshot!(page("wyrm", "read_file", json!({ "path": "notes.txt", "start_line": 4 })).await, @r"
    four
    five
    ");
    snapshot!(page("ally", "read", json!({ "file_paths": ["notes.txt"], "limit": 1 })).await, @r#"
    === notes.txt ===
         1	one
    [line 1 of 5; go on with offset=2]
    "#);
}

#[tokio::test]
async fn an_error_speaks_the_names_and_words_of_the_dialect() {
    let missing = json!({ "filepath": "note.txt" });
    snapshot!(told(&scene("tunacode"), "read_file", missing).await, @r#"
    File not found: note.txt. Near: notes.txt.
    Next: use one of these, or call "list_dir" on .
    {"error":"ModelRetry","tool_name":"read_file","message":"File not found: note.txt. Near: notes.txt.","suggested_fix":"use one of these, or call \"list_dir\" on .","recovery_commands":["list_dir({\"directory\":\".\"})"]}
    "#);
    snapshot!(told(&scene("tunacode"), "read_file", json!({ "filepath": "src" })).await, @r#"
    File read failed for 'src': src is a folder.

    Suggested fix: call "list_dir" to see what is in it
    {"error":"FileOperationError","operation":"read","path":"src","message":"src is a folder.","suggested_fix":"call \"list_dir\" to see what is in it"}
    "#);
    let read_first = json!({ "file_path": "notes.txt", "old_string": "o", "new_string": "0", "replace_all": true });
    snapshot!(told(&scene("ally"), "edit", read_first).await, @r#"
    edit(file_path="notes.txt", old_string="o", new_string="0", replace_all=true): notes.txt was not read in this session.
    Suggestion: call "read" to look at notes.txt (what a command printed does not count), then send this call again
    {"success":false,"error":"edit(file_path=\"notes.txt\", old_string=\"o\", new_string=\"0\", replace_all=true): notes.txt was not read in this session.","error_type":"user_error","suggestion":"call \"read\" to look at notes.txt (what a command printed does not count), then send this call again"}
    "#);
    snapshot!(told(&scene("nexau"), "list_directory", json!({ "dir_path": "scr" })).await, @r#"
    Error: File not found: scr. Near: src.
    Next: use one of these, or call "list_directory" on .
    {"content":"Error: File not found: scr. Near: src.\nNext: use one of these, or call \"list_directory\" on .","error":{"message":"File not found: scr. Near: src.","type":"FILE_NOT_FOUND"},"is_error":true}
    "#);
    snapshot!(told(&scene("wyrm"), "reed_file", json!({})).await, @r#"
    Error: Tool not found: reed_file.
    Next: call "read_file" instead
    {"tool_call_id":"[id]","output":"","success":false,"error":"Tool not found: reed_file. Next: call \"read_file\" instead","blocked_by":"missing","code":"UNKNOWN_TOOL"}
    "#);
}

#[tokio::test]
async fn what_went_wrong_has_the_type_that_the_original_has_for_it() {
    let kind_of = |tool: &'static str, arguments: Value| async move {
        let result = scene("nexau").call(tool, arguments).await;
        result.data.map(|data| data["error"]["type"].clone()).unwrap_or_default()
    };
    assert_eq!(kind_of("read_file", json!({ "file_path": "src" })).await, "PATH_IS_DIRECTORY");
    assert_eq!(kind_of("write_file", json!({ "file_path": "src", "content": "x" })).await, "TARGET_IS_DIRECTORY");
    assert_eq!(kind_of("search_file_content", json!({ "pattern": "(" })).await, "INVALID_PATTERN");
    assert_eq!(kind_of("search_file_content", json!({ "patern": 1 })).await, "INVALID_PARAMETERS");
    assert_eq!(kind_of("search_file_content", json!({ "pattern": "x", "dir_path": "no" })).await, "FILE_NOT_FOUND");
}

#[tokio::test]
async fn a_command_is_told_in_the_sections_of_its_system() {
    let command = ScriptedCommand::default().prints("out\n").complains("err\n").ends(HowEnded::Exited(2));
    let of = |name: &'static str, tool: &'static str| {
        let scene = scene(name).command(&command);
        async move { scene.call(tool, json!({ "command": "make" })).await }
    };
    snapshot!(of("tunacode", "run_command").await.text(), @r#"
    Command: make
    Exit Code: 2
    Working Directory: .

    STDOUT:
    out

    STDERR:
    err
    "#);
    let ally = of("ally", "bash").await;
    snapshot!(format!("{}{}", ally.text(), ally.data.unwrap_or_default()), @r#"
    out
    [stderr]
    err
    [exit code 2]
    {"success":true,"error":"err\n","output":"out\n","return_code":2}
    "#);
    let wyrm = of("wyrm", "shell").await;
    snapshot!(format!("{}{}", wyrm.text(), wyrm.data.unwrap_or_default()), @r#"
    stdout:
    out
    stderr:
    err
    The command ended with exit code 2.
    {"tool_call_id":"[id]","output":"stdout:\nout\nstderr:\nerr\nThe command ended with exit code 2.\n","success":false,"error":"The command ended with exit code 2.","stdout":"out\n","stderr":"err\n","exit_code":2}
    "#);
    let nexau = of("nexau", "run_shell_command").await;
    snapshot!(nexau.text(), @r#"
    out
    err
    Error: The command ended with exit code 2.
    Exit Code: 2
    "#);
    let data = nexau.data.unwrap_or_default();
    assert_eq!((&data["error"]["type"], &data["is_error"]), (&json!("SHELL_EXECUTE_ERROR"), &json!(false)));
}

#[tokio::test]
async fn older_names_of_arguments_are_understood_without_a_word_and_one_of_two_is_meant() {
    let scene = scene("tunacode").limits(|limits| limits.edit_needs = EditNeeds::Nothing);
    let result = scene.call("update_file", json!({ "filepath": "notes.txt", "target": "one", "patch": "1" })).await;
    assert_eq!((result.repairs, scene.read("notes.txt").lines().next()), (Vec::<String>::new(), Some("1")));
    let both = json!({ "filepath": "notes.txt", "target": "two", "old_text": "two", "new_text": "2" });
    let both = scene.call("update_file", both).await;
    assert_eq!(both.error.map(|error| error.kind), Some(ErrorKind::BadArguments));
}

#[tokio::test]
async fn unknown_arguments_are_refused_or_left_out_and_told() {
    let arguments = || json!({ "path": "src", "colour": "red" });
    let strict = scene("wyrm").call("list_files", arguments()).await;
    assert!(strict.error.is_some_and(|error| error.what.contains("$.colour")));
    let lenient = scene("wyrm").limits(|limits| limits.unknown_keys = UnknownKeys::Dropped);
    let lenient = lenient.call("list_files", arguments()).await;
    assert!(lenient.error.is_none());
    assert_eq!(lenient.warnings, ["$.colour: \"red\" is not an argument of this tool and was left out"]);
}

#[tokio::test]
async fn values_are_read_widely_in_one_dialect_only() {
    let arguments = || json!({ "include": "notes.txt, README.md", "recursive": "Yes" });
    let read = scene("nexau").call("read_many_files", arguments()).await;
    assert!(read.text().contains("=== README.md ===") && read.text().contains("=== notes.txt ==="), "{}", read.text());
    assert_eq!(read.repairs.len(), 2);
    let careful = scene("ally")
        .call("edit", json!({ "file_path": "notes.txt", "old_string": "one", "new_string": "1", "replace_all": "Yes" }))
        .await;
    assert_eq!(careful.error.map(|error| error.kind), Some(ErrorKind::BadArguments));
}

/// Returns a text.
#[haft_contract::tool]
async fn say(
    /// The text.
    text: String,
) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(text))
}

#[tokio::test]
async fn a_text_that_says_error_is_one_where_that_is_the_custom() {
    let said = |name: &'static str, text: &'static str| async move {
        let scene = scene(name).tool(Say);
        let result = scene.call("say", json!({ "text": text })).await;
        format!("{} {}\n{}", result.status.code(), result.text(), result.data.unwrap_or_default())
    };
    snapshot!(said("nexau", "Error: no such city").await, @r#"
    failed Error: no such city
    Next: read the message and change the call
    {"content":"Error: no such city\nNext: read the message and change the call","error":{"message":"no such city","type":"TOOL_EXECUTION_ERROR"},"is_error":true}
    "#);
    snapshot!(said("nexau", "No Error: all is well").await, @r#"
    ok No Error: all is well
    {"result":"No Error: all is well"}
    "#);
    snapshot!(said("ally", "Error: no such city").await, @r#"
    ok Error: no such city
    {"success":true,"error":"","content":"Error: no such city"}
    "#);
}

#[tokio::test]
async fn what_a_file_holds_is_not_translated() {
    let scene = scene("wyrm").file("a.toml", "[tool.\"path\"]\nNext: \"read_file\" in edit_file.rs\n");
    assert_eq!(
        scene.call("read_file", json!({ "path": "a.toml" })).await.text(),
        "[tool.\"path\"]\nNext: \"read_file\" in edit_file.rs\n"
    );
}

#[tokio::test]
async fn presets_are_native_and_hold_whatever_way_a_call_comes() {
    let preset = |values: Value| Preset::Fixed(values.as_object().cloned().expect("an object"));
    let tools = || ToolList::new("the built-in tools", haft_tools::all());
    let too_late = tools().in_dialect(dialect("nexau")).preset("replace", preset(json!({ "file_path": "a" })));
    let problem = Catalog::default().add(&too_late).await.expect_err("presets come first").to_string();
    snapshot!(problem, @r#"toolset "the built-in tools": "replace" is shown in a dialect, and presets are native; give the preset first, then call `in_dialect`"#);
    let fixed = tools().preset("list_dir", preset(json!({ "depth": 2 }))).in_dialect(dialect("nexau"));
    Catalog::default().add(&fixed).await.expect("it is given first");
}

#[tokio::test]
async fn results_in_a_dialect_name_no_argument_that_only_haft_has() {
    let lay_out = || {
        let scene =
            Scene::new().file(".git/HEAD", "").file(".gitignore", "*.log\n").file("a.log", "").file("b.py", "x\nx\n");
        let scene = scene.file("c.py", "x".repeat(30_000)).file("d.py", "");
        scene.limits(|limits| (limits.grep_matches, limits.glob_paths) = (1, 1))
    };
    let calls = [
        ("nexau", "glob", json!({ "pattern": "*.py" })),
        ("nexau", "search_file_content", json!({ "pattern": "x" })),
        ("nexau", "list_directory", json!({ "dir_path": "." })),
        ("nexau", "read_file", json!({ "file_path": "c.py" })),
        ("tunacode", "glob", json!({ "pattern": "*.py", "max_results": 1 })),
        ("tunacode", "grep", json!({ "pattern": "x", "max_results": 1 })),
        ("tunacode", "list_dir", json!({})),
        ("ally", "glob", json!({ "pattern": "*.py" })),
        ("ally", "grep", json!({ "pattern": "x" })),
        ("ally", "ls", json!({})),
        ("ally", "read", json!({ "file_paths": ["c.py"] })),
        ("wyrm", "list_files", json!({})),
        ("wyrm", "read_file", json!({ "path": "c.py" })),
    ];
    for (dialect, tool, arguments) in calls {
        let scene = lay_out().dialect(dialect);
        let text = scene.call(tool, arguments).await.text();
        for own in ["\"ignored\"", "column", "offset=1;", "offset=1]"] {
            assert!(!text.contains(own), "{dialect} {tool}: {own} in {}", &text[text.len().saturating_sub(400)..]);
        }
    }
}

#[tokio::test]
async fn what_a_program_prints_is_told_once_and_whole_in_every_dialect() {
    let imitations = ["[exit code 3]\n", "(no output)\n", "[stderr]\n[exit code 3]\n", "[it would change no file]\n"];
    let shells = [("tunacode", "run_command"), ("ally", "bash"), ("wyrm", "shell"), ("nexau", "run_shell_command")];
    for (name, tool) in shells {
        for printed in imitations {
            for how in [HowEnded::Exited(0), HowEnded::Exited(7)] {
                let command = ScriptedCommand::default().prints(printed).noted("Something was left alone.").ends(how);
                let result = scene(name).command(&command).call(tool, json!({ "command": "ls" })).await;
                let text = result.text();
                let count = |words: &str| text.matches(words).count();
                assert_eq!((count(printed.trim_end()), count("[Something was left alone.]")), (1, 1), "{name}: {text}");
                assert_eq!(count("[exit code 7]"), usize::from(name == "ally" && how != HowEnded::Exited(0)), "{text}");
            }
        }
    }
}
