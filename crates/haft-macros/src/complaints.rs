//! Collects all mistakes in a tool: its author reads all of them after one build.
//!
//! Every complaint is one sentence that names the mistake and says what to write instead, at the place
//! that has to change.

use std::fmt::Display;

use quote::ToTokens;

/// What is wrong so far.
#[derive(Default)]
pub(crate) struct Complaints(Option<syn::Error>);

impl Complaints {
    /// Adds a sentence about these tokens.
    pub(crate) fn about(&mut self, tokens: impl ToTokens, sentence: impl Display) {
        self.add(syn::Error::new_spanned(tokens, sentence));
    }

    /// Adds an error.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Keeps the value, or adds the error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Fails with all complaints if there are any.
    pub(crate) fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
