//! Hides secrets wherever something leaves: results, output chunks, questions, events.
//!
//! By value: what is known to be secret. By shape: what looks like a key of a well-known kind.
//! Short values are not hidden, because they would be found in ordinary words.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;
use serde_json::Value;

/// What stands where a secret was.
const HIDDEN: &str = "[secret]";
/// Shorter values would be found in ordinary words.
const SHORTEST: usize = 8;

static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"sk-[A-Za-z0-9_-]{20,}",
        r"gh[pousr]_[A-Za-z0-9]{30,}",
        r"github_pat_[A-Za-z0-9_]{30,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"xox[abprs]-[A-Za-z0-9-]{10,}",
        r"AKIA[0-9A-Z]{16}",
        r"AIza[0-9A-Za-z_-]{35}",
        r"npm_[A-Za-z0-9]{36}",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ];
    Regex::new(&shapes.join("|")).expect("the shapes are regular expressions")
});

/// Hides secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    values: Option<AhoCorasick>,
}

impl Redactor {
    /// Hides these values besides everything that looks like a key.
    pub fn of_values(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return Self::default();
        }
        // Longest first, so that a value that begins with another one goes as a whole.
        let built = AhoCorasick::builder().match_kind(aho_corasick::MatchKind::LeftmostLongest).build(&values);
        Self { values: Some(built.expect("a few short values fit an automaton")) }
    }

    /// Returns the text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let by_shape = SHAPES.replace_all(text, HIDDEN);
        let Some(values) = self.values.as_ref().filter(|values| values.is_match(&*by_shape)) else { return by_shape };
        let hidden = vec![HIDDEN; values.patterns_len()];
        Cow::Owned(values.replace_all(&by_shape, &hidden))
    }

    /// Hides secrets in a string that is kept.
    pub(crate) fn redact_in_place(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Hides secrets in all strings of a value.
    pub(crate) fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.redact_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Hides secrets in output that comes in pieces, also when one lies across two of them.
#[derive(Debug, Default)]
pub(crate) struct ChunkRedactor {
    held: String,
}

impl ChunkRedactor {
    /// Longest piece without a line end that is held back.
    const LONGEST_HELD: usize = 16 * 1024;

    /// Takes a piece and returns what can be shown: whole lines. A secret has no line end in it.
    pub(crate) fn take(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        let end = match self.held.rfind('\n') {
            Some(end) => end + 1,
            None if self.held.len() > Self::LONGEST_HELD => self.held.len(),
            None => return String::new(),
        };
        let rest = self.held.split_off(end);
        let shown = std::mem::replace(&mut self.held, rest);
        redactor.redact(&shown).into_owned()
    }

    /// Returns what is left at the end.
    pub(crate) fn rest(&mut self, redactor: &Redactor) -> String {
        redactor.redact(&std::mem::take(&mut self.held)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_value_and_by_shape() {
        let redactor = Redactor::of_values(["hunter2-hunter2".to_owned(), "short".to_owned()]);
        let key = format!("ghp_{}", "a".repeat(36));
        let text = format!("pass=hunter2-hunter2 short {key} end");
        assert_eq!(redactor.redact(&text), "pass=[secret] short [secret] end");
        assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_private_key_is_hidden_even_when_its_end_was_cut() {
        let redactor = Redactor::default();
        assert_eq!(redactor.redact("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"), "a\n[secret]");
    }

    #[test]
    fn a_secret_across_two_chunks_is_hidden() {
        let redactor = Redactor::of_values(["hunter2-hunter2".to_owned()]);
        let mut chunks = ChunkRedactor::default();
        let shown =
            chunks.take(&redactor, "a\nhunter2-") + &chunks.take(&redactor, "hunter2\nb") + &chunks.rest(&redactor);
        assert_eq!(shown, "a\n[secret]\nb");
    }
}
