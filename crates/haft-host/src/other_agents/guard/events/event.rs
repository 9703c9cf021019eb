//! One event of an agent: what it is about to do, and where.
//!
//! The names of the fields tell which agent sent it. haft knows only documented forms, and does not guess others.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::doubtful;
use super::form::{GuardEventForm, GuardEventTiming, PermissionMode, Recipient};
use super::server_tool::ServerTool;
use super::unique::Unique;
use crate::other_agents::guard::LONGEST_EVENT;

/// A call that an agent is about to make.
#[derive(Debug)]
pub(in crate::other_agents::guard) struct GuardEvent {
    pub(in crate::other_agents::guard) recipient: Recipient,
    /// The tool, by the agent's name for it.
    pub(in crate::other_agents::guard) tool: String,
    pub(in crate::other_agents::guard) input: Map<String, Value>,
    /// The folder that the agent is in; of Codex the folder of this one call, which its model chooses.
    pub(in crate::other_agents::guard) folder: PathBuf,
    /// Whether Codex sent it.
    pub(in crate::other_agents::guard) is_of_codex: bool,
    /// The folders that it works on, where it says so.
    pub(in crate::other_agents::guard) roots: Vec<PathBuf>,
    /// The tool of a server, where it is one.
    pub(in crate::other_agents::guard) server_tool: Option<ServerTool>,
    pub(in crate::other_agents::guard) moment: GuardEventTiming,
    pub(in crate::other_agents::guard) names: GuardEventNames,
}

/// The agent's names for its session, turn and call.
#[derive(Debug, Default)]
pub(in crate::other_agents::guard) struct GuardEventNames {
    /// The agent, where the event says it.
    pub(in crate::other_agents::guard) agent: Option<String>,
    pub(in crate::other_agents::guard) session: Option<String>,
    pub(in crate::other_agents::guard) turn: Option<String>,
    pub(in crate::other_agents::guard) call: Option<String>,
}

/// An event that cannot be read: how it is answered, and why, as the end of "because …".
#[derive(Debug)]
pub(in crate::other_agents::guard) struct Unread {
    pub(in crate::other_agents::guard) recipient: Recipient,
    pub(in crate::other_agents::guard) why: String,
}

/// The event of Cursor that is about to run a command.
const CURSOR_COMMAND: &str = "beforeShellExecution";
pub(in crate::other_agents::guard) const CURSOR_SERVER: &str = "beforeMCPExecution";
const CURSOR_READ: &str = "beforeReadFile";
const CURSOR_TOOL: &str = "preToolUse";
const CURSOR_AFTER: &str = "postToolUse";
/// The tool whose argument is a patch.
pub(in crate::other_agents::guard) const PATCHES: &str = "apply_patch";

impl GuardEvent {
    /// Reads an event.
    pub(in crate::other_agents::guard) fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let unread = |why: String| Unread { recipient: Recipient::default(), why };
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err(unread("there is no event on stdin".to_owned()));
        }
        let doubtful = |why: String| Unread { recipient: recipient_of_doubtful(bytes), why };
        if bytes.len() > LONGEST_EVENT {
            return Err(doubtful(format!("the event is longer than {} MiB", LONGEST_EVENT / 1024 / 1024)));
        }
        let value = serde_json::from_slice::<Unique>(bytes);
        let Unique(value) = value.map_err(|error| doubtful(format!("the event is not JSON: {error}")))?;
        let Value::Object(fields) = value else { return Err(unread("the event is not a JSON object".to_owned())) };
        let mode = PermissionMode::of(fields.get("permission_mode"));
        let known = form_of(&fields);
        let known =
            known.map_err(|why| Unread { recipient: Recipient { form: GuardEventForm::default(), mode }, why })?;
        let (form, moment) = known;
        Fields { recipient: Recipient { form, mode }, moment, fields }.event()
    }
}

/// Returns whom an event comes from that is not read: a key stands twice in it, or it is not JSON.
fn recipient_of_doubtful(bytes: &[u8]) -> Recipient {
    let fields = doubtful::readable_fields(bytes);
    let mode = PermissionMode::of(fields.get("permission_mode"));
    Recipient { form: form_of(&fields).map_or_else(|_| GuardEventForm::default(), |(form, _)| form), mode }
}

/// Says which form an event has, and when it was sent.
fn form_of(fields: &Map<String, Value>) -> Result<(GuardEventForm, GuardEventTiming), String> {
    let Some(name) = fields.get("hook_event_name") else {
        let is_copilot = fields.contains_key("toolName") && fields.contains_key("toolArgs");
        let moment = if fields.contains_key("toolResult") { GuardEventTiming::After } else { GuardEventTiming::Before };
        let unknown = || "the event has no \"hook_event_name\"".to_owned();
        return is_copilot.then_some((GuardEventForm::Copilot, moment)).ok_or_else(unknown);
    };
    let of_claude = || if is_of_codex(fields) { GuardEventForm::Codex } else { GuardEventForm::Claude };
    match name.as_str() {
        Some("PreToolUse") => Ok((of_claude(), GuardEventTiming::Before)),
        Some("PostToolUse" | "PostToolUseFailure") => Ok((of_claude(), GuardEventTiming::After)),
        Some("SessionStart") => Ok((of_claude(), GuardEventTiming::Start)),
        Some("PermissionRequest") => Ok((GuardEventForm::Permission, GuardEventTiming::Before)),
        Some("BeforeTool") => Ok((GuardEventForm::Gemini, GuardEventTiming::Before)),
        Some("AfterTool") => Ok((GuardEventForm::Gemini, GuardEventTiming::After)),
        Some(CURSOR_COMMAND | CURSOR_SERVER) => Ok((GuardEventForm::Cursor, GuardEventTiming::Before)),
        Some(CURSOR_READ | CURSOR_TOOL) => Ok((GuardEventForm::CursorTool, GuardEventTiming::Before)),
        Some("tool.execute.before") => Ok((GuardEventForm::Opencode, GuardEventTiming::Before)),
        Some("tool.execute.after") => Ok((GuardEventForm::Opencode, GuardEventTiming::After)),
        Some(CURSOR_AFTER) => Ok((GuardEventForm::CursorTool, GuardEventTiming::After)),
        Some(_) => Err("the event is not one that comes before a call".to_owned()),
        None => Err("\"hook_event_name\" is not a string".to_owned()),
    }
}

/// Returns whether Codex sent an event: it names the model and the turn, which others do not. At the start of a session
/// Claude Code names the model, too, but not the permission mode.
fn is_of_codex(fields: &Map<String, Value>) -> bool {
    let is_start = fields.get("hook_event_name").is_some_and(|name| name == "SessionStart");
    let has = |key: &str| fields.contains_key(key);
    has("turn_id") || has("model") && (!is_start || has("permission_mode"))
}

/// The fields of an event whose form is known.
struct Fields {
    recipient: Recipient,
    moment: GuardEventTiming,
    fields: Map<String, Value>,
}

impl Fields {
    fn event(mut self) -> Result<GuardEvent, Unread> {
        let names = self.names();
        let (tool, input) = match self.recipient.form {
            _ if self.moment == GuardEventTiming::Start => Default::default(),
            GuardEventForm::Copilot => self.of_copilot()?,
            GuardEventForm::Cursor | GuardEventForm::CursorTool => self.of_cursor()?,
            GuardEventForm::Claude
            | GuardEventForm::Permission
            | GuardEventForm::Codex
            | GuardEventForm::Gemini
            | GuardEventForm::Opencode => (self.text("tool_name")?, self.object("tool_input")?),
        };
        let roots = self.roots()?;
        let folder = self.folder(&roots)?;
        let server_tool = ServerTool::of(self.recipient.form, &tool, &self.fields);
        let is_of_codex = is_of_codex(&self.fields);
        let (recipient, moment) = (self.recipient, self.moment);
        Ok(GuardEvent { recipient, tool, input, folder, is_of_codex, roots, server_tool, moment, names })
    }

    /// Reads the names that the agent gives to its session, its turn and the call.
    fn names(&self) -> GuardEventNames {
        let one = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| self.fields.get(*key)?.as_str());
            found.filter(|name| !name.is_empty()).map(str::to_owned)
        };
        GuardEventNames {
            agent: one(&["agent_name"]),
            session: one(&["session_id", "sessionId", "conversation_id"]),
            turn: one(&["prompt_id", "turn_id", "generation_id"]),
            call: one(&["tool_use_id", "toolCallId"]),
        }
    }

    /// Copilot CLI hands a patch on as the text that the model wrote, and other arguments as an object.
    fn of_copilot(&mut self) -> Result<(String, Map<String, Value>), Unread> {
        let tool = self.text("toolName")?;
        match self.fields.get("toolArgs") {
            Some(Value::String(patch)) if tool == PATCHES && !patch.trim_start().starts_with('{') => {
                let input = Map::from_iter([("patch".to_owned(), Value::from(patch.as_str()))]);
                Ok((tool, input))
            }
            _ => Ok((tool, self.object("toolArgs")?)),
        }
    }

    /// Cursor has an event for each sort of call, with the arguments beside its name.
    fn of_cursor(&mut self) -> Result<(String, Map<String, Value>), Unread> {
        let name = self.text("hook_event_name")?;
        let alone = |tool: &str, key: &str, text: String| {
            (tool.to_owned(), Map::from_iter([(key.to_owned(), Value::from(text))]))
        };
        match name.as_str() {
            CURSOR_COMMAND => Ok(alone("Shell", "command", self.text("command")?)),
            CURSOR_READ => Ok(alone("Read", "file_path", self.text("file_path")?)),
            _ => Ok((self.text("tool_name")?, self.object("tool_input")?)),
        }
    }

    fn folder(&self, roots: &[PathBuf]) -> Result<PathBuf, Unread> {
        let folder = match (self.fields.get("cwd"), roots) {
            (None | Some(Value::Null), [first, ..]) => first.clone(),
            (Some(Value::String(folder)), [first, ..]) if folder.is_empty() => first.clone(),
            (Some(Value::String(folder)), _) => PathBuf::from(folder),
            (Some(_), _) => return Err(self.unread("\"cwd\" is not a string")),
            (None, []) => return Err(self.unread("the event has no \"cwd\"")),
        };
        // The event does not say to which folder a relative path belongs.
        if folder.is_absolute() { Ok(folder) } else { Err(self.unread("\"cwd\" is not an absolute path")) }
    }

    fn roots(&self) -> Result<Vec<PathBuf>, Unread> {
        let list = match self.fields.get("workspace_roots") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(self.unread("\"workspace_roots\" is not a list")),
        };
        let root = |item: &Value| item.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
        let roots: Option<Vec<PathBuf>> = list.iter().map(root).collect();
        roots.ok_or_else(|| self.unread("\"workspace_roots\" is not a list of absolute paths"))
    }

    fn text(&self, key: &str) -> Result<String, Unread> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.unread(&format!("\"{key}\" is not a string"))),
            None => Err(self.unread(&format!("the event has no \"{key}\""))),
        }
    }

    /// Takes an object, which may be written as the text of one.
    fn object(&mut self, key: &str) -> Result<Map<String, Value>, Unread> {
        match self.fields.get_mut(key).map(Value::take) {
            Some(Value::Object(fields)) => Ok(fields),
            Some(Value::String(text)) => match serde_json::from_str::<Unique>(&text) {
                Ok(Unique(Value::Object(fields))) => Ok(fields),
                _ => Err(self.unread(&format!("\"{key}\" is not the text of a JSON object"))),
            },
            Some(_) => Err(self.unread(&format!("\"{key}\" is not an object"))),
            None => Err(self.unread(&format!("the event has no \"{key}\""))),
        }
    }

    fn unread(&self, why: &str) -> Unread {
        Unread { recipient: self.recipient, why: why.to_owned() }
    }
}
