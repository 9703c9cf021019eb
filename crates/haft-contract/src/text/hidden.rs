//! The word that replaces a secret, and the hider of secrets.
//!
//! Not here: what is secret (`haft-runtime`).

use std::borrow::Cow;

/// What stands where a secret was.
pub const HIDDEN: &str = "[secret]";

/// Hides secrets in a text.
pub trait Hides: Send + Sync {
    /// Returns the text without secrets.
    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

/// Knows no secrets.
#[derive(Clone, Copy, Debug)]
pub struct NothingHidden;

impl Hides for NothingHidden {
    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }
}
