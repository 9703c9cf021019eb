//! The answer to an event, in the form that the agent accepts.
//!
//! If no question reaches a person, haft refuses a call that a person must decide each time, and says so. It leaves an
//! ordinary question to the agent's own rules and questions.

use haft_policy::decision::{Class, Decision, Ruling};
use haft_runtime::redaction::redact::Redactor;
use serde_json::{Map, Value, json};

use super::events::form::{GuardEventForm, PermissionMode, Recipient};
use haft_contract::text::visible::visible;

/// Most characters of a reason.
const LONGEST_REASON: usize = 1_500;

/// An answer to an event.
#[derive(Debug, PartialEq, Eq)]
pub struct GuardAnswer {
    form: GuardEventForm,
    decision: Decision,
    class: Class,
    /// Why, for the person who is asked and for the model.
    reason: String,
    /// The arguments of the call, where haft has rewritten them.
    input: Option<Map<String, Value>>,
}

/// An answer to an event that asks nothing: a line for the person, if there is one.
#[must_use]
pub fn remark(line: Option<&str>) -> String {
    line.map_or_else(|| json!({}), |line| json!({ "systemMessage": line })).to_string()
}

impl GuardAnswer {
    /// Answers with what was decided.
    pub(super) fn of(recipient: Recipient, ruling: &Ruling, redactor: &Redactor) -> Self {
        let Ruling { decision: judged, class, rule, reason, instead } = ruling;
        let form = recipient.form;
        let decision = decided(*judged, *class, recipient);
        let reason = if decision == *judged { reason.clone() } else { format!("{reason} {}", dropped(recipient)) };
        let words = match decision {
            Decision::Allow => format!("{reason} (haft, rule \"{rule}\")"),
            Decision::Ask => format!("{reason} (haft asks, rule \"{rule}\")"),
            Decision::Deny if instead.is_empty() => format!("The rule \"{rule}\" of haft refuses this. {reason}"),
            Decision::Deny => {
                let instead = in_names_of(form, instead);
                format!("The rule \"{rule}\" of haft refuses this. {reason} Nothing was run. Next: {instead}.")
            }
        };
        // Hidden before the cut: a cut through a secret would leave a part of it visible. The agent keeps the reason, and shows
        // the person the whole call beside it.
        let words = redactor.redact(&words);
        Self { form, decision, class: *class, reason: bounded(&words), input: None }
    }

    /// Asks about what was not judged; `why` is the end of "because …".
    pub(super) fn unjudged(recipient: Recipient, why: &str, redactor: &Redactor) -> Self {
        let decision = decided(Decision::Ask, Class::Dangerous, recipient);
        Self::without_ruling(recipient, decision, &redactor.redact(why))
    }

    /// Asks about an event that was not read; `why` is the end of "because …".
    pub(super) fn unread(recipient: Recipient, why: &str) -> Self {
        let decision = if recipient.can_ask_about_unread() { Decision::Ask } else { Decision::Deny };
        Self::without_ruling(recipient, decision, why)
    }

    fn without_ruling(recipient: Recipient, decision: Decision, why: &str) -> Self {
        let words = format!("haft cannot judge this call, because {}.", why.trim_end_matches('.'));
        let words = if decision == Decision::Ask { words } else { format!("{words} {}", dropped(recipient)) };
        Self { form: recipient.form, decision, class: Class::Dangerous, reason: bounded(&words), input: None }
    }

    /// Lets the agent make the call with these arguments instead.
    pub(super) fn with_input(mut self, input: Option<Map<String, Value>>) -> Self {
        self.input = input;
        self
    }

    /// Adds why haft does less than it usually does.
    pub(super) fn with_remark(mut self, remark: &str) -> Self {
        self.reason = bounded(&format!("{} {remark}", self.reason));
        self
    }

    /// Returns whether the agent may make the call.
    pub(super) fn lets_run(&self) -> bool {
        self.decision != Decision::Deny
    }

    /// Returns the answer as one line of JSON.
    #[must_use]
    pub fn line(&self) -> String {
        let mut value = self.value();
        if let Some(input) = &self.input {
            let field = match self.form {
                GuardEventForm::Claude | GuardEventForm::Codex => &mut value["hookSpecificOutput"]["updatedInput"],
                GuardEventForm::Gemini => &mut value["hookSpecificOutput"]["tool_input"],
                GuardEventForm::Copilot => &mut value["modifiedArgs"],
                GuardEventForm::Opencode => &mut value["args"],
                GuardEventForm::Permission | GuardEventForm::Cursor | GuardEventForm::CursorTool => {
                    return value.to_string();
                }
            };
            *field = Value::Object(input.clone());
        }
        if self.form == GuardEventForm::Codex && self.input.is_some() {
            // Codex takes other arguments only from a hook that allows the call. It asks by its own rules all the same.
            value["hookSpecificOutput"]["hookEventName"] = "PreToolUse".into();
            value["hookSpecificOutput"]["permissionDecision"] = Decision::Allow.code().into();
        }
        value.to_string()
    }

    fn value(&self) -> Value {
        let GuardAnswer { form, reason, .. } = self;
        let decision = self.decision.code();
        let leaves_it = self.decision != Decision::Deny;
        match form {
            GuardEventForm::Codex | GuardEventForm::Permission if leaves_it && !self.permits() => json!({}),
            GuardEventForm::Permission => {
                let behaviour = match self.decision {
                    Decision::Deny => json!({ "behavior": "deny", "message": reason }),
                    Decision::Allow | Decision::Ask => json!({ "behavior": "allow" }),
                };
                json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": behaviour } })
            }
            GuardEventForm::Claude | GuardEventForm::Codex => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
            } }),
            // A person sees the message; Gemini CLI asks by its own rules.
            GuardEventForm::Gemini if self.decision == Decision::Ask => json!({ "systemMessage": reason }),
            GuardEventForm::Gemini | GuardEventForm::Opencode => json!({ "decision": decision, "reason": reason }),
            GuardEventForm::Cursor | GuardEventForm::CursorTool => {
                json!({ "permission": decision, "user_message": reason, "agent_message": reason })
            }
            GuardEventForm::Copilot => json!({ "permissionDecision": decision, "permissionDecisionReason": reason }),
        }
    }

    /// Returns whether the agent is told to go on without its own question.
    fn permits(&self) -> bool {
        self.form == GuardEventForm::Permission && self.decision == Decision::Allow
    }
}

fn decided(decision: Decision, class: Class, recipient: Recipient) -> Decision {
    let is_for_person = decision == Decision::Ask && class == Class::Dangerous;
    if is_for_person && !recipient.can_ask() { Decision::Deny } else { decision }
}

/// Says why a question became a refusal.
fn dropped(recipient: Recipient) -> &'static str {
    match recipient.mode {
        PermissionMode::NeverAsks => {
            "Only a person may answer that, and the agent asks no questions in its permission mode."
        }
        PermissionMode::Unsaid | PermissionMode::Asks | PermissionMode::Plans => {
            "Only a person may answer that, and it is not certain that the agent would ask one."
        }
    }
}

/// Says advice in the names that the agent has for tools.
fn in_names_of(form: GuardEventForm, advice: &str) -> String {
    let named = |advice: String, tool: &str| match form.name_of(tool) {
        Some(name) => advice.replace(&format!("\"{tool}\""), &format!("\"{name}\"")),
        None => advice,
    };
    let advice = ["read_file", "write_file", "edit_file"].into_iter().fold(advice.to_owned(), named);
    // One tool of the agent may be two of haft's.
    match form.name_of("write_file").filter(|name| form.name_of("edit_file") == Some(name)) {
        Some(name) => advice.replace(&format!("\"{name}\" or \"{name}\""), &format!("\"{name}\"")),
        None => advice,
    }
}

/// Makes words harmless for the terminal of the agent, and short.
fn bounded(words: &str) -> String {
    let words = visible(words).replace(['\n', '\t'], " ");
    match words.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
