//! Makes room in a conversation that has become too long for its model.
//!
//! It removes the oldest parts first: images, results, large arguments of calls, then whole replies with their answers.
//! It keeps the user's words and the newest exchange, whose results it only shortens. Calls stay paired with their
//! answers. A note marks each removed part, so the model knows that it once saw this part.
//!
//! Nothing of this is recorded: a session on disk is whole, and haft compacts it again after a resume if necessary.

use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::head_and_tail::{whole_lines_after, whole_lines_before};
use haft_model::conversation::{Message, Reply, ReplyPart, ToolAnswer};
use haft_model::writing::images;
use haft_model::writing::images::IllustratedText;
use serde_json::{Value, json};

use crate::work::images::{MOST_BYTES_SHOWN, MOST_SHOWN};

/// Results up to this length are not worth a note in their place, in bytes.
const SMALL_RESULT: usize = 400;
/// Arguments up to this length stay, in bytes.
const SMALL_ARGUMENTS: usize = 1_000;
/// Texts in arguments up to this length stay, in bytes.
const SMALL_TEXT: usize = 200;
/// The shortest that results of the newest exchange are cut to, in bytes.
const LEAST_OF_NEWEST: usize = 1_000;
/// What an image counts as, in bytes: 1,600 tokens of text, which is about the most that providers count for one.
const IMAGE: usize = 5_600;
/// What a message needs beside its words, in bytes.
const FRAME: usize = 60;
/// Why an image is not shown any more.
const IMAGE_LEFT_OUT: &str = "left out to save room; call the tool again if you need it";
/// The same of an image that the user showed.
const SHOWN_LEFT_OUT: &str = "left out to save room; ask the user to show it again if you need it";
/// Stands where whole replies were.
const REPLIES_LEFT_OUT: &str = "[haft: replies and results that were here are left out to save room.]";

/// Counts what was left out of a conversation to make room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionReport {
    /// How many results.
    pub results: usize,
    /// The arguments of how many calls.
    pub arguments: usize,
    /// How many whole replies, with what their calls came to.
    pub replies: usize,
    /// About how many tokens the request had before.
    pub tokens_before: u64,
    /// About how many it has now.
    pub tokens_now: u64,
    /// The ids of the calls whose results the model cannot see any more.
    pub calls: Vec<String>,
}

impl CompactionReport {
    /// Counts a result of which something is left out.
    fn note(&mut self, answer: &ToolAnswer) {
        if !self.calls.contains(&answer.call) {
            self.results += 1;
            self.calls.push(answer.call.clone());
        }
    }
}

/// Returns how long a conversation is in a request, in bytes.
pub(crate) fn size(messages: &[Message]) -> usize {
    messages.iter().map(size_of).sum()
}

/// Leaves out as much as is needed for a conversation of at most so many bytes, and says what.
pub(crate) fn compact(messages: &mut Vec<Message>, most: usize) -> CompactionReport {
    let mut compaction = Compaction { size: size(messages), most, done: CompactionReport::default() };
    compaction.drop_images(messages);
    compaction.drop_results(messages);
    compaction.shorten_arguments(messages);
    compaction.drop_replies(messages);
    compaction.shorten_newest(messages);
    compaction.done
}

/// Leaves out the oldest images where there are more than a request can carry, and says which.
///
/// Then half of the room is free again: this is seldom, because it spoils the provider's cache.
pub(crate) fn bound_images(messages: &mut [Message]) -> CompactionReport {
    let mut count = images::images_in(messages).count();
    let mut bytes = crate::work::images::bytes(messages);
    let mut compaction = Compaction { size: size(messages), most: 0, done: CompactionReport::default() };
    if count <= MOST_SHOWN && bytes <= MOST_BYTES_SHOWN {
        return compaction.done;
    }
    let newest = newest_reply(messages);
    for message in &mut messages[..newest] {
        if count > MOST_SHOWN / 2 || bytes > MOST_BYTES_SHOWN / 2 {
            let one = std::slice::from_ref(message);
            count -= images::images_in(one).count();
            bytes -= crate::work::images::bytes(one);
            compaction.drop_images_in(message);
        }
    }
    compaction.done
}

struct Compaction {
    size: usize,
    most: usize,
    done: CompactionReport,
}

impl Compaction {
    fn is_enough(&self) -> bool {
        self.size <= self.most
    }

    fn drop_images(&mut self, messages: &mut [Message]) {
        let newest = newest_reply(messages);
        for message in &mut messages[..newest] {
            if !self.is_enough() {
                self.drop_images_in(message);
            }
        }
    }

    fn drop_images_in(&mut self, message: &mut Message) {
        if let Message::User { images, .. } = message
            && !images.is_empty()
        {
            self.size -= size_of(message);
            IllustratedText::all_of(message).into_iter().for_each(|shown| shown.leave_out(|_| true, SHOWN_LEFT_OUT));
            self.size += size_of(message);
        }
        answers(message).iter_mut().for_each(|answer| self.drop_images_of(answer));
    }

    fn drop_images_of(&mut self, answer: &mut ToolAnswer) {
        if answer.images.is_empty() {
            return;
        }
        self.size -= size_of_answer(answer);
        IllustratedText::answer(answer).leave_out(|_| true, IMAGE_LEFT_OUT);
        self.size += size_of_answer(answer);
        self.done.note(answer);
    }

    fn drop_results(&mut self, messages: &mut [Message]) {
        let newest = newest_reply(messages);
        for answer in messages[..newest].iter_mut().flat_map(answers) {
            if self.is_enough() {
                return;
            }
            if answer.text.len() > SMALL_RESULT {
                let note = format!(
                    "[This result of {} was left out to save room. Call the tool again if you need it.]",
                    GroupedNumber(answer.text.len() as u64).of("byte")
                );
                self.size -= answer.text.len() - note.len();
                answer.text = note;
                self.done.note(answer);
            }
        }
    }

    fn shorten_arguments(&mut self, messages: &mut [Message]) {
        let newest = newest_reply(messages);
        for message in &mut messages[..newest] {
            if self.is_enough() {
                return;
            }
            let before = size_of(message);
            let Message::Model(reply) = message else { continue };
            let large = reply.calls().filter(|call| call.arguments.len() > SMALL_ARGUMENTS).count();
            if large == 0 {
                continue;
            }
            let parts = reply.parts.iter().map(with_short_arguments).collect();
            let shorter = Message::Model(reply.clone().put_differently(parts));
            // Many small texts are not shortened, and what the provider sent is worth more than nothing.
            if size_of(&shorter) >= before {
                continue;
            }
            self.size = self.size - before + size_of(&shorter);
            *message = shorter;
            self.done.arguments += large;
        }
    }

    fn drop_replies(&mut self, messages: &mut Vec<Message>) {
        let mut kept = Vec::with_capacity(messages.len());
        let newest = newest_reply(messages);
        for (index, message) in std::mem::take(messages).into_iter().enumerate() {
            let follows_dropped =
                matches!(message, Message::Tools { .. }) && !matches!(kept.last(), Some(Message::Model(_)));
            let is_left_out = match &message {
                Message::Tools { .. } => follows_dropped,
                Message::Model(_) => index < newest && !self.is_enough(),
                Message::User { .. } => false,
            };
            if !is_left_out {
                super::history::push(&mut kept, message);
                continue;
            }
            self.size -= size_of(&message);
            match &message {
                Message::Tools { answers } => self.done.calls.extend(answers.iter().map(|answer| answer.call.clone())),
                Message::Model(_) | Message::User { .. } => {
                    self.done.replies += 1;
                    self.size += say_that_replies_are_left_out(&mut kept);
                }
            }
        }
        *messages = kept;
    }

    /// Shortens the results that the model has not seen yet: one reply may ask for more than fits.
    fn shorten_newest(&mut self, messages: &mut [Message]) {
        let newest = newest_reply(messages);
        let mut answers: Vec<&mut ToolAnswer> = messages[newest..].iter_mut().flat_map(answers).collect();
        let whole: Vec<String> = answers.iter().map(|answer| answer.text.clone()).collect();
        let mut most = whole.iter().map(String::len).max().unwrap_or(0);
        while !self.is_enough() && most > LEAST_OF_NEWEST {
            most = (most / 2).max(LEAST_OF_NEWEST);
            for (answer, whole) in answers.iter_mut().zip(&whole).filter(|(_, whole)| whole.len() > most) {
                // From the whole, so that what it says of what is left out is right.
                let shorter = head_and_tail(whole, most);
                self.size = self.size + shorter.len() - answer.text.len();
                answer.text = shorter;
                self.done.note(answer);
            }
        }
        for answer in answers {
            if !self.is_enough() {
                self.drop_images_of(answer);
            }
        }
    }
}

/// The place of the newest reply: it and what is behind it is what the model works on.
fn newest_reply(messages: &[Message]) -> usize {
    messages.iter().rposition(|message| matches!(message, Message::Model(_))).unwrap_or(messages.len())
}

fn answers(message: &mut Message) -> &mut [ToolAnswer] {
    match message {
        Message::Tools { answers } => answers,
        Message::User { .. } | Message::Model(_) => &mut [],
    }
}

/// Says once that something is missing; returns how much longer the conversation is by that.
fn say_that_replies_are_left_out(kept: &mut Vec<Message>) -> usize {
    let before = size(kept);
    match kept.last() {
        Some(Message::User { text, .. }) if text.ends_with(REPLIES_LEFT_OUT) => {}
        _ => super::history::push(kept, Message::user(REPLIES_LEFT_OUT.to_owned())),
    }
    size(kept) - before
}

fn with_short_arguments(part: &ReplyPart) -> ReplyPart {
    match part {
        ReplyPart::Call(call) if call.arguments.len() > SMALL_ARGUMENTS => {
            let arguments = match serde_json::from_str(&call.arguments) {
                Ok(value) => short(value).to_string(),
                // Providers want an object, whatever the model wrote.
                Err(_) => json!({ "arguments": short(call.arguments.as_str().into()) }).to_string(),
            };
            ReplyPart::Call(haft_model::conversation::ModelToolCall { arguments, ..call.clone() })
        }
        ReplyPart::Call(_) | ReplyPart::Text(_) | ReplyPart::Thinking(_) | ReplyPart::Refusal(_) => part.clone(),
    }
}

fn short(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > SMALL_TEXT => {
            format!("[{} left out to save room]", GroupedNumber(text.len() as u64).of("byte")).into()
        }
        Value::Array(items) => items.into_iter().map(short).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, field)| (key, short(field))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn head_and_tail(text: &str, most: usize) -> String {
    let head_end = text.floor_char_boundary(most / 2);
    let tail_start = text.ceil_char_boundary(text.len() - most / 4);
    let (head, tail) = (whole_lines_before(&text[..head_end]), whole_lines_after(&text[tail_start..]));
    let left_out = GroupedNumber((text.len() - head.len() - tail.len()) as u64).of("byte");
    format!("{head}\n[… {left_out} left out to save room; ask for a part of it …]\n{tail}")
}

fn size_of(message: &Message) -> usize {
    FRAME
        + match message {
            Message::User { text, images } => text.len() + images.len() * IMAGE,
            Message::Model(reply) => size_of_reply(reply),
            Message::Tools { answers } => answers.iter().map(size_of_answer).sum(),
        }
}

fn size_of_answer(answer: &ToolAnswer) -> usize {
    answer.text.len() + answer.call.len() + answer.images.len() * IMAGE + FRAME
}

fn size_of_reply(reply: &Reply) -> usize {
    let parts = reply.parts.iter().map(|part| match part {
        ReplyPart::Text(text) | ReplyPart::Thinking(text) | ReplyPart::Refusal(text) => text.len(),
        ReplyPart::Call(call) => call.arguments.len() + call.name.len() + call.id.len() + FRAME,
    });
    // What the provider sent may hold more than can be seen: signatures, encrypted thoughts.
    reply.native.json.get().len().max(parts.sum())
}

#[cfg(test)]
mod tests;
