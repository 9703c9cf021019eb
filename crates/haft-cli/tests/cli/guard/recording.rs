//! What haft does about the calls that it lets an agent make: commands run through `haft exec`, edits are recorded.

use std::process::{Command, Stdio};

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::decision_in;
use crate::{CapturedOutput, Place, said};

impl Place {
    /// Returns a place whose sessions end soon.
    fn of_agent() -> Self {
        let place = Self::new();
        place.put("home/.config/haft/config.toml", "[commands]\nidle = 0.5\n");
        place.put("ws/a.txt", "one\ntwo\n");
        place
    }

    /// Returns the place if commands can be confined in it.
    fn confining(self) -> Option<Self> {
        Need::Full.met(self.haft(&["call", "bash", "true"], "").err.contains("sandbox: full")).then_some(self)
    }

    /// Sends an event of Claude Code; `more` replaces fields.
    fn tells(&self, flags: &[&str], more: Value) -> Value {
        let mut event = json!({
            "session_id": "s", "cwd": self.path("ws"), "permission_mode": "default", "prompt_id": "p1",
            "hook_event_name": "PreToolUse", "tool_use_id": "u",
        });
        for (key, value) in more.as_object().expect("fields") {
            event[key] = value.clone();
        }
        let mut words = vec!["guard"];
        words.extend(flags);
        let mut command = self.command(&words);
        command.env("CLAUDE_PROJECT_DIR", self.path("ws"));
        let said = said(command, event.to_string());
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
    }

    /// Returns the arguments with which a command is made.
    fn rewritten(&self, flags: &[&str], command: &str) -> Value {
        let input = json!({ "command": command, "timeout": 5000, "run_in_background": false, "description": "d" });
        let answer = self.tells(flags, json!({ "tool_name": "Bash", "tool_input": input }));
        answer["hookSpecificOutput"]["updatedInput"].clone()
    }

    /// Runs a text as the shell of an agent does.
    fn shell(&self, text: &str) -> CapturedOutput {
        let mut shell = Command::new("bash");
        shell.arg("-s").env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.env("HOME", self.path("home")).env("AGENT_SAYS", "hi").env("AGENT_TOKEN", "secret-of-agent");
        shell.current_dir(self.path("ws")).stdout(Stdio::piped()).stderr(Stdio::piped());
        said(shell, text)
    }

    fn edit(&self, moment: &str, call: &str, prompt: &str) -> Value {
        let input = json!({ "file_path": self.path("ws/a.txt"), "old_string": "one", "new_string": "uno" });
        let names = json!({
            "hook_event_name": moment, "tool_name": "Edit", "tool_input": input, "tool_use_id": call, "prompt_id": prompt,
        });
        self.tells(&["--yes"], names)
    }

    fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|_| "(none)".to_owned())
    }
}

#[test]
fn a_command_that_may_run_is_answered_with_the_same_call_through_haft_exec() {
    let Some(place) = Place::of_agent().confining() else { return };
    let command = "rm a.txt; cat <<'EOF' > it\\'s.txt\n$HOME `x`\nEOF\nprintenv AGENT_SAYS; test -z \"${AGENT_TOKEN+set}\" && exit 3";
    let input = place.rewritten(&["--yes"], command);
    assert_eq!(
        (&input["timeout"], &input["run_in_background"], &input["description"]),
        (&5000.into(), &false.into(), &"d".into())
    );

    let ran = place.shell(input["command"].as_str().expect("a command"));

    assert_eq!((ran.code, ran.out.as_str()), (3, "hi\n"), "{ran:?}");
    assert_eq!((place.content("ws/a.txt"), place.content("ws/it's.txt")), ("(none)".into(), "$HOME `x`\n".into()));
    let log = place.haft(&["log", "--json"], "").out;
    assert!(log.contains("Claude Code") && log.contains("\"call\":\"u\""), "{log}");
    assert_eq!(place.haft(&["undo", "--session"], "").code, 0);
    assert_eq!((place.content("ws/a.txt"), place.content("ws/it's.txt")), ("one\ntwo\n".into(), "(none)".into()));
}

#[test]
fn a_command_runs_in_the_folder_for_which_it_was_judged() {
    let Some(place) = Place::of_agent().confining() else { return };
    place.put("ws/ls", "#!/bin/sh\necho code of the workspace\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("ws/ls"), mode).expect("it is there");
    std::fs::create_dir(place.path("ws/sub")).expect("it is new");
    std::os::unix::fs::symlink("sub", place.path("ws/link")).expect("it is new");
    // The workspace has no such folder, so haft leaves the command to the agent.
    let input = json!({ "command": "./ls" });
    let answer = place.tells(&[], json!({ "cwd": "/usr/bin", "tool_name": "Bash", "tool_input": input }));
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"], Value::Null, "{answer}");
    // A shell goes first only to a folder of the workspace that is there; the rest runs there either way.
    let twin = |command: &str| {
        let input = place.rewritten(&["--yes=all"], command);
        let ran = place.shell(input["command"].as_str().unwrap_or_else(|| panic!("{command}: {input}")));
        let (code, out) = (ran.code, ran.out.clone());
        let bare = place.shell(command);
        assert_eq!((code, out), (bare.code, bare.out), "{command}: {ran:?}");
    };
    for command in [
        "cd /usr/bin && ./ls -d .",
        "cd nope && echo x; echo after",
        "cd nope && echo x || echo fallback",
        "cd sub && pwd",
        "cd sub && pwd; cd .. && pwd",
        "cd link && pwd",
        "cd sub && echo $OLDPWD",
    ] {
        twin(command);
    }
    let input = place.rewritten(&[], "echo x");
    let elsewhere = place.shell(&format!("cd sub; {}", input["command"].as_str().expect("a command")));
    assert!(elsewhere.code == 2 && elsewhere.err.contains("it was started in"), "{elsewhere:?}");
}

#[test]
fn a_command_that_begins_like_an_option_is_a_command() {
    let Some(place) = Place::of_agent().confining() else { return };
    for command in ["--help", "--yes=all", "-x"] {
        let input = place.rewritten(&["--yes=all"], command);
        let ran = place.shell(input["command"].as_str().expect("a command"));
        assert_eq!(ran.code, 127, "{command}: {ran:?}");
    }
}

#[test]
fn a_ticket_is_good_for_one_command_and_for_no_other() {
    let Some(place) = Place::of_agent().confining() else { return };
    let input = place.rewritten(&["--yes"], "echo x > new");
    let command = input["command"].as_str().expect("a command");
    let other = place.shell(&command.replace("echo x > new", "echo y > other"));
    assert_eq!((other.code, place.content("ws/other")), (2, "(none)".into()), "{other:?}");
    assert!(other.err.contains("for another command"), "{}", other.err);
    assert_eq!(place.shell(command).code, 0);
    let again = place.shell(command);
    assert!(again.code == 2 && again.err.contains("let the agent make the call again"), "{again:?}");
}

#[test]
fn a_command_of_any_length_is_run() {
    let Some(place) = Place::of_agent().confining() else { return };
    let long = "x".repeat(60 * 1024);
    let input = place.rewritten(&["--yes"], &format!("printf %s '{long}' > long"));
    let command = input["command"].as_str().expect("a command");
    assert!(command.len() < 1000, "the ticket has it");
    assert_eq!(place.shell(command).code, 0);
    assert_eq!(place.content("ws/long").len(), long.len());
}

#[test]
fn judge_only_and_rules_of_the_agent_leave_a_call_as_it_is() {
    let place = Place::of_agent();
    assert_eq!(place.rewritten(&["--yes", "--judge-only"], "ls"), Value::Null);
    place.put("home/.claude/settings.json", r#"{"permissions": {"deny": ["Bash(rm:*)"]}}"#);
    assert_eq!(place.rewritten(&[], "ls; rm a.txt"), Value::Null);
    assert!(place.rewritten(&[], "ls").is_object());
}

#[test]
fn the_shell_of_the_agent_goes_to_the_folder_and_haft_stays_in_the_project() {
    let Some(place) = Place::of_agent().confining() else { return };
    let input = place.rewritten(&["--yes"], "cd src && pwd > where");
    let command = input["command"].as_str().expect("a command");
    assert!(command.starts_with("cd src && /"), "{command}");
    let ran = place.shell(&format!("{command}\npwd"));
    assert_eq!(ran.out.trim_end(), place.path("ws/src").canonicalize().expect("it is there").to_str().expect("text"));
    assert!(place.content("ws/src/where").ends_with("/ws/src\n"), "{ran:?}");
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert_eq!(place.content("ws/src/where"), "(none)");
}

#[test]
fn edits_of_the_agents_own_tools_are_change_sets() {
    let place = Place::of_agent();
    place.edit("PreToolUse", "e1", "p1");
    place.put("ws/a.txt", "uno\ntwo\n");
    assert_eq!(place.edit("PostToolUse", "e1", "p1"), json!({}));
    let log = place.haft(&["log"], "").out;
    assert!(log.contains("Edit by Claude Code") && log.contains("~a.txt"), "{log}");
    // The user changes another line meanwhile.
    place.put("ws/a.txt", "uno\ntwo\nthree\n");
    assert_eq!(place.haft(&["undo", "--turn"], "").code, 0);
    assert_eq!(place.content("ws/a.txt"), "one\ntwo\nthree\n");
    assert_eq!(place.haft(&["redo"], "").code, 0);
    assert_eq!(place.content("ws/a.txt"), "uno\ntwo\nthree\n");
}

#[test]
fn an_edit_whose_beginning_was_not_seen_is_told() {
    let place = Place::of_agent();
    place.put("ws/a.txt", "uno\ntwo\n");
    let told = place.edit("PostToolUse", "e1", "p1").to_string();
    assert!(told.contains("kept no copy of a.txt: haft undo cannot take it back"), "{told}");
}

#[test]
fn an_edit_whose_end_was_not_seen_is_closed_by_the_next_turn() {
    let place = Place::of_agent();
    place.edit("PreToolUse", "e1", "p1");
    place.put("ws/a.txt", "uno\ntwo\n");
    assert!(!place.haft(&["log"], "").out.contains("Edit"), "the agent is still at it");
    place.tells(&[], json!({ "tool_name": "Read", "tool_input": { "file_path": "a.txt" }, "prompt_id": "p2" }));
    let log = place.haft(&["log"], "").out;
    assert!(log.contains("Edit (end not seen) by Claude Code"), "{log}");
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert_eq!(place.content("ws/a.txt"), "one\ntwo\n");
}

#[test]
fn one_line_says_what_is_covered_when_an_agent_starts() {
    let place = Place::of_agent();
    // Claude Code names the model at a terminal, as Codex does.
    let start = |flags: &[&str], mode: Option<&str>| {
        let event =
            json!({ "session_id": "s", "cwd": place.path("ws"), "hook_event_name": "SessionStart", "model": "m" });
        let mut event = event.as_object().expect("fields").clone();
        event.extend(mode.map(|mode| ("permission_mode".to_owned(), mode.into())));
        let mut command = place.command(&["guard"]);
        command.args(flags);
        let answer: Value = serde_json::from_str(&said(command, Value::from(event).to_string()).out).expect("JSON");
        answer["systemMessage"].as_str().expect("a line").to_owned()
    };
    let line = |flags: &[&str]| start(flags, None);
    let codex = start(&[], Some("default"));
    assert!(codex.contains("Codex") && codex.contains("Commands are only judged"), "{codex}");
    assert!(line(&[]).contains("Claude Code"), "{}", line(&[]));
    assert!(line(&[]).contains("runs its commands in the sandbox"), "{}", line(&[]));
    assert!(line(&["--judge-only"]).contains("only judges"), "{}", line(&["--judge-only"]));
}

#[test]
fn where_state_cannot_be_written_a_command_is_judged_without_the_sandbox() {
    let place = Place::new();
    place.put("ws/Makefile", "x:; echo hi\n");
    place.put("ws/a.txt", "hi\n");
    place.put("file", "");
    let commands = [
        ("make x", "--yes"),
        ("rm a.txt", "--yes"),
        ("python3 x.py", "--yes"),
        ("curl -s http://x.example", "--yes=all"),
    ];
    for (command, yes) in commands {
        let mut guard = place.command(&["guard", yes]);
        guard.current_dir("/").env("XDG_STATE_HOME", place.path("file/nope"));
        let event = place.event("Bash", &json!({ "command": command }));
        let (decision, reason) = decision_in(&said(guard, event.as_bytes()));
        let judged = place.guarded_with(&["--judge-only", yes], "Bash", &json!({ "command": command })).0;
        assert_ne!(decision, "allow", "{command}: {reason}");
        assert_eq!(decision, judged, "{command}: {reason}");
    }
}

#[test]
fn where_state_cannot_be_written_only_the_yes_to_all_answers_for_an_edit() {
    let place = Place::new();
    place.put("ws/a.txt", "one\n");
    place.put("file", "");
    let edits = [
        ("Edit", json!({ "file_path": place.path("ws/a.txt"), "old_string": "one", "new_string": "uno" })),
        ("Write", json!({ "file_path": place.path("ws/new.txt"), "content": "x" })),
    ];
    for (tool, input) in edits {
        let answer = |yes: &str, mode: &str| {
            let mut event: Value = serde_json::from_str(&place.event(tool, &input)).expect("it is JSON");
            event["permission_mode"] = mode.into();
            let mut guard = place.command(&["guard", yes]);
            guard.current_dir("/").env("XDG_STATE_HOME", place.path("file/nope"));
            decision_in(&said(guard, event.to_string()))
        };
        let (decision, reason) = answer("--yes", "default");
        assert_eq!(decision, "ask", "{tool}: {reason}");
        assert!(reason.contains("--yes does not answer that; --yes=all does."), "{tool}: {reason}");
        assert!(reason.contains("It cannot be undone."), "{tool}: {reason}");
        let (decision, reason) = answer("--yes", "bypassPermissions");
        assert_eq!(decision, "deny", "{tool}: {reason}");
        for mode in ["default", "bypassPermissions"] {
            let (decision, reason) = answer("--yes=all", mode);
            assert_eq!(decision, "allow", "{tool}: {reason}");
        }
    }
}
