//! The cases of `guard.jsonl`, and those of `urls.jsonl` that need no network.
//!
//! `tool` with `input` is a call of Claude Code, `event` a whole event, `raw` and `gen` the text of one. `${WS}`, `${OUT}`,
//! `${HOME}` and `${LINK}` (which leads to the workspace) stand for folders. The answer must have the form of the agent.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{CapturedOutput, Place};

const CASES: &str = include_str!("../../../../../tests/cases/guard.jsonl");
const ADDRESSES: &str = include_str!("../../../../../tests/cases/urls.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    /// What is decided; `leave` where the agent is told nothing.
    decision: String,
    /// Other decisions that are right.
    #[serde(default)]
    accept: Vec<String>,
    /// The rule that the answer names.
    rule: Option<String>,
    #[serde(default = "claude")]
    form: String,
    tool: Option<String>,
    input: Option<Value>,
    mode: Option<String>,
    #[serde(default = "workspace")]
    cwd: Value,
    event: Option<Value>,
    raw: Option<String>,
    r#gen: Option<Repeated>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    rules: Option<String>,
    config: Option<String>,
    why: String,
}

/// A text that is made of a repeated piece.
#[derive(Debug, Deserialize)]
struct Repeated {
    prefix: String,
    repeat: String,
    times: usize,
    suffix: String,
}

fn claude() -> String {
    "claude".to_owned()
}

fn workspace() -> Value {
    json!("${WS}")
}

impl Case {
    fn event(&self) -> String {
        match (&self.tool, &self.event, &self.raw, &self.r#gen) {
            (Some(tool), ..) => json!({
                "session_id": "s", "transcript_path": "/t", "cwd": self.cwd,
                "permission_mode": self.mode.as_deref().unwrap_or("default"),
                "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": self.input, "tool_use_id": "u",
            })
            .to_string(),
            (_, Some(event), ..) => event.to_string(),
            (_, _, Some(raw), _) => raw.clone(),
            (.., Some(made)) => format!("{}{}{}", made.prefix, made.repeat.repeat(made.times), made.suffix),
            _ => panic!("{} has no event", self.id),
        }
    }

    /// Returns what is wrong with the answer.
    fn judged(&self, place: &Place) -> Option<String> {
        let folders = |text: &str| place.folders(text);
        for (file, text) in [("rules.toml", &self.rules), ("config.toml", &self.config)] {
            let path = place.path("home/.config/haft").join(file);
            match text {
                Some(text) => std::fs::write(path, text).expect("a file can be written"),
                None => drop(std::fs::remove_file(path)),
            }
        }
        let flags: Vec<String> = self.flags.iter().map(|flag| folders(flag)).collect();
        let variables: Vec<(String, String)> =
            self.env.iter().map(|(name, value)| (name.clone(), folders(value))).collect();
        let said = place.guard(&flags, &variables, folders(&self.event()).as_bytes());
        let decision = decision(&self.form, &said);
        let is_right = decision == self.decision || self.accept.contains(&decision);
        let names_rule = self.rule.as_ref().is_none_or(|rule| said.out.contains(&format!("rule \\\"{rule}\\\"")));
        let Case { id, why, .. } = self;
        (!is_right || !names_rule).then(|| format!("{id} ({why}) should be {}: {}", self.decision, said.out.trim()))
    }
}

impl Place {
    /// The folders of the cases.
    pub(super) fn of_guard() -> Self {
        let place = Place::repository();
        for (file, text) in [
            ("ws/.env", "A=1\n"),
            ("ws/sub/.env.production", "A=1\n"),
            ("ws/.env.example", "A=\n"),
            ("out/plans.txt", "x\n"),
            ("home/.ssh/id_rsa", "x\n"),
            ("home/.config/haft/x", ""),
        ] {
            place.put(file, text);
        }
        for (link, target) in [("ws/link-out", "out"), ("ws/link-env", "ws/.env"), ("link", "ws")] {
            symlink(place.path(target), place.path(link)).expect("a link can be made");
        }
        place
    }

    pub(super) fn folders(&self, text: &str) -> String {
        let folders = [("${WS}", "ws"), ("${OUT}", "out"), ("${HOME}", "home"), ("${LINK}", "link")];
        let put = |text: String, (sign, name): (&str, &str)| {
            if text.contains(sign) { text.replace(sign, &self.path(name).to_string_lossy()) } else { text }
        };
        folders.into_iter().fold(text.to_owned(), put)
    }
}

/// Returns what was decided; the answer must be one line that has exactly the form of the agent.
pub(super) fn decision(form: &str, said: &CapturedOutput) -> String {
    assert_eq!((said.code, said.out.lines().count()), (0, 1), "{} {}", said.out, said.err);
    let answer: Value = serde_json::from_str(&said.out).expect("the answer is JSON");
    let keys = |value: &Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
        keys.sort_unstable();
        keys
    };
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let specific = &answer["hookSpecificOutput"];
    match form {
        "codex" | "permission" if answer == json!({}) => "leave".to_owned(),
        "claude" | "codex" => {
            assert_eq!(keys(specific), ["hookEventName", "permissionDecision", "permissionDecisionReason"]);
            assert!(form == "claude" || specific["permissionDecision"] == "deny", "{answer}");
            text(&specific["permissionDecision"])
        }
        "permission" => {
            assert_eq!(specific["hookEventName"], "PermissionRequest");
            text(&specific["decision"]["behavior"])
        }
        "gemini" if keys(&answer) == ["systemMessage"] => "leave".to_owned(),
        "gemini" => {
            assert!(keys(&answer).contains(&"reason".to_owned()), "{answer}");
            text(&answer["decision"])
        }
        "cursor" => {
            assert_eq!(keys(&answer), ["agent_message", "permission", "user_message"]);
            text(&answer["permission"])
        }
        "copilot" => {
            assert_eq!(keys(&answer), ["permissionDecision", "permissionDecisionReason"]);
            text(&answer["permissionDecision"])
        }
        other => panic!("no form {other}"),
    }
}

#[test]
fn the_cases_of_other_agents_hold() {
    let place = Place::of_guard();
    let cases: Vec<Case> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(cases.len() >= 300);
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.judged(&place)).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Only a program that fetches a name or a page learns what it means and where it leads.
#[test]
fn the_cases_of_addresses_that_need_no_network_hold() {
    let place = Place::new();
    let cases = ADDRESSES.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    let asks_network = |case: &Value| {
        ["dns", "redirects", "server"].iter().any(|key| case.get(*key).is_some()) && case["verdict"] == "deny"
    };
    for case in cases.filter(|case| !asks_network(case)) {
        let (decision, reason) = place.guarded("WebFetch", &json!({ "url": case["url"], "prompt": "x" }));
        // A page that may be fetched is an ordinary question here.
        let wanted = if case["verdict"] == "deny" { "deny" } else { "ask" };
        assert_eq!(decision, wanted, "{case}: {reason}");
    }
}
