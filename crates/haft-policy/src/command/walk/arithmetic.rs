//! Text that bash reads again: as a name with an index, or as arithmetic.
//!
//! In `printf -v 'a[$(x)]'`, `test -v`, `let`, `$((y))` with `y='a[$(x)]'` and their kin the quotes do not hold: bash
//! expands the index once more and runs what stands in it. Ordinary values have no such text, so it is run wherever it
//! is met.

use super::super::syntax::{Word, WordPart};
use super::super::value::{Piece, Value};
use super::Walk;

/// Built-ins that take names or numbers, which are read again.
const EVALUATING: &[&str] = &[
    "let",
    "read",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "shift",
    "exit",
    "return",
    "break",
    "continue",
    "test",
    "[",
    "printf",
    "ulimit",
    "umask",
    "set",
];

impl Walk<'_> {
    /// Runs what stands in names and numbers that a built-in takes.
    pub(super) fn evaluate_operands(&mut self, builtin: &str, operands: &[Value]) {
        if EVALUATING.contains(&builtin) {
            operands.iter().for_each(|operand| self.evaluate(operand));
        }
    }

    /// Runs what stands in the values of variables that arithmetic names.
    pub(super) fn evaluate_words(&mut self, words: &[Word]) {
        let texts = words.iter().flat_map(|word| &word.parts).filter_map(|part| match part {
            WordPart::Text(text, _) => Some(text.clone()),
            _ => None,
        });
        for text in texts.collect::<Vec<String>>() {
            self.evaluate(&Value::text(text.as_str()));
        }
    }

    /// Runs the substitutions in the index of something like `a[$(x)]`.
    pub(super) fn evaluate(&mut self, value: &Value) {
        let text = value.shown();
        let has_index = text.split_once('[').is_some_and(|(_, index)| index.contains("$(") || index.contains('`'));
        if has_index {
            // As a word of a command that does nothing.
            let mut script = Value::text(": \"");
            for piece in value.pieces() {
                script.push(match piece {
                    Piece::Text(text) => Piece::Text(text.replace('"', "'")),
                    piece => piece.clone(),
                });
            }
            script.push(Piece::Text("\"".to_owned()));
            self.perhaps(|walk| walk.apart(|walk| walk.run_text(&script, None)));
        }
    }
}
