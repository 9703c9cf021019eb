//! Questions that an agent would drop: whether they become refusals, in every form and permission mode.

use serde_json::{Value, json};

use super::cases::decision;
use crate::Place;

/// The permission modes of agents, and whether a question of a hook reaches a person in them.
const MODES: &[(Option<&str>, bool)] = &[
    (Some("default"), true),
    (Some("acceptEdits"), true),
    (Some("plan"), true),
    (Some("bypassPermissions"), false),
    (Some("dontAsk"), false),
    (Some("auto"), false),
    (Some("a mode of next year"), false),
    (None, false),
];

/// Questions that only a person may answer: protected names, secrets, and arguments that cannot be read.
fn grave() -> Vec<(&'static str, Value)> {
    let files = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".claude/settings.json",
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".gemini/settings.json",
        ".github/hooks/haft.json",
        ".vscode/tasks.json",
        ".envrc",
        ".env",
    ];
    files.into_iter().map(|file| ("Write", json!({ "file_path": file, "content": "x" }))).collect()
}

/// Returns a call in the form of an agent, and the form of its answer.
fn forms(tool: &str, input: &Value, mode: Option<&str>) -> Vec<(&'static str, Value, bool)> {
    let base = json!({ "cwd": "${WS}", "tool_name": tool, "tool_input": input, "permission_mode": mode });
    let with = |more: Value| {
        let mut event = base.clone();
        let fields = event.as_object_mut().expect("it is an object");
        fields.extend(more.as_object().expect("it is an object").clone());
        event
    };
    let gemini = if tool == "Write" { "write_file" } else { "run_shell_command" };
    let copilot = if tool == "Write" { "create" } else { "bash" };
    vec![
        ("claude", with(json!({ "hook_event_name": "PreToolUse" })), true),
        ("codex", with(json!({ "hook_event_name": "PreToolUse", "model": "m", "turn_id": "t" })), false),
        ("gemini", with(json!({ "hook_event_name": "BeforeTool", "tool_name": gemini })), false),
        ("cursor", with(json!({ "hook_event_name": "preToolUse" })), false),
        ("copilot", json!({ "cwd": "${WS}", "toolName": copilot, "toolArgs": input, "permission_mode": mode }), true),
    ]
}

#[test]
fn a_question_that_only_a_person_may_answer_is_asked_where_the_agent_asks_and_denied_everywhere_else() {
    let place = Place::of_guard();
    let mut wrong = Vec::new();
    for (mode, asks) in MODES {
        for (tool, input) in grave() {
            for (form, event, can_ask) in forms(tool, &input, *mode) {
                let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
                let wanted = if *asks && can_ask { "ask" } else { "deny" };
                let decided = decision(form, &said);
                if decided != wanted {
                    wrong.push(format!("{form} {mode:?} {input}: {decided} and not {wanted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_command_that_changes_a_protected_name_is_denied_in_every_form_and_mode() {
    let place = Place::of_guard();
    for name in [".envrc", "sub/.envrc", ".corepack.env", ".git/config", ".git/hooks/pre-commit", ".mcp.json"] {
        let input = json!({ "command": format!("echo x >> {name}") });
        for (mode, _) in MODES {
            for (form, event, _) in forms("Bash", &input, *mode) {
                let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
                assert_eq!(decision(form, &said), "deny", "{form} {mode:?} {name}");
            }
        }
    }
}

#[test]
fn a_refusal_instead_of_a_question_says_so() {
    let place = Place::of_guard();
    let write = json!({ "file_path": ".git/hooks/pre-commit", "content": "x" });
    for (mode, why) in [
        (Some("bypassPermissions"), "the agent asks no questions in its permission mode."),
        (None, "it is not certain that the agent would ask one."),
    ] {
        let (_, event, _) = forms("Write", &write, mode).swap_remove(0);
        let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
        assert!(said.out.contains("Only a person may answer that, and ") && said.out.contains(why), "{}", said.out);
    }
}

#[test]
fn an_ordinary_question_never_makes_an_agent_wait_that_cannot_ask() {
    let place = Place::of_guard();
    let input = json!({ "command": "rm notes.txt" });
    for (mode, _) in MODES {
        for (form, event, _) in forms("Bash", &input, *mode) {
            let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
            let wanted = if ["codex", "gemini"].contains(&form) { "leave" } else { "ask" };
            assert_eq!(decision(form, &said), if form == "cursor" { "ask" } else { wanted }, "{form} {mode:?}");
        }
    }
}

#[test]
fn an_event_that_breaks_off_is_denied_where_its_mode_does_not_ask() {
    let place = Place::of_guard();
    for (fields, wanted) in [
        (json!({ "permission_mode": "bypassPermissions" }), "deny"),
        (json!({ "permission_mode": "bypassPermissions", "hook_event_name": "PreToolUse" }), "deny"),
        (json!({ "permission_mode": "default", "hook_event_name": "PreToolUse" }), "ask"),
        (json!({ "hook_event_name": "PreToolUse" }), "ask"),
    ] {
        assert_eq!(decision("claude", &place.guard(&[], &[], fields.to_string().as_bytes())), wanted, "{fields}");
    }
}

#[test]
fn a_command_that_reads_outside_through_a_link_is_asked_about_or_denied_but_never_left_to_the_agent() {
    let place = Place::of_guard();
    place.put("home/notes/private.txt", "x\n");
    for (link, target) in [("ws/link-home", "home/notes"), ("ws/link-file", "home/notes/private.txt")] {
        std::os::unix::fs::symlink(place.path(target), place.path(link)).expect("a link can be made");
    }
    std::os::unix::fs::symlink("link-home", place.path("ws/link-to-link")).expect("a link can be made");
    for command in [
        json!("cat link-home/private.txt"),
        json!("cat link-file"),
        json!("cat ~/notes/private.txt"),
        json!("cat ./link-to-link/private.txt"),
        json!("head -n 3 < link-file"),
        json!("cd link-home && cat private.txt"),
        json!("cat $(echo x) link-file"),
        json!(["cat", "link-file"]),
        json!(["bash", "-lc", "cat link-file"]),
        json!(["/bin/sh", "-c", "cat link-home/private.txt"]),
    ] {
        for (form, event, _) in forms("Bash", &json!({ "command": command }), Some("default")) {
            let said = place.guard(&[], &[], place.folders(&event.to_string()).as_bytes());
            let decided = decision(form, &said);
            let is_asked = decided == "ask" && !["codex", "gemini"].contains(&form);
            assert!(decided == "deny" || is_asked, "{form} {command}: {decided}");
        }
    }
}

#[test]
fn a_rule_about_a_tool_of_a_server_holds_in_every_form_of_its_name() {
    let place = Place::of_guard();
    let rule = |decision: &str| {
        let reason = if decision == "deny" { "reason = \"No.\"\n" } else { "" };
        format!("[[rule]]\nname = \"db\"\ndecision = \"{decision}\"\n{reason}tool = \"mcp__db__drop_*\"\n")
    };
    let named = [
        ("claude", json!({ "hook_event_name": "PreToolUse", "tool_name": "mcp__db__drop_all", "tool_input": {} })),
        ("gemini", json!({ "hook_event_name": "BeforeTool", "tool_name": "mcp_db_drop_all", "tool_input": {} })),
        (
            "cursor",
            json!({ "hook_event_name": "beforeMCPExecution", "tool_name": "drop_all", "tool_input": "{}",
            "mcp_server_name": "db" }),
        ),
        ("copilot", json!({ "toolName": "db-drop_all", "toolArgs": {} })),
    ];
    let unnamed = [
        ("cursor", json!({ "hook_event_name": "beforeMCPExecution", "tool_name": "drop_all", "tool_input": "{}" })),
        ("cursor", json!({ "hook_event_name": "preToolUse", "tool_name": "MCP:drop_all", "tool_input": {} })),
    ];
    for (wanted, without_server) in [("deny", "deny"), ("allow", "ask")] {
        place.put("home/.config/haft/rules.toml", &rule(wanted));
        let cases = named.iter().map(|case| (case, wanted)).chain(unnamed.iter().map(|case| (case, without_server)));
        for ((form, event), wanted) in cases {
            let mut event = event.clone();
            event["cwd"] = json!(place.path("ws"));
            assert_eq!(decision(form, &place.guard(&[], &[], event.to_string().as_bytes())), wanted, "{event}");
        }
    }
}

#[test]
fn hafts_own_tools_are_not_asked_about_twice_unless_a_rule_says_so() {
    let place = Place::of_guard();
    let own = |tool: &str| {
        let codex = json!({ "hook_event_name": "PreToolUse", "model": "m", "tool_name": format!("mcp__haft__{tool}"),
            "tool_input": {} });
        [
            (
                "claude",
                "allow",
                json!({ "hook_event_name": "PreToolUse", "tool_name": format!("mcp__haft__{tool}"),
                "tool_input": {}, "permission_mode": "default" }),
            ),
            ("codex", "leave", codex),
            (
                "permission",
                "allow",
                json!({ "hook_event_name": "PermissionRequest",
                "tool_name": format!("mcp__haft__{tool}"), "tool_input": {} }),
            ),
            (
                "gemini",
                "allow",
                json!({ "hook_event_name": "BeforeTool", "tool_name": format!("mcp_haft_{tool}"),
                "tool_input": {}, "mcp_context": { "server_name": "haft", "tool_name": tool } }),
            ),
            (
                "cursor",
                "allow",
                json!({ "hook_event_name": "beforeMCPExecution", "tool_name": tool,
                "tool_input": "{}", "command": "haft mcp serve -C ." }),
            ),
            ("copilot", "allow", json!({ "toolName": format!("haft-{tool}"), "toolArgs": {} })),
        ]
    };
    for (tool, with_rule) in [("read_file", false), ("bash", false), ("write_file", false), ("bash", true)] {
        if with_rule {
            let rule = "[[rule]]\nname = \"x\"\ndecision = \"deny\"\nreason = \"No.\"\ntool = \"mcp__haft__bash\"\n";
            place.put("home/.config/haft/rules.toml", rule);
        }
        for (form, wanted, mut event) in own(tool) {
            event["cwd"] = json!(place.path("ws"));
            let wanted = if with_rule { "deny" } else { wanted };
            assert_eq!(decision(form, &place.guard(&[], &[], event.to_string().as_bytes())), wanted, "{event}");
        }
    }
}

#[test]
fn a_server_whose_name_only_looks_like_hafts_is_asked_about() {
    let place = Place::of_guard();
    let command = |command: &str| json!({ "hook_event_name": "beforeMCPExecution", "tool_name": "bash", "tool_input": "{}", "command": command });
    for (form, mut event) in [
        ("copilot", json!({ "toolName": "haft-evil-bash", "toolArgs": {} })),
        ("cursor", command("./haft mcp serve")),
        ("cursor", command("npx haft mcp serve")),
        ("cursor", command("haft run x")),
        ("claude", json!({ "hook_event_name": "PreToolUse", "tool_name": "mcp__haft2__bash", "tool_input": {} })),
        (
            "claude",
            json!({ "hook_event_name": "PreToolUse", "tool_name": "mcp__haft__bash", "tool_input": {},
            "permission_mode": "plan" }),
        ),
    ] {
        event["cwd"] = json!(place.path("ws"));
        assert_eq!(decision(form, &place.guard(&[], &[], event.to_string().as_bytes())), "ask", "{event}");
    }
}

#[test]
fn text_that_is_typed_into_a_program_and_pictures_that_are_shown_are_judged() {
    let place = Place::of_guard();
    for (tool, input, wanted) in [
        ("write_stdin", json!({ "session_id": 1, "chars": "" }), "leave"),
        ("write_stdin", json!({ "session_id": 1, "chars": "ls\n" }), "leave"),
        ("write_stdin", json!({ "session_id": 1, "chars": "rm -rf ~\n" }), "deny"),
        ("write_stdin", json!({ "session_id": 1, "chars": "echo x > .git/hooks/pre-commit\n" }), "deny"),
        ("view_image", json!({ "path": "src/main.rs" }), "leave"),
        ("view_image", json!({ "path": "/etc/shadow" }), "deny"),
        ("exec_command", json!({ "cmd": "rm -rf ~" }), "deny"),
        ("shell", json!({ "command": ["rm", "-rf", "/home"] }), "deny"),
    ] {
        let event = json!({ "hook_event_name": "PreToolUse", "model": "m", "turn_id": "t", "cwd": place.path("ws"),
            "permission_mode": "default", "tool_name": tool, "tool_input": input });
        assert_eq!(decision("codex", &place.guard(&[], &[], event.to_string().as_bytes())), wanted, "{event}");
    }
}
