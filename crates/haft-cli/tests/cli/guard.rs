//! `haft guard` of the real command: events of other agents, and what they are told.

#[path = "guard/cases.rs"]
mod cases;
#[path = "guard/depths.rs"]
mod depths;
#[path = "guard/dropped_questions.rs"]
mod dropped_questions;
#[path = "guard/narrowed.rs"]
mod narrowed;
#[path = "guard/real_events.rs"]
mod real_events;
#[path = "guard/recording.rs"]
mod recording;
#[path = "guard/secrets.rs"]
mod secrets;
#[path = "guard/stashes.rs"]
mod stashes;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{CapturedOutput, Place, said};

fn decision_in(said: &CapturedOutput) -> (String, String) {
    let answer: Value = serde_json::from_str(&said.out).expect("the answer is JSON");
    let text = |key: &str| answer["hookSpecificOutput"][key].as_str().expect("it is told").to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

impl Place {
    /// Hands one event to the guard, with these flags and variables.
    fn guard(&self, flags: &[String], variables: &[(String, String)], event: &[u8]) -> CapturedOutput {
        // An agent starts its hooks anywhere.
        self.guard_from(Path::new("/"), flags, variables, event)
    }

    /// Hands an event to a hook that starts in a folder.
    fn guard_from(
        &self,
        folder: &Path,
        flags: &[String],
        variables: &[(String, String)],
        event: &[u8],
    ) -> CapturedOutput {
        let mut command = self.command(&["guard", "--judge-only"]);
        command.env("DEPLOY_TOKEN", "correct-horse-battery").envs(variables.iter().cloned());
        command.current_dir(folder).args(flags);
        said(command, event)
    }

    fn event(&self, tool: &str, input: &Value) -> String {
        let cwd = self.path("ws");
        json!({
            "session_id": "s", "transcript_path": "/t", "cwd": cwd, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "u",
        })
        .to_string()
    }

    /// Returns what Claude Code would be told of a call.
    fn guarded(&self, tool: &str, input: &Value) -> (String, String) {
        decision_in(&self.guard(&[], &[], self.event(tool, input).as_bytes()))
    }

    /// Returns the same of a hook with these flags, which also runs commands.
    fn guarded_with(&self, flags: &[&str], tool: &str, input: &Value) -> (String, String) {
        let mut command = self.command(&["guard"]);
        command.current_dir("/").args(flags);
        decision_in(&said(command, self.event(tool, input).as_bytes()))
    }
}

#[test]
fn the_answer_is_one_line_of_the_form_that_was_agreed() {
    let place = Place::new();
    let said = place.guard(&[], &[], place.event("Bash", &json!({ "command": "ls" })).as_bytes());
    let wanted = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Reading inside the workspace is allowed. (haft, rule \"reads inside\")"}}"#;
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, &*format!("{wanted}\n"), ""));
}

#[test]
fn a_refusal_tells_the_model_what_why_and_what_to_do_instead_in_its_own_names() {
    let place = Place::new();
    let (decision, reason) = place.guarded("Bash", &json!({ "command": "echo x > .git/hooks/pre-commit" }));
    assert_eq!(decision, "deny");
    assert_eq!(
        reason,
        "The rule \"protected names in commands\" of haft refuses this. It would create .git/hooks/pre-commit. \
         Nothing was run. Next: use \"Edit\" or \"Write\", so that the user is asked, or do without it."
    );
}

#[test]
fn secrets_are_hidden_and_what_commands_a_terminal_is_shown() {
    let place = Place::new();
    let (_, reason) = place.guarded("Write", &json!({ "file_path": "correct-horse-battery", "content": "" }));
    assert_eq!(reason, "It would create [secret]. (haft asks, rule \"changes\")");
    let (_, reason) = place.guarded("a\u{1b}[2J\u{202e}b", &json!({}));
    assert!(!reason.contains(['\u{1b}', '\u{202e}', '\n']), "{reason}");
    let gone = json!({ "command": "ls", "workdir": "/correct-horse-battery\u{1b}/x" });
    assert!(!place.guarded("Bash", &gone).1.contains("correct-horse"));
}

#[test]
fn an_answer_is_short_however_long_the_call_is() {
    let place = Place::new();
    let (decision, reason) = place.guarded("WebFetch", &json!({ "url": format!("ftp://{}", "é".repeat(100_000)) }));
    assert_eq!(decision, "deny");
    assert!(reason.chars().count() < 400, "{}", reason.len());
    let (_, reason) = place.guarded(&"tool".repeat(100_000), &json!({}));
    assert!(reason.chars().count() <= 1_501, "{}", reason.len());
}

#[test]
fn a_file_whose_name_is_an_option_counts_where_a_pattern_finds_it() {
    let place = Place::new();
    let decided = |command: &str| place.guarded("Bash", &json!({ "command": command })).0;
    assert_eq!((decided("sort *"), decided("ls | xargs sort")), ("allow".to_owned(), "allow".to_owned()));
    place.put("ws/--output=x", "");
    for command in ["sort *", "for f in *; do sort \"$f\"; done", "ls | xargs sort"] {
        assert_eq!(decided(command), "ask", "{command}");
    }
    for command in ["sort -- *", "sort ./*", "wc -l src/*", "ls *"] {
        assert_eq!(decided(command), "allow", "{command}");
    }
}

#[test]
fn a_step_up_behind_a_link_leads_up_from_where_the_link_leads() {
    let place = Place::new();
    for folder in ["out/deep", "ws/sub"] {
        std::fs::create_dir_all(place.path(folder)).expect("a folder can be made");
    }
    std::os::unix::fs::symlink(place.path("out/deep"), place.path("ws/link")).expect("a link can be made");
    let decision = |command: &str| place.guarded("Bash", &json!({ "command": command })).0;

    for command in [
        "cat link/../k",
        "cat < link/../k",
        "git -C link/.. status",
        "env -C link/.. cat k",
        "cd -P link && cd .. && cat k",
    ] {
        assert_ne!(decision(command), "allow", "{command}");
    }
    for command in ["cat sub/../k", "cd link/..; cat k"] {
        assert_eq!(decision(command), "allow", "{command}");
    }
}

#[test]
fn bytes_that_are_no_text_are_asked_about() {
    let place = Place::new();
    for event in [&b"\xff\xfe\x00"[..], b"{\"hook_event_name\":\"\xff\"}", &[0; 4096]] {
        let said = place.guard(&[], &[], event);
        assert_eq!((said.code, said.out.contains("\"permissionDecision\":\"ask\"")), (0, true), "{}", said.out);
    }
}

#[test]
fn rules_of_a_project_count_once_it_is_trusted() {
    let place = Place::new();
    place.put(
        "ws/.haft/rules.toml",
        "[[rule]]\nname = \"frozen\"\ndecision = \"deny\"\nreason = \"Frozen.\"\npath = \"src/**\"\n",
    );
    let edit = json!({ "file_path": "src/main.rs", "old_string": "a", "new_string": "b" });
    assert_eq!(place.guarded("Edit", &edit).0, "ask");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let (decision, reason) = place.guarded("Edit", &edit);
    assert_eq!((decision.as_str(), reason.contains("Frozen.")), ("deny", true), "{reason}");
}

#[test]
fn a_call_that_completes_a_git_repository_is_asked_about_also_with_yes() {
    let place = Place::new();
    for part in ["docs/HEAD", "docs/objects/a", "docs/refs/a", "near/HEAD", "near/objects/a", "near/config"] {
        place.put(&format!("ws/{part}"), "x");
    }
    let patch = "*** Begin Patch\n*** Add File: far/HEAD\n+x\n*** Add File: far/commondir\n+../x\n*** End Patch\n";
    let calls = [
        ("Write", json!({ "file_path": "docs/config", "content": "x" }), "docs"),
        ("Write", json!({ "file_path": "near/refs/heads/main", "content": "x" }), "near"),
        ("apply_patch", json!({ "command": patch }), "far"),
        ("Bash", json!({ "command": "echo x > docs/config" }), "docs"),
        ("Bash", json!({ "command": "cp src/main.rs docs/config.worktree" }), "docs"),
        ("Bash", json!({ "command": "ln -s ../src docs/hooks" }), "docs"),
        ("Bash", json!({ "command": "mkdir near/refs" }), "near"),
        ("Bash", json!({ "command": "mv src near/refs" }), "near"),
        ("Bash", json!({ "command": "mkdir -p a/objects a/refs; echo x > a/HEAD; echo y > a/config" }), "a"),
    ];
    for (tool, input, folder) in calls {
        let said = place.guard(&["--yes".to_owned()], &[], place.event(tool, &input).as_bytes());
        let reason = format!("make git treat {folder} as a repository");
        assert!(said.out.contains("\"ask\"") && said.out.contains(&reason), "{tool} {input}: {}", said.out);
    }
    for path in ["docs/description", "near/description", "far/HEAD", "config", "src/hooks/a.ts"] {
        let said = place.guard(
            &["--yes".to_owned()],
            &[],
            place.event("Write", &json!({ "file_path": path, "content": "x" })).as_bytes(),
        );
        assert!(said.out.contains("\"allow\""), "{path}: {}", said.out);
    }
}

#[test]
fn nothing_is_kept_and_nothing_is_changed() {
    let place = Place::new();
    place.guarded("Bash", &json!({ "command": "rm src/main.rs" }));
    place.guarded("Write", &json!({ "file_path": "src/main.rs", "content": "" }));
    assert!(!place.path("home").exists());
    assert_eq!(std::fs::read_to_string(place.path("ws/src/main.rs")).expect("it is there"), "fn main() {}\n");
}

#[test]
fn a_flag_that_is_none_is_a_usage_error_which_agents_take_for_a_refusal() {
    let place = Place::new();
    assert_eq!(place.guard(&["--nope".to_owned()], &[], b"").code, 2);
}

#[test]
fn the_lines_to_paste_hold_the_command_that_is_running() {
    let place = Place::new();
    let said = place.haft(&["guard", "--print-config", "claude", "--yes", "--add-dir", "/a b/it's"], "");
    let lines: Value = serde_json::from_str(&said.out).expect("only the lines are on stdout");
    let hook = &lines["hooks"]["PreToolUse"][0];
    let command = hook["hooks"][0]["command"].as_str().expect("there is a command");
    assert!(command.starts_with('/') && command.ends_with(r"haft guard --add-dir '/a b/it'\''s' --yes"), "{command}");
    assert_eq!(hook["hooks"][0]["onFailure"], "block");
    let matcher = regex::Regex::new(hook["matcher"].as_str().expect("there is one")).expect("it is a pattern");
    for tool in ["Bash", "Write", "Read", "WebFetch", "mcp__a__b"] {
        assert!(matcher.is_match(tool), "{tool}");
    }
    assert!(!matcher.is_match("ExitPlanMode") && said.err.contains("~/.claude/settings.json"), "{}", said.err);
}

#[test]
fn the_command_that_is_pasted_runs_in_a_shell() {
    let place = Place::new();
    let printed = place.haft(&["guard", "--print-config", "gemini", "--add-dir", "."], "");
    let lines: Value = serde_json::from_str(&printed.out).expect("only the lines are on stdout");
    let command = lines["hooks"]["BeforeTool"][0]["hooks"][0]["command"].as_str().expect("there is a command");
    let event = place.event("Bash", &json!({ "command": "ls" }));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_clear().env("HOME", place.path("home")).current_dir(place.path("ws"));
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = said(shell, event);
    assert!(said.out.contains("\"allow\""), "{said:?}");
}

#[test]
fn every_agent_has_its_lines_and_others_are_named() {
    let place = Place::new();
    for agent in ["claude", "codex", "copilot", "cursor", "gemini"] {
        let said = place.haft(&["guard", "--print-config", agent], "");
        let lines: Value = serde_json::from_str(&said.out).expect("only the lines are on stdout");
        assert!(said.code == 0 && lines["hooks"].is_object(), "{}", said.out);
    }
    let all = place.haft(&["guard", "--print-config"], "").out;
    for file in
        [".claude/settings.json", ".codex/hooks.json", ".github/hooks", ".cursor/hooks.json", ".gemini/settings.json"]
    {
        assert!(all.contains(file), "{file}");
    }
    let said = place.haft(&["guard", "--print-config", "nope"], "");
    assert_eq!((said.code, said.err.contains("claude, codex, copilot, cursor, gemini")), (2, true), "{}", said.err);
}

const GUIDE: &str = include_str!("../../../../docs/guide/in-your-agent.md");

/// Returns the blocks of the guide that are in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    GUIDE.split(&*begin).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_guide_has_the_lines_that_the_command_prints() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_haft");
    for agent in ["claude", "codex", "copilot", "cursor", "gemini"] {
        let printed = place.haft(&["guard", "--print-config", agent], "").out.replace(program, "haft");
        assert!(blocks("json").contains(&&*printed), "{printed}");
    }
    for block in blocks("json") {
        serde_json::from_str::<Value>(block).unwrap_or_else(|error| panic!("{error}: {block}"));
    }
}

#[test]
fn the_rules_of_the_guide_are_accepted() {
    let place = Place::new();
    let rules = blocks("toml").into_iter().find(|block| block.contains("[[rule]]")).expect("there are rules");
    place.put("home/.config/haft/rules.toml", rules);
    let said = place.haft(&["rules", "test"], "");
    assert_eq!(said.code, 0, "{}", said.out);
    assert_eq!(place.guarded("mcp__haft__read_file", &json!({})).0, "allow");
    assert_eq!(place.guarded("Write", &json!({ "file_path": "src/a.rs", "content": "" })).0, "allow");
}

#[test]
fn a_server_of_a_project_that_only_calls_itself_haft_is_a_server_of_others() {
    let place = Place::new();
    let judged = |entry: &str| {
        place.put("ws/.mcp.json", &format!("{{\"mcpServers\": {{\"haft\": {entry}}}}}"));
        place.guarded("mcp__haft__bash", &json!({ "command": "ls" })).0
    };
    for other in [
        r#"{"command": "sh", "args": ["./evil.sh"]}"#,
        r#"{"command": "./haft", "args": ["mcp", "serve"]}"#,
        r#"{"command": "sh", "args": ["-c", "haft mcp serve"]}"#,
        r#"{"url": "http://127.0.0.1:1/mcp"}"#,
        r#"{"command": "haft", "args": ["tools"]}"#,
        r#"{}"#,
    ] {
        assert_ne!(judged(other), "allow", "{other}");
    }
    assert_eq!(judged(r#"{"command": "haft", "args": ["mcp", "serve"]}"#), "allow");
    assert_eq!(judged(r#"{"command": "/usr/bin/haft", "args": ["mcp", "serve", "--yes"]}"#), "allow");
}

#[test]
fn what_an_agent_does_unasked_is_said_beside_its_lines_and_in_the_guide() {
    let place = Place::new();
    for agent in ["claude", "codex", "copilot", "cursor", "gemini"] {
        let said = place.haft(&["guard", "--print-config", agent], "").err;
        let gap = said.lines().find_map(|line| line.strip_prefix("Not covered: ")).expect("it is said");
        assert!(GUIDE.contains(&format!("| {gap} |")), "{agent}: {gap}");
    }
}

#[test]
fn a_tool_that_the_lines_name_is_judged() {
    let place = Place::new();
    for agent in ["claude", "codex", "cursor", "gemini"] {
        let lines: Value =
            serde_json::from_str(&place.haft(&["guard", "--print-config", agent], "").out).expect("JSON");
        let text = lines.to_string();
        let names =
            text.split("\"^(").skip(1).filter_map(|rest| rest.split(")$").next()).flat_map(|all| all.split('|'));
        for tool in names.filter(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')) {
            let (decision, reason) = place.guarded(tool, &json!({}));
            let is_known = !reason.contains("does not know what the tool");
            // haft reads neither the language of PowerShell nor the memory of an agent.
            assert_eq!(is_known, !["PowerShell", "save_memory"].contains(&tool), "{agent} {tool}: {decision} {reason}");
        }
    }
}

#[test]
fn a_hook_blocks_the_call_if_haft_is_killed_and_not_if_haft_is_gone() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_haft");
    for (agent, event, field) in
        [("codex", "PreToolUse", "command"), ("gemini", "BeforeTool", "command"), ("copilot", "preToolUse", "bash")]
    {
        let printed = place.haft(&["guard", "--print-config", agent], "").out;
        let lines: Value = serde_json::from_str(&printed).expect("JSON");
        let hook = &lines["hooks"][event][0];
        let hook = if hook["hooks"].is_array() { &hook["hooks"][0] } else { hook };
        let line = hook[field].as_str().expect("it has a command");
        let done = |instead: &str| {
            let line = line.replace(&format!("{program} guard"), instead);
            Command::new("sh").args(["-c", &line]).output().expect("sh starts")
        };
        for signal in ["KILL", "TERM", "SEGV"] {
            let done = done(&format!("sh -c 'kill -{signal} $$'"));
            let is_denied = String::from_utf8_lossy(&done.stdout).contains(r#""permissionDecision":"deny""#);
            let is_blocked = done.status.code() == Some(2) && !done.stderr.is_empty();
            assert!(if agent == "copilot" { is_denied } else { is_blocked }, "{agent}: {signal}: {done:?}");
        }
        assert_eq!(done("true").status.code(), Some(0), "{agent}");
        assert_eq!(done("sh -c 'exit 1'").status.code(), Some(1), "{agent}");
        assert_eq!(done("/nonexistent/haft guard").status.code(), Some(127), "{agent}");
    }
}
