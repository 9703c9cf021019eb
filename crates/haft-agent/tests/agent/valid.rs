//! What every provider wants of a conversation.

use haft_model::conversation::{Message, StopReason};

/// Asserts that a conversation can be sent to any provider.
pub fn assert_valid(messages: &[Message]) {
    let mut before: Option<&Message> = None;
    for (index, message) in messages.iter().enumerate() {
        let is_right = match (before, message) {
            (None, Message::User { .. }) => true,
            (None, _) | (Some(Message::User { .. }), Message::User { .. }) => false,
            (Some(Message::User { .. }), Message::Model(_)) => true,
            (Some(Message::Model(reply)), Message::Tools { answers }) => {
                let calls: Vec<&str> = reply.calls().map(|call| call.id.as_str()).collect();
                let answers: Vec<&str> = answers.iter().map(|answer| answer.call.as_str()).collect();
                !calls.is_empty() && calls == answers
            }
            (Some(Message::Model(reply)), Message::User { .. }) => reply.calls().next().is_none(),
            (Some(Message::Model(reply)), Message::Model(_)) => {
                reply.calls().next().is_none() && reply.stop == StopReason::Paused
            }
            (Some(Message::Tools { .. }), Message::User { .. } | Message::Model(_)) => true,
            (Some(Message::User { .. } | Message::Tools { .. }), Message::Tools { .. }) => false,
        };
        let is_empty = matches!(message, Message::Model(reply) if reply.parts.is_empty());
        assert!(is_right && !is_empty, "message {index} is wrong: {message:?}\nin {messages:#?}");
        before = Some(message);
    }
    let is_open = matches!(before, Some(Message::Model(reply)) if reply.calls().next().is_some());
    assert!(!is_open, "the last calls have no answer: {messages:#?}");
}
