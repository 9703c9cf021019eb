//! The lines that make an agent ask haft before each call, and the file that they go in.
//!
//! Not here: writing them into that file (`setup`).

use std::path::Path;

use anyhow::Context;
use haft_config::environment::own_program;
use haft_policy::policy::Mode;
use serde_json::{Value, json};

use super::GuardMode;
use crate::options::Options;

/// The agents whose lines are wanted.
#[derive(Clone, Debug)]
pub struct Agents(pub Vec<&'static HookAgent>);

/// An agent that asks a hook before each call.
#[derive(Debug)]
pub struct HookAgent {
    /// Its name on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Where the lines go.
    pub file: &'static str,
    /// A note for the user.
    pub note: &'static str,
    /// What the agent does without asking haft, by the agent's names.
    not_covered: &'static str,
    lines: fn(&str) -> Value,
}

const AGENTS: &[HookAgent] = &[
    HookAgent {
        name: "claude",
        title: "Claude Code",
        file: "~/.claude/settings.json, or .claude/settings.json of one project",
        note: "From version 2.1.295 on, a hook that fails blocks the call (\"onFailure\"); earlier versions make the call.",
        not_covered: "Task, Agent, Workflow and SendMessage (the calls of a sub-agent are covered), ListAgents, Skill, SlashCommand, ToolSearch, ExitPlanMode, EnterWorktree, ExitWorktree, AskUserQuestion, TodoWrite, TaskStop, ReportFindings, ScheduleWakeup, CronCreate, CronDelete, CronList, files named with @, and MCP resources (ListMcpResourcesTool, ReadMcpResourceTool, ReadMcpResourceDirTool).",
        lines: claude,
    },
    HookAgent {
        name: "codex",
        title: "Codex",
        file: "~/.codex/hooks.json",
        note: "Codex runs a hook once you trust it: /hooks. Its hooks cannot ask: haft leaves ordinary questions to Codex and its sandbox, and denies what only you may answer.",
        not_covered: "write_stdin (Codex 0.166 does not ask about text that it types into a running program; haft denies commands that run such text), web_search, tool_search, update_plan, goals (create_goal, get_goal, update_goal), request_user_input, request_user_input_async, sub-agents (spawn_agent, send_input, send_message, followup_task, interrupt_agent, wait_agent, close_agent, resume_agent, list_agents; their calls are covered), exec (the calls in its code are covered), wait, sleep, and MCP resources (list_mcp_resources, list_mcp_resource_templates, read_mcp_resource).",
        lines: codex,
    },
    HookAgent {
        name: "copilot",
        title: "Copilot CLI",
        file: "~/.copilot/hooks/haft.json",
        note: "Its events do not say whether it asks: haft denies what only you may answer. In .github/hooks of a project the lines work only while Copilot CLI trusts that folder; with -p it does not, unless --trust-folder is given.",
        not_covered: "files named with @; every tool is covered.",
        lines: copilot,
    },
    HookAgent {
        name: "cursor",
        title: "Cursor",
        file: "~/.cursor/hooks.json, or .cursor/hooks.json of one project",
        note: "Cursor asks you about commands and servers, unless it runs them by itself, which its events do not say: haft denies what only you may answer.",
        not_covered: "Task, searches by meaning and on the web, completions of Tab, and files that you attach.",
        lines: cursor,
    },
    HookAgent {
        name: "gemini",
        title: "Gemini CLI",
        file: "~/.gemini/settings.json, or .gemini/settings.json of one project",
        note: "Its events do not say whether it asks, and without a terminal it waits forever: haft denies what only you may answer, and leaves ordinary questions to Gemini CLI.",
        not_covered: "invoke_agent (the calls of a sub-agent are covered), write_todos, activate_skill, ask_user, enter_plan_mode, exit_plan_mode, get_internal_docs, update_topic, list_background_processes, read_background_output, files named with @, and MCP resources.",
        lines: gemini,
    },
];

impl HookAgent {
    /// Returns the lines that make the agent run this command.
    #[must_use]
    pub fn lines(&self, command: &str) -> Value {
        (self.lines)(command)
    }

    /// Says what haft does not hear of.
    #[must_use]
    pub fn gap(&self) -> String {
        format!("Not covered: {}", self.not_covered)
    }
}

/// Seconds that an agent waits for an answer. It takes some milliseconds.
const TIMEOUT: u64 = 10;

/// Reads which agents are meant.
///
/// # Errors
///
/// Lists the agents where there is none of that name.
pub fn agents(name: &str) -> Result<Agents, String> {
    let meant: Vec<&HookAgent> = AGENTS.iter().filter(|agent| name == "all" || agent.name == name).collect();
    if meant.is_empty() {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        return Err(format!("haft does not know that agent; choose one of {}", names.join(", ")));
    }
    Ok(Agents(meant))
}

/// Returns the command of the hook, for a shell, with the flags that were given beside.
///
/// # Errors
///
/// Fails when a path is not text, or haft does not know its own place.
pub fn hook_command(options: &Options, reach: GuardMode) -> anyhow::Result<String> {
    let program = own_program().context("haft cannot find its own program")?;
    let text = |path: &Path| {
        let text = path.to_str().map(quoted);
        text.with_context(|| format!("{} is not UTF-8, so settings cannot contain it", path.display()))
    };
    let mut words = vec![text(&program)?, "guard".to_owned()];
    if let Some(profile) = options.profile {
        words.extend(["--profile".to_owned(), profile.name().to_owned()]);
    }
    for (flag, folder) in options
        .folder
        .iter()
        .map(|folder| ("-C", folder))
        .chain(options.added.iter().map(|folder| ("--add-dir", folder)))
    {
        words.extend([flag.to_owned(), text(folder)?]);
    }
    words.extend(options.yes.map(|yes| yes.to_string()));
    words.extend((options.mode == Mode::Plan).then(|| "--plan".to_owned()));
    words.extend((reach == GuardMode::Judges).then(|| "--judge-only".to_owned()));
    Ok(words.join(" "))
}

/// Returns a word as a shell reads it back.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns what the rules of Codex say about the commands that haft runs for it.
#[must_use]
pub fn codex_exception(program: &str) -> String {
    format!(
        "# haft runs these commands in its own sandbox, and only with a ticket of its hook.\nprefix_rule(pattern = [{program:?}, \"exec\", \"--ticket\"], decision = \"allow\")\n"
    )
}

fn claude(command: &str) -> Value {
    let tools = "^(Bash|Monitor|PowerShell|Read|NotebookRead|Write|Edit|MultiEdit|NotebookEdit|LS|Glob|Grep|WebFetch|WebSearch|mcp__.*)$";
    let hook = json!({ "type": "command", "command": command, "timeout": TIMEOUT });
    let mut before = hook.clone();
    before["onFailure"] = json!("block");
    let after = json!([{ "matcher": "^(Write|Edit|MultiEdit|NotebookEdit)$", "hooks": [hook] }]);
    json!({ "hooks": {
        "PreToolUse": [{ "matcher": tools, "hooks": [before] }],
        "PostToolUse": after,
        "PostToolUseFailure": after,
        "SessionStart": [{ "hooks": [hook] }],
    } })
}

/// What the agent is told about such a call.
const ENDED: &str = "haft was ended before it answered; make the call again";

/// Returns a command for a shell that runs haft, and `blocks` the call if a signal ends haft before it has answered: haft
/// would not have kept what an edit changes. If haft is not there any more, the agent goes on.
fn with_answer(command: &str, blocks: &str) -> String {
    format!("{command} || {{ s=$?; [ $s -lt 128 ] && exit $s; {blocks}; }}")
}

/// Returns such a command for an agent that takes the status 2 for a denial.
fn blocking(command: &str) -> String {
    with_answer(command, &format!("echo '{ENDED}' >&2; exit 2"))
}

fn codex(command: &str) -> Value {
    let tools = "^(Bash|apply_patch|write_stdin|view_image|mcp__.*)$";
    let hook = json!({ "type": "command", "command": command, "timeout": TIMEOUT });
    let before = json!({ "type": "command", "command": blocking(command), "timeout": TIMEOUT });
    json!({ "hooks": {
        "PreToolUse": [{ "matcher": tools, "hooks": [before] }],
        "PermissionRequest": [{ "matcher": tools, "hooks": [hook] }],
        "PostToolUse": [{ "matcher": "^apply_patch$", "hooks": [hook] }],
        "SessionStart": [{ "hooks": [hook] }],
    } })
}

fn copilot(command: &str) -> Value {
    let hook = json!({ "type": "command", "bash": command, "timeoutSec": TIMEOUT });
    let denial = json!({ "permissionDecision": "deny", "permissionDecisionReason": ENDED });
    let mut before = hook.clone();
    before["bash"] = json!(with_answer(command, &format!("echo '{denial}'")));
    json!({ "version": 1, "hooks": { "preToolUse": [before], "postToolUse": [hook] } })
}

fn cursor(command: &str) -> Value {
    let hook = json!({ "command": command, "timeout": TIMEOUT, "failClosed": true });
    let mut of_files = hook.clone();
    of_files["matcher"] = json!("^(Write|StrReplace|Edit|Delete|Grep)$");
    let after = json!({ "command": command, "timeout": TIMEOUT, "matcher": "^(Write|StrReplace|Edit|Delete)$" });
    json!({ "version": 1, "hooks": {
        "beforeShellExecution": [hook],
        "beforeMCPExecution": [hook],
        "beforeReadFile": [hook],
        "preToolUse": [of_files],
        "postToolUse": [after],
    } })
}

fn gemini(command: &str) -> Value {
    let tools = "^(run_shell_command|read_file|read_many_files|write_file|replace|list_directory|glob|grep_search|search_file_content|web_fetch|google_web_search|save_memory|mcp_.*)$";
    // Gemini CLI counts in milliseconds.
    let hook = json!({ "name": "haft", "type": "command", "command": command, "timeout": TIMEOUT * 1000 });
    let mut before = hook.clone();
    before["command"] = json!(blocking(command));
    json!({ "hooks": {
        "BeforeTool": [{ "matcher": tools, "hooks": [before] }],
        "AfterTool": [{ "matcher": "^(write_file|replace)$", "hooks": [hook] }],
        "SessionStart": [{ "hooks": [hook] }],
    } })
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_read_back_by_a_shell() {
        assert_eq!(quoted("/usr/bin/haft"), "/usr/bin/haft");
        assert_eq!(quoted("/home/ann b/it's"), r"'/home/ann b/it'\''s'");
        assert_eq!((quoted(""), quoted("$x")), ("''".to_owned(), "'$x'".to_owned()));
    }
}
