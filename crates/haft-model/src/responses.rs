//! The format of OpenAI's Responses, without any state at the provider.
//!
//! A reply is a list of items, and later requests contain that list. The model's thoughts arrive encrypted, and belong
//! to the items that follow them.

mod reading;
mod request;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::form::{ReplyReader, WireFormat};
use crate::provider::{ModelError, ModelErrorKind, ModelRequest};

/// OpenAI's Responses.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// Whether the model has refused to be asked for what it thought. Which ones do changes faster than any list here.
    does_not_think: AtomicBool,
}

impl WireFormat for Responses {
    fn path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn request(&self, model: &str, request: &ModelRequest<'_>) -> Vec<u8> {
        let thoughts = match self.does_not_think.load(Ordering::Relaxed) {
            true => request::Thoughts::LeftOut,
            false => request::Thoughts::of(model),
        };
        request::written(model, thoughts, request)
    }

    fn learns_from(&self, refusal: &ModelError) -> bool {
        let words = refusal.what.to_lowercase();
        // Of OpenAI: "Encrypted content is not supported with this model."
        let is_about_it = words.contains("encrypted content") || words.contains("encrypted_content");
        let learns = refusal.kind == ModelErrorKind::BadRequest && is_about_it;
        // What was left out already is not what it is about.
        learns && !self.does_not_think.swap(true, Ordering::Relaxed)
    }

    fn reading(&self, model: &str, request: &ModelRequest<'_>) -> Box<dyn ReplyReader> {
        Box::new(reading::ItemsReading::new(model, request))
    }
}
