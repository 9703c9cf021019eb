//! Hides secrets wherever something leaves: results, output chunks, questions, events.
//!
//! By value: what is known to be secret. By shape: what looks like a key of a well-known kind (`shapes`).
//! Short values are not hidden, because they would be found in ordinary words.

mod shapes;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::AhoCorasick;
use serde_json::Value;

/// What stands where a secret was.
pub(crate) const HIDDEN: &str = "[secret]";
/// Shorter values would be found in ordinary words.
const SHORTEST: usize = 8;

/// Hides secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    values: Option<AhoCorasick>,
    /// What became known to be secret later on; all copies share it.
    later: Arc<RwLock<Later>>,
}

#[derive(Debug, Default)]
struct Later {
    values: Vec<String>,
    found_by: Option<AhoCorasick>,
}

impl Redactor {
    /// Hides these values besides everything that looks like a key.
    pub fn of_values(values: impl IntoIterator<Item = String>) -> Self {
        Self { values: automaton(values), later: Arc::default() }
    }

    /// Hides these values too, from now on and in all copies.
    pub(crate) fn also_hide(&self, values: impl IntoIterator<Item = String>) {
        let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
        let known = later.values.len();
        later.values.extend(values);
        later.values.sort_unstable();
        later.values.dedup();
        if later.values.len() > known {
            later.found_by = automaton(later.values.iter().cloned());
        }
    }

    fn by_later<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        match later.found_by.as_ref().filter(|values| values.is_match(&*text)) {
            Some(values) => Cow::Owned(values.replace_all(&text, &vec![HIDDEN; values.patterns_len()])),
            None => text,
        }
    }

    /// Returns the text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // Values first: a shape inside one would leave the rest of it.
        let by_value = match self.values.as_ref().filter(|values| values.is_match(text)) {
            Some(values) => Cow::Owned(values.replace_all(text, &vec![HIDDEN; values.patterns_len()])),
            None => Cow::Borrowed(text),
        };
        let by_value = self.by_later(by_value);
        shapes::hide_shapes(by_value)
    }

    /// Hides secrets in a string that is kept.
    pub(crate) fn redact_in_place(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Hides secrets in all strings of a value.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.redact_value(field));
                if fields.keys().any(|key| matches!(self.redact(key), Cow::Owned(_))) {
                    let old = std::mem::take(fields);
                    fields.extend(old.into_iter().map(|(key, field)| (self.redact(&key).into_owned(), field)));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Makes what finds these values, in all forms in which they are written.
fn automaton(values: impl IntoIterator<Item = String>) -> Option<AhoCorasick> {
    // A value of several lines is also found line by line: what is shown has numbers between them.
    let mut parts: Vec<String> = Vec::new();
    for value in values {
        parts.extend(value.lines().map(|line| line.trim().to_owned()));
        // As it stands in JSON, and as a name with odd characters is shown.
        parts.push(Value::from(value.as_str()).to_string().trim_matches('"').to_owned());
        parts.push(value.escape_debug().to_string());
        parts.push(value);
    }
    parts.retain(|part| part.len() >= SHORTEST);
    parts.sort_unstable();
    parts.dedup();
    if parts.is_empty() {
        return None;
    }
    // Longest first, so that a value that begins with another one goes as a whole.
    let built = AhoCorasick::builder().match_kind(aho_corasick::MatchKind::LeftmostLongest).build(&parts);
    Some(built.expect("a few short values fit an automaton"))
}

/// Hides secrets in output that comes in pieces, also when one lies across two of them.
#[derive(Debug, Default)]
pub(crate) struct ChunkRedactor {
    held: String,
}

impl ChunkRedactor {
    /// Longest text that is held back.
    const LONGEST_HELD: usize = 16 * 1024;

    /// Takes a piece and returns what can be shown: whole lines, and of a private key nothing before its end.
    pub(crate) fn take(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        let whole_lines = self.held.rfind('\n').map(|end| end + 1);
        let open_key = self.held.rfind("-----BEGIN ").filter(|&begin| !self.held[begin..].contains("-----END "));
        let end = match (whole_lines, open_key) {
            _ if self.held.len() > Self::LONGEST_HELD => self.held.len(),
            (Some(end), Some(begin)) => end.min(begin),
            (Some(end), None) => end,
            (None, _) => 0,
        };
        if end == 0 {
            return String::new();
        }
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
    fn ordinary_words_and_parts_of_values_are_judged_rightly() {
        let redactor = Redactor::of_values(["first-line-secret\nsecond-line-secret".to_owned()]);
        assert_eq!(
            redactor.redact("a risk-assessment-framework-version-two b"),
            "a risk-assessment-framework-version-two b"
        );
        assert_eq!(redactor.redact("1\tfirst-line-secret\n2\tsecond-line-secret"), "1\t[secret]\n2\t[secret]");
        let mut value = serde_json::json!({ "first-line-secret": [{ "a": "second-line-secret" }] });
        redactor.redact_value(&mut value);
        assert_eq!(value, serde_json::json!({ "[secret]": [{ "a": "[secret]" }] }));
    }

    #[test]
    fn a_private_key_that_comes_in_pieces_is_held_until_its_end() {
        let redactor = Redactor::default();
        let mut chunks = ChunkRedactor::default();
        let pieces = ["a\n-----BEGIN PRIVATE KEY-----\n", "MIIEsecret\n", "-----END PRIVATE KEY-----\nb\n"];
        let shown: String = pieces.iter().map(|piece| chunks.take(&redactor, piece)).collect();
        assert_eq!(shown + &chunks.rest(&redactor), "a\n[secret]\nb\n");
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
