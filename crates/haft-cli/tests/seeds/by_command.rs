//! Runs a case by the command: the files it is given, its calls as lines, one process with the dialect.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{ScratchHome, output_of};
use serde_json::{Value, json};

use crate::case::{Case, Ran};
use crate::meanings::{Content, Step, content, step};
use crate::server::Server;

/// The user that a case runs as when it must not be the system's own.
const SOMEBODY: u32 = 65_534;
const AS_SOMEBODY: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Runs a case; nothing when it needs another user and there is no way to be one.
pub(crate) fn run(case: &Case) -> Option<Ran> {
    let home = scratch_home();
    std::fs::create_dir(home.path("config/haft")).expect("it is new");
    let closed = lay_out(case, home.root());
    write_rules(case, home.root());
    let around = if closed { as_somebody(&home)? } else { &[] };
    let server = case.given.contains_key("server").then(Server::start);
    write_settings(case, (home.root(), server.as_ref()));
    let input = lines(case, (home.root(), server.as_ref()));
    let output = output_of(home.command_behind(around, &["--yes", "--dialect", case.dialect(), "call", "-"]), input);
    assert!(output.status.success(), "{}: {}", case.id, String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect();
    Some(Ran { records, home: Some(home), ..Ran::default() })
}

/// Returns the names of the tools that a dialect shows.
pub(crate) fn tools(dialect: &str) -> Vec<String> {
    let output = output_of(scratch_home().command(&["--dialect", dialect, "--json", "tools"]), "");
    let tools: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list of tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

/// Puts the files into the workspace; returns whether one is closed to its reader.
fn lay_out(case: &Case, place: &Path) -> bool {
    for (name, value) in &case.given {
        match (name.as_str(), value.as_str()) {
            ("files" | "rule", _) => {}
            ("server", Some("loopback test server (private hosts allowed for the test)")) => {}
            // What stands above the facts of a memory.
            ("section", Some(_)) => {}
            // The profile and the rules of the system, as they are.
            ("profile", Some("create-only writes" | "literal first-occurrence" | "tunacode limits")) => {}
            ("mode", Some("default policy")) | ("rules", Some("defaults")) | ("state", Some("yolo on")) => {}
            ("tools", None) => assert_has_tools(case, value),
            _ => panic!("{}: {name}: {value} has no meaning yet", case.id),
        }
    }
    let files = case.given.get("files").and_then(Value::as_object);
    let mut closed = false;
    for (name, words) in files.into_iter().flatten() {
        let Content { bytes, mode } = content(words.as_str().expect("content is text"));
        let path = place.join("ws").join(name);
        std::fs::write(&path, bytes).expect("it can be written");
        if let Some(mode) = mode {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
            closed = true;
        }
    }
    closed
}

fn assert_has_tools(case: &Case, names: &Value) {
    let shown = tools(case.dialect());
    for name in names.as_array().expect("a list of names") {
        assert!(shown.iter().any(|tool| name == tool.as_str()), "{} has no tool {name}", case.dialect());
    }
}

/// Writes the rules that a case is given: programs that may not run.
fn write_rules(case: &Case, place: &Path) {
    let Some(rule) = case.given.get("rule") else { return };
    let rules = rule["forbidden"].as_array().expect("a list of programs").iter().map(|program| {
        let program = program.as_str().expect("a program is a name");
        let name = format!("{}: {program}", rule["name"].as_str().expect("a rule has a name"));
        let about = format!("program = \"{program}\"\nmatches = [\"{program} x\"]");
        format!("[[rule]]\nname = \"{name}\"\ndecision = \"deny\"\nreason = \"It is forbidden.\"\n{about}\n")
    });
    std::fs::write(place.join("config/haft/rules.toml"), rules.collect::<String>()).expect("it can be written");
}

/// Writes the settings that a case needs: the hosts that it reaches, and the file of its memory.
fn write_settings(case: &Case, (place, server): (&Path, Option<&Server>)) {
    let mut settings = String::new();
    if server.is_some() {
        settings.push_str("[network]\nallow = [\"127.0.0.1\"]\n");
    }
    if let Some(heading) = case.given.get("section").and_then(Value::as_str) {
        let mut names = case.given["files"].as_object().expect("it has the file of the memory").keys();
        let file = names.next().expect("it has the file of the memory");
        settings.push_str(&format!("[limits]\nmemory_file = \"{file}\"\nmemory_heading = \"{heading}\"\n"));
    }
    std::fs::write(place.join("config/haft/config.toml"), settings).expect("it can be written");
}

/// Returns the calls of a case as lines; files that it reads are there unless it says which are.
fn lines(case: &Case, (place, server): (&Path, Option<&Server>)) -> String {
    let path = if case.dialect() == "tunacode" { "filepath" } else { "path" };
    let mut lines = String::new();
    for written in case.steps() {
        match step(&written, path) {
            Step::EndOfTurn => lines.push('\n'),
            Step::Operation(words) => panic!("{}: the command cannot do \"{words}\"", case.id),
            Step::Call(id, tool, mut arguments) => {
                // A place of the server that the case is given.
                if let (Some(server), Some(Value::String(url))) = (server, arguments.get_mut("url")) {
                    *url = server.address_of(url);
                }
                let names = arguments.get("file_paths").and_then(Value::as_array).into_iter().flatten();
                for name in names.filter_map(Value::as_str).filter(|_| !case.given.contains_key("files")) {
                    std::fs::write(place.join("ws").join(name), "x\n").expect("it can be written");
                }
                let mut call = json!({ "name": tool, "arguments": arguments });
                if let Some(id) = id {
                    call["id"] = id.into();
                }
                lines.push_str(&format!("{call}\n"));
            }
        }
    }
    lines
}

/// Returns the words before a command that make it run as another user.
fn as_somebody(home: &ScratchHome) -> Option<&'static [&'static str]> {
    let is_root = std::fs::metadata("/proc/self").expect("it is there").uid() == 0;
    if !is_root {
        return Some(&[]);
    }
    let chown = Command::new("chown").args(["-R", &format!("{SOMEBODY}:{SOMEBODY}")]).arg(home.root()).status();
    let tried = home.command_behind(AS_SOMEBODY, &["--version"]).output();
    let can = chown.is_ok_and(|status| status.success()) && tried.is_ok_and(|output| output.status.success());
    Need::Users.found(can.then_some(AS_SOMEBODY))
}

/// Makes a home of its own for the command.
pub(crate) fn scratch_home() -> ScratchHome {
    ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_own_folders()
}
