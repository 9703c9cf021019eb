//! Images that are not shown: a note stands in their place, so that whoever cannot see them knows that they are there.
//!
//! Not here: how each form sends those that are shown, and who takes none (`client/sight.rs`).

use crate::conversation::{Answer, Image, Message};

/// Returns the answers of a conversation, in order.
pub fn answers(messages: &[Message]) -> impl DoubleEndedIterator<Item = &Answer> {
    messages.iter().flat_map(|message| match message {
        Message::Tools { answers } => answers.as_slice(),
        Message::User { .. } | Message::Model(_) => &[],
    })
}

/// Leaves all images out of a conversation for this reason.
pub fn leave_out_all(messages: &mut [Message], why: &str) {
    for answer in messages.iter_mut().flat_map(answers_of) {
        leave_out(answer, |_| true, why);
    }
}

/// Leaves images out of an answer for this reason.
pub fn leave_out(answer: &mut Answer, is_left_out: impl Fn(&Image) -> bool, why: &str) {
    let before = answer.images.len();
    answer.images.retain(|image| !is_left_out(image));
    note_missing(&mut answer.text, before - answer.images.len(), why);
}

/// Says behind a text that so many of its images are not shown, and why.
pub fn note_missing(text: &mut String, images: usize, why: &str) {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    match images {
        0 => {}
        1 => text.push_str(&format!("{gap}[1 image is not shown: {why}]")),
        _ => text.push_str(&format!("{gap}[{images} images are not shown: {why}]")),
    }
}

/// Returns the answers of a message, to be changed.
pub(crate) fn answers_of(message: &mut Message) -> &mut [Answer] {
    match message {
        Message::Tools { answers } => answers,
        Message::User { .. } | Message::Model(_) => &mut [],
    }
}
