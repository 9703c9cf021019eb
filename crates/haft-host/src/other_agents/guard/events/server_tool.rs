//! The tool of an MCP server, whatever the agent calls it.
//!
//! Rules name such a tool `mcp__SERVER__TOOL`. Agents write it in forms of their own, and some forms do not say where the
//! name of the server ends, or leave it out. Then all readings are judged, and the strictest ruling holds.

use std::path::Path;

use haft_config::environment::own_program;
use serde_json::{Map, Value};

use super::event::{CURSOR_SERVER, PATCHES};
use super::form::GuardEventForm;

/// The server's name in a reading of a name that has none.
const UNNAMED: &str = "unnamed";
/// The name that the guide gives to haft's own server.
const OWN: &str = "haft";

/// A tool of a server.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum ServerTool {
    /// Each server and tool that the name may mean; at least one.
    Named(Vec<(String, String)>),
    /// A tool of a server that the agent does not name.
    Unnamed(String),
}

impl ServerTool {
    /// Reads the name of a tool, with what the event says beside it. None for a tool of the agent itself.
    pub(in crate::other_agents::guard) fn of(
        form: GuardEventForm,
        tool: &str,
        fields: &Map<String, Value>,
    ) -> Option<Self> {
        let one = |server: &str, tool: &str| Self::Named(vec![(server.to_owned(), tool.to_owned())]);
        let context = fields.get("mcp_context").filter(|_| form == GuardEventForm::Gemini);
        if let Some(server) = context.and_then(|context| text(context.get("server_name"))) {
            let prefix = format!("mcp_{server}_");
            let bare = context.and_then(|context| text(context.get("tool_name")));
            return Some(one(server, bare.unwrap_or_else(|| tool.strip_prefix(&*prefix).unwrap_or(tool))));
        }
        if let Some((server, tool)) = tool.strip_prefix("mcp__").and_then(|name| split(name, "__")) {
            return Some(one(server, tool));
        }
        match form {
            GuardEventForm::Gemini => {
                let named = tool.strip_prefix("mcp_").and_then(|name| split(name, "_"));
                named.or_else(|| split(tool, "__")).map(|(server, tool)| one(server, tool))
            }
            GuardEventForm::Codex | GuardEventForm::Claude | GuardEventForm::Permission => {
                ["__", "."].iter().find_map(|sign| split(tool, sign)).map(|(server, tool)| one(server, tool))
            }
            GuardEventForm::Cursor | GuardEventForm::CursorTool => {
                let is_of_server = fields.get("hook_event_name").is_some_and(|name| name == CURSOR_SERVER);
                let bare = tool.strip_prefix("MCP:");
                let tool = bare.or(is_of_server.then_some(tool))?;
                let server = text(fields.get("mcp_server_name")).or_else(|| serves_haft(fields).then_some(OWN));
                Some(server.map_or_else(|| Self::Unnamed(tool.to_owned()), |server| one(server, tool)))
            }
            // Its own tools have no sign in their names, but for one.
            GuardEventForm::Opencode if tool == PATCHES => None,
            GuardEventForm::Copilot | GuardEventForm::Opencode => {
                let sign = if form == GuardEventForm::Copilot { "-" } else { "_" };
                let readings: Vec<(String, String)> =
                    tool.match_indices(sign).filter_map(|(at, _)| parts(tool, at, sign)).collect();
                (!readings.is_empty()).then_some(Self::Named(readings))
            }
        }
    }

    /// Returns each server and tool that the name may mean. A rule that names a server holds for a tool whose server the
    /// agent does not name.
    pub(in crate::other_agents::guard) fn readings(&self, servers: &[String]) -> Vec<(String, String)> {
        match self {
            Self::Named(readings) => readings.clone(),
            Self::Unnamed(tool) => {
                let servers = servers.iter().map(String::as_str).chain([UNNAMED]);
                servers.map(|server| (server.to_owned(), tool.clone())).collect()
            }
        }
    }

    /// Returns the name of a tool of haft's own server, where it cannot be one of another server.
    pub(in crate::other_agents::guard) fn of_haft(&self) -> Option<&str> {
        match self {
            Self::Named(readings) => match readings.as_slice() {
                [(server, tool)] if server == OWN => Some(tool),
                _ => None,
            },
            Self::Unnamed(_) => None,
        }
    }
}

/// Returns the name that rules have for a tool of a server.
pub(in crate::other_agents::guard) fn canonical(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Returns the server that a rule about a tool names, where it names one.
pub(in crate::other_agents::guard) fn server_in(pattern: &str) -> Option<&str> {
    let (server, _) = split(pattern.strip_prefix("mcp__")?, "__")?;
    (!server.contains(['*', '?', '[', '{'])).then_some(server)
}

fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.is_empty())
}

fn split<'a>(name: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    name.split_once(sign).filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

fn parts(name: &str, at: usize, sign: &str) -> Option<(String, String)> {
    let (server, tool) = (&name[..at], &name[at + sign.len()..]);
    (!server.is_empty() && !tool.is_empty()).then(|| (server.to_owned(), tool.to_owned()))
}

/// Returns whether Cursor says that this haft is the server: it names the command of a server, and not the server.
fn serves_haft(fields: &Map<String, Value>) -> bool {
    let mut words = text(fields.get("command")).unwrap_or_default().split_whitespace();
    let program = words.next().map(Path::new);
    let is_own = program.is_some_and(|program| program == Path::new(OWN) || own_program().as_deref() == Some(program));
    is_own && words.next() == Some("mcp") && words.next() == Some("serve")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn readings(form: GuardEventForm, tool: &str, fields: &Value) -> Vec<String> {
        let fields = fields.as_object().cloned().unwrap_or_default();
        let tool = ServerTool::of(form, tool, &fields);
        let readings = tool.map(|tool| tool.readings(&["db".to_owned()])).unwrap_or_default();
        readings.iter().map(|(server, tool)| canonical(server, tool)).collect()
    }

    #[test]
    fn a_tool_of_a_server_has_one_name_whatever_the_form_of_the_agent() {
        let context = json!({ "mcp_context": { "server_name": "db", "tool_name": "query" } });
        let server_only = json!({ "mcp_context": { "server_name": "db" } });
        let cursor = json!({ "hook_event_name": CURSOR_SERVER, "mcp_server_name": "db" });
        for (form, tool, fields) in [
            (GuardEventForm::Claude, "mcp__db__query", &json!({})),
            (GuardEventForm::Permission, "mcp__db__query", &json!({})),
            (GuardEventForm::Codex, "mcp__db__query", &json!({})),
            (GuardEventForm::Codex, "db__query", &json!({})),
            (GuardEventForm::Codex, "db.query", &json!({})),
            (GuardEventForm::Gemini, "mcp_db_query", &context),
            (GuardEventForm::Gemini, "query", &context),
            (GuardEventForm::Gemini, "mcp_db_query", &server_only),
            (GuardEventForm::Gemini, "mcp_db_query", &json!({})),
            (GuardEventForm::Gemini, "db__query", &json!({})),
            (GuardEventForm::Copilot, "db-query", &json!({})),
            (GuardEventForm::Copilot, "mcp__db__query", &json!({})),
            (GuardEventForm::Cursor, "query", &cursor),
            (GuardEventForm::Cursor, "MCP:query", &cursor),
            (GuardEventForm::CursorTool, "MCP:query", &json!({ "mcp_server_name": "db" })),
            (GuardEventForm::CursorTool, "mcp__db__query", &json!({})),
        ] {
            assert_eq!(readings(form, tool, fields), ["mcp__db__query"], "{form:?} {tool}");
        }
    }

    #[test]
    fn a_name_that_does_not_say_where_the_server_ends_has_all_readings() {
        assert_eq!(readings(GuardEventForm::Copilot, "a-b-c", &json!({})), ["mcp__a__b-c", "mcp__a-b__c"]);
        let unnamed = json!({ "hook_event_name": CURSOR_SERVER, "command": "npx x" });
        assert_eq!(readings(GuardEventForm::Cursor, "query", &unnamed), ["mcp__db__query", "mcp__unnamed__query"]);
        for (form, tool) in
            [(GuardEventForm::Copilot, "bash"), (GuardEventForm::Codex, "Bash"), (GuardEventForm::Gemini, "read_file")]
        {
            assert_eq!(readings(form, tool, &json!({})), [""; 0], "{tool}");
        }
    }
}
