//! Knows the rules about commands in the agent's own settings that deny or ask.
//!
//! The agent compares its rules with the call that it makes. If haft rewrote that call, no rule about `rm` would match any
//! more. So haft does not rewrite a command that such a rule may match: the agent decides, and haft only judges.
//!
//! haft reads a rule as widely as it may be meant. Rules that allow do not matter here.

use std::path::{Path, PathBuf};

use haft_config::environment::variable;
use haft_workspace::state::{list_config_folder, read_project_file};
use serde_json::Value;

use super::events::event::GuardEvent;
use super::events::form::GuardEventForm;

/// Where administrators put settings of Claude Code.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Patterns of commands that the agent's own rules deny or ask about. A `*` stands for any text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OwnRules(Vec<String>);

impl OwnRules {
    /// Reads the rules of the agent that sent an event.
    pub(super) fn of(event: &GuardEvent, (home, project): (&Path, &Path)) -> Self {
        let folder = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
        match event.recipient.form {
            GuardEventForm::Claude | GuardEventForm::Permission if !event.is_of_codex => {
                let own = folder("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
                let of_project =
                    [".claude/settings.json", ".claude/settings.local.json"].map(|name| project.join(name));
                let files = [PathBuf::from(MANAGED), own].into_iter().chain(of_project);
                Self(files.filter_map(|file| json_of(&file)).flat_map(|settings| of_claude(&settings)).collect())
            }
            GuardEventForm::Claude | GuardEventForm::Permission | GuardEventForm::Codex => {
                let folders =
                    [folder("CODEX_HOME", ".codex"), project.join(".codex")].map(|folder| folder.join("rules"));
                let files = folders.iter().flat_map(|folder| files_in(folder));
                Self(files.filter_map(|file| text_of(&file)).flat_map(|text| of_codex(&text)).collect())
            }
            GuardEventForm::Gemini => {
                let settings = [home.join(".gemini/settings.json"), project.join(".gemini/settings.json")];
                let lists = settings.iter().filter_map(|file| json_of(file));
                let texts = files_in(&home.join(".gemini/policies")).into_iter().filter_map(|file| text_of(&file));
                Self(lists.flat_map(|found| of_gemini(&found)).chain(texts.flat_map(|text| prefixes(&text))).collect())
            }
            GuardEventForm::Opencode => {
                let settings = [home.join(".config/opencode/opencode.json"), project.join("opencode.json")];
                Self(settings.iter().filter_map(|file| json_of(file)).flat_map(|found| of_opencode(&found)).collect())
            }
            GuardEventForm::Cursor | GuardEventForm::CursorTool | GuardEventForm::Copilot => Self::default(),
        }
    }

    /// Returns whether a rule may be about a command.
    pub(super) fn concern(&self, text: &str) -> bool {
        let parts = text.split(['\n', ';', '&', '|', '(', ')', '`', '{', '}']).map(without_assignments);
        let parts: Vec<&str> = parts.chain([text.trim()]).collect();
        self.0.iter().any(|pattern| parts.iter().any(|part| fits(pattern, part)))
    }
}

fn text_of(file: &Path) -> Option<String> {
    read_project_file(file).ok().flatten()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    list_config_folder(folder).ok().flatten().unwrap_or_default()
}

fn json_of(file: &Path) -> Option<Value> {
    serde_json::from_str(&text_of(file)?).ok()
}

/// Returns a command without the variables that are set in front of it.
fn without_assignments(part: &str) -> &str {
    let mut rest = part.trim();
    while let Some((word, behind)) = rest.split_once(' ').filter(|(word, _)| word.contains('=')) {
        rest = if word.starts_with('-') { return rest } else { behind.trim_start() };
    }
    rest
}

/// Reads entries such as `Bash`, `Bash(rm:*)` and `Bash(git push *)`.
fn of_claude(settings: &Value) -> Vec<String> {
    let lists = ["deny", "ask"].iter().filter_map(|list| settings["permissions"][list].as_array());
    lists.flatten().filter_map(Value::as_str).filter_map(|entry| inner(entry, "Bash")).collect()
}

/// Reads entries such as `run_shell_command(rm -rf)`, which are the beginnings of commands.
fn of_gemini(settings: &Value) -> Vec<String> {
    let lists = [&settings["tools"]["exclude"], &settings["excludeTools"]];
    let entries = lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let beginning = |pattern: String| if pattern.ends_with('*') { pattern } else { format!("{pattern}:*") };
    ["run_shell_command", "ShellTool"]
        .iter()
        .flat_map(|tool| entries.clone().filter_map(|entry| inner(entry, tool)).map(beginning))
        .collect()
}

/// Reads `"bash": "ask"` and `"bash": {"rm *": "deny"}`.
fn of_opencode(settings: &Value) -> Vec<String> {
    let is_strict = |decision: &Value| matches!(decision.as_str(), Some("ask" | "deny"));
    match &settings["permission"]["bash"] {
        Value::Object(rules) => {
            rules.iter().filter(|(_, decision)| is_strict(decision)).map(|(pattern, _)| pattern.clone()).collect()
        }
        decision if is_strict(decision) => vec!["*".to_owned()],
        _ => Vec::new(),
    }
}

/// Returns the pattern of an entry about a tool.
fn inner(entry: &str, tool: &str) -> Option<String> {
    let rest = entry.trim().strip_prefix(tool)?;
    if rest.is_empty() {
        return Some("*".to_owned());
    }
    rest.strip_prefix('(')?.strip_suffix(')').map(|pattern| pattern.trim().to_owned())
}

/// Reads rules such as `prefix_rule(pattern = ["git", "push"], decision = "forbidden")`.
fn of_codex(text: &str) -> Vec<String> {
    let strict = |rule: &&str| rule.contains("forbidden") || rule.contains("\"prompt\"");
    // Alternatives for one word make the rest of the pattern unknown.
    let pattern = |rule: &str| {
        let (_, list) = rule.split_once('[')?;
        let words = list.split([']', '[']).next()?;
        let words: Vec<&str> = words.split(',').map(|word| word.trim().trim_matches(['"', '\''])).collect();
        Some(format!("{}:*", words.join(" ").trim()))
    };
    text.split("prefix_rule").skip(1).filter(strict).filter_map(pattern).collect()
}

/// Reads the beginnings of commands that policies of Gemini CLI name.
fn prefixes(text: &str) -> Vec<String> {
    let values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("commandPrefix")?.split_once('='))
        .map(|(_, value)| value);
    let words = values.flat_map(|value| value.split(['[', ']', ',']));
    let words = words.map(|word| word.trim().trim_matches(['"', '\'']).to_owned());
    words.filter(|word| !word.is_empty()).map(|word| format!("{word}:*")).collect()
}

/// Returns whether a command fits a pattern. `x:*` means `x` and whatever begins with it as a word.
fn fits(pattern: &str, command: &str) -> bool {
    if let Some(beginning) = pattern.strip_suffix(":*") {
        let rest = command.strip_prefix(beginning.trim());
        return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    }
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = command.strip_prefix(first) else { return false };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    pattern.ends_with('*') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_of_claude_code_concerns_each_part_of_a_command() {
        let settings = json!({ "permissions": { "deny": ["Bash(rm:*)", "Read(x)"], "ask": ["Bash(git push *)"] } });
        let rules = OwnRules(of_claude(&settings));
        for concerned in ["rm x", "ls && rm -r x", "A=1 rm x", "echo $(rm x)", "git push origin main"] {
            assert!(rules.concern(concerned), "{concerned}");
        }
        for free in ["rmdir x", "ls", "echo rm", "git pull"] {
            assert!(!rules.concern(free), "{free}");
        }
        assert!(OwnRules(of_claude(&json!({ "permissions": { "ask": ["Bash"] } }))).concern("ls"));
    }

    #[test]
    fn strict_rules_of_codex_and_gemini_cli_are_read_as_wide_as_they_may_be_meant() {
        let text = "prefix_rule(pattern = [\"git\", \"push\"], decision = \"forbidden\")\nprefix_rule(pattern = [\"ls\"], decision = \"allow\")\nprefix_rule(pattern = [\"npm\", [\"i\", \"install\"]], decision = \"prompt\")";
        assert_eq!(of_codex(text), ["git push:*", "npm:*"]);
        assert_eq!(of_gemini(&json!({ "tools": { "exclude": ["run_shell_command(rm -rf)"] } })), ["rm -rf:*"]);
        let of_opencode = of_opencode(&json!({ "permission": { "bash": { "rm *": "deny", "ls *": "allow" } } }));
        assert_eq!(of_opencode, ["rm *"]);
        assert_eq!(prefixes("commandPrefix = [\"git push\", \"rm\"]"), ["git push:*", "rm:*"]);
    }
}
