//! Finds the tool that was called.

use std::sync::Arc;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::description::lift::InverseLowering;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::tool::ForwardedCall;
use haft_policy::decision::Decision;
use haft_policy::policy::Policy;
use serde_json::Value;

use crate::catalogue::catalog::{Catalog, IntendedTool};
use crate::catalogue::entry::CatalogEntry;

/// Most characters of an unknown name that are quoted.
const MOST_LETTERS: usize = 80;
/// Most names that are listed when one is unknown.
const MOST_NAMES: usize = 40;

/// A call whose tool was found.
pub(crate) struct ResolvedCall {
    pub(crate) entry: Arc<CatalogEntry>,
    pub(crate) arguments: RawArguments,
    /// Turns arguments of a provider's lowered schema back.
    pub(crate) lift: Option<Arc<InverseLowering>>,
    /// The line that tells of a name that was read as another.
    pub(crate) repair: Option<String>,
}

/// Finds the tool by the name it is shown under, and takes the arguments of the call.
///
/// A rule that denies a name is told even when there is no such tool: the rule is the better answer.
pub(crate) fn resolve(catalog: &Catalog, policy: &Policy, call: &mut ToolCall) -> Result<ResolvedCall, ToolError> {
    let lift = call.lift.take();
    if let Some(entry) = catalog.find(&call.name) {
        return Ok(ResolvedCall { entry, arguments: taken(call), lift, repair: None });
    }
    let sent = sent(&call.arguments);
    if let Some(ruling) =
        policy.judge_tool(&call.name, sent.as_ref()).filter(|ruling| ruling.decision == Decision::Deny)
    {
        return Err(super::authorize::denied(&ruling));
    }
    let IntendedTool { entry, arguments } =
        catalog.meant(&call.name, &call.arguments).ok_or_else(|| unknown(catalog, &call.name))?;
    let written: String = call.name.chars().take(MOST_LETTERS).collect();
    let repair = Some(format!("$: the tool \"{written}\" read as \"{}\"", entry.shown.name));
    let arguments = arguments.map_or_else(|| taken(call), RawArguments::Object);
    Ok(ResolvedCall { entry, arguments, lift, repair })
}

/// Finds the tool that another one passes a call on to.
pub(crate) fn resolve_forwarded(catalog: &Catalog, call: ForwardedCall) -> Result<ResolvedCall, ToolError> {
    let ForwardedCall { tool, arguments } = call;
    if let Some(entry) = catalog.find(&tool) {
        return Ok(ResolvedCall { entry, arguments, lift: None, repair: None });
    }
    let IntendedTool { entry, arguments: meant } =
        catalog.meant(&tool, &arguments).ok_or_else(|| unknown(catalog, &tool))?;
    let arguments = meant.map_or(arguments, RawArguments::Object);
    Ok(ResolvedCall { entry, arguments, lift: None, repair: None })
}

/// Returns arguments that can be read as they are, for rules about tools that there are not: nothing of the call will run.
fn sent(arguments: &RawArguments) -> Option<Value> {
    match arguments {
        RawArguments::Text(text) => serde_json::from_str(text).ok(),
        RawArguments::Object(fields) => Some(Value::Object(fields.clone())),
        RawArguments::Words(words) => {
            Some(words.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect())
        }
    }
}

fn taken(call: &mut ToolCall) -> RawArguments {
    std::mem::replace(&mut call.arguments, RawArguments::Text(String::new()))
}

fn unknown(catalog: &Catalog, name: &str) -> ToolError {
    let shown: String = name.chars().take(MOST_LETTERS).collect();
    let what = format!("There is no tool \"{shown}\".");
    let next = match catalog.nearest(name) {
        Some(near) => Next::UseInstead { tool: near, to: "instead".into() },
        None => {
            let entries = catalog.list();
            let mut names: Vec<&str> = entries.iter().map(|entry| entry.shown.name.as_str()).collect();
            let left = names.len().saturating_sub(MOST_NAMES);
            names.truncate(MOST_NAMES);
            let more = if left > 0 { format!(" and {left} more") } else { String::new() };
            Next::FixArguments(format!("call one of {}{more}", names.join(", ")))
        }
    };
    ToolError::new(ErrorKind::UnknownTool, what, next)
}
