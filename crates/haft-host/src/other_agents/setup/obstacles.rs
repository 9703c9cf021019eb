//! Finds what keeps an agent from running haft's hook although its settings name the hook.
//!
//! Claude Code runs no hooks if one of its settings files disables them. It ignores a whole file that does not fit its
//! schema. A project can contain such a file. So haft reads the same files, and then does not claim coverage.
//!
//! Not here: whether the hook itself works, which `haft setup` tries.

use std::path::{Path, PathBuf};

use haft_workspace::state::read_project_file;
use serde_json::Value;

/// The settings that the administrator of the machine sets.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Returns what keeps Claude Code from running the hook in this file, a sentence each, with what to do. The project is the
/// folder in which it would be started.
pub(super) fn of_claude_code(hook_file: &Path, project: &Path) -> Vec<String> {
    let own = [".claude/settings.json", ".claude/settings.local.json"].map(|name| project.join(name));
    let files: Vec<PathBuf> =
        std::iter::once(hook_file.to_owned()).chain(own).chain([PathBuf::from(MANAGED)]).collect();
    let mut found: Vec<String> = Vec::new();
    for file in files {
        let is_hook_file = file == hook_file;
        let shown = file.display();
        let settings = match read_project_file(&file) {
            Ok(None) => continue,
            Ok(Some(text)) => serde_json::from_str::<Value>(&text).ok(),
            Err(error) => {
                found.push(format!("{shown} cannot be read: {error}. Make it readable"));
                continue;
            }
        };
        match settings {
            None if is_hook_file => found.push(format!("{shown} is not JSON, so Claude Code passes it over. Fix it")),
            None => {}
            Some(settings) => {
                for key in ["disableAllHooks", "allowManagedHooksOnly"] {
                    if settings[key] == Value::Bool(true) {
                        let line = format!("{shown} has \"{key}\": true, so Claude Code does not run haft's hook");
                        found.push(format!("{line}. Remove that line"));
                    }
                }
                if let Some(place) = misfit(&settings).filter(|_| is_hook_file) {
                    let why = format!("{shown} has a hook that Claude Code does not accept ({place})");
                    found.push(format!("{why}, so it passes the file over as a whole. Fix or remove that hook"));
                }
            }
        }
    }
    found.dedup();
    found
}

/// Returns the first place in the hooks that is not as the agent's schema wants it.
fn misfit(settings: &Value) -> Option<String> {
    let hooks = match settings.as_object() {
        None => return Some("the file is not a JSON object".to_owned()),
        Some(settings) => settings.get("hooks")?,
    };
    let Some(events) = hooks.as_object() else { return Some("hooks".to_owned()) };
    events.iter().find_map(|(event, groups)| {
        let Some(groups) = groups.as_array() else { return Some(format!("hooks.{event}")) };
        groups.iter().enumerate().find_map(|(at, group)| {
            let place = format!("hooks.{event}[{at}]");
            let has_matcher = group.get("matcher").is_none_or(Value::is_string);
            match group.get("hooks").and_then(Value::as_array) {
                Some(hooks) if has_matcher => {
                    let at = hooks.iter().position(|hook| !is_hook(hook))?;
                    Some(format!("{place}.hooks[{at}]"))
                }
                Some(_) => Some(format!("{place}.matcher")),
                None => Some(place),
            }
        })
    })
}

fn is_hook(hook: &Value) -> bool {
    match hook["type"].as_str() {
        Some("command") => hook["command"].is_string(),
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_that_do_not_fit_are_named_by_their_place() {
        let good = json!({ "type": "command", "command": "haft guard", "timeout": 10 });
        for (hooks, place) in [
            (json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [good] }], "Stop": [{ "hooks": [] }] }), None),
            (json!({ "PreToolUse": [{ "hooks": [{ "type": "prompt", "prompt": "x" }] }] }), None),
            (json!([]), Some("hooks")),
            (json!({ "PreToolUse": {} }), Some("hooks.PreToolUse")),
            (json!({ "PreToolUse": [5] }), Some("hooks.PreToolUse[0]")),
            (json!({ "PreToolUse": [{ "hooks": [good] }, null] }), Some("hooks.PreToolUse[1]")),
            (json!({ "PreToolUse": [{ "matcher": 1, "hooks": [good] }] }), Some("hooks.PreToolUse[0].matcher")),
            (json!({ "Stop": [{ "matcher": "x" }] }), Some("hooks.Stop[0]")),
            (json!({ "Stop": [{ "hooks": [good, { "type": "command" }] }] }), Some("hooks.Stop[0].hooks[1]")),
            (json!({ "Stop": [{ "hooks": ["haft guard"] }] }), Some("hooks.Stop[0].hooks[0]")),
        ] {
            assert_eq!(misfit(&json!({ "hooks": hooks })).as_deref(), place, "{hooks}");
        }
        assert_eq!(misfit(&json!({ "model": "x" })), None);
    }
}
