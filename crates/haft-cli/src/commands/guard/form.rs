//! The forms in which agents send events and take answers, and what can be said in them.

/// The form of one event and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// `PreToolUse` of Claude Code, and of agents that copy it. What is not known is answered in it, too.
    #[default]
    Claude,
    /// `PermissionRequest` of Claude Code and Codex: the agent is about to ask.
    Permission,
    /// `PreToolUse` of Codex, which takes no other decision than to deny.
    Codex,
    /// `BeforeTool` of Gemini CLI.
    Gemini,
    /// `beforeShellExecution` and `beforeMCPExecution` of Cursor.
    Cursor,
    /// `beforeReadFile` and `preToolUse` of Cursor, which do not ask.
    CursorTool,
    /// `preToolUse` of Copilot CLI.
    Copilot,
}

impl Form {
    /// Returns whether a question in this form reaches a person.
    pub(super) fn can_ask(self) -> bool {
        match self {
            Form::Claude | Form::Permission | Form::Gemini | Form::Cursor | Form::Copilot => true,
            Form::Codex | Form::CursorTool => false,
        }
    }

    /// Returns the name that the agent has for one of haft's tools, for advice that its model reads.
    pub(super) fn name_of(self, tool: &str) -> Option<&'static str> {
        let [read, write, edit] = match self {
            Form::Claude | Form::Permission => ["Read", "Write", "Edit"],
            Form::Codex => ["cat", "apply_patch", "apply_patch"],
            Form::Gemini => ["read_file", "write_file", "replace"],
            Form::Cursor | Form::CursorTool => ["Read", "Write", "Write"],
            Form::Copilot => ["view", "create", "edit"],
        };
        match tool {
            "read_file" => Some(read),
            "write_file" => Some(write),
            "edit_file" => Some(edit),
            _ => None,
        }
    }
}
