//! The conversation so far, valid whenever haft asks a model.
//!
//! Valid means: the user begins, and every reply with calls is followed by exactly one answer for each of them in their
//! order. Answers stand nowhere else. Only a model that had paused speaks twice in a row. A resume repairs the history
//! of a process that was killed, or of a log that lost a piece.

use std::collections::HashSet;

use haft_model::conversation::{Message, ModelToolCall, Reply, ReplyPart, StopReason, ToolAnswer};
use haft_runtime::arguments;

/// The parts of a session that remain when it is resumed.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The messages, in their order.
    pub messages: Vec<Message>,
    /// The ids of the calls that had begun behind the last message.
    pub began: Vec<String>,
    /// What came of calls behind the last message.
    pub answers: Vec<ToolAnswer>,
    /// In how many places something is lost of it.
    pub lost: usize,
}

/// A past conversation, repaired to be valid again.
#[derive(Clone, Debug)]
pub(crate) struct MendedHistory {
    pub(crate) messages: Vec<Message>,
    /// The ids of all calls.
    pub(crate) used: HashSet<String>,
    /// Whether the last message is an answer that was not in the past: it has to be written down.
    pub(crate) last_is_new: bool,
    /// What the model should know of what is lost.
    pub(crate) note: Option<String>,
}

/// The answer to a call that was running when the process ended.
const INTERRUPTED: &str = "Interrupted: the process ended while this call ran. It may have taken effect, wholly or in part; check before you repeat it.";
/// The answer to a call that had not begun.
const NOT_BEGUN: &str = "Not run, as far as is known: the process ended, and no record says that this call began. Check before you repeat it.";
/// The answer to a call whose own is lost.
const LOST: &str = "The result of this call is lost. It may have taken effect; check before you repeat it.";
/// What stands for a message that is lost.
const GAP: &str = "[haft: the message that was here is lost.]";
/// Most calls that are named because only what came of them is left.
const MOST_NAMED: usize = 10;
/// Longest part that is told of what came of them, in characters.
const LONGEST_NAMED: usize = 200;

impl Past {
    pub(crate) fn mended(self) -> MendedHistory {
        let mut messages: Vec<Message> = Vec::with_capacity(self.messages.len() + 1);
        let mut orphans = Vec::new();
        for message in self.messages {
            if !matches!(message, Message::Tools { .. }) {
                answer_open_calls(&mut messages, |call| not_run(call, LOST));
            }
            match message {
                Message::Tools { answers } => {
                    if !answer_open_calls(&mut messages, |call| answer_among(&answers, call, LOST)) {
                        orphans.extend(answers);
                    }
                }
                Message::Model(reply) if reply.parts.is_empty() => {}
                Message::Model(_) if !may_reply(messages.last()) => {
                    push(&mut messages, Message::user(GAP.to_owned()));
                    messages.push(message);
                }
                Message::Model(_) | Message::User { .. } => push(&mut messages, message),
            }
        }
        let last_is_new = answer_open_calls(&mut messages, |call| {
            let otherwise = if self.began.contains(&call.id) { INTERRUPTED } else { NOT_BEGUN };
            answer_among(&self.answers, call, otherwise)
        });
        if !last_is_new {
            orphans.extend(self.answers);
        }
        let used = rename_doubles(&mut messages);
        let messages = messages.into_iter().map(with_repaired_calls).collect();
        MendedHistory { messages, used, last_is_new, note: note_of_lost(self.lost, &orphans) }
    }
}

/// Says what is lost, and what came of calls whose own reply is lost.
fn note_of_lost(lost: usize, orphans: &[ToolAnswer]) -> Option<String> {
    if lost == 0 && orphans.is_empty() {
        return None;
    }
    let mut note = "[haft: a part of this conversation is lost, with your messages and calls there. Check before you repeat something.".to_owned();
    for answer in orphans.iter().take(MOST_NAMED) {
        let text: String = haft_contract::files::path::one_line(&answer.text).chars().take(LONGEST_NAMED).collect();
        note.push_str(&format!("\nA call of {} there had this result: {text}", answer.name));
    }
    if orphans.len() > MOST_NAMED {
        note.push_str(&format!("\nThere were {} more.", orphans.len() - MOST_NAMED));
    }
    Some(note + "]")
}

/// Gives another id to every call whose id an earlier one has; returns all ids.
fn rename_doubles(messages: &mut [Message]) -> HashSet<String> {
    let mut used = HashSet::new();
    let mut renamed: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::User { .. } => {}
            Message::Model(reply) => {
                if let Some(other) = with_new_ids(reply, &mut used, |_| false) {
                    *reply = other;
                }
                renamed = reply.calls().map(|call| call.id.clone()).collect();
            }
            Message::Tools { answers } => {
                answers.iter_mut().zip(&renamed).for_each(|(answer, id)| answer.call.clone_from(id));
            }
        }
    }
    used
}

/// Returns the reply with new ids if a call of it has an id that an earlier call of the session has. Some servers
/// restart their numbers in each reply, and do not know the calls that a request left out. An id that holds a secret
/// would enter every record, so this replaces it too.
pub(crate) fn with_new_ids(
    reply: &Reply,
    used: &mut HashSet<String>,
    holds_secret: impl Fn(&str) -> bool,
) -> Option<Reply> {
    let ids: Vec<String> = reply.calls().map(|call| call.id.clone()).collect();
    let new: Vec<String> =
        ids.iter().map(|id| unused(if holds_secret(id) { "call" } else { id.as_str() }, used)).collect();
    (new != ids).then(|| reply.clone().put_differently(with_ids(&reply.parts, &new)))
}

fn unused(id: &str, used: &mut HashSet<String>) -> String {
    let others = (2..).map(|count| format!("{id}-{count}"));
    let mut free = std::iter::once(id.to_owned()).chain(others).filter(|id| used.insert(id.clone()));
    free.next().unwrap_or_default()
}

fn with_ids(parts: &[ReplyPart], ids: &[String]) -> Vec<ReplyPart> {
    let mut ids = ids.iter();
    let renamed = |part: &ReplyPart| match (part, matches!(part, ReplyPart::Call(_)).then(|| ids.next()).flatten()) {
        (ReplyPart::Call(call), Some(id)) => ReplyPart::Call(ModelToolCall { id: id.clone(), ..call.clone() }),
        (part, _) => part.clone(),
    };
    parts.iter().map(renamed).collect()
}

impl MendedHistory {
    /// Takes up what a run left that was dropped in the middle of its calls: any of them may have happened.
    pub(crate) fn of_dropped(messages: Vec<Message>) -> Self {
        let began = match messages.last() {
            Some(Message::Model(reply)) => reply.calls().map(|call| call.id.clone()).collect(),
            Some(Message::User { .. } | Message::Tools { .. }) | None => Vec::new(),
        };
        Past { messages, began, ..Past::default() }.mended()
    }
}

/// Adds a message. What the user says twice in a row is one message.
pub(crate) fn push(messages: &mut Vec<Message>, message: Message) {
    match (messages.last_mut(), message) {
        (Some(Message::User { text: before, images: shown }), Message::User { text, images }) => {
            before.push_str("\n\n");
            before.push_str(&text);
            shown.extend(images);
        }
        (_, message) => messages.push(message),
    }
}

/// Returns a message whose calls have the arguments that the tool got, where the model wrote JSON that had to be repaired.
///
/// The repair depends on the text alone, so a session that is resumed says the same. On disk the model's own text stays.
pub(crate) fn with_repaired_calls(message: Message) -> Message {
    let repaired = |call: &ModelToolCall| {
        let reading = arguments::read_text(&call.arguments).ok()?;
        (!reading.repairs.is_empty()).then(|| reading.value.to_string())
    };
    match message {
        Message::Model(reply) => Message::Model(reply.with_repaired_arguments(repaired)),
        Message::User { .. } | Message::Tools { .. } => message,
    }
}

/// Returns the answer to a call that was not run, for this reason.
pub(crate) fn not_run(call: &ModelToolCall, why: &str) -> ToolAnswer {
    ToolAnswer {
        call: call.id.clone(),
        name: call.name.clone(),
        text: why.to_owned(),
        is_error: true,
        images: Vec::new(),
    }
}

fn may_reply(last: Option<&Message>) -> bool {
    match last {
        None => false,
        Some(Message::Model(reply)) => reply.stop == StopReason::Paused,
        Some(Message::User { .. } | Message::Tools { .. }) => true,
    }
}

/// Answers the calls of the last message; returns whether there were any.
fn answer_open_calls(messages: &mut Vec<Message>, answer: impl Fn(&ModelToolCall) -> ToolAnswer) -> bool {
    let Some(Message::Model(reply)) = messages.last() else { return false };
    let answers: Vec<ToolAnswer> = reply.calls().map(answer).collect();
    let is_open = !answers.is_empty();
    if is_open {
        messages.push(Message::Tools { answers });
    }
    is_open
}

fn answer_among(answers: &[ToolAnswer], call: &ModelToolCall, otherwise: &str) -> ToolAnswer {
    // Sessions of old have the id of an answer changed and that of its call not.
    let is_renamed =
        |answer: &&ToolAnswer| answer.call.strip_prefix(&call.id).is_some_and(|rest| rest.starts_with('-'));
    let same = answers.iter().find(|answer| answer.call == call.id);
    let found = same.or_else(|| answers.iter().find(is_renamed));
    found.map_or_else(|| not_run(call, otherwise), |answer| ToolAnswer { call: call.id.clone(), ..answer.clone() })
}
