//! Tests the parser: compares trees in a special notation, and words with those of the real bash.

mod beside_bash;
mod commands;
mod limits;
mod notation;
mod words;

use crate::syntax::parse;

/// Checks what a text is read as; see `notation`.
#[track_caller]
fn check(text: &str, tree: &str) {
    assert_eq!(notation::script(&parse(text)), tree, "for {text:?}");
}
