//! Writes a conversation as a document: Markdown for people, JSON for programs. Secrets stay hidden.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::{Image, Message, Reply, ReplyPart, ToolAnswer};
use haft_runtime::record::VERSION;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::state::create_new_files;
use haft_workspace::state::sessions::{SessionId, StoredSession};
use serde_json::{Value, json};

use super::agent_records::arguments;
use super::session_records::ResumedSession;
use crate::changes::change_log::utc;

/// Longest text of a result in Markdown, in characters.
const LONGEST_RESULT: usize = 4_000;

/// A session to be written as a document.
pub struct SessionExport<'a> {
    id: &'a SessionId,
    kept: &'a StoredSession,
    session: ResumedSession,
    redactor: &'a Redactor,
}

impl<'a> SessionExport<'a> {
    /// Takes a session as it was read.
    #[must_use]
    pub fn new(id: &'a SessionId, kept: &'a StoredSession, redactor: &'a Redactor) -> Self {
        Self { id, kept, session: ResumedSession::of(kept), redactor }
    }

    /// Writes it for people.
    #[must_use]
    pub fn markdown(&self) -> String {
        let title = self.kept.name.as_deref().or(self.kept.words.as_deref()).unwrap_or("Conversation");
        let mut text = format!("# {}\n\n", self.hide(&title.replace('\n', " ")));
        let began = self.kept.began_ms.map(utc).unwrap_or_else(|| "unknown".to_owned());
        let model = self.session.model.name.as_deref().unwrap_or("unknown");
        let tally = self.kept.tally;
        let tokens = GroupedNumber(tally.input.saturating_add(tally.output)).of("token");
        text.push_str(&format!("Session {}, begun {began}, model {}, {tokens}\n", self.id, self.hide(model)));
        for message in &self.session.past.messages {
            match message {
                Message::User { text: said, images } => {
                    text.push_str(&format!("\n## User\n\n{}\n", self.hide(said)));
                    note_images(images.len(), &mut text);
                }
                Message::Model(reply) => self.write_reply(reply, &mut text),
                Message::Tools { answers } => answers.iter().for_each(|answer| self.write_answer(answer, &mut text)),
            }
        }
        text
    }

    fn write_reply(&self, reply: &Reply, text: &mut String) {
        text.push_str("\n## Model\n");
        for part in &reply.parts {
            match part {
                ReplyPart::Text(said) | ReplyPart::Refusal(said) => {
                    text.push_str(&format!("\n{}\n", self.hide(said.trim())))
                }
                ReplyPart::Thinking(thought) if thought.trim().is_empty() => {}
                ReplyPart::Thinking(thought) => {
                    let quoted: String = self.hide(thought.trim()).lines().map(|line| format!("> {line}\n")).collect();
                    text.push_str(&format!("\n{quoted}"));
                }
                ReplyPart::Call(call) => {
                    let mut given = arguments(call);
                    self.redactor.redact_value(&mut given);
                    let given = serde_json::to_string_pretty(&given).unwrap_or_default();
                    let name = self.hide(&call.name).replace('`', "");
                    text.push_str(&format!("\nCall of `{name}`:\n\n{}\n", fenced(&given, "json")));
                }
            }
        }
    }

    fn write_answer(&self, answer: &ToolAnswer, text: &mut String) {
        let whole = self.hide(&answer.text);
        let shown: String = whole.chars().take(LONGEST_RESULT).collect();
        let left_out = whole.chars().count() - shown.chars().count();
        let failed = if answer.is_error { " (failed)" } else { "" };
        let name = self.hide(&answer.name).replace('`', "");
        text.push_str(&format!("\nResult of `{name}`{failed}:\n\n{}\n", fenced(shown.trim_end(), "")));
        if left_out > 0 {
            text.push_str(&format!("\n[{} more]\n", GroupedNumber(left_out as u64).of("character")));
        }
        note_images(answer.images.len(), text);
    }

    /// Writes it for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let tally = self.kept.tally;
        let messages: Vec<Value> = self.session.past.messages.iter().map(message_record).collect();
        let mut record = json!({
            "v": VERSION,
            "id": self.id.to_string(),
            "name": self.kept.name,
            "began": self.kept.began_ms.map(utc),
            "model": self.session.model.name,
            "input_tokens": tally.input,
            "output_tokens": tally.output,
            "messages": messages,
        });
        self.redactor.redact_value(&mut record);
        record
    }

    fn hide(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }
}

fn message_record(message: &Message) -> Value {
    match message {
        Message::User { text, images } => {
            let mut record = json!({ "by": "user", "text": text });
            if !images.is_empty() {
                record["images"] = media_types(images).into();
            }
            record
        }
        Message::Model(reply) => {
            let thinking: String = reply.parts.iter().filter_map(thought).collect();
            let calls: Vec<Value> = reply
                .calls()
                .map(|call| json!({ "id": call.id, "tool": call.name, "arguments": arguments(call) }))
                .collect();
            let mut record = json!({ "by": "model", "text": reply.text() });
            if !thinking.is_empty() {
                record["thinking"] = thinking.into();
            }
            if !calls.is_empty() {
                record["calls"] = calls.into();
            }
            record
        }
        Message::Tools { answers } => {
            let results: Vec<Value> = answers.iter().map(answer_record).collect();
            json!({ "by": "tools", "results": results })
        }
    }
}

fn note_images(count: usize, text: &mut String) {
    if count > 0 {
        text.push_str(&format!("\n[{}]\n", GroupedNumber(count as u64).of("image")));
    }
}

fn thought(part: &ReplyPart) -> Option<&str> {
    if let ReplyPart::Thinking(thought) = part { Some(thought) } else { None }
}

fn media_types(images: &[Image]) -> Vec<&str> {
    images.iter().map(|image| image.media_type.as_str()).collect()
}

fn answer_record(answer: &ToolAnswer) -> Value {
    let mut record = json!({
        "call": answer.call, "tool": answer.name, "text": answer.text, "is_error": answer.is_error
    });
    if !answer.images.is_empty() {
        record["images"] = media_types(&answer.images).into();
    }
    record
}

/// Writes a document to a file that does not exist yet.
///
/// # Errors
///
/// Fails when the file exists or cannot be written.
pub fn write_new_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{} cannot be the name of a file; name a new file", path.display()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_new_files(folder, &[(name, text)]).map_err(|error| anyhow!("nothing was written: {error}; name a new file"))
}

/// Returns a text as a block of code that no line of it ends.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_own_block() {
        assert_eq!(fenced("a", "json"), "```json\na\n```");
        assert_eq!(fenced("x\n```\n````y", ""), "`````\nx\n```\n````y\n`````");
    }
}
