//! Compares the recorded result of a call with its result in the replay.

use haft_contract::outcome::result::{Did, ToolResult};
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::decode;
use haft_model::conversation::ToolAnswer;
use haft_runtime::record;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{FileChange, PathContent, WorkspaceHistory};
use serde_json::Value;

use super::adapted::{ReplayMapping, settled};
use super::recorded::Then;
use crate::opening::loaded_workspace::NOTHING_LEAVES;

/// Unchanged lines around a difference.
const CONTEXT: usize = 2;

/// The result of comparing a replayed call with the recorded one.
pub enum CallComparison {
    /// It came to the same.
    Same,
    /// It came to something else.
    Differs(Vec<Difference>),
    /// It cannot be said, for this reason.
    Not(String),
}

/// One thing that differs.
pub enum Difference {
    /// A fact: what it is, how it was, how it is.
    Fact(&'static str, String, String),
    /// What the model reads.
    Text(Diff),
    /// What a file became.
    File(String, Option<Diff>),
}

/// A call that has ended again.
pub struct Now<'a> {
    /// What the model reads.
    pub answer: &'a ToolAnswer,
    /// Nothing where it was not run.
    pub result: Option<&'a ToolResult>,
    /// Whether it was refused only because it reaches beyond the copy.
    pub reaches_beyond: bool,
    /// Whether its arguments are still what they were.
    pub is_unaltered: bool,
}

/// Where the changes of then and now are found, and what is to be seen of them.
pub struct Means<'a> {
    /// The change sets of the workspace.
    pub then: &'a WorkspaceHistory,
    /// The change sets of the copy.
    pub now: &'a WorkspaceHistory,
    /// Hides secrets.
    pub redactor: &'a Redactor,
}

impl Means<'_> {
    /// Makes texts of then and now alike as far as they differ each time. Secrets go first: what is hidden now was
    /// perhaps not known to be one then, and half of one would not be found any more.
    fn alike(&self, then: &str, now: &str, adapted: &ReplayMapping) -> (String, String) {
        let (then, now) = (self.redactor.redact(then), self.redactor.redact(now));
        (settled(&then), settled(&adapted.as_then(&now)))
    }

    fn file(&self, path: &str, then: &PathContent, now: &PathContent, adapted: &ReplayMapping) -> Option<Difference> {
        match (then, now) {
            (PathContent::File(then), PathContent::File(now)) if then == now => None,
            (PathContent::File(then), PathContent::File(now)) => match (decode(then), decode(now)) {
                (Ok(then), Ok(now)) => {
                    let (then, now) = self.alike(&then.text, &now.text, adapted);
                    let diff = Diff::between(&then, &now, CONTEXT);
                    (then != now).then(|| Difference::File(path.to_owned(), Some(diff)))
                }
                _ => Some(Difference::File(path.to_owned(), None)),
            },
            (PathContent::Absent, PathContent::Absent) => None,
            (PathContent::Absent, _) | (_, PathContent::Absent) => Some(Difference::File(path.to_owned(), None)),
            // What cannot be shown cannot be compared either; the facts of the call are the same.
            (PathContent::Unshown, _) | (_, PathContent::Unshown) => None,
        }
    }
}

/// Compares a call.
pub fn compare(then: Option<&Then>, now: &Now<'_>, adapted: &ReplayMapping, means: &Means<'_>) -> CallComparison {
    let Some((then, before)) = then.and_then(|then| Some((then, then.answer.as_ref()?))) else {
        return CallComparison::Not("its recorded result is lost".to_owned());
    };
    let is_of_replay = now.reaches_beyond || is_kept_in(now.result);
    match is_of_replay {
        // Refused then as now, only by another rule.
        true if then.field("status") == Some("refused") => return CallComparison::Same,
        true => return CallComparison::Not("it reaches beyond the copy, so it was refused".to_owned()),
        false => {}
    }
    let mut differences = facts(then, now.result);
    let (old, new) = means.alike(&before.text, &now.answer.text, adapted);
    if old != new {
        differences.push(Difference::Text(Diff::between(&old, &new, CONTEXT)));
    }
    if let (true, true, Some(result)) = (differences.is_empty(), now.is_unaltered, now.result) {
        differences = files(then, result, adapted, means);
    }
    if differences.is_empty() { CallComparison::Same } else { CallComparison::Differs(differences) }
}

fn is_kept_in(result: Option<&ToolResult>) -> bool {
    let rule = result.and_then(|result| result.error.as_ref()?.rule.as_deref());
    rule == Some(NOTHING_LEAVES)
}

/// Compares what programs get of a result.
fn facts(then: &Then, now: Option<&ToolResult>) -> Vec<Difference> {
    let (Some(then), Some(now)) = (&then.result, now) else { return Vec::new() };
    let now = record::of_result(now);
    let text = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let mut items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            items.sort_unstable();
            items.join(", ")
        }
        Some(other) => other.to_string(),
    };
    let names = [("status", "status"), ("exit_code", "exit code"), ("did", "did"), ("files", "files changed")];
    let compared = names.map(|(field, name)| (name, text(then.get(field)), text(now.get(field))));
    let differing = compared.into_iter().filter(|(_, then, now)| then != now);
    differing.map(|(name, then, now)| Difference::Fact(name, then, now)).collect()
}

/// Compares what the call left in files, where both journals know it.
fn files(then: &Then, now: &ToolResult, adapted: &ReplayMapping, means: &Means<'_>) -> Vec<Difference> {
    let before = then.result.as_ref().and_then(|result| result.get("change_set")?.as_u64());
    let Did::Changed { change_set: Some(now), .. } = &now.did else { return Vec::new() };
    let Some(before) = before.and_then(|number| means.then.look_at(number).ok()) else { return Vec::new() };
    let Ok(after) = means.now.look_at(now.0) else { return Vec::new() };
    let counterpart = |change: &FileChange| before.iter().find(|then| then.path == change.path);
    let pairs = after.iter().filter_map(|now| Some((counterpart(now)?, now)));
    pairs.filter_map(|(then, now)| means.file(&now.path, &then.after, &now.after, adapted)).collect()
}
