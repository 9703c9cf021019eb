//! The forms in which agents send events and accept answers.
//!
//! Whether a question reaches a person depends on the form and on the permission mode of the agent. haft relies on a
//! question only where it is known to be asked: an agent that drops a question makes the call.

use serde_json::Value;

/// The form of one event and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum GuardEventForm {
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
    /// `tool.execute.before` of opencode, as haft's plugin sends it.
    Opencode,
}

/// The moment at which an agent sends an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum GuardEventTiming {
    /// Before a call.
    Before,
    /// After a call, whether it succeeded or not.
    After,
    /// When a session starts.
    Start,
}

impl GuardEventForm {
    /// Returns whether the answer may have another call in it, which the agent makes instead.
    pub(in crate::other_agents::guard) fn takes_rewritten_calls(self) -> bool {
        match self {
            GuardEventForm::Claude
            | GuardEventForm::Codex
            | GuardEventForm::Gemini
            | GuardEventForm::Copilot
            | GuardEventForm::Opencode => true,
            // The agent asks about the call that it will make.
            GuardEventForm::Permission => true,
            GuardEventForm::Cursor | GuardEventForm::CursorTool => false,
        }
    }

    /// Returns whether the shell of the agent stays in the folder that a command went to.
    pub(in crate::other_agents::guard) fn keeps_folder(self) -> bool {
        matches!(self, GuardEventForm::Claude | GuardEventForm::Copilot)
    }

    /// Returns the name that the agent has for one of haft's tools, for advice that its model reads.
    pub(in crate::other_agents::guard) fn name_of(self, tool: &str) -> Option<&'static str> {
        let [read, write, edit] = match self {
            GuardEventForm::Claude | GuardEventForm::Permission => ["Read", "Write", "Edit"],
            GuardEventForm::Codex => ["cat", "apply_patch", "apply_patch"],
            GuardEventForm::Gemini => ["read_file", "write_file", "replace"],
            GuardEventForm::Cursor | GuardEventForm::CursorTool => ["Read", "Write", "Write"],
            GuardEventForm::Copilot => ["view", "create", "edit"],
            GuardEventForm::Opencode => ["read", "write", "edit"],
        };
        match tool {
            "read_file" => Some(read),
            "write_file" => Some(write),
            "edit_file" => Some(edit),
            _ => None,
        }
    }
}

/// What an event says about the permission mode of its agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum PermissionMode {
    /// The event does not say.
    #[default]
    Unsaid,
    /// The agent asks a person.
    Asks,
    /// The agent asks a person, and only makes a plan.
    Plans,
    /// The agent does not ask, or haft does not know the mode.
    NeverAsks,
}

impl PermissionMode {
    /// Reads the mode from the field of an event.
    pub(in crate::other_agents::guard) fn of(field: Option<&Value>) -> Self {
        match field {
            None | Some(Value::Null) => PermissionMode::Unsaid,
            Some(Value::String(mode)) if mode == "default" || mode == "acceptEdits" => PermissionMode::Asks,
            Some(Value::String(mode)) if mode == "plan" => PermissionMode::Plans,
            // `bypassPermissions` drops the question of a hook, `dontAsk` refuses, `auto` lets a model answer.
            Some(_) => PermissionMode::NeverAsks,
        }
    }
}

/// The agent that gets an answer: the form that it takes, and the mode that it runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::other_agents::guard) struct Recipient {
    pub(in crate::other_agents::guard) form: GuardEventForm,
    pub(in crate::other_agents::guard) mode: PermissionMode,
}

impl Recipient {
    /// Returns whether a question reaches a person.
    pub(in crate::other_agents::guard) fn can_ask(self) -> bool {
        let is_said = matches!(self.mode, PermissionMode::Asks | PermissionMode::Plans);
        match self.form {
            GuardEventForm::Claude | GuardEventForm::Cursor | GuardEventForm::Copilot => is_said,
            // The event itself says that the agent is about to ask.
            GuardEventForm::Permission => self.mode != PermissionMode::NeverAsks,
            // Without a terminal Gemini CLI waits for ever for the answer to a hook's question.
            GuardEventForm::Codex | GuardEventForm::Gemini | GuardEventForm::CursorTool | GuardEventForm::Opencode => {
                false
            }
        }
    }

    /// Returns whether the agent never hears of haft's ordinary questions, and answers them by its own rules.
    pub(in crate::other_agents::guard) fn is_left_ordinary_questions(self) -> bool {
        matches!(self.form, GuardEventForm::Codex | GuardEventForm::Gemini | GuardEventForm::Opencode)
    }

    /// Returns whether a question about an event that cannot be read reaches a person. Claude Code names its mode in
    /// each event; where an event is too broken for that, only the question is left to say.
    pub(in crate::other_agents::guard) fn can_ask_about_unread(self) -> bool {
        self.can_ask() || (self.form == GuardEventForm::Claude && self.mode == PermissionMode::Unsaid)
    }
}
