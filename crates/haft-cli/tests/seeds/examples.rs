//! The example folders of the migration pages: files of each system as they are, and what haft makes of them.

use std::path::Path;

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{CapturedOutput, ScratchHome, said};
use serde_json::{Value, json};

use crate::case::repository;

/// A copy of an example folder as the workspace of a command.
pub(crate) struct Example {
    home: ScratchHome,
    dialect: &'static str,
}

impl Example {
    /// Copies an example; nothing where its tools cannot run.
    fn of(name: &str, dialect: &'static str) -> Option<Self> {
        let example = Self::empty(dialect)?;
        copy(&repository().join("examples").join(name), &example.home.path("ws"));
        Some(example)
    }

    /// Makes an empty workspace; nothing where tools in Python cannot run.
    #[track_caller]
    pub(crate) fn empty(dialect: &'static str) -> Option<Self> {
        Need::Python.found(python())?;
        let home = ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_own_folders();
        Some(Self { home, dialect })
    }

    /// Puts a file into the workspace.
    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.home.put(&format!("ws/{name}"), content);
        self
    }

    /// Puts a tool in Python into the workspace, in the module `tools`; all arguments are texts.
    pub(crate) fn tool(self, (name, binding): (&str, &str), (python, parameters): (&str, &[&str])) -> Self {
        let described = |name: &&str| format!("    {name}: {{type: string, description: A text.}}\n");
        let properties: String = parameters.iter().map(described).collect();
        let definition = format!(
            "name: {name}\ndescription: Does what the example does.\nbinding: {binding}\ninput_schema:\n  properties:\n{properties}"
        );
        let this = self.file(&format!(".haft/tools/{name}.yaml"), &definition);
        this.file(".haft/tools/tools.py", python)
    }

    /// Makes one call; returns its record.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let said = self.haft(&["--json", "call", tool, &arguments.to_string()], "");
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
    }

    pub(crate) fn home(&self) -> &ScratchHome {
        &self.home
    }

    /// Runs the command in the dialect; the files of the example are trusted.
    pub(crate) fn haft(&self, arguments: &[&str], input: &str) -> CapturedOutput {
        let first = ["--dialect", self.dialect, "--trust", "--yes"];
        let mut command = self.home.command(&[&first, arguments].concat());
        command.env("SHOP_KEY", "correct-horse-battery");
        said(command, input)
    }

    /// Makes the calls of a file of the example; returns their records.
    pub(crate) fn calls(&self, name: &str) -> Vec<Value> {
        let calls = std::fs::read_to_string(self.home.path("ws").join(name)).expect("the example has it");
        let said = self.haft(&["call", "-"], &calls);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect()
    }
}

fn python() -> Option<()> {
    let places = ["/usr/local/bin", "/usr/bin", "/bin"];
    places.iter().any(|place| Path::new(place).join("python3").exists()).then_some(())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("folders can be made");
    for entry in std::fs::read_dir(from).expect("the example is there") {
        let entry = entry.expect("it can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("it can be copied");
        }
    }
}

fn text<'r>(record: &'r Value, name: &str) -> &'r str {
    record[name].as_str().unwrap_or_default()
}

#[test]
fn files_of_tunacode_work_as_they_are() {
    let Some(example) = Example::of("from-tunacode", "tunacode") else { return };
    let count = |file: &str| example.call("line_count", &json!({ "filepath": file }));
    let counted = count("notes.md");
    assert_eq!(counted["content"], "3 lines", "{counted}");
    let missing = count("gone.md");
    assert_eq!(missing["data"]["error"], "ModelRetry", "{missing}");
    std::fs::write(example.home().path("ws/empty.md"), "").expect("it can be written");
    let empty = count("empty.md");
    assert_eq!(
        (&empty["data"]["error"], text(&empty["data"], "suggested_fix")),
        (&"ToolExecutionError".into(), "choose another file")
    );
    let shown = example.haft(&["tools", "line_count"], "").out;
    assert!(shown.contains("Use it before you read a"), "{shown}");
    let grep = example.haft(&["tools", "--json", "grep"], "").out;
    assert!(grep.contains("Search the sources of this project.") && !grep.contains("\"count\""), "{grep}");
    example
        .home()
        .put("home/.config/tunacode.json", &example.home().get("ws/home/.config/tunacode.json").expect("it is there"));
    let servers = example.haft(&["mcp", "list"], "").out;
    assert!(servers.contains("tickets") && servers.contains("TunaCode"), "{servers}");
}

#[test]
fn files_of_code_ally_work_as_they_are() {
    let Some(example) = Example::of("from-code-ally", "ally") else { return };
    let records = example.calls("calls.jsonl");
    let [read, bash, todos, wrong] = &records[..] else { panic!("four calls: {records:?}") };
    assert_eq!((&read["data"]["success"], &read["data"]["files_read"]), (&true.into(), &2.into()), "{read}");
    assert!(text(&read["data"], "content").contains("=== src/main.ts ===\n     1\t// "), "{read}");
    assert_eq!((&bash["data"]["output"], &bash["data"]["return_code"]), (&"main.ts\n".into(), &0.into()), "{bash}");
    assert_eq!((&todos["data"]["success"], &todos["data"]["count"]), (&true.into(), &1.into()), "{todos}");
    assert_eq!(wrong["data"]["error_type"], "validation_error", "{wrong}");
    assert!(text(&wrong["data"], "error").starts_with("find_todos(folder=\"src\", limit=0): "), "{wrong}");
    assert!(text(&wrong["data"], "suggestion").contains("find_todos(folder=\"src\", limit=10)"), "{wrong}");
}

#[test]
fn files_of_wyrmspire_work_as_they_are() {
    let Some(example) = Example::of("from-wyrmspire", "wyrm") else { return };
    let records = example.calls("calls.jsonl");
    let succeeded: Vec<Option<bool>> = records.iter().map(|record| record["data"]["success"].as_bool()).collect();
    let expected = [true, true, true, true, true, false, false].map(Some);
    assert_eq!(succeeded, expected, "{records:?}");
    assert_eq!(records[0]["data"]["tool_call_id"], "call-1");
    assert!(text(&records[1]["data"], "output").starts_with("# A project\n"), "{}", records[1]);
    assert!(text(&records[2], "content").contains("13 bytes"), "{}", records[2]);
    assert_eq!(records[4]["data"]["output"], "hello-world");
    assert!(text(&records[5]["data"], "error").contains("the title has no letters"), "{}", records[5]);
    assert_eq!(records[6]["data"]["blocked_by"], "rules", "{}", records[6]);
}

#[test]
fn files_of_nexau_work_as_they_are() {
    let Some(example) = Example::of("from-nexau", "nexau") else { return };
    let records = example.calls("calls.jsonl");
    let [seven, eight, none, status, todos, shell] = &records[..] else { panic!("six calls: {records:?}") };
    assert_eq!(seven["content"], "two lamps (eu)", "{seven}");
    assert_eq!(eight["data"], json!({ "result": "a chair (eu)" }), "{eight}");
    assert_eq!(
        (&none["data"]["is_error"], text(&none["data"]["error"], "message")),
        (&true.into(), "there is no order 9")
    );
    let expected = json!({ "shop": "https://shop.example.com", "has_key": true, "asked": 3 });
    assert_eq!(status["data"], expected, "{status}");
    assert_eq!(todos["content"], "[>] Pack the lamps\n0 of 1 done");
    assert!(text(shell, "content").starts_with("calls.jsonl\n"), "{shell}");
    let shown = example.haft(&["tools", "--json", "shop_status"], "").out;
    assert!(!shown.contains("api_key") && !shown.contains("base_url"), "{shown}");
}
