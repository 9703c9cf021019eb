//! Limits the images of a conversation.
//!
//! There are three limits: for one image and for one request at the provider, and for a session on disk, which holds
//! each result twice.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_contract::outcome::result::ToolResult;
use haft_model::conversation::{Image, Message};
use haft_model::writing::images::{images_in, note_missing};

/// Most images in one request, and so in the results of one reply.
pub(crate) const MOST_SHOWN: usize = 20;
/// How large they may be together, in bytes of Base64.
pub(crate) const MOST_BYTES_SHOWN: usize = 16 * 1024 * 1024;
/// How large those of a session may be together, in bytes of Base64.
const MOST_BYTES_KEPT: usize = 64 * 1024 * 1024;
/// The largest image that all providers take, in bytes of Base64.
const LARGEST: usize = 5_000_000;

const TOO_LARGE: &str = "larger than a model accepts";
const REPLY_FULL: &str = "the results of one reply have no room for more; read it again on its own";
const SESSION_FULL: &str = "a session has no room for more";

/// The room for images in the results of one reply.
#[derive(Debug)]
pub(crate) struct Room {
    images: usize,
    bytes: usize,
    why_no_more: &'static str,
}

impl Room {
    /// Returns the room in a session that has so many bytes of images already.
    pub(crate) fn beside(kept: usize) -> Room {
        let left = MOST_BYTES_KEPT.saturating_sub(kept);
        let why_no_more = if left < MOST_BYTES_SHOWN { SESSION_FULL } else { REPLY_FULL };
        Room { images: MOST_SHOWN, bytes: left.min(MOST_BYTES_SHOWN), why_no_more }
    }

    /// Takes the images of a result for which there is room, and says in its text how many are not among them.
    pub(crate) fn take(&mut self, result: &ToolResult, text: &mut String) -> Vec<Image> {
        let (mut taken, mut too_large, mut too_many) = (Vec::new(), 0, 0);
        for image in result.images() {
            let size = image.bytes.len().div_ceil(3).saturating_mul(4);
            if size > LARGEST {
                too_large += 1;
            } else if self.images == 0 || size > self.bytes {
                too_many += 1;
            } else {
                self.images -= 1;
                self.bytes -= size;
                let base64 = BASE64_STANDARD.encode(&image.bytes);
                taken.push(Image { media_type: image.media_type.to_owned(), base64 });
            }
        }
        note_missing(text, too_large, TOO_LARGE);
        note_missing(text, too_many, self.why_no_more);
        taken
    }
}

/// Returns how large the images of a conversation are together, in bytes of Base64.
pub(crate) fn bytes(messages: &[Message]) -> usize {
    images_in(messages).map(|image| image.base64.len()).sum()
}
