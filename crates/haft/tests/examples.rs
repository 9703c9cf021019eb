//! Every example runs, without a key and without the network, and shows what it promises.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tempfile::TempDir;

// The example has a test of its own, which runs here: an example that cargo builds as a test is no program any more.
#[allow(dead_code, reason = "nothing calls its main here")]
#[path = "../examples/weather_agent.rs"]
mod weather_agent;

/// A folder with notes, and a home of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("there is room"));
        std::fs::create_dir_all(place.workspace()).expect("a folder can be made");
        std::fs::write(place.workspace().join("notes.txt"), "one fish\ntwo fish\nred\n").expect("it can be written");
        place
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().join("ws")
    }

    fn command(&self, example: &str) -> Command {
        let mut command = Command::new(program(example));
        command.arg(self.workspace()).current_dir(self.workspace()).env_clear();
        command.env("HOME", self.0.path().join("home")).env("PATH", "/usr/bin:/bin");
        command
    }

    fn run(&self, example: &str) -> Output {
        self.command(example).output().expect("the example starts")
    }
}

/// Finds an example beside the test: `cargo test` builds both.
fn program(example: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let folder = own.parent().and_then(Path::parent).expect("it is in deps");
    let program = folder.join("examples").join(example);
    assert!(program.exists(), "{example} is not built; run: cargo test -p haft --features mcp");
    program
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_custom_tool_is_repaired_refused_and_run() {
    let out = text(&Place::new().run("custom_tool").stdout);
    let guide = include_str!("../../../docs/guide/first-tool.md");
    let shown = guide.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it shows the output");
    assert!(out.starts_with(shown), "the guide shows:\n{shown}\nthe example prints:\n{out}");
    assert!(out.contains("\n2\n") && out.contains("[repaired json:"), "{out}");
    assert!(out.contains("/etc/passwd") && out.contains("outside the workspace"), "{out}");
}

#[test]
fn the_weather_agent_tells_the_model_nothing_of_haft_s_own() {
    let script = ModelScript::of([
        ScriptedTurn::call("weather", json!({ "city": "Oslo" })),
        ScriptedTurn::text("Yes, take a coat: it rains at 4 °C."),
    ]);
    let model = ScriptedModel::start(script);
    let place = Place::new();
    let mut command = Command::new(program("weather_agent"));
    command.current_dir(place.workspace()).env_clear().env("HOME", place.0.path().join("home"));
    command
        .env("HAFT_MODEL", ScriptedModel::NAME)
        .env("HAFT_BASE_URL", model.base_url(Wire::Chat))
        .env("HAFT_WIRE", "chat");
    let output = command.output().expect("the example starts");
    assert_eq!(text(&output.stdout), "Yes, take a coat: it rains at 4 °C.\n", "{}", text(&output.stderr));
    let first = model.requests()[0].body.to_string();
    assert!(first.contains("You tell people what to wear."), "{first}");
    let own = include_str!("../../haft-agent/src/instructions.md");
    for line in own.lines().filter(|line| line.len() > 12) {
        assert!(!first.contains(line.trim()), "{line}");
    }
    for tool in ["read_file", "edit_file", "bash"] {
        assert!(!first.contains(tool), "{first}");
    }
}

#[test]
fn a_missing_model_is_explained_with_variables_and_no_flags() {
    let place = Place::new();
    let mut command = Command::new(program("weather_agent"));
    command.current_dir(place.workspace()).env_clear().env("HOME", place.0.path().join("home"));
    let output = command.env("ANTHROPIC_API_KEY", "k").output().expect("the example starts");
    let told = text(&output.stderr);
    assert!(told.starts_with("Error: ") && told.contains("ANTHROPIC_API_KEY is set, but no model is named"), "{told}");
    assert!(told.contains("name one with HAFT_MODEL, or") && !told.contains("--model"), "{told}");
}

#[test]
fn a_closure_answers_and_undo_takes_it_back() {
    let place = Place::new();
    let output = place.run("toolbox_with_approval");
    let out = text(&output.stdout);
    assert!(out.contains("asked: write_file would") && out.contains("only text files may be written here"), "{out}");
    assert!(out.contains("undid change set [1]"), "{out}{}", text(&output.stderr));
    assert!(!place.workspace().join("hello.txt").exists() && !place.workspace().join(".env").exists());
}

#[test]
fn the_event_log_is_json_lines_with_one_end_for_each_call() {
    let out = text(&Place::new().run("event_log").stdout);
    let events: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((count("started"), count("finished"), count("failed")), (2, 1, 1), "{out}");
}

#[cfg(feature = "mcp")]
#[test]
fn the_mcp_server_lists_and_runs_the_tool() {
    use std::io::Write;
    use std::process::Stdio;

    let place = Place::new();
    let mut command = place.command("mcp_server");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the example starts");
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "roll", "arguments": { "dice": 2 } } }),
    ];
    let mut stdin = child.stdin.take().expect("it is piped");
    requests.iter().for_each(|request| writeln!(stdin, "{request}").expect("it reads"));
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("it is piped")));
    let answers: Vec<serde_json::Value> = lines
        .by_ref()
        .map(|line| serde_json::from_str(&line.expect("it is text")).expect("it is JSON"))
        .filter(|answer: &serde_json::Value| answer["id"].is_u64())
        .take(3)
        .collect();
    drop(stdin);
    child.wait().expect("it ends with its input");
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).expect("it is answered").clone();
    assert_eq!(of(2)["result"]["tools"].as_array().map(Vec::len), Some(1), "{answers:?}");
    assert_eq!(of(3)["result"]["content"][0]["text"], "5", "{answers:?}");
}

#[test]
fn a_dialect_of_the_program_s_own_names_and_reads_the_tools() {
    let out = text(&Place::new().run("custom_dialect").stdout);
    assert!(out.starts_with("view: Shows a file.\n") && out.contains("two fish") && !out.contains("one fish"), "{out}");
}

#[test]
fn the_review_answers_in_its_form_and_its_exit_code() {
    for (verdict, code) in [("approve", 0), ("object", 1)] {
        let answer = json!({ "verdict": verdict, "reason": "It is about fish." }).to_string();
        let script = ModelScript::of([
            ScriptedTurn::call("read_file", json!({ "path": "notes.txt" })),
            ScriptedTurn::text(answer),
        ]);
        let model = ScriptedModel::start(script);
        let place = Place::new();
        let mut command = place.command("review_in_ci");
        command
            .env("HAFT_MODEL", ScriptedModel::NAME)
            .env("HAFT_BASE_URL", model.base_url(Wire::Chat))
            .env("HAFT_WIRE", "chat");
        let output = command.output().expect("the example starts");
        let told = (text(&output.stdout), output.status.code());
        assert_eq!(told, (format!("\"{verdict}\": \"It is about fish.\"\n"), Some(code)), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("read_file"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_conversation_is_replayed_without_its_model() {
    let output = Place::new().run("replay");
    let out = text(&output.stdout);
    assert!(out.contains("recorded: Three lines about fish.\nreplayed: Three lines about fish.\n"), "{out}");
    assert!(out.contains("read_file Ok:"), "{out}{}", text(&output.stderr));
}
