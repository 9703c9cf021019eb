//! The command as other programs and people use it: its words, its records, its exit codes.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out the folders that the command finds"
)]

#[path = "cli/blame.rs"]
mod blame;
#[path = "cli/changed_copy.rs"]
mod changed_copy;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/conformance.rs"]
mod conformance;
#[path = "cli/deferred.rs"]
mod deferred;
#[path = "cli/definitions.rs"]
mod definitions;
#[path = "cli/dialects.rs"]
mod dialects;
#[path = "cli/driver.rs"]
mod driver;
#[path = "cli/exec.rs"]
mod exec;
#[path = "cli/foreign_owners.rs"]
mod foreign_owners;
#[path = "cli/from_environment.rs"]
mod from_environment;
#[path = "cli/full_journal.rs"]
mod full_journal;
#[path = "cli/gc.rs"]
mod gc;
#[path = "cli/guard.rs"]
mod guard;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/history.rs"]
mod history;
#[path = "cli/hooks.rs"]
mod hooks;
#[path = "cli/http.rs"]
mod http;
#[path = "cli/kept_results.rs"]
mod kept_results;
#[path = "cli/lazy.rs"]
mod lazy;
#[path = "cli/man.rs"]
mod man;
#[path = "cli/named_code.rs"]
mod named_code;
#[path = "cli/network.rs"]
mod network;
#[path = "cli/new_tool.rs"]
mod new_tool;
#[path = "cli/overlapping_secrets.rs"]
mod overlapping_secrets;
#[path = "cli/own_dialects.rs"]
mod own_dialects;
#[path = "cli/prompts.rs"]
mod prompts;
#[path = "cli/readers.rs"]
mod readers;
#[path = "cli/reload.rs"]
mod reload;
#[path = "cli/rescue.rs"]
mod rescue;
#[path = "cli/rules.rs"]
mod rules;
#[path = "cli/setup.rs"]
mod setup;
#[path = "cli/skills.rs"]
mod skills;
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "cli/trust.rs"]
mod trust;
#[path = "cli/trusted_copy.rs"]
mod trusted_copy;
#[path = "cli/web.rs"]
mod web;
#[path = "cli/which_workspace.rs"]
mod which_workspace;
#[path = "cli/written_rules.rs"]
mod written_rules;
#[path = "cli/yes.rs"]
mod yes;

use std::path::Path;

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{CapturedOutput, ScratchHome, said};
use serde_json::{Value, json};

/// A home and a workspace of their own for one test.
struct Place {
    home: ScratchHome,
    /// What is in the environment beside the home.
    variables: Vec<(&'static str, &'static str)>,
}

impl std::ops::Deref for Place {
    type Target = ScratchHome;

    fn deref(&self) -> &ScratchHome {
        &self.home
    }
}

impl Place {
    fn new() -> Self {
        let home = ScratchHome::new(env!("CARGO_BIN_EXE_haft"));
        home.put("ws/src/main.rs", "fn main() {}\n");
        Self { home, variables: vec![("DEPLOY_TOKEN", "correct-horse-battery")] }
    }

    fn haft(&self, arguments: &[&str], input: &str) -> CapturedOutput {
        let mut command = self.command(arguments);
        command.envs(self.variables.iter().copied());
        said(command, input)
    }

    fn lines(&self, input: &str) -> Vec<Value> {
        let said = self.haft(&["call", "-"], input);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect()
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[test]
fn a_missing_file_exits_1_with_what_is_missing_what_is_near_and_the_next_step() {
    let said = Place::new().haft(&["call", "read_file", r#"{"path":"src/mian.rs"}"#], "");
    assert_eq!(said.code, 1);
    assert_eq!(
        said.err,
        "src/mian.rs does not exist. Near: src/main.rs.\nNext: use one of these, or call \"list_dir\" on src\n"
    );
    assert_eq!(said.out, "");
    let record = Place::new().haft(&["call", "--json", "read_file", "path=src/mian.rs"], "").out;
    let record: Value = serde_json::from_str(&record).expect("one record");
    assert_eq!(record["error"]["kind"], "missing_file");
}

#[test]
fn an_unknown_tool_exits_1_and_names_the_nearest() {
    let said = Place::new().haft(&["call", "reed_file", "path=x"], "");
    assert_eq!((said.code, said.err.contains("\"read_file\"")), (1, true), "{}", said.err);
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let place = Place::new();
    let code = |arguments: &[&str]| place.haft(arguments, "").code;
    assert_eq!(code(&["call", "read_file", "path=src/main.rs"]), 0);
    assert_eq!(code(&["call", "read_file", "path=/etc/passwd"]), 3);
    assert_eq!(code(&["call", "read_file", "src/main.rs"]), 0);
    assert_eq!(code(&["call", "read_file", "src/main.rs", "20"]), 2);
    assert_eq!(code(&["--no-such-flag"]), 2);
    assert_eq!(code(&["-C", "no/such/folder", "call", "list_dir"]), 2);
    assert_eq!(code(&["--profile", "nope", "tools"]), 2);
}

#[test]
fn the_record_goes_to_stdout_and_nothing_else_does() {
    let said = Place::new().haft(&["call", "--json", "read_file", r#"{'path':'src/main.rs'}"#], "");
    let record: Value = serde_json::from_str(&said.out).expect("one record");
    assert_eq!(record["status"], "ok");
    assert_eq!(record["repairs"], json!(["json: single quotes read as double quotes"]));
    assert_eq!(record["did"], "nothing");
}

#[test]
fn lines_get_their_results_in_order_and_an_empty_line_ends_the_turn() {
    let read = r#"{"name":"read_file","arguments":{"path":"src/main.rs"}}"#;
    let input = format!("{read}\n{read}\nnot a call\n\n{read}\n{{\"id\":\"x\",\"name\":\"list_dir\"}}");
    let records = Place::new().lines(&input);
    let told: Vec<(&str, &str, &str)> = records
        .iter()
        .map(|record| {
            let kind = record["error"]["kind"].as_str().unwrap_or_default();
            (record["id"].as_str().unwrap_or_default(), record["status"].as_str().unwrap_or_default(), kind)
        })
        .collect();
    assert_eq!(
        told,
        [("1", "ok", ""), ("2", "refused", "redundant"), ("3", "failed", "bad_call"), ("5", "ok", ""), ("x", "ok", "")]
    );
    assert!(records[1]["error"]["next"].as_str().is_some_and(|next| next.contains("call 1")));
}

#[test]
fn a_key_that_is_sent_twice_is_rejected_in_every_form() {
    let twice = r#"{"path":"src/main.rs","path":"b"}"#;
    let text = serde_json::to_string(twice).expect("a text is JSON");
    let input =
        format!("{{\"name\":\"read_file\",\"arguments\":{twice}}}\n{{\"name\":\"read_file\",\"arguments\":{text}}}\n");
    for record in Place::new().lines(&input) {
        assert_eq!(record["error"]["kind"], "bad_arguments", "{record}");
        assert!(record["error"]["what"].as_str().is_some_and(|what| what.contains("\"path\" twice")), "{record}");
    }
}

#[test]
fn ids_are_kept_as_they_were_written_and_a_list_is_no_call() {
    let input = "\u{feff}{\"id\":12345678901234567890123,\"name\":\"list_dir\"}\n[\"x\",\"list_dir\",null]\n{\"id\":\"mine\",\"name\":5}\n{\"id\":[1],\"name\":\"list_dir\"}\n";
    let records = Place::new().lines(input);
    let told: Vec<(&str, &str)> = records
        .iter()
        .map(|record| (record["id"].as_str().unwrap_or_default(), record["status"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(told, [("12345678901234567890123", "ok"), ("2", "failed"), ("mine", "failed"), ("4", "ok")]);
    let long = Place::new().lines(&format!("{{\"name\":\"{}\"}}\n", "n".repeat(2_000_000)));
    assert!(long[0].to_string().len() < 2_000, "an unknown name is not sent back as a whole");
}

#[test]
fn flags_may_stand_behind_the_arguments() {
    let said = Place::new().haft(&["call", "read_file", "path=src/main.rs", "--json"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(serde_json::from_str::<Value>(&said.out).is_ok(), "{}", said.out);
}

#[test]
fn an_answer_for_which_there_is_no_room_is_a_failure_and_no_mistake_of_whoever_typed() {
    let place = Place::new();
    for arguments in [&["rules", "list"][..], &["tools"], &["call", "list_dir"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is always there");
        let mut command = place.command(arguments);
        command.stdout(full);
        let said = said(command, "");
        assert_eq!(said.code, 1, "{arguments:?}: {}", said.err);
    }
    assert_eq!(place.haft(&["-C", "gone", "rules", "list"], "").code, 2);
}

#[test]
fn pipes_in_the_place_of_files_are_answered_at_once() {
    let place = Place::new();
    let pipe = |path: &Path| {
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
        let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
        assert!(made.success());
    };
    pipe(&place.path("ws/tools.json"));
    assert!(place.haft(&["check", "tools.json"], "").out.contains("not a regular file"));
    pipe(&place.path("home/.config/haft/config.toml"));
    assert!(place.haft(&["doctor"], "").err.contains("not a regular file"));
    let said = place.haft(&["tools"], "");
    assert_eq!((said.code, said.err.contains("not a regular file")), (2, true), "{}", said.err);
}

#[test]
fn a_usage_error_says_nothing_that_a_terminal_would_obey() {
    let said = Place::new().haft(&["completions", "\u{1b}]0;title\u{7}"], "");
    assert_eq!(said.code, 2);
    assert!(!said.err.contains('\u{1b}'), "{:?}", said.err);
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_answered() {
    let long = format!("{{\"name\":\"{}\"}}", "x".repeat(64 * 1024 * 1024));
    let records = Place::new().lines(&format!("{long}\n{{\"name\":\"list_dir\"}}\n"));
    assert_eq!(records[0]["error"]["kind"], "bad_call");
    assert_eq!((&records[1]["id"], &records[1]["status"]), (&json!("2"), &json!("ok")));
}

#[test]
fn many_lines_at_once_all_get_their_own_result() {
    let input: String = (1..=300)
        .map(|id| format!("{{\"id\":{id},\"name\":\"list_dir\",\"arguments\":{{\"depth\":{}}}}}\n", id % 5 + 1))
        .collect();
    let records = Place::new().lines(&input);
    let ids: Vec<String> = records.iter().map(|record| record["id"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(ids, (1..=300).map(|id| id.to_string()).collect::<Vec<_>>());
    assert!(records.iter().all(|record| record["status"] == "ok"));
}

#[test]
fn a_spilled_output_is_read_by_its_id_and_secrets_stay_hidden() {
    let place = Place::new();
    let more = "and more words ".repeat(40);
    let lines: String = (1..=100).map(|number| format!("{number} token correct-horse-battery {more}\n")).collect();
    std::fs::write(place.path("ws/big.txt"), lines).expect("a file can be written");
    let said = place.haft(&["call", "--json", "grep", "pattern=token"], "");
    let record: Value = serde_json::from_str(&said.out).expect("one record");
    let id = record["spill"].as_str().expect("it was too long to show").to_owned();
    let page = place.haft(&["call", "read_file", &format!("path=spill:{id}"), "offset=60"], "");
    assert!(page.out.contains("90 token [secret] and more words"), "{}", page.out);
    assert!(holds(&place.path("ws"), "correct-horse-battery"), "the user's own file is as it was");
    assert!(!holds(&place.path("home"), "correct-horse-battery"), "a secret is in haft's own files");
}

fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            holds(&path, text)
        } else {
            std::fs::read_to_string(path).is_ok_and(|all| all.contains(text))
        }
    })
}

#[test]
fn the_state_of_haft_is_private_and_outside_the_workspace() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.haft(&["call", "list_dir"], "");
    let state = place.path("home/.local/state/haft");
    let mode = std::fs::metadata(&state).expect("the state is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(std::fs::read_dir(place.path("ws")).expect("it is there").count(), 1);
}

#[test]
fn a_mistake_in_the_configuration_stops_the_start_with_its_line() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("home/.config/haft")).expect("folders can be made");
    let config = place.path("home/.config/haft/config.toml");
    std::fs::write(&config, "profile = \"haft\"\n[limits]\nread_line = 5\n").expect("a file can be written");
    let said = place.haft(&["call", "list_dir"], "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("config.toml:3: unknown field `read_line`; did you mean `read_lines`?"), "{}", said.err);
    std::fs::write(&config, "[limits]\nread_lines = 1\n").expect("a file can be written");
    std::fs::write(place.path("ws/two.txt"), "a\nb\n").expect("a file can be written");
    assert!(place.haft(&["call", "read_file", "path=two.txt"], "").out.contains("offset=2"));
}

#[test]
fn check_prints_file_line_problem_and_fix() {
    let place = Place::new();
    let put =
        |name: &str, text: &str| std::fs::write(place.path("ws").join(name), text).expect("a file can be written");
    put("config.toml", "[limits]\nread_lines = 0\n");
    put("good.md", "# Title\n\nWords.\n\n```json\n{}\n```\n");
    put("bad.md", "Words.\n");
    put(
        "tools.json",
        r#"[{"name":"bad name","description":"D.","inputSchema":{"type":"object","properties":{"a":{}}}}]"#,
    );
    put("what.exe", "?");
    let said = place.haft(&["check", "config.toml", "good.md", "bad.md", "tools.json", "what.exe", "gone.toml"], "");
    assert_eq!(said.code, 1);
    assert!(said.out.contains("config.toml:2: must be at least 1; "), "{}", said.out);
    assert!(said.out.contains("bad.md:1: the title is missing; "), "{}", said.out);
    assert!(
        said.out.contains("tools.json:1: warning: bad name: #/properties/a: every property has a type; "),
        "{}",
        said.out
    );
    assert!(said.out.contains("what.exe:1: haft does not know this kind of file; "), "{}", said.out);
    assert!(said.out.contains("gone.toml:1: there is no such file; ") && !said.out.contains("good.md"), "{}", said.out);
    assert_eq!(place.haft(&["check", "good.md"], "").code, 0);
}

#[test]
fn tools_are_printed_in_every_providers_form() {
    let place = Place::new();
    let parsed = |arguments: &[&str]| -> Value {
        serde_json::from_str(&place.haft(arguments, "").out).expect("the list is JSON")
    };
    assert_eq!(parsed(&["tools", "--json"])[0]["inputSchema"]["type"], "object");
    assert_eq!(parsed(&["tools", "--for", "openai"])[0]["function"]["name"], "read_file");
    assert_eq!(parsed(&["tools", "--for", "openai-strict"])[0]["function"]["strict"], true);
    assert_eq!(parsed(&["tools", "--for", "anthropic"])[0]["input_schema"]["type"], "object");
    assert_eq!(parsed(&["tools", "--for", "gemini"])[0]["functionDeclarations"][1]["name"], "write_file");
    assert!(place.haft(&["tools", "read_fil"], "").err.contains("did you mean \"read_file\"?"));
}

#[test]
fn the_doctor_says_how_a_tool_is_doing() {
    let place = Place::new();
    place.haft(&["call", "read_file", "path=gone"], "");
    let said = place.haft(&["doctor", "read_file"], "");
    assert_eq!(said.code, 0);
    for expected in ["listed", "for openai-strict", "yes (rule \"reads inside\")", "last call", "gone does not exist"] {
        assert!(said.out.contains(expected), "{expected} is not in:\n{}", said.out);
    }
    assert_eq!(place.haft(&["doctor"], "").code, 0);
}

#[test]
fn the_tour_makes_real_calls_and_leaves_nothing_behind() {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).expect("a folder can be made");
    let output = place.command(&["tour"]).env("TMPDIR", place.path("tmp")).output().expect("the command runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    for expected in [
        "hello from the scratch folder",
        "removed a trailing comma; $.limit: \"2\" → 2]",
        "refused",
        "Near: src/main.rs",
        "The rule \"commands that change elsewhere\" refuses this call.",
        "Refused, because it belongs to version control",
        "Undid change set",
        "haft call list_dir",
    ] {
        assert!(told.contains(expected), "{expected} is not in:\n{told}");
    }
    assert!(!told.contains('\u{1b}'), "no colours in a pipe");
    assert!(is_empty(&place.path("tmp")));
}

#[test]
fn the_commands_of_the_tour_can_be_pasted() {
    let place = Place::new();
    let told = place.haft(&["tour"], "").out;
    let commands: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() > 8, "{told}");
    for command in commands {
        // A shell passes on what the tour showed: for a call the name of the tool and one object, however it is quoted.
        let script = format!("haft() {{ printf '%s\\0' \"$@\"; }}\n{command}");
        let output = std::process::Command::new("sh").arg("-c").arg(script).output().expect("a shell runs");
        let words = String::from_utf8(output.stdout).expect("it is text");
        let words: Vec<&str> = words.split_terminator('\0').collect();
        match words.as_slice() {
            ["call", _, arguments] => {
                assert!(
                    arguments.starts_with('{') && arguments.ends_with('}') && arguments.contains(['"', '\'']),
                    "{command}"
                )
            }
            ["diff" | "undo"] => {}
            other => panic!("{command}: {other:?}"),
        }
    }
}

#[test]
fn completions_are_printed_for_a_shell() {
    let said = Place::new().haft(&["completions", "bash"], "");
    assert_eq!((said.code, said.out.contains("_haft")), (0, true));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::Read;
    let place = Place::new();
    let mut child = place.command(&["tools", "--json"]).spawn().expect("the command runs");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("it is text");
    assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(0), ""));
}

#[test]
fn what_yes_does_not_answer_is_not_answered_with_advice_to_say_yes() {
    let place = Place::new();
    std::fs::write(place.path("ws/.env"), "P=1\n").expect("a file can be written");
    let said = place.haft(&["--yes", "call", "read_file", "path=.env"], "");
    assert_eq!(said.code, 3);
    assert!(!said.err.contains("--yes") && said.err.contains("Next: do without it"), "{}", said.err);
}

#[test]
fn a_folder_that_was_added_has_its_own_near_names_and_undo_asks_for_it_again() {
    let place = Place::new();
    std::fs::create_dir(place.path("more")).expect("a folder can be made");
    std::fs::write(place.path("more/notes.txt"), "x\n").expect("a file can be written");
    let more = place.path("more");
    let more = more.to_str().expect("temporary folders are text");
    let said = place.haft(&["--add-dir", more, "call", "read_file", &format!("path={more}/note.txt")], "");
    assert!(said.err.contains("Near: ") && said.err.contains("more/notes.txt"), "{}", said.err);
    let new = format!("path={more}/new.txt");
    assert_eq!(place.haft(&["--yes", "--add-dir", more, "call", "write_file", &new, "content=x"], "").code, 0);
    let said = place.haft(&["undo"], "");
    assert_eq!((said.code, said.err.contains("--add-dir")), (1, true), "{}", said.err);
    assert_eq!(place.haft(&["--add-dir", more, "undo"], "").code, 0);
    assert!(!place.path("more/new.txt").exists());
}

#[test]
fn what_the_workspace_ignores_is_found_in_a_folder_that_was_added() {
    let place = Place::new();
    std::fs::write(place.path("ws/.gitignore"), "*.log\n").expect("a file can be written");
    for folder in ["ws/.git", "more/.git", "more/deep"] {
        std::fs::create_dir_all(place.path(folder)).expect("a folder can be made");
    }
    std::fs::write(place.path("more/.gitignore"), "*.tmp\n").expect("a file can be written");
    for name in ["x.log", "x.tmp", "deep/y.log", "deep/y.tmp"] {
        std::fs::write(place.path("more").join(name), "needle\n").expect("a file can be written");
    }
    let more = place.path("more");
    let more = more.to_str().expect("temporary folders are text");
    for (path, found) in [(more.to_owned(), vec!["x.log", "y.log"]), (format!("{more}/deep"), vec!["y.log"])] {
        let said = place.haft(&["--add-dir", more, "call", "grep", &format!("path={path}"), "pattern=needle"], "");
        let (matches, _) = said.out.split_once("\n[").expect("there is a last line");
        let shown = ["x.log", "y.log", "x.tmp", "y.tmp"].into_iter().filter(|name| matches.contains(name));
        assert_eq!(shown.collect::<Vec<_>>(), found, "{}{}", said.out, said.err);
    }
}

#[test]
fn the_state_is_off_limits_also_behind_a_link_and_before_it_exists() {
    let place = Place::new();
    std::fs::create_dir(place.path("home")).expect("a folder can be made");
    std::os::unix::fs::symlink(place.path("ws"), place.path("home/.local")).expect("a link can be made");
    let said = place.haft(&["--yes", "call", "write_file", "path=state/haft/workspaces", "content=x"], "");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("outside"), "{}", said.err);
}

#[test]
fn a_kept_output_is_not_a_file_to_write_to() {
    let place = Place::new();
    let said = place.haft(&["--yes", "call", "write_file", "path=spill:x", "content=x"], "");
    assert_eq!((said.code, said.err.contains("\"./spill:x\"")), (1, true), "{}", said.err);
    assert_eq!(place.haft(&["--yes", "call", "write_file", "path=./spill:x", "content=x"], "").code, 0);
}

#[test]
fn an_image_is_shown_as_an_image_when_it_is_named() {
    let place = Place::new();
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0"[..], &[0; 27]].concat();
    std::fs::write(place.path("ws/logo.png"), &png).expect("a file can be written");
    std::fs::write(place.path("ws/huge.png"), [png.clone(), vec![0; 4_000_000]].concat()).expect("it fits the disk");
    let record: Value = serde_json::from_str(&place.haft(&["call", "read_file", "path=logo.png", "--json"], "").out)
        .expect("it is a record");
    let image = "iVBORw0KGgoAAAANSUhEUg";
    assert!(record["images"][0]["data"].as_str().is_some_and(|data| data.starts_with(image)), "{record}");
    assert_eq!(record["images"][0]["media_type"], "image/png");
    assert_eq!(record["content"], "logo.png is an image (image/png, 3 × 2 pixels, 56 bytes).\n");
    assert_eq!(place.haft(&["call", "read_file", "path=logo.png"], "").out, record["content"]);
    std::fs::write(place.path("ws/broken.png"), &png[..12]).expect("a file can be written");
    for arguments in [r#"{"path":"huge.png"}"#, r#"{"path":"broken.png"}"#, r#"{"paths":["logo.png"]}"#] {
        let said = place.haft(&["call", "read_file", arguments], "");
        assert!((said.code, said.err.contains("PNG image")) == (1, true), "{}", said.err);
    }
}

/// Writes a file of the workspace, with its folders.
fn put(place: &Place, name: &str, text: &str) {
    place.put(&format!("ws/{name}"), text);
}

/// Returns whether a call of a Python function found an interpreter.
#[track_caller]
fn found_python(said: &CapturedOutput) -> bool {
    Need::Python.met(!said.err.contains("There is no Python here"))
}

/// Checks a path that is not trusted; returns the output, and the exit status.
fn check(place: &Place, path: &str) -> (String, i32) {
    let said = place.haft(&["check", path], "");
    assert!(said.err.lines().all(|line| line.starts_with("note: haft did not run ")), "{}", said.err);
    (said.out, said.code)
}
