//! The conversation between a model and haft, in one form for all providers.
//!
//! haft also keeps each reply exactly as the provider sent it: signatures, encrypted reasoning and the order of blocks
//! must go back byte for byte, and no common form has them all.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::Wire;

/// One entry of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Message {
    /// What the user said.
    User {
        /// The words.
        text: String,
        /// The images that the user showed with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What the model said.
    Model(Reply),
    /// What came of the model's calls: exactly one answer for each, in their order.
    Tools {
        /// The answers.
        answers: Vec<ToolAnswer>,
    },
}

impl Message {
    /// What the user says in words.
    pub fn user(text: impl Into<String>) -> Self {
        Message::User { text: text.into(), images: Vec::new() }
    }
}

/// One reply of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reply {
    /// What it says, in order.
    pub parts: Vec<ReplyPart>,
    /// What stands for it in later requests to the same provider.
    pub native: Native,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// Why it broke off where it did, without a capital and a full stop; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_cut: Option<String>,
}

impl Reply {
    /// Returns the calls that it makes, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ModelToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::Call(call) => Some(call),
            ReplyPart::Text(_) | ReplyPart::Thinking(_) | ReplyPart::Refusal(_) => None,
        })
    }

    /// Returns its text without everything else.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ReplyPart::Text(text) | ReplyPart::Refusal(text) => Some(text.as_str()),
            ReplyPart::Thinking(_) | ReplyPart::Call(_) => None,
        });
        texts.collect()
    }

    /// Returns the reply in other words, such as with shorter arguments: what the provider sent does not stand for it any more.
    pub fn put_differently(self, parts: Vec<ReplyPart>) -> Reply {
        // A reply of another form is written from its parts by every form.
        let wire = if self.native.wire == Wire::Chat { Wire::Anthropic } else { Wire::Chat };
        Reply { parts, native: Native { wire, json: RawValue::NULL.to_owned(), ..self.native }, ..self }
    }
}

/// A reply as its provider sent it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Native {
    /// Which form this is.
    pub wire: Wire,
    /// Which model said it.
    pub model: String,
    /// The text of the JSON that stands for the reply in a request.
    #[serde(with = "as_text")]
    pub json: Box<RawValue>,
}

/// Records JSON as a text: serde cannot find it as it was sent inside of an enum that it has to look through first.
mod as_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(json: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
        json.get().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
        RawValue::from_string(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// One part of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyPart {
    /// Text for the user.
    Text(String),
    /// What the model thought, as far as it is shown.
    Thinking(String),
    /// Why it does not answer.
    Refusal(String),
    /// A call of a tool.
    Call(ModelToolCall),
}

/// A call of a tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelToolCall {
    /// What its answer refers to. Unique in the conversation: where a provider gives none, one is made.
    pub id: String,
    /// The name as the model wrote it, mapped back to the name that haft has for the tool.
    pub name: String,
    /// The text of its arguments, exactly as it came.
    pub arguments: String,
    /// Whether the reply ended in the middle of it: it must not be run.
    pub is_cut: bool,
}

/// The answer to one tool call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// The id of the call.
    pub call: String,
    /// The name of the tool, as haft has it.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
    /// What the model sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// An image, as it is sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its kind, such as `image/png`.
    pub media_type: String,
    /// Its bytes in Base64.
    pub base64: String,
}

impl Image {
    /// Returns it as an address that holds all of it.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes in Base64)", self.media_type, self.base64.len())
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It has nothing more to say.
    Finished,
    /// It waits for the answers to its calls.
    Calls,
    /// It was as long as it may be.
    Length,
    /// The model, or a filter before it, refused.
    Refused,
    /// The provider pauses and wants to be asked to go on.
    Paused,
    /// The stream broke off; what came before is here.
    Cut,
}

/// What a reply cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the request, all of them.
    pub input: u64,
    /// Of the reply, with what it thought.
    pub output: u64,
    /// Of the request, those that were read from the provider's cache.
    pub cache_read: u64,
    /// Of the request, those that were written to it.
    pub cache_written: u64,
}

impl Usage {
    /// Adds what another reply cost. A provider may say any number, so more than can be counted stays the most.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_written: self.cache_written.saturating_add(other.cache_written),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_sent_survives_being_recorded_byte_for_byte() {
        let sent = r#"[{"n": 1.50, "s":"\u00e9"}]"#;
        let json = RawValue::from_string(sent.to_owned()).expect("it is JSON");
        let native = Native { wire: Wire::Anthropic, model: "m".to_owned(), json };
        let message = Message::Model(Reply {
            parts: Vec::new(),
            native,
            stop: StopReason::Finished,
            usage: Usage::default(),
            why_cut: None,
        });

        let record = serde_json::to_string(&message).expect("a message can be written");
        let back: Message = serde_json::from_str(&record).expect("a message can be read");

        let Message::Model(reply) = back else { panic!("it is no reply: {back:?}") };
        assert_eq!(reply.native.json.get(), sent);
    }

    #[test]
    fn an_answer_without_images_is_recorded_as_it_always_was() {
        let record = r#"{"by":"tools","answers":[{"call":"1","name":"t","text":"x","is_error":false}]}"#;
        let back: Message = serde_json::from_str(record).expect("it was written before there were images");
        assert_eq!(serde_json::to_string(&back).expect("a message can be written"), record);
        let Message::Tools { mut answers } = back else { panic!("these are no answers: {back:?}") };
        answers[0].images.push(Image { media_type: "image/png".to_owned(), base64: "AAAA".to_owned() });
        let record = serde_json::to_string(&answers).expect("answers can be written");
        assert!(record.contains(r#""images":[{"media_type":"image/png","base64":"AAAA"}]"#), "{record}");
        assert_eq!(serde_json::from_str::<Vec<ToolAnswer>>(&record).expect("they can be read"), answers);
    }

    #[test]
    fn a_reply_that_says_nothing_of_why_it_broke_off_can_be_read() {
        let record = r#"{"by":"model","parts":[],"native":{"wire":"chat","model":"m","json":"null"},"stop":"cut",
            "usage":{"input":1,"output":1,"cache_read":0,"cache_written":0}}"#;
        let back: Message = serde_json::from_str(record).expect("it was written before there were reasons");
        let Message::Model(reply) = back else { panic!("it is no reply: {back:?}") };
        assert_eq!((reply.stop, reply.why_cut), (StopReason::Cut, None));
    }
}
