//! Replaces images that are not shown with a note, so a model that cannot see them knows that they exist.
//!
//! Not here: how each format sends visible images, and which models take none (`client/sight.rs`).

use crate::conversation::{Image, Message, ToolAnswer};

/// Returns the answers of a conversation, in order.
pub fn answers(messages: &[Message]) -> impl DoubleEndedIterator<Item = &ToolAnswer> {
    messages.iter().flat_map(|message| match message {
        Message::Tools { answers } => answers.as_slice(),
        Message::User { .. } | Message::Model(_) => &[],
    })
}

/// Returns the images of a conversation: those of answers and those that the user shows.
pub fn images_in(messages: &[Message]) -> impl Iterator<Item = &Image> {
    messages.iter().flat_map(|message| match message {
        Message::Tools { answers } => answers.iter().flat_map(|answer| &answer.images).collect::<Vec<_>>(),
        Message::User { images, .. } => images.iter().collect(),
        Message::Model(_) => Vec::new(),
    })
}

/// A text with its images.
#[derive(Debug)]
pub struct IllustratedText<'m> {
    text: &'m mut String,
    images: &'m mut Vec<Image>,
}

impl<'m> IllustratedText<'m> {
    /// An answer with its images.
    pub fn answer(answer: &'m mut ToolAnswer) -> Self {
        Self { text: &mut answer.text, images: &mut answer.images }
    }

    /// Returns the texts with images of a message.
    pub fn all_of(message: &'m mut Message) -> Vec<Self> {
        match message {
            Message::Tools { answers } => answers.iter_mut().map(Self::answer).collect(),
            Message::User { text, images } => vec![Self { text, images }],
            Message::Model(_) => Vec::new(),
        }
    }

    /// Leaves images out for this reason.
    pub fn leave_out(self, is_left_out: impl Fn(&Image) -> bool, why: &str) {
        let before = self.images.len();
        self.images.retain(|image| !is_left_out(image));
        note_missing(self.text, before - self.images.len(), why);
    }
}

/// Leaves all images out of a conversation for this reason.
pub fn leave_out_all(messages: &mut [Message], why: &str) {
    for illustrated in messages.iter_mut().flat_map(IllustratedText::all_of) {
        illustrated.leave_out(|_| true, why);
    }
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
