//! Shows a session before a person continues it: how it began, how it ended, what it changed.

use haft_contract::doors::history::Undone;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::Message;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{ChangeSet, ChangeSetKind, LogFilter, WorkspaceHistory};
use haft_workspace::state::sessions::{SessionId, Sessions};

use super::session_records::ResumedSession;
use crate::texts::bounded_text::{one_line_of, paragraph};

/// Longest line of a preview, in columns.
const LONGEST_LINE: usize = 300;
/// Most change sets that are looked at.
const MOST_SETS: usize = 1_000;
/// Most files that are named.
const MOST_FILES: usize = 6;

/// Returns the preview of a session, a fact on each line.
#[must_use]
pub fn preview(sessions: &Sessions, id: &SessionId, history: &WorkspaceHistory, redactor: &Redactor) -> Vec<String> {
    let kept = match sessions.read(id) {
        Ok(kept) => kept,
        Err(error) => return vec![one_line_of(&error.to_string(), LONGEST_LINE)],
    };
    let session = ResumedSession::of(&kept);
    let said = |text: &str| one_line_of(&redactor.redact_known(text), LONGEST_LINE);
    let model = session.model.name.as_deref().map(said).unwrap_or_else(|| "no model yet".to_owned());
    let messages = GroupedNumber(session.past.messages.len() as u64).of("message");
    let mut lines = vec![format!("{model} · {messages}")];
    let mut asked = session.points.iter().map(|point| point.text.as_str());
    lines.extend(asked.next().map(|first| format!("first    {}", said(first))));
    lines.extend(asked.next_back().map(|last| format!("last     {}", said(last))));
    let answer = session.past.messages.iter().rev().find_map(|message| match message {
        Message::Model(reply) => Some(reply.text()).filter(|text| !text.trim().is_empty()),
        Message::User { .. } | Message::Tools { .. } => None,
    });
    lines.extend(answer.map(|text| format!("answer   {}", said(&paragraph(&text)))));
    let sets = changes_since(history, &id.to_string(), kept.began_ms.unwrap_or(0));
    lines.push(format!("changed  {}", said(&changed_words(&sets))));
    lines
}

/// Returns the changes of a session that hold, since a moment in milliseconds since 1970, newest first.
#[must_use]
pub fn changes_since(history: &WorkspaceHistory, session: &str, at_ms: u64) -> Vec<ChangeSet> {
    let filter = LogFilter { since: Some(at_ms), ..LogFilter::default() };
    // A history that cannot be read offers nothing; undo says why.
    let mut sets = history.newest_of(&filter, MOST_SETS).map(|log| log.sets).unwrap_or_default();
    sets.retain(|set| set.session == session && set.kind == ChangeSetKind::Change && set.undone != Undone::Yes);
    sets
}

/// Says how many files change sets changed, and names a few.
#[must_use]
pub fn changed_words(sets: &[ChangeSet]) -> String {
    let mut files: Vec<&str> = sets.iter().rev().flat_map(|set| &set.files).map(|file| file.path.as_str()).collect();
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(*file));
    if files.is_empty() {
        return "nothing that holds".to_owned();
    }
    let count = GroupedNumber(files.len() as u64).of("file");
    let more = if files.len() > MOST_FILES { ", …" } else { "" };
    format!("{count}: {}{more}", files[..files.len().min(MOST_FILES)].join(", "))
}
