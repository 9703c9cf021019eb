//! Any conversation stays valid after compaction.

use haft_model::conversation::{Image, ModelToolCall, Native, StopReason, Usage};
use haft_model::wire::Wire;
use proptest::prelude::*;
use serde_json::value::to_raw_value;

use super::*;

/// One step of a conversation, given by its sizes.
#[derive(Clone, Debug)]
enum ConversationStep {
    Prompt(usize),
    Text(usize),
    /// Calls: how long the argument and the answer of each is.
    Calls(Vec<(usize, usize)>),
}

fn any_step() -> impl Strategy<Value = ConversationStep> {
    let call = (0..4_000_usize, 0..40_000_usize);
    prop_oneof![
        (1..2_000_usize).prop_map(ConversationStep::Prompt),
        (1..8_000_usize).prop_map(ConversationStep::Text),
        prop::collection::vec(call, 1..5).prop_map(ConversationStep::Calls),
    ]
}

fn reply(parts: Vec<ReplyPart>) -> Message {
    let json = to_raw_value(&parts).expect("parts can be written");
    let native = Native { wire: Wire::Chat, model: "m".into(), json };
    Message::Model(Reply { parts, native, stop: StopReason::Finished, usage: Usage::default(), why_cut: None })
}

fn conversation(steps: &[ConversationStep]) -> Vec<Message> {
    let mut messages = vec![Message::user("prompt 0.")];
    for (number, step) in steps.iter().enumerate() {
        let is_answered = !matches!(messages.last(), Some(Message::Model(_)));
        match step {
            ConversationStep::Prompt(size) => {
                let text = format!("prompt {} {}.", number + 1, "é".repeat(*size));
                crate::memory::history::push(&mut messages, Message::user(text));
            }
            ConversationStep::Text(size) if is_answered => {
                messages.push(reply(vec![ReplyPart::Text("x".repeat(*size))]))
            }
            ConversationStep::Calls(sizes) if is_answered => {
                let id = |index: usize| format!("{number}.{index}");
                let call = |(index, (size, _)): (usize, &(usize, usize))| {
                    let arguments = json!({ "path": "a", "content": "é".repeat(*size) }).to_string();
                    ReplyPart::Call(ModelToolCall { id: id(index), name: "t".into(), arguments, is_cut: false })
                };
                messages.push(reply(sizes.iter().enumerate().map(call).collect()));
                let answer = |(index, (_, size)): (usize, &(usize, usize))| {
                    let text = "a line of é\n".repeat(size / 12);
                    let image = Image { media_type: "image/png".into(), base64: "AAAA".into() };
                    ToolAnswer {
                        call: id(index),
                        name: "t".into(),
                        text,
                        is_error: false,
                        images: vec![image; size % 3],
                    }
                };
                messages.push(Message::Tools { answers: sizes.iter().enumerate().map(answer).collect() });
            }
            ConversationStep::Text(_) | ConversationStep::Calls(_) => {}
        }
    }
    messages
}

fn calls_are_paired(messages: &[Message]) -> bool {
    let ids = |message: &Message| match message {
        Message::Model(reply) => reply.calls().map(|call| call.id.clone()).collect::<Vec<_>>(),
        Message::Tools { answers } => answers.iter().map(|answer| answer.call.clone()).collect(),
        Message::User { .. } => Vec::new(),
    };
    let is_tools = |message: &Message| matches!(message, Message::Tools { .. });
    let after = messages.iter().skip(1).map(Some).chain([None]);
    let answered = messages.iter().zip(after).filter(|(message, _)| !is_tools(message)).all(|(message, next)| {
        let next = next.filter(|next| is_tools(next)).map(ids).unwrap_or_default();
        ids(message) == next
    });
    answered && !messages.first().is_some_and(is_tools)
}

fn prompts(messages: &[Message]) -> String {
    let texts = messages.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.replace(REPLIES_LEFT_OUT, "")),
        Message::Model(_) | Message::Tools { .. } => None,
    });
    texts.collect::<String>().split_whitespace().collect()
}

proptest! {
    #[test]
    fn calls_stay_paired_and_what_the_user_said_stays(
        steps in prop::collection::vec(any_step(), 0..14),
        most in 0..120_000_usize,
    ) {
        let before = conversation(&steps);
        let mut now = before.clone();
        let done = compact(&mut now, most);
        prop_assert!(calls_are_paired(&now), "{:?}", steps);
        prop_assert_eq!(prompts(&now), prompts(&before));
        if size(&before) <= most {
            prop_assert_eq!(done, CompactionReport::default());
            prop_assert_eq!(format!("{now:?}"), format!("{before:?}"));
        } else {
            // What stays in any case: what the user said, and the newest exchange in short.
            let newest = newest_reply(&before);
            let floor: usize = before.iter().enumerate().map(|(index, message)| match message {
                Message::User { .. } => size_of(message) + REPLIES_LEFT_OUT.len() + 2 * FRAME,
                Message::Model(_) | Message::Tools { .. } if index < newest => 0,
                Message::Model(_) => size_of(message),
                Message::Tools { answers } => answers.len() * (2 * LEAST_OF_NEWEST) + FRAME,
            }).sum();
            prop_assert!(size(&now) <= most.max(floor), "{} of {}, floor {floor}", size(&now), most);
        }
    }
}
