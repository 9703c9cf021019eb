//! Events as real sessions of the agents send them (`tests/agents/run --verbose` prints them).

use serde_json::{Value, json};

use super::cases::decision;
use crate::{CapturedOutput, Place};

impl Place {
    /// Returns what Codex is told of an event that its session in the workspace sends.
    fn asked_by_codex(&self, event: &str, folder: &str, tool: &str, input: &Value) -> CapturedOutput {
        let event = json!({
            "session_id": "s", "turn_id": "t", "transcript_path": "/t", "cwd": self.path(folder),
            "hook_event_name": event, "model": "gpt-6.1-sol", "permission_mode": "bypassPermissions",
            "tool_name": tool, "tool_input": input, "tool_use_id": "exec-1",
        });
        self.guard_from(&self.path("ws"), &[], &[], event.to_string().as_bytes())
    }
}

#[test]
fn a_call_of_codex_is_judged_in_the_folder_of_the_session_whatever_folder_it_starts_in() {
    let place = Place::of_guard();
    for file in
        ["ws/.git/hooks/x", "ws/.vscode/x", "ws/.claude/x", "ws/sub/.codex/x", "ws/sub/plain.txt", "home/notes/x"]
    {
        place.put(file, "x\n");
    }
    let mut wrong = Vec::new();
    for (folder, command, wanted) in [
        ("ws/.git/hooks", "echo x >> pre-commit", "deny"),
        ("ws/.git/hooks", "cp x post-checkout", "deny"),
        ("ws/.git", "echo x >> hooks/pre-commit", "deny"),
        ("ws/.git", "echo x >> config", "deny"),
        ("ws/.vscode", "echo x > tasks.json", "deny"),
        ("ws/.claude", "echo x > settings.json", "deny"),
        ("ws/sub/.codex", "echo x > config.toml", "deny"),
        ("ws/sub", "echo x > ../.envrc", "deny"),
        ("home", "cat notes/x", "deny"),
        ("home/notes", "cat x", "deny"),
        ("home/notes", "echo x > y", "deny"),
        ("out", "cat plans.txt", "deny"),
        ("ws/link-out", "cat plans.txt", "deny"),
        ("ws", "echo x > plain.txt", "leave"),
        ("ws/sub", "echo x > plain.txt", "leave"),
        ("ws/sub", "cat plain.txt ../src/main.rs", "leave"),
    ] {
        let said = place.asked_by_codex("PreToolUse", folder, "Bash", &json!({ "command": command }));
        let decided = decision("codex", &said);
        if decided != wanted {
            wrong.push(format!("{folder}: {command}: {decided} and not {wanted}"));
        }
        let said = place.asked_by_codex("PermissionRequest", folder, "Bash", &json!({ "command": command }));
        let decided = decision("permission", &said);
        if wanted == "deny" && decided == "allow" {
            wrong.push(format!("{folder}: {command}: allowed where Codex is about to ask"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_patch_in_a_command_is_judged_by_the_files_that_it_names() {
    let place = Place::of_guard();
    let patch =
        |path: &str| format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\nEOF\n");
    let diff = |path: &str| format!("patch -p1 <<'EOF'\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\nEOF\n");
    let mut wrong = Vec::new();
    for path in
        [".envrc", "sub/.mcp.json", ".git/hooks/pre-commit", ".vscode/tasks.json", "../out/plans.txt", "plain.txt"]
    {
        let wanted = if path == "plain.txt" { "leave" } else { "deny" };
        for command in [
            patch(path),
            patch(path).replace("apply_patch", "applypatch"),
            format!("cd sub && {}", patch(&format!("../{path}"))),
            format!("bash -lc {}", quoted(&patch(path))),
            format!("apply_patch '*** Begin Patch\n*** Update File: {path}\n*** End Patch'"),
            diff(path),
            diff(path).replace("patch -p1", "git apply"),
        ] {
            let said = place.asked_by_codex("PreToolUse", "ws", "Bash", &json!({ "command": command }));
            let decided = decision("codex", &said);
            if decided != wanted {
                wrong.push(format!("{decided} and not {wanted}: {command}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn codex_runs_nothing_that_waits_for_typed_commands_because_it_does_not_ask_about_them() {
    let place = Place::of_guard();
    let mut wrong = Vec::new();
    for (command, wanted) in [
        ("bash", "deny"),
        ("sh", "deny"),
        ("bash -i", "deny"),
        ("bash --norc -s", "deny"),
        ("exec bash", "deny"),
        ("env bash", "deny"),
        ("cd sub && zsh", "deny"),
        ("script -c bash", "deny"),
        ("bash -c 'exec bash'", "deny"),
        ("busybox sh", "deny"),
        ("python3", "deny"),
        ("python3 -", "deny"),
        ("node", "deny"),
        ("perl", "deny"),
        ("cat | sh", "deny"),
        ("tee x.log | bash", "deny"),
        ("cat - | bash -s", "deny"),
        ("eval \"$(cat)\"", "deny"),
        ("bash -c \"$(cat)\"", "deny"),
        ("(cd sub; cat | python3)", "deny"),
        ("cat", "leave"),
        ("cat plain.txt | head -1", "leave"),
        ("grep -r --exclude=.env* x sub | sort", "leave"),
        ("bash -c 'ls sub'", "leave"),
        ("python3 -c 'print(1)'", "leave"),
        ("echo 'ls sub' | bash", "leave"),
    ] {
        let said = place.asked_by_codex("PreToolUse", "ws", "Bash", &json!({ "command": command }));
        if decision("codex", &said) != wanted {
            wrong.push(format!("{command} is not {wanted}: {}", said.out));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join(""));
}

#[test]
fn a_refusal_names_a_tool_once_that_writes_and_edits() {
    let place = Place::of_guard();
    let said = place.asked_by_codex("PreToolUse", "ws", "Bash", &json!({ "command": "echo x >> .git/config" }));
    assert!(
        said.out.contains("Next: use \\\"apply_patch\\\", so that the user is asked, or do without it."),
        "{}",
        said.out
    );
}

#[test]
fn a_patch_of_copilot_cli_is_text_and_each_file_in_it_is_judged() {
    let place = Place::of_guard();
    let added = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    let changed = |path: &str| format!("*** Begin Patch\n*** Update File: {path}\n@@\n-x\n+y\n*** End Patch\n");
    for (arguments, wanted) in [
        (json!(added("plain.txt")), "ask"),
        (json!(added("${WS}/plain.txt")), "ask"),
        (json!({ "input": added("plain.txt") }), "ask"),
        (json!(json!({ "input": added("plain.txt") }).to_string()), "ask"),
        (json!(added(".git/hooks/pre-commit")), "deny"),
        (json!(added("sub/.envrc")), "deny"),
        (json!(changed("${WS}/.git/config")), "deny"),
        (json!(changed("plain.txt") + &added(".mcp.json")), "deny"),
        (json!(changed("../out/plans.txt")), "deny"),
        (json!({ "input": added(".vscode/tasks.json") }), "deny"),
        (json!("plain.txt"), "deny"),
        (json!(""), "deny"),
        (json!([added("plain.txt")]), "deny"),
    ] {
        let event = json!({ "sessionId": "s", "timestamp": 1, "cwd": "${WS}", "toolName": "apply_patch", "toolArgs": arguments });
        let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
        assert_eq!(decision("copilot", &said), wanted, "{arguments}: {}", said.out);
    }
}
