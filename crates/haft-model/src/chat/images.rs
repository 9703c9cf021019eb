//! Sends images of results. A result has only text in this format, so the images go into the next message of the user.
//!
//! If only the model may speak after results, the images go into the result itself: the server's published types have
//! them there.

use serde_json::{Value, json};

use crate::conversation::{Image, ToolAnswer};

/// Images of results that the model has not seen yet, each after a text that names their source.
#[derive(Debug, Default)]
pub(super) struct Unshown(Vec<Value>);

impl Unshown {
    /// Adds those of an answer to a call that goes by this name and id.
    pub(super) fn add(&mut self, (name, id): (String, String), answer: &ToolAnswer) {
        let what = match answer.images.as_slice() {
            [] => return,
            [_] => "the image".to_owned(),
            images => format!("the {} images", images.len()),
        };
        self.0.push(text(&format!("[haft: {what} of the result of {name} (call {id}):]")));
        self.0.extend(answer.images.iter().map(image));
    }

    /// Adds those that the user shows.
    pub(super) fn show(&mut self, images: &[Image]) {
        self.0.extend(images.iter().map(image));
    }

    /// Returns what the user says with these words, and with the images before them.
    pub(super) fn before(&mut self, words: String) -> Value {
        let mut parts = std::mem::take(&mut self.0);
        if parts.is_empty() {
            return json!({ "role": "user", "content": words });
        }
        parts.push(text(&words));
        json!({ "role": "user", "content": parts })
    }

    /// Returns what the user says without a word; nothing where there are no images.
    pub(super) fn alone(&mut self) -> Option<Value> {
        let parts = std::mem::take(&mut self.0);
        (!parts.is_empty()).then(|| json!({ "role": "user", "content": parts }))
    }
}

/// Returns the content of a result with its images.
pub(super) fn inside(answer: &ToolAnswer) -> Value {
    [text(&answer.text)].into_iter().chain(answer.images.iter().map(image)).collect()
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn image(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
}
