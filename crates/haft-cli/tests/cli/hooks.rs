//! Hooks that are commands: real scripts, run by the real program.

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::driver::Driver;
use super::{CapturedOutput, Place};

const CONFIG: &str = "home/.config/haft/config.toml";

impl Place {
    /// A place with these settings of the user.
    fn with_config(config: &str) -> Self {
        let place = Self::new();
        place.put(CONFIG, config);
        place
    }

    fn call(&self, flags: &[&str], tool: &str, arguments: Value) -> (i32, Value) {
        let arguments = arguments.to_string();
        let words: Vec<&str> = flags.iter().copied().chain(["--json", "call", tool, &arguments]).collect();
        let CapturedOutput { out, err, code } = self.haft(&words, "");
        let record = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no record: {out}{err}"));
        (code, record)
    }

    fn read(&self) -> (i32, Value) {
        self.call(&[], "read_file", json!({ "path": "src/main.rs" }))
    }
}

fn hook(event: &str, command: &str) -> String {
    format!("[[hooks.{event}]]\nname = \"test\"\nmatcher = \"read_file\"\ncommand = '''{command}'''\n")
}

fn before(command: &str) -> (i32, Value) {
    Place::with_config(&hook("PreToolUse", command)).read()
}

fn after(command: &str) -> (i32, Value) {
    Place::with_config(&hook("PostToolUse", command)).read()
}

fn text(record: &Value) -> &str {
    record["content"].as_str().unwrap_or_default()
}

fn what(record: &Value) -> &str {
    record["error"]["what"].as_str().unwrap_or_default()
}

#[test]
fn a_hook_that_exits_with_2_refuses_with_its_errors_as_the_reason() {
    let (code, record) = before("printf 'not \\033[31mtoday\\033[0m' >&2; exit 2");
    assert_eq!(code, 3);
    assert_eq!(record["error"]["kind"], "denied");
    assert_eq!(record["error"]["rule"], "hook:test");
    assert_eq!(what(&record), "The hook \"test\" refuses this call: not today.");
    assert_eq!(record["did"], "nothing");
}

#[test]
fn a_hook_that_crashes_answers_nonsense_or_takes_too_long_refuses() {
    for (command, said) in [
        ("echo oops >&2; exit 1", "ended with the status 1: oops"),
        ("no-such-program-at-all", "ended with the status 127"),
        ("kill -9 $$", "was ended by the signal 9"),
        ("echo '{'", "the hook gave an answer that cannot be read"),
        ("echo '{\"decision\":\"sure\"}'", "the hook gave the decision \"sure\""),
        (
            "printf '{\"reason\":\"'; head -c 70000 /dev/zero | tr '\\0' a; echo '\"}'",
            "the hook gave an answer of more than 64 KiB",
        ),
    ] {
        let (code, record) = before(command);
        assert_eq!((code, &record["error"]["rule"]), (3, &json!("hook:test")), "{command}: {record}");
        assert!(what(&record).contains(said), "{command}: {record}");
    }
    let slow = format!("{}timeout = 0.2\n", hook("PreToolUse", "while :; do :; done"));
    let (code, record) = Place::with_config(&slow).read();
    assert_eq!(code, 3);
    assert!(what(&record).contains("was stopped after 0.2 s"), "{record}");
}

#[test]
fn a_hook_that_exits_with_0_passes_and_cannot_allow() {
    let (code, record) = before("echo all is well; cat > /dev/null");
    assert_eq!((code, text(&record)), (0, "     1\tfn main() {}\n[end of file: 1 line]\n"), "{record}");
    let allow = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let place = Place::with_config(&format!("[[hooks.PreToolUse]]\ncommand = '''{allow}'''\n"));
    let (code, record) = place.call(&[], "write_file", json!({ "path": "a", "content": "x" }));
    assert_eq!((code, &record["error"]["kind"]), (3, &json!("needs_approval")), "{record}");
}

#[test]
fn a_hook_is_told_of_the_call_in_the_fields_that_scripts_know() {
    let (_, record) = before("cat >&2; exit 2");
    let event = what(&record).split_once("this call: ").expect("the event follows").1;
    let event: Value = serde_json::from_str(event.trim_end_matches('.')).expect("it is JSON");
    assert_eq!(event["hook_event_name"], "PreToolUse");
    assert_eq!(event["tool_name"], "read_file");
    assert_eq!(event["tool_input"], json!({ "path": "src/main.rs" }));
    assert_eq!(event["permission_mode"], "default");
    assert!(event["cwd"].as_str().is_some_and(|cwd| cwd.ends_with("/ws")), "{event}");
    assert!(event["session_id"].is_string() && event["tool_use_id"].is_string(), "{event}");
    let (_, record) = before("test \"$PWD\" = \"$CLAUDE_PROJECT_DIR\" && echo \"$HAFT_PROJECT_DIR\" >&2; exit 2");
    assert!(what(&record).ends_with("/ws."), "{record}");
}

#[test]
fn a_hook_may_deny_ask_and_rewrite_by_its_answer() {
    let (code, record) =
        before(r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why not"}}'"#);
    assert_eq!((code, what(&record)), (3, "The hook \"test\" refuses this call: why not."));
    let (code, record) = before(r#"echo '{"decision":"ask","reason":"Is it wise?"}'"#);
    assert_eq!(
        (code, &record["error"]["kind"], &record["error"]["rule"]),
        (3, &json!("needs_approval"), &json!("hook:test"))
    );
    assert!(what(&record).ends_with("Is it wise?"), "{record}");
    let (code, record) = before(r#"echo '{"hookSpecificOutput":{"updatedInput":{"path":"src"}}}'"#);
    assert_eq!(code, 1, "{record}");
    let (code, record) = before(r#"echo '{"hookSpecificOutput":{"updatedInput":{"pth":1}}}'"#);
    assert_eq!(code, 1);
    assert!(what(&record).starts_with("A hook rewrote the arguments so that they do not fit."), "{record}");
}

#[test]
fn hooks_run_in_order_before_a_call_and_in_reverse_after_it() {
    let add = |letter: &str| {
        let old = r#"sed -n 's/.*"content":"\([^"]*\)".*/\1/p'"#;
        format!(
            "[[hooks.PostToolUse]]\ncommand = '''old=$({old}); printf \
             '{{\"hookSpecificOutput\":{{\"updatedToolOutput\":\"%s{letter}\"}}}}' \"$old\"'''\n"
        )
    };
    let clear =
        "[[hooks.PostToolUse]]\ncommand = '''echo '{\"hookSpecificOutput\":{\"updatedToolOutput\":\"\"}}' '''\n";
    let place = Place::with_config(&format!("{}{}{clear}", add("a"), add("b")));
    let (code, record) = place.read();
    assert_eq!((code, text(&record)), (0, "ba"), "{record}");
}

#[test]
fn a_hook_behind_a_call_adds_to_its_result_and_cannot_undo_it() {
    let (code, record) = after(r#"echo '{"hookSpecificOutput":{"additionalContext":"mind the gap"}}'"#);
    assert_eq!(
        (code, text(&record)),
        (0, "     1\tfn main() {}\n[end of file: 1 line]\n\n[hook \"test\": mind the gap]"),
        "{record}"
    );
    let (code, record) = after("echo 'run the tests' >&2; exit 2");
    assert_eq!(code, 0);
    assert!(text(&record).contains("[hook \"test\": run the tests]"), "{record}");
    let (code, record) = after("echo broken >&2; exit 7");
    assert_eq!(code, 0);
    let note = "The hook \"test\" ended with the status 7: broken; the result of the tool is unchanged.";
    assert!(text(&record).starts_with("     1\tfn main() {}\n") && text(&record).contains(note), "{record}");
}

#[test]
fn what_a_hook_changes_is_thrown_away_and_told() {
    let place = Place::with_config(&hook("PreToolUse", "echo x > made; rm src/main.rs"));
    let (code, record) = place.read();
    assert_eq!(code, 0, "{record}");
    assert!(text(&record).contains("made") && text(&record).contains("which haft discarded"), "{record}");
    assert!(!place.path("ws/made").exists() && place.path("ws/src/main.rs").exists());
    assert_eq!(record["did"], "nothing");
}

#[test]
fn a_hook_reads_its_own_script_and_nothing_else_of_the_home() {
    let place =
        Place::with_config("[[hooks.PreToolUse]]\nname = \"test\"\ncommand = \"sh ~/.config/haft/hooks/check.sh\"\n");
    place.put(
        "home/.config/haft/hooks/check.sh",
        "cat ~/secret.txt ~/.config/haft/config.toml && exit 0\necho hidden >&2\nexit 2\n",
    );
    place.put("home/secret.txt", "secret");
    let (_, record) = place.read();
    assert!(what(&record).contains("hidden"), "{record}");
}

#[test]
fn the_hooks_of_a_project_run_once_it_is_trusted_and_only_as_they_were() {
    let place = Place::new();
    place.put(
        "ws/.haft/config.toml",
        "[[hooks.PreToolUse]]\nmatcher = \"read_file\"\ncommand = \"sh tools/check.sh\"\n",
    );
    place.put("ws/tools/check.sh", "echo from the project >&2; exit 2\n");
    assert_eq!(place.read().0, 0, "nobody trusts it");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let (code, record) = place.read();
    assert_eq!((code, &record["error"]["rule"]), (3, &json!("hook:read_file")));
    place.put("ws/tools/check.sh", "exit 0\n");
    let said = place.haft(&["call", "read_file", "path=src/main.rs"], "");
    assert_eq!(said.code, 3, "its hooks refuse until the user trusts them");
    let note = ".haft/config.toml changed since it was trusted (in tools/check.sh), so its hooks refuse the calls that they would judge";
    assert!(said.err.contains(note), "{}", said.err);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert_eq!(place.read().0, 0);
}

#[test]
fn a_hook_whose_script_changes_while_a_session_runs_refuses() {
    let place = Place::new();
    place.put("ws/.haft/config.toml", "[[hooks.PreToolUse]]\nmatcher = \"read_file\"\ncommand = \"sh check.sh\"\n");
    place.put("ws/check.sh", "exit 0\n");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let read = r#"{"name":"read_file","arguments":{"path":"src/main.rs"}}"#;
    let mut driver = Driver::start(&place);
    assert_eq!(driver.call(read)["status"], "ok");
    place.put("ws/check.sh", "exit 0 #\n");
    let record = driver.call(read);
    assert_eq!(record["error"]["kind"], "denied", "{record}");
    assert!(what(&record).contains("check.sh changed since it was trusted"), "{record}");
    driver.ends();
}

#[test]
fn mistakes_are_told_by_check_with_their_line() {
    let place = Place::with_config("profile = \"haft\"\n[[hooks.PreToolUse]]\nmatcher = \"(\"\ncommand = \"a\"\n");
    let said = place.haft(&["check", "../home/.config/haft/config.toml"], "");
    assert_eq!(said.code, 1);
    assert!(said.out.contains("config.toml:3: the matcher is not a regular expression"), "{}", said.out);
    assert_eq!(place.haft(&["call", "list_dir"], "").code, 2, "nothing is silently left out");
    place.put("ws/.haft/config.toml", "[[hooks.PreToolUse]]\ncommand = \"a\"\nnetwork = true\n");
    place.put(CONFIG, "");
    let said = place.haft(&["check", ".haft/config.toml"], "");
    assert!(said.out.starts_with(".haft/config.toml:3: a hook of a project cannot reach the network"), "{}", said.out);
}

#[test]
fn a_matcher_in_the_names_of_other_agents_is_told_in_them() {
    let place = Place::with_config(
        "[[hooks.PreToolUse]]\nname = \"test\"\nmatcher = \"Read|Write\"\ncommand = \"cat >&2; exit 2\"\n",
    );
    let (code, record) = place.read();
    assert_eq!(code, 3);
    assert!(
        what(&record).contains("\"tool_name\":\"Read\"") && what(&record).contains("/ws/src/main.rs\""),
        "{record}"
    );
    let (code, record) = place.call(&[], "read_file", json!({ "paths": ["src/main.rs", "b"] }));
    assert_eq!(code, 3);
    assert!(what(&record).contains("one file at a time"), "{record}");
    assert_eq!(place.call(&[], "list_dir", json!({})).0, 0);
    let rewrite = r#"echo '{"hookSpecificOutput":{"updatedInput":{"file_path":"src/other.rs"}}}'"#;
    let place = Place::with_config(&format!("[[hooks.PreToolUse]]\nmatcher = \"Read\"\ncommand = '''{rewrite}'''\n"));
    place.put("ws/src/other.rs", "other\n");
    assert!(text(&place.read().1).contains("1\tother\n"));
}

#[test]
fn the_first_hook_of_the_guide_works_as_it_says() {
    let guide = include_str!("../../../../docs/guide/hooks.md");
    let block = |language: &str| {
        let begun = guide.split_once(&format!("```{language}\n")).expect("there is such a block").1;
        begun.split_once("```").expect("it ends").0
    };
    let place = Place::with_config(block("toml"));
    place.put("home/.config/haft/hooks/no-generated.sh", block("sh"));
    let said = place.haft(&["call", "write_file", "path=generated/a.rs", "content=x"], "");
    let (command, shown) = block("console").split_once('\n').expect("a command and what it says");
    assert_eq!(command, "$ haft call write_file path=generated/a.rs content=x");
    assert_eq!((said.code, said.err.as_str()), (3, shown));
    assert_eq!(place.haft(&["--yes", "call", "write_file", "path=src/a.rs", "content=x"], "").code, 0);
}

#[test]
fn only_a_hook_of_the_user_that_says_so_reaches_the_network() {
    let own = std::fs::read_link("/proc/self/ns/net").expect("there are namespaces").display().to_string();
    let sees = |more: &str| {
        let config = format!("{}{more}", hook("PreToolUse", "readlink /proc/self/ns/net >&2; exit 2"));
        what(&Place::with_config(&config).read().1).contains(&own)
    };
    assert_eq!((sees(""), sees("network = true\n")), (false, true));
}

#[test]
fn a_hook_gets_no_secret_and_its_words_pass_the_redactor() {
    let (_, record) = before("env >&2; echo correct-horse-battery >&2; exit 2");
    assert!(!record.to_string().contains("correct-horse-battery"), "{record}");
    assert!(!what(&record).contains("DEPLOY_TOKEN"), "{record}");
}

/// A hook as people have them: it knows no other names than those of the agent that it was written for.
const EXISTING: &str = r#"
import json
import sys

SLOW = {"grep": "rg finds the same and is faster"}

call = json.load(sys.stdin)
if call.get("tool_name") == "Bash":
    program = call["tool_input"].get("command", "").partition(" ")[0]
    if program in SLOW:
        sys.stderr.write(f"{program}: {SLOW[program]}\n")
        sys.exit(2)
"#;

#[test]
fn an_existing_script_works_as_it_is() {
    let places = ["/usr/bin/python3", "/usr/local/bin/python3"];
    if !Need::Python.met(places.iter().any(|path| std::path::Path::new(path).exists())) {
        return;
    }
    let config = r#"
        [[hooks.PreToolUse]]
        matcher = "Bash"
        command = 'PATH=/usr/local/bin:/usr/bin:/bin python3 "$HOME/.config/haft/hooks/validate.py"'
    "#;
    let place = Place::with_config(config);
    place.put("home/.config/haft/hooks/validate.py", EXISTING);
    let (code, record) = place.call(&[], "bash", json!({ "command": "grep main src/main.rs" }));
    assert_eq!((code, &record["error"]["rule"]), (3, &json!("hook:Bash")), "{record}");
    assert_eq!(what(&record), "The hook \"Bash\" refuses this call: grep: rg finds the same and is faster.");
    let (code, record) = place.call(&[], "bash", json!({ "command": "cat src/main.rs" }));
    assert_eq!(code, 0, "{record}");
}
