//! Translates a call of an agent's tool into haft's terms.
//!
//! haft knows a tool by its exact name, and reads only the arguments that say what the call touches. It reports an unknown
//! call as unknown, and never treats it as harmless.

use serde_json::{Map, Value};

use super::event::{GuardEvent, PATCHES};
use super::form::GuardEventForm;
use super::narrowing;
use super::narrowing::NarrowingArgument;
use super::patch;
use crate::other_agents::guard::setup_lines::quoted as shell_word;

/// The effect of a call of an agent's tool.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum AgentCallEffect {
    /// Runs a command, in the folder of the agent or another one. Where the call does not say for certain which one, there
    /// are several, and that of the agent comes first.
    Command { text: String, folders: Vec<Option<String>>, leaves_sandbox: bool },
    /// Does something to files.
    Files(Vec<(AgentFileOperation, String)>),
    /// Reads the files that these patterns find, and those in folders.
    ManyFiles(Vec<String>),
    /// Looks for names or text below a folder; only in files of this name, where one is given. Of both there are several
    /// where the call does not say for certain which one counts.
    Search { tool: &'static str, folders: Vec<Option<String>>, only: Vec<Option<String>>, shows_lines: bool },
    /// Fetches these addresses.
    Fetch(Vec<String>),
    /// Searches the web.
    WebSearch,
    /// Hands work to another agent.
    Delegate(String),
    /// Types text into a program that runs already.
    TypedInput(String),
    /// Keeps notes of the agent's own, or looks after commands that it started.
    Notes,
    /// haft does not know.
    Unknown,
}

/// An operation of an agent's tool on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum AgentFileOperation {
    Read,
    Write,
    Edit,
    Remove,
}

/// The kind of an agent's tool.
#[derive(Clone, Copy, Debug)]
enum AgentToolKind {
    Command,
    Files(AgentFileOperation),
    ManyFiles,
    Patch,
    Search(&'static str),
    Fetch,
    WebSearch,
    Delegate,
    TypedInput,
    Notes,
}

/// Each tool that is known, by the names that agents have for it: Claude Code, then Gemini CLI, Cursor, Copilot CLI,
/// Codex and opencode.
const TOOLS: &[(&[&str], AgentToolKind)] = &[
    (
        &["Bash", "Monitor", "run_shell_command", "Shell", "bash", "shell", "shell_command", "exec_command"],
        AgentToolKind::Command,
    ),
    (&["write_stdin", "write_bash"], AgentToolKind::TypedInput),
    (
        &["Read", "NotebookRead", "read_file", "view", "show_file", "view_image", "read"],
        AgentToolKind::Files(AgentFileOperation::Read),
    ),
    (&["read_many_files"], AgentToolKind::ManyFiles),
    (&["Write", "write_file", "create", "write"], AgentToolKind::Files(AgentFileOperation::Write)),
    (
        &["Edit", "MultiEdit", "NotebookEdit", "replace", "StrReplace", "edit", "str_replace_editor"],
        AgentToolKind::Files(AgentFileOperation::Edit),
    ),
    (&["Delete"], AgentToolKind::Files(AgentFileOperation::Remove)),
    (&[PATCHES], AgentToolKind::Patch),
    (&["LS", "list_directory", "list_dir", "list"], AgentToolKind::Search("list_dir")),
    (&["Glob", "glob"], AgentToolKind::Search("glob")),
    (&["Grep", "grep_search", "search_file_content", "grep", "rg", "grep_files"], AgentToolKind::Search("grep")),
    (&["WebFetch", "web_fetch", "webfetch"], AgentToolKind::Fetch),
    (&["WebSearch", "google_web_search", "web_search", "websearch"], AgentToolKind::WebSearch),
    (&["Task", "Agent", "invoke_agent", "task", "write_agent"], AgentToolKind::Delegate),
    (
        &[
            "TodoWrite",
            "TodoRead",
            "write_todos",
            "update_todo",
            "todowrite",
            "todoread",
            "report_intent",
            "update_plan",
        ],
        AgentToolKind::Notes,
    ),
    (
        &["BashOutput", "KillShell", "TaskOutput", "TaskStop", "read_bash", "stop_bash", "list_bash"],
        AgentToolKind::Notes,
    ),
    (&["read_agent", "list_agents"], AgentToolKind::Notes),
];

const PATHS: &[&str] = &["file_path", "notebook_path", "path", "target_file", "absolute_path", "filePath"];
impl AgentCallEffect {
    /// Returns the text of a command.
    pub(in crate::other_agents::guard) fn into_command(self) -> Option<String> {
        match self {
            AgentCallEffect::Command { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Says what a call would do; fails with why its arguments cannot be read.
    pub(in crate::other_agents::guard) fn of(event: &GuardEvent) -> Result<Self, String> {
        let known = TOOLS.iter().find(|(names, _)| names.contains(&event.tool.as_str()));
        let Some((_, sort)) = known else { return Ok(AgentCallEffect::Unknown) };
        sort.of(&AgentToolInput { tool: &event.tool, fields: &event.input, form: event.recipient.form })
    }
}

impl AgentToolKind {
    fn of(self, input: &AgentToolInput<'_>) -> Result<AgentCallEffect, String> {
        Ok(match self {
            AgentToolKind::Command => AgentCallEffect::Command {
                text: input.command()?,
                folders: input.readings(narrowing::COMMAND_FOLDERS)?,
                leaves_sandbox: input.says("dangerouslyDisableSandbox"),
            },
            AgentToolKind::Files(deed) => {
                AgentCallEffect::Files(readings_of(input.needed(PATHS)?).into_iter().map(|path| (deed, path)).collect())
            }
            AgentToolKind::ManyFiles => {
                let keys = ["include", "paths"].into_iter().filter(|key| input.says(key));
                let lists: Vec<Vec<String>> = keys.map(|key| input.list(key)).collect::<Result<_, _>>()?;
                if lists.is_empty() {
                    return Err("the call has no \"include\"".to_owned());
                }
                let patterns = lists.concat();
                if let Some(pattern) = patterns.iter().find(|pattern| narrowing::may_lead_anywhere(pattern)) {
                    return Err(format!("haft does not know where {pattern:?} leads"));
                }
                AgentCallEffect::ManyFiles(patterns.into_iter().flat_map(readings_of).collect())
            }
            AgentToolKind::Patch => {
                let text = input.needed(&["command", "input", "patch"])?;
                AgentCallEffect::Files(patch::touched(&text).ok_or("the patch names no file")?)
            }
            AgentToolKind::Search(tool) => {
                let pattern = if tool == "glob" { input.one(&["pattern", "glob_pattern"])? } else { None };
                let folders = input.readings(narrowing::SEARCHED_FOLDERS)?;
                let folders = pattern.map_or_else(|| folders.clone(), |pattern| narrowing::ahead(&pattern, &folders));
                // The name of a file with a match tells what is in it too, letter by letter, where the search is for few files.
                let shows_lines = tool == "grep" && !input.only_names_files()?;
                AgentCallEffect::Search { tool, folders, only: input.readings(narrowing::NAMES)?, shows_lines }
            }
            AgentToolKind::Fetch => AgentCallEffect::Fetch(input.addresses()?),
            AgentToolKind::WebSearch => AgentCallEffect::WebSearch,
            AgentToolKind::Delegate => {
                let name = input.one(&["subagent_type", "agent_name", "agent_type"])?;
                AgentCallEffect::Delegate(name.unwrap_or_else(|| "another agent".to_owned()))
            }
            AgentToolKind::TypedInput => match input.one(&["chars", "input"])? {
                Some(text) if text.contains("{backspace}") => {
                    return Err(format!("the text {text:?} deletes what was typed before"));
                }
                // Copilot CLI writes keys so.
                Some(text) if !text.is_empty() => AgentCallEffect::TypedInput(text.replace("{enter}", "\n")),
                // Without text the agent only waits for output.
                Some(_) | None => AgentCallEffect::Notes,
            },
            AgentToolKind::Notes => AgentCallEffect::Notes,
        })
    }
}

/// Returns a path as it stands, and without the white space around it, if there is any: Claude Code removes it before it
/// opens the file.
fn readings_of(path: String) -> Vec<String> {
    let bare = path.trim_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}').to_owned();
    if bare.is_empty() || bare == path { vec![path] } else { vec![path, bare] }
}

/// The arguments of a call of an agent's tool.
struct AgentToolInput<'a> {
    tool: &'a str,
    fields: &'a Map<String, Value>,
    form: GuardEventForm,
}

impl AgentToolInput<'_> {
    /// Returns the text of the one of these arguments that is there. Two that differ say nothing.
    fn one(&self, keys: &[&str]) -> Result<Option<String>, String> {
        let mut found: Option<(&str, &str)> = None;
        for key in keys {
            match (self.fields.get(*key), found) {
                (None | Some(Value::Null), _) => {}
                (Some(Value::String(text)), None) => found = Some((key, text)),
                (Some(Value::String(text)), Some((_, other))) if text == other => {}
                (Some(Value::String(_)), Some((other, _))) => {
                    return Err(format!("\"{other}\" and \"{key}\" differ, and haft does not know which one counts"));
                }
                (Some(_), _) => return Err(format!("\"{key}\" is not a string")),
            }
        }
        Ok(found.map(|(_, text)| text.to_owned()))
    }

    /// Returns what an argument that narrows a call may say. One that the agent's tool does not have may count or not.
    fn readings(&self, argument: NarrowingArgument) -> Result<Vec<Option<String>>, String> {
        let text = self.one(argument.names)?;
        let own = (argument.own)(self.tool, self.form);
        let counts = own.iter().any(|key| self.fields.get(*key).is_some_and(Value::is_string));
        let is_open = text.is_none() || !counts;
        Ok(is_open.then_some(None).into_iter().chain(text.into_iter().flat_map(readings_of).map(Some)).collect())
    }

    /// Returns whether a search names files and shows none of their lines. Claude Code does so unless it is told to show
    /// lines; Cursor has a tool of the same name that shows them. Others do not have the argument.
    fn only_names_files(&self) -> Result<bool, String> {
        let mode = self.one(&["output_mode"])?;
        let names = matches!(mode.as_deref(), Some("files_with_matches" | "count"));
        Ok(match self.form {
            GuardEventForm::Cursor | GuardEventForm::CursorTool | GuardEventForm::Copilot => names,
            GuardEventForm::Claude | GuardEventForm::Permission if self.tool == "Grep" => mode.is_none() || names,
            _ => false,
        })
    }

    /// Returns the text of a command; Codex may write a list of words.
    fn command(&self) -> Result<String, String> {
        let list = self
            .fields
            .get("command")
            .filter(|_| matches!(self.form, GuardEventForm::Codex | GuardEventForm::Permission));
        let Some(Value::Array(list)) = list else { return self.needed(&["command", "cmd"]) };
        let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
        match words.as_deref() {
            None | Some([]) => Err("\"command\" is not a list of strings".to_owned()),
            Some([shell, "-c" | "-lc", text]) if matches!(shell.rsplit('/').next(), Some("bash" | "sh" | "zsh")) => {
                Ok((*text).to_owned())
            }
            Some(words) => Ok(words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")),
        }
    }

    fn needed(&self, keys: &[&str]) -> Result<String, String> {
        let missing = || format!("the call has no \"{}\"", keys.first().copied().unwrap_or_default());
        self.one(keys)?.ok_or_else(missing)
    }

    fn list(&self, key: &str) -> Result<Vec<String>, String> {
        let list = self.fields.get(key).and_then(Value::as_array).filter(|list| !list.is_empty());
        let texts: Option<Vec<String>> =
            list.and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        texts.ok_or_else(|| format!("\"{key}\" is not a list of strings"))
    }

    fn says(&self, key: &str) -> bool {
        !matches!(self.fields.get(key), None | Some(Value::Null | Value::Bool(false)))
    }

    /// Returns the addresses to fetch: the one in its own argument, or those in the text of a prompt.
    fn addresses(&self) -> Result<Vec<String>, String> {
        if let Some(address) = self.one(&["url"])? {
            return Ok(vec![address]);
        }
        let prompt = self.needed(&["url", "prompt"])?;
        let is_address = |word: &&str| word.contains("://");
        let trimmed = |word: &str| word.trim_matches(['"', '\'', '(', ')', '<', '>', ',', '.']).to_owned();
        let found: Vec<String> = prompt.split_whitespace().filter(is_address).map(trimmed).collect();
        if found.is_empty() { Err("the call names no address".to_owned()) } else { Ok(found) }
    }
}
