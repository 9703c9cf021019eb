//! Remembers whether a model accepts images.
//!
//! Providers do not publish this, and for a local server it depends on how it was started. So haft sends images, and
//! repeats a refused request without them: without all from then on if the model takes none, else without the newest
//! ones, because the model accepted the earlier ones. Each refusal removes more images, so this ends.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use blake3::Hash;

use crate::conversation::{Image, Message};
use crate::provider::{ModelError, ModelErrorKind};
use crate::writing::images::{IllustratedText, images_in};

const TURNED_OFF: &str = "images are turned off";
const TAKES_NONE: &str = "this model accepts none";
const REFUSED: &str = "refused by the provider";

/// What servers say that take no image at all, in small letters. The words of llama.cpp, OpenRouter and DeepSeek come
/// from reports of their users; the others are what such servers may say. After any other words about images, haft
/// leaves out only the newest ones.
const BLIND: [&str; 17] = [
    "mmproj",
    "image input",
    "input image is not supported",
    "images are not supported",
    "not support image",
    "not support the image",
    "image_url is only supported",
    "at most 0 image",
    "unknown variant `image_url`",
    " vision",
    "multimodal",
    "multi-modal",
    "content type",
    "content_type",
    "content must be a string",
    "value must be a string",
    "should be a valid string",
];

/// Remembers whether a model accepts images, and which images were refused.
#[derive(Debug, Default)]
pub(super) struct ImageSupport {
    /// Why it is shown none.
    none: OnceLock<&'static str>,
    /// Those that were refused.
    refused: Mutex<HashSet<Hash>>,
}

impl ImageSupport {
    /// Returns that of a model that shall see nothing.
    pub(super) fn turned_off() -> ImageSupport {
        ImageSupport { none: OnceLock::from(TURNED_OFF), ..ImageSupport::default() }
    }

    /// Returns why no image is shown.
    pub(super) fn why_none(&self) -> Option<&'static str> {
        self.none.get().copied()
    }

    /// Returns a conversation with the images that are shown.
    pub(super) fn shown<'m>(&self, messages: &'m [Message]) -> Cow<'m, [Message]> {
        let refused = self.refused();
        let is_left_out = |image: &Image| self.none.get().is_some() || refused.contains(&hash(image));
        let knows = self.none.get().is_some() || !refused.is_empty();
        if !knows || !images_in(messages).any(is_left_out) {
            return Cow::Borrowed(messages);
        }
        let mut shown = messages.to_vec();
        for illustrated in shown.iter_mut().flat_map(IllustratedText::all_of) {
            illustrated.leave_out(is_left_out, self.why_none().unwrap_or(REFUSED));
        }
        Cow::Owned(shown)
    }

    /// Says whether a refusal is about images. Fewer of them are shown from now on.
    pub(super) fn learns_from(&self, refusal: &ModelError, messages: &[Message]) -> bool {
        // Some answer with a status that says that they broke.
        if !matches!(refusal.kind, ModelErrorKind::BadRequest | ModelErrorKind::Broken) {
            return false;
        }
        let shown = self.shown(messages);
        let Some(newest) = shown.iter().rposition(|message| has_images(std::slice::from_ref(message))) else {
            return false;
        };
        let words = refusal.what.to_lowercase();
        if BLIND.iter().any(|blind| words.contains(blind)) {
            return self.none.set(TAKES_NONE).is_ok();
        }
        if !words.contains("image") {
            return false;
        }
        let newest = images_in(&shown[newest..]).map(hash);
        self.refused().extend(newest);
        true
    }

    fn refused(&self) -> MutexGuard<'_, HashSet<Hash>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_images(messages: &[Message]) -> bool {
    images_in(messages).next().is_some()
}

fn hash(image: &Image) -> Hash {
    blake3::hash(image.base64.as_bytes())
}
