//! Reads the answer that the command of a hook prints: the fields that hooks of coding agents use.
//!
//! An answer that haft cannot understand is an error and never a yes. haft ignores an answer that allows the call: only
//! rules and people allow.

use serde::Deserialize;
use serde_json::Value;

use super::Before;
use super::printed::{MOST, StreamCapture};

/// The output of a hook, read as JSON. Fields that are not listed here are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HookAnswer {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    system_message: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    updated_tool_output: Option<Value>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Value>,
}

/// What a hook says to a result.
#[derive(Debug, Default, PartialEq)]
pub(super) struct After {
    /// What stands in the place of the text.
    pub(super) text: Option<String>,
    /// What the model is told behind it.
    pub(super) context: Vec<String>,
}

impl HookAnswer {
    /// Reads the output of a hook. Text that is no object is talk, and says nothing.
    pub(super) fn read(out: &StreamCapture) -> Result<Self, String> {
        let text = out.bytes().trim_ascii();
        if !text.starts_with(b"{") {
            return Ok(Self::default());
        }
        if out.is_cut() {
            return Err(format!("gave an answer of more than {} KiB", MOST / 1024));
        }
        serde_json::from_slice(text).map_err(|error| format!("gave an answer that cannot be read: {error}"))
    }

    /// Returns what is to be said to the person, and to the model before the call is made.
    pub(super) fn notes(&self) -> Vec<&str> {
        let context = self.hook_specific_output.as_ref().and_then(|specific| specific.additional_context.as_deref());
        self.system_message.as_deref().into_iter().chain(context).filter(|words| !words.trim().is_empty()).collect()
    }

    /// Returns what is to be said to the person.
    pub(super) fn message(&self) -> Option<&str> {
        self.system_message.as_deref().filter(|words| !words.trim().is_empty())
    }

    /// Returns what becomes of the call.
    pub(super) fn before(self) -> Result<Before, String> {
        if self.r#continue == Some(false) {
            return Ok(Before::Refuse(words(self.stop_reason.or(self.reason))));
        }
        let specific = self.hook_specific_output.unwrap_or_default();
        let (decision, reason) = match specific.permission_decision {
            Some(decision) => (Some(decision), specific.permission_decision_reason.or(self.reason)),
            None => (self.decision, self.reason.or(specific.permission_decision_reason)),
        };
        let arguments = specific.updated_input;
        if arguments.as_ref().is_some_and(|arguments| !arguments.is_object()) {
            return Err("gave an \"updatedInput\" that is not an object".to_owned());
        }
        match decision.as_deref() {
            Some("deny" | "block") => Ok(Before::Refuse(words(reason))),
            Some("ask") => Ok(Before::Ask { why: words(reason), arguments }),
            None | Some("allow" | "approve" | "defer") => Ok(arguments.map_or(Before::Pass, Before::Rewrite)),
            Some(other) => {
                Err(format!("gave the decision {other:?}; the decisions are \"deny\", \"ask\" and \"allow\""))
            }
        }
    }

    /// Returns what becomes of the result.
    pub(super) fn after(self) -> Result<After, String> {
        let specific = self.hook_specific_output.unwrap_or_default();
        let blocks = match self.decision.as_deref() {
            Some("block" | "deny") => true,
            None | Some("allow" | "approve") => false,
            Some(other) => return Err(format!("gave the decision {other:?}; the only decision is \"block\"")),
        };
        let stops = self.r#continue == Some(false);
        let context = [
            blocks.then(|| words(self.reason)),
            stops.then(|| words(self.stop_reason)),
            specific.additional_context.filter(|words| !words.trim().is_empty()),
        ];
        let text = specific.updated_tool_output.or(specific.updated_mcp_tool_output).map(text_of);
        Ok(After { text, context: context.into_iter().flatten().collect() })
    }
}

fn words(reason: Option<String>) -> String {
    reason.filter(|reason| !reason.trim().is_empty()).unwrap_or_else(|| "it gives no reason".to_owned())
}

/// The text of a result that a hook has put in the place of the tool's.
fn text_of(output: Value) -> String {
    match output {
        Value::String(text) => text,
        Value::Object(mut fields) => match fields.remove("content") {
            Some(Value::String(text)) => text,
            Some(content) => content.to_string(),
            None => Value::Object(fields).to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::doors::process::Stream;
    use serde_json::json;

    fn answer(text: &str) -> Result<HookAnswer, String> {
        let printed = super::super::printed::HookOutput::default();
        printed.take(Stream::Out, text.as_bytes());
        HookAnswer::read(&printed.into_streams().0)
    }

    fn before(text: &str) -> Result<Before, String> {
        answer(text).and_then(HookAnswer::before)
    }

    fn refused(why: &str) -> Result<Before, String> {
        Ok(Before::Refuse(why.to_owned()))
    }

    #[test]
    fn deny_ask_and_rewrite_are_understood_and_allow_says_nothing() {
        assert_eq!(before(""), Ok(Before::Pass));
        assert_eq!(before("all is well"), Ok(Before::Pass));
        assert_eq!(before(r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#), Ok(Before::Pass));
        assert_eq!(before(r#"{"decision":"approve","suppressOutput":true}"#), Ok(Before::Pass));
        assert_eq!(before(r#"{"decision":"block","reason":"no"}"#), refused("no"));
        assert_eq!(before(r#"{"continue":false,"stopReason":"stop"}"#), refused("stop"));
        let denied = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why","updatedInput":{}}}"#;
        assert_eq!(before(denied), refused("why"));
        let rewritten = before(r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1}}}"#);
        assert_eq!(rewritten, Ok(Before::Rewrite(json!({ "a": 1 }))));
        let asked = before(r#"{"hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{"a":1}}}"#);
        let arguments = Some(json!({ "a": 1 }));
        assert_eq!(asked, Ok(Before::Ask { why: "it gives no reason".into(), arguments }));
    }

    #[test]
    fn what_cannot_be_understood_is_no_yes() {
        for text in [
            "{",
            "{} {}",
            r#"{"decision":"maybe"}"#,
            r#"{"decision":1}"#,
            r#"{"hookSpecificOutput":"deny"}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"Deny"}}"#,
            r#"{"hookSpecificOutput":{"updatedInput":[1]}}"#,
        ] {
            assert!(before(text).is_err(), "{text}");
        }
        let long = format!("{{\"reason\":\"{}\"}}", "a".repeat(MOST));
        assert_eq!(before(&long), Err("gave an answer of more than 64 KiB".to_owned()));
    }

    #[test]
    fn a_result_may_be_commented_and_replaced() {
        let after = |text: &str| answer(text).and_then(HookAnswer::after).expect("it is understood");
        assert_eq!(after(r#"{"decision":"block","reason":"bad"}"#).context, ["bad"]);
        assert_eq!(after(r#"{"hookSpecificOutput":{"additionalContext":"more"}}"#).context, ["more"]);
        for text in [r#""new""#, r#"{"content":"new"}"#] {
            let text = format!("{{\"hookSpecificOutput\":{{\"updatedToolOutput\":{text}}}}}");
            assert_eq!(after(&text).text.as_deref(), Some("new"));
        }
    }
}
