//! Secrets that lie deeper than a name says, or that a pattern of an agent's tool finds.

use serde_json::{Value, json};

use super::cases::decision;
use crate::Place;
use crate::own_dialects::OURS;

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/k9/a/b/prod.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/certs/deep/server.key", "canary-4f9d27ab\n");
    place.put("ws/src/lib.rs", "");
    place.put("ws/src/a/b/c.rs", "");
    place
}

#[test]
fn names_of_a_whole_tree_lead_to_the_secrets_at_any_depth() {
    let place = place();
    for command in [
        "find k9 -type f | xargs cat",
        "cat $(find k9 -type f)",
        "for f in $(find k9 -type f); do cat \"$f\"; done",
        "find k9 -type f | while read f; do cat \"$f\"; done",
        "find k9 | sort | xargs cat",
        "find k9 -name '*.env' | xargs cat",
        "find . -name '*.env' -exec cat {} +",
        "rg --files k9 | xargs cat",
        "git ls-files k9 | xargs cat",
        "ls -R k9 | xargs -I{} cat k9/a/b/{}",
        "fd . k9 | xargs cat",
        "find . -path './k9*v' -exec cat {} +",
        "find . -wholename './k9*' -exec cat {} +",
        "find . -ipath '*K9/*' -exec cat {} +",
        "find . -regex '.*k9.*' -exec cat {} +",
        "find . -path './k9*v' | xargs cat",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
    for command in [
        "find src -type f | xargs cat",
        "cat $(find src -type f)",
        "find . -name '*.rs' -exec cat {} +",
        "find . -path './src/*.rs' | xargs wc -l",
        "rg --files src | xargs wc -l",
        "ls -R",
        "find k9 -type f",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

fn asked(place: &Place, form: &str, event: &Value) -> String {
    decision(form, &place.guard(&[], &[], place.folders(&event.to_string()).as_bytes()))
}

fn gemini(tool: &str, input: &Value) -> Value {
    json!({ "hook_event_name": "BeforeTool", "cwd": "${WS}", "tool_name": tool, "tool_input": input })
}

#[test]
fn a_pattern_of_read_many_files_is_judged_as_the_secrets_that_it_finds() {
    let place = place();
    let many = |input: Value| asked(&place, "gemini", &gemini("read_many_files", &input));
    for patterns in ["**", "**/*", ".e*", "certs", "certs/", "certs/**", "k9/**/*.env", "*", ".", "**/*.key", ".env"] {
        assert_eq!(many(json!({ "include": [patterns] })), "deny", "{patterns}");
        assert_eq!(many(json!({ "paths": ["src/lib.rs", patterns] })), "deny", "{patterns}");
    }
    for patterns in ["src/**", "**/*.rs", "src", "src/lib.rs"] {
        assert_eq!(many(json!({ "include": [patterns] })), "allow", "{patterns}");
    }
}

#[test]
fn a_search_with_several_or_negated_patterns_is_judged_as_the_secrets_that_it_finds() {
    let place = place();
    for glob in ["!*.rs", "*.rs,*.env", "*.rs *.key", "{*.rs,*.key}", "certs/**", "!src"] {
        let input = json!({ "pattern": "API", "output_mode": "content", "glob": glob });
        assert_ne!(place.guarded("Grep", &input).0, "allow", "{glob}");
        let include = json!({ "pattern": "API", "include_pattern": glob });
        assert_eq!(asked(&place, "gemini", &gemini("grep_search", &include)), "deny", "{glob}");
        let copilot = json!({ "cwd": "${WS}", "toolName": "grep", "toolArgs": input });
        assert_eq!(asked(&place, "copilot", &copilot), "deny", "{glob}");
    }
    let cursor = |input: Value| {
        let event =
            json!({ "hook_event_name": "preToolUse", "cwd": "${WS}", "tool_name": "Grep", "tool_input": input });
        asked(&place, "cursor", &event)
    };
    assert_eq!(cursor(json!({ "pattern": "API" })), "deny");
    assert_eq!(cursor(json!({ "pattern": "API", "path": "src" })), "allow");
    assert_eq!(cursor(json!({ "pattern": "API", "output_mode": "files_with_matches" })), "allow");
    assert_eq!(cursor(json!({ "pattern": "API", "output_mode": "files_with_matches", "glob": "*.env" })), "deny");
    let input = json!({ "pattern": "API", "output_mode": "content", "glob": "*.rs,*.toml" });
    assert_eq!(place.guarded("Grep", &input).0, "allow");
}

#[test]
fn what_cannot_be_judged_is_denied_where_the_agent_says_that_it_asks_nobody() {
    let place = place();
    let claude = |tool: &str, input: Value| {
        json!({
            "hook_event_name": "PreToolUse", "cwd": "${WS}", "tool_name": tool, "tool_input": input,
            "permission_mode": "bypassPermissions",
        })
    };
    for command in ["cat $(head -1 list)", "eval \"$X\"", "echo x > $F"] {
        let event = claude("Bash", json!({ "command": command }));
        assert_eq!(asked(&place, "claude", &event), "deny", "{command}");
        assert_ne!(place.guarded("Bash", &json!({ "command": command })).0, "allow", "{command}");
    }
    assert_eq!(asked(&place, "claude", &claude("Bash", json!({ "command": "cargo test" }))), "ask");
    assert_eq!(asked(&place, "claude", &claude("PowerShell", json!({ "command": "ls" }))), "deny");
    let copilot = json!({ "cwd": "${WS}", "toolName": "powershell", "toolArgs": { "command": "ls" } });
    assert_eq!(asked(&place, "copilot", &copilot), "deny");
    let twice = claude("Bash", json!({ "command": "ls" })).to_string().replacen('{', r#"{"cwd":"/","#, 1);
    assert_eq!(decision("claude", &place.guard(&[], &[], place.folders(&twice).as_bytes())), "deny");
}

#[test]
fn a_key_that_ends_a_line_ends_a_command_that_is_typed() {
    let place = place();
    let typed = |input: &str| {
        let event = json!({ "cwd": "${WS}", "toolName": "write_bash", "toolArgs": { "input": input } });
        asked(&place, "copilot", &event)
    };
    assert_eq!(typed("ls{enter}rm -rf ~{enter}"), "deny");
    assert_eq!(typed("ls{enter}"), "ask");
}

#[test]
fn only_the_tools_that_haft_has_are_taken_for_its_own() {
    let place = place();
    for (tool, wanted) in [
        ("mcp_haft_read_file", "allow"),
        ("mcp_haft_evil_x", "leave"),
        ("mcp__haft__evil__x", "leave"),
        ("mcp__haft__bash", "allow"),
    ] {
        assert_eq!(asked(&place, "gemini", &gemini(tool, &json!({}))), wanted, "{tool}");
    }
}

#[test]
fn tools_of_the_user_and_names_of_dialects_are_not_asked_about_twice() {
    let place = place();
    let tool = |name: &str| {
        format!("name: {name}\ndescription: Says something.\nbinding: {{command: [echo, a]}}\neffects: []\n")
    };
    let own = OURS.replace("\"view\"", "\"view_mine\"");
    let claude = |tool: &str| {
        json!({ "hook_event_name": "PreToolUse", "cwd": "${WS}", "tool_name": format!("mcp__haft__{tool}"),
        "tool_input": {}, "permission_mode": "default" })
    };
    let names = |dialect: &str| -> Vec<String> {
        let shown = place.haft(&["tools", "--json", "--dialect", dialect], "").out;
        let shown: Value = serde_json::from_str(&shown).expect("a list");
        let listed =
            shown.as_array().cloned().unwrap_or_else(|| shown["tools"].as_array().cloned().unwrap_or_default());
        listed.iter().map(|tool| tool["name"].as_str().expect("it has one").to_owned()).collect()
    };
    assert_eq!(asked(&place, "claude", &claude("weather")), "ask");
    place.put("home/.config/haft/tools/weather.yaml", &tool("weather"));
    place.put("ws/.haft/tools/brought.yaml", &tool("brought"));
    assert_eq!(asked(&place, "claude", &claude("view_mine")), "ask");
    place.put("home/.config/haft/dialects/mine.toml", &own);
    assert_eq!(asked(&place, "claude", &claude("view_mine")), "allow");
    assert_eq!(asked(&place, "claude", &claude("weather")), "allow");
    assert_eq!(asked(&place, "claude", &claude("brought")), "ask", "nobody trusts it");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert_eq!(asked(&place, "claude", &claude("brought")), "allow");
    for dialect in ["haft", "tunacode", "ally", "wyrm", "nexau"] {
        let names = names(dialect);
        assert!(names.len() > 3, "{dialect}: {names:?}");
        for name in names {
            assert_eq!(asked(&place, "claude", &claude(&name)), "allow", "{dialect}: {name}");
        }
    }
    assert_eq!(asked(&place, "claude", &claude("evil")), "ask");
}

#[test]
fn a_change_of_what_a_protected_name_leads_to_is_asked_about() {
    let place = place();
    place.put("ws/.git/config", "[core]\n\thooksPath = tools\n[include]\n\tpath = ../more.cfg\n");
    std::os::unix::fs::symlink("cfg", place.path("ws/.vscode")).expect("a link can be made");
    for path in ["tools/pre-commit", "more.cfg", "cfg/tasks.json"] {
        let written = place.guarded("Write", &json!({ "file_path": place.path("ws").join(path), "content": "x" }));
        assert!(written.1.contains("protected names"), "{path}: {written:?}");
        for command in [format!("echo x > {path}"), format!("cp a {path}"), format!("rm -f {path}")] {
            let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
            assert!(decision != "allow" && reason.contains("protected names"), "{command}: {decision} {reason}");
        }
    }
    assert_eq!(place.guarded("Bash", &json!({ "command": "rm -r tools" })).0, "ask");
    let other = place.guarded("Write", &json!({ "file_path": place.path("ws/src/x.rs"), "content": "x" }));
    assert!(!other.1.contains("protected names"), "{other:?}");
}
