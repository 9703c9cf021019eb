//! Where the host reports: the program around it decides what a person sees.

use std::io;

/// Receives what the host has to say while it opens and watches a workspace.
pub trait Notices: Send + Sync {
    /// Reports that something is left out, has changed, or is used in another way than expected.
    fn note(&self, text: &str);

    /// Reports that a protection the user relies on does not hold.
    fn warn(&self, text: &str) {
        self.note(text);
    }

    /// Returns whether a person can answer a question about trust now.
    fn can_ask(&self) -> bool {
        false
    }

    /// Asks a person whether these files of a project are trusted as they are now.
    ///
    /// # Errors
    ///
    /// Fails when the question cannot be shown or the answer cannot be read.
    fn asks_for_trust(&self, files: &UntrustedFiles) -> io::Result<bool> {
        let _ = files;
        Ok(false)
    }
}

/// The files of a project that the question about trust is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UntrustedFiles {
    /// Files that were never trusted.
    pub new: Vec<String>,
    /// Trusted files that have changed, each with the files that changed for it.
    pub changed: Vec<(String, Vec<String>)>,
    /// Trusted files that no longer exist.
    pub gone: Vec<String>,
}

/// Drops every notice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl Notices for Unheard {
    fn note(&self, _text: &str) {}
}
