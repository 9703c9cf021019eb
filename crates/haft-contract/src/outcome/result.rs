//! The result of a call, however the call ended.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::error::ToolError;
use super::kinds::ErrorKind;
use super::output::{Content, Image, ReducedLimit};
use crate::call::CallId;
use crate::doors::connection::ReachedHost;
use crate::doors::door::ChangeSetId;
use crate::doors::process::{ConfinementLevel, Conflict};
use crate::effect::Effect;
use crate::files::change_summary::KindCounts;
use crate::files::path::Target;

/// The result of one call. Every call has exactly one.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The call.
    pub id: CallId,
    /// The tool, by the name it was shown under.
    pub tool: String,
    /// How the call ended.
    pub status: Status,
    /// What the model reads, bounded by the profile.
    pub content: Vec<Content>,
    /// What the person sees instead, where the tool gave other words.
    pub display: Option<String>,
    /// Why it was refused or failed.
    pub error: Option<ToolError>,
    /// The stage at which it was refused or failed.
    pub stopped_at: Option<&'static str>,
    /// The result as data.
    pub data: Option<Value>,
    /// Whether anything was changed, as the doors saw it.
    pub did: Did,
    /// What haft repaired in the arguments, one line each.
    pub repairs: Vec<String>,
    /// What else the caller should know: a hook that failed, a repeat.
    pub warnings: Vec<String>,
    /// Names the whole output when the content is only a part of it.
    pub spilled: Option<String>,
    /// A limit that was reduced, where the call asked for more than the profile allows.
    pub limited: Option<ReducedLimit>,
    /// How many files of each kind were changed.
    pub changes: Option<KindCounts>,
    /// The exit status of the command that it ran.
    pub exit_code: Option<i32>,
    /// How strongly that command was confined.
    pub sandbox: Option<ConfinementLevel>,
    /// How many processes it had left behind, which were ended with it.
    pub left_behind: usize,
    /// What was not kept because the tool had not said that it would change it.
    pub undeclared: Vec<String>,
    /// Files that others changed while its commands ran, whose two versions could not be merged.
    pub conflicts: Vec<Conflict>,
    /// What its commands reached over the network, and what they were refused.
    pub network: Vec<ReachedHost>,
    /// The name of the job that it started.
    pub job: Option<String>,
    /// How many new files and folders its commands left in the home of the session.
    pub home: usize,
    /// How old the result is, where it was kept from an earlier call and nothing was run.
    pub cached: Option<Duration>,
    /// The sticky facts of the session after this call, by their names.
    pub bits: Vec<&'static str>,
    /// How long it took, without what it waited for other calls or for an answer.
    pub took: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It worked.
    Ok,
    /// It ran, or tried to, and did not work.
    Failed,
    /// Policy or a person said no.
    Refused,
    /// It took longer than it may.
    TimedOut,
    /// It was stopped.
    Cancelled,
}

impl Status {
    /// Returns the status that an error of this kind leads to.
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::TimedOut => Status::TimedOut,
            ErrorKind::Cancelled => Status::Cancelled,
            kind if kind.is_refusal() => Status::Refused,
            _ => Status::Failed,
        }
    }

    /// Returns the name of the status in records.
    pub fn code(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::Refused => "refused",
            Status::TimedOut => "timed_out",
            Status::Cancelled => "cancelled",
        }
    }
}

/// Whether anything happened outside the session. Filled by the doors, never by the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    /// Nothing was changed.
    Nothing,
    /// These files were changed.
    Changed {
        /// The number under which the journal has it, for `haft undo`.
        change_set: Option<ChangeSetId>,
        /// The files, in the order of their change.
        files: Vec<Target>,
    },
    /// The call ended in the middle; any of these may have happened.
    Unknown(Arc<[Effect]>),
}

/// Returns the line that the model reads of a warning.
pub fn note_line(warning: &str) -> String {
    format!("[note: {warning}]")
}

impl ToolResult {
    /// Returns what the model reads as one text.
    pub fn text(&self) -> String {
        match self.content.as_slice() {
            [] => String::new(),
            [Content::Text(text)] => text.clone(),
            pieces => pieces.iter().filter_map(Content::text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns what the model reads, without the notes at its end: they say what the session knows, such as how often the
    /// same call was made, and differ from call to call.
    pub fn text_before_notes(&self) -> String {
        let mut text = self.text();
        for warning in self.warnings.iter().rev() {
            let Some(rest) = text.strip_suffix(&note_line(warning)) else { break };
            text.truncate(rest.trim_end_matches('\n').len());
        }
        text
    }

    /// Returns the images that the model sees.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.content.iter().filter_map(|piece| match piece {
            Content::Image(image) => Some(image),
            Content::Text(_) => None,
        })
    }

    /// Returns a few lines that tell a person how it went: the default of [`crate::tool::Tool::summary`].
    ///
    /// For a failure the error and its next step; else the first lines of the content; else the
    /// first fields of the data; else one word.
    pub fn default_summary(&self, max_lines: usize) -> Vec<String> {
        let mut lines = match &self.error {
            Some(error) => {
                error.what.lines().map(str::to_owned).chain([format!("Next: {}", error.next)]).collect::<Vec<_>>()
            }
            None => self.summary_of_success(max_lines),
        };
        if lines.len() > max_lines {
            lines.truncate(max_lines);
            if let Some(last) = lines.last_mut() {
                last.push_str(" …");
            }
        }
        lines
    }

    fn summary_of_success(&self, max_lines: usize) -> Vec<String> {
        let text = self.display.clone().unwrap_or_else(|| self.text());
        if !text.trim().is_empty() {
            // One line more than fits, so that the cut is seen.
            return text.lines().take(max_lines + 1).map(str::to_owned).collect();
        }
        match &self.data {
            Some(Value::Object(fields)) if !fields.is_empty() => fields
                .iter()
                .take(max_lines + 1)
                .map(|(key, value)| format!("{key}: {}", cut(&plain(value), 50)))
                .collect(),
            Some(value) if !value.is_null() && !value.is_object() => vec![cut(&plain(value), 50)],
            _ => vec!["Success".to_owned()],
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn cut(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    text.chars().take(length).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::error::Next;
    use serde_json::json;

    fn result() -> ToolResult {
        ToolResult {
            id: CallId::new("1"),
            tool: "t".into(),
            status: Status::Ok,
            content: Vec::new(),
            display: None,
            error: None,
            stopped_at: None,
            data: None,
            did: Did::Nothing,
            repairs: Vec::new(),
            warnings: Vec::new(),
            spilled: None,
            limited: None,
            changes: None,
            exit_code: None,
            sandbox: None,
            left_behind: 0,
            undeclared: Vec::new(),
            conflicts: Vec::new(),
            network: Vec::new(),
            job: None,
            home: 0,
            cached: None,
            bits: Vec::new(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_default_summary_shows_error_then_content_then_fields_then_a_word() {
        assert_eq!(result().default_summary(3), ["Success"]);

        let fields = ToolResult { data: Some(json!({ "count": 3, "name": "x".repeat(60) })), ..result() };
        assert_eq!(fields.default_summary(3), ["count: 3".to_owned(), format!("name: {}…", "x".repeat(50))]);

        let content = ToolResult { content: vec![Content::Text("a\nb\nc\nd\n".into())], ..fields };
        assert_eq!(content.default_summary(3), ["a", "b", "c …"]);

        let error = ToolError::failed("it broke", Next::FixArguments("fix it".into()));
        let failed = ToolResult { error: Some(error), ..content };
        assert_eq!(failed.default_summary(3), ["it broke", "Next: fix it"]);
    }

    #[test]
    fn only_the_notes_at_the_end_are_left_out() {
        let own = "[note: it is a line of a file]\nx";
        let result = ToolResult {
            content: vec![Content::Text(format!("{own}\n[note: a]\n[note: b]"))],
            warnings: vec!["a".into(), "b".into()],
            ..result()
        };
        assert_eq!(result.text_before_notes(), own);
        assert_eq!(ToolResult { warnings: Vec::new(), ..result.clone() }.text_before_notes(), result.text());
    }
}
