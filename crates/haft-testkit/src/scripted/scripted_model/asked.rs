//! A request as it arrived, and its content independent of the format.

use std::time::Instant;

use haft_model::wire::Wire;
use serde_json::Value;

/// A request for a reply, as the client sent it.
#[derive(Clone, Debug)]
pub struct ReplyRequest {
    /// The form in which it speaks.
    pub wire: Wire,
    /// The method.
    pub method: String,
    /// The path, with what stands behind the question mark.
    pub path: String,
    /// The headers, their names in small letters, in order.
    pub headers: Vec<(String, String)>,
    /// The text of the body.
    pub text: String,
    /// The body.
    pub body: Value,
    /// What it says.
    pub conversation: Conversation,
    /// When all of it had come.
    pub at: Instant,
    /// When the last byte of the answer was written; nothing while it is not.
    pub answered_at: Option<Instant>,
}

/// What a request says, in one form for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// What the model is told before everything else.
    pub instructions: String,
    /// The names of the tools that are offered.
    pub tools: Vec<String>,
    /// What was said so far.
    pub said: Vec<ConversationEntry>,
    /// The images that it shows, in order, each as an address that holds all of it (`data:image/png;base64,…`).
    pub images: Vec<String>,
}

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationEntry {
    /// The user said this.
    User(String),
    /// The model said this, and made these calls.
    Model(String, Vec<ConversationCall>),
    /// This came of the calls.
    Results(Vec<ConversationResult>),
}

/// A tool call in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationCall {
    /// What its result refers to, where the form has it.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The text of its arguments.
    pub arguments: String,
}

/// The result of a tool call in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationResult {
    /// The call that it refers to, where the form has it.
    pub id: Option<String>,
    /// The name of the tool, where the form has it.
    pub name: Option<String>,
    /// What the model reads.
    pub text: String,
}

impl ReplyRequest {
    /// Returns the model that is asked for.
    pub fn model(&self) -> &str {
        let in_path = || self.path.rsplit('/').next()?.split(':').next();
        match self.wire {
            Wire::Gemini => in_path().unwrap_or_default(),
            Wire::Anthropic | Wire::Responses | Wire::Chat => self.body["model"].as_str().unwrap_or_default(),
        }
    }

    /// Returns the value of a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Conversation {
    /// Returns what the user said last.
    pub fn last_of_user(&self) -> &str {
        let mut texts = self.said.iter().rev().filter_map(|said| match said {
            ConversationEntry::User(text) => Some(text.as_str()),
            ConversationEntry::Model(..) | ConversationEntry::Results(_) => None,
        });
        texts.next().unwrap_or_default()
    }

    /// Returns the results that came after the last reply.
    pub fn last_results(&self) -> &[ConversationResult] {
        let since = self.said.iter().rev().take_while(|said| !matches!(said, ConversationEntry::Model(..)));
        let mut results = since.filter_map(|said| match said {
            ConversationEntry::Results(results) => Some(results.as_slice()),
            ConversationEntry::User(_) | ConversationEntry::Model(..) => None,
        });
        results.next().unwrap_or_default()
    }

    /// Adds what the model said, to its words just before if no other message is in between.
    pub(super) fn add_model(&mut self, text: &str, calls: Vec<ConversationCall>) {
        match self.said.last_mut() {
            Some(ConversationEntry::Model(said, made)) => {
                said.push_str(text);
                made.extend(calls);
            }
            Some(ConversationEntry::User(_) | ConversationEntry::Results(_)) | None => {
                self.said.push(ConversationEntry::Model(text.into(), calls))
            }
        }
    }

    /// Adds a result to those that stand beside it.
    pub(super) fn add_result(&mut self, came: ConversationResult) {
        match self.said.last_mut() {
            Some(ConversationEntry::Results(results)) => results.push(came),
            Some(ConversationEntry::User(_) | ConversationEntry::Model(..)) | None => {
                self.said.push(ConversationEntry::Results(vec![came]))
            }
        }
    }
}
