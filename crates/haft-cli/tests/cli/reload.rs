//! `haft call -` looks between turns for tools that came, changed or went.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::{Place, put};

const OWN: &str = "../home/.config/haft";

/// A tool in shell that answers with this.
fn put_tool(place: &Place, folder: &str, answer: &str) {
    let definition = "name: say\ndescription: Says something.\nbinding: {command: [sh, say.sh]}\neffects: []\n";
    put(place, &format!("{folder}/say.yaml"), definition);
    put(place, &format!("{folder}/say.sh"), &format!("cat > /dev/null; echo {answer}\n"));
}

/// A program that stays and sends calls.
struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Driver {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&[arguments, &["call", "-"]].concat());
        let mut child = command.env("CITY", "in-a-far-country").spawn().expect("the command runs");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, output }
    }

    /// Calls a tool in this turn; returns what the model reads, or the kind of the error.
    fn call(&mut self, tool: &str) -> String {
        writeln!(self.input, "{}", json!({ "name": tool, "arguments": {} })).expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        let record: Value = serde_json::from_str(&line).expect("every line is a record");
        let content = record["content"].as_str().unwrap_or_default().trim().to_owned();
        record["error"]["kind"].as_str().map_or(content, str::to_owned)
    }

    /// Calls a tool in the next turn.
    fn call_next(&mut self, tool: &str) -> String {
        writeln!(self.input).expect("it reads");
        self.call(tool)
    }

    /// Ends the input; returns what was said beside the answers.
    fn end(self) -> String {
        drop(self.input);
        let output = self.child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

#[test]
fn a_tool_that_comes_changes_or_goes_is_noticed_at_the_next_turn_and_not_before() {
    let place = Place::new();
    let mut driver = Driver::start(&place, &[]);
    assert_eq!(driver.call("say"), "unknown_tool");
    put_tool(&place, &format!("{OWN}/tools"), "one");
    assert_eq!(driver.call("say"), "unknown_tool", "the turn goes on");
    assert_eq!(driver.call_next("say"), "one");
    put_tool(&place, &format!("{OWN}/tools"), "two");
    assert_eq!(driver.call_next("say"), "two");
    put(&place, &format!("{OWN}/tools/say.yaml"), "name: say\ncolour: red\n");
    assert_eq!(driver.call_next("say"), "unknown_tool");
    assert_eq!(driver.call_next("say"), "unknown_tool");
    put_tool(&place, &format!("{OWN}/tools"), "three");
    assert_eq!(driver.call_next("say"), "three");
    std::fs::remove_file(place.path("home/.config/haft/tools/say.yaml")).expect("it is there");
    assert_eq!(driver.call_next("say"), "unknown_tool");
    let told = driver.end();
    assert_eq!(told.matches("say.yaml:2: there is no key \"colour\"").count(), 1, "{told}");
}

#[test]
fn a_python_function_that_changed_is_imported_again() {
    let place = Place::new();
    let function = |answer: &str| {
        put(&place, &format!("{OWN}/tools/says.py"), &format!("def says(): return '{answer}'\n"));
    };
    put(
        &place,
        &format!("{OWN}/tools/says.yaml"),
        "name: says\ndescription: Says something.\nbinding: says:says\neffects: []\n",
    );
    function("one");
    let mut driver = Driver::start(&place, &[]);
    let said = driver.call("says");
    if !Need::Python.met(said != "unavailable") {
        return;
    }
    assert_eq!(said, "one");
    function("another");
    assert_eq!(driver.call_next("says"), "another");
    driver.end();
}

#[test]
fn a_projects_tool_that_changed_is_withdrawn_until_somebody_trusts_it() {
    let place = Place::new();
    put_tool(&place, ".haft/tools", "one");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let mut driver = Driver::start(&place, &[]);
    assert_eq!(driver.call("say"), "one");
    put_tool(&place, ".haft/tools", "two");
    assert_eq!(driver.call("say"), "denied", "it is held to what was trusted, also in the middle of a turn");
    assert_eq!(driver.call_next("say"), "unknown_tool");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert_eq!(driver.call_next("say"), "two");
    let told = driver.end();
    assert!(
        told.contains("say.yaml changed since it was trusted (in .haft/tools/say.sh), so it is not loaded"),
        "{told}"
    );
}

#[test]
fn what_one_run_trusts_is_what_was_there_when_it_started() {
    let place = Place::new();
    put_tool(&place, ".haft/tools", "one");
    let mut driver = Driver::start(&place, &["--trust"]);
    assert_eq!(driver.call("say"), "one");
    put_tool(&place, ".haft/tools", "two");
    assert_eq!(driver.call_next("say"), "unknown_tool");
    put(
        &place,
        ".haft/tools/more.yaml",
        "name: more\ndescription: Is new.\nbinding: {command: [echo, hi]}\neffects: []\n",
    );
    assert_eq!(driver.call_next("more"), "unknown_tool");
    driver.end();
}

#[test]
fn a_definition_that_a_list_names_is_looked_at_wherever_it_lies_and_new_secrets_are_hidden() {
    let place = Place::new();
    let mut driver = Driver::start(&place, &[]);
    assert_eq!(driver.call("ask"), "unknown_tool");
    let definition = |words: &str| {
        let schema = "input_schema: {type: object, properties: {city: {type: string, description: Where.}}}";
        let binding = format!("binding: {{command: [{words}]}}");
        put(
            &place,
            "../elsewhere/ask.yaml",
            &format!("name: ask\ndescription: Asks.\n{binding}\neffects: []\n{schema}\n"),
        );
    };
    definition("cat");
    let list =
        "tools:\n  - name: ask\n    yaml_path: ../../../elsewhere/ask.yaml\n    extra_kwargs: {city: '${env.CITY}'}\n";
    put(&place, &format!("{OWN}/tools.yaml"), list);
    assert_eq!(driver.call_next("ask"), "{\"city\":\"[secret]\"}");
    definition("echo, other");
    assert_eq!(driver.call_next("ask"), "other");
    driver.end();
}

#[test]
fn a_skill_is_withdrawn_in_the_next_turn_after_one_of_its_files_changed_until_it_is_trusted_again() {
    let place = Place::new();
    put(&place, ".haft/skills/notes/SKILL.md", "---\nname: notes\ndescription: Takes notes.\n---\nWrite them.\n");
    put(&place, ".haft/skills/notes/more.md", "More.\n");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let mut driver = Driver::start(&place, &[]);
    assert_eq!(driver.call("skill"), "- notes: Takes notes.");
    put(&place, ".haft/skills/notes/more.md", "Other.\n");
    assert_eq!(driver.call_next("skill"), "unknown_tool");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert_eq!(driver.call_next("skill"), "- notes: Takes notes.");
    place.put("home/.config/haft/skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine.\n---\nx\n");
    assert_eq!(driver.call_next("skill"), "- mine: Mine.\n- notes: Takes notes.");
    place.put("home/.config/haft/skills/mine/SKILL.md", "---\nname: mine\ndescription: Better.\n---\nx\n");
    assert_eq!(driver.call_next("skill"), "- mine: Better.\n- notes: Takes notes.");
}
