//! Hides secrets wherever something leaves: results, output chunks, questions, events.
//!
//! By value: what is known to be secret. By shape: what looks like a key of a well-known kind (`shapes`).
//! Short values are not hidden, because they would be found in ordinary words.

mod file_values;
mod shapes;
mod text_stream;

pub use text_stream::TextStream;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aho_corasick::AhoCorasick;
use haft::door::SecretFile;
use serde_json::Value;

/// What stands where a secret was.
pub(crate) const HIDDEN: &str = "[secret]";
/// Shorter values would be found in ordinary words.
const SHORTEST: usize = 8;
/// Most secrets that become known later on.
const MOST_SECRETS: usize = 100_000;

/// Hides secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    values: Option<AhoCorasick>,
    /// The texts that those find.
    texts: Arc<BTreeSet<String>>,
    /// What became known to be secret later on; all copies share it.
    later: Arc<RwLock<Later>>,
    /// From which files values were hidden, where somebody wants to know it; copies share it.
    met: Option<Arc<Mutex<BTreeSet<usize>>>>,
}

/// Secrets that became known later on.
#[derive(Default)]
struct Later {
    /// By their texts: what stands in their place, and the file they are from.
    secrets: BTreeMap<String, (String, Option<usize>)>,
    files: Vec<String>,
    found_by: Option<AhoCorasick>,
}

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").field("secrets", &self.secrets.len()).field("files", &self.files).finish()
    }
}

impl Later {
    /// Adds what is not known yet.
    fn add(&mut self, secrets: impl IntoIterator<Item = (String, String)>, file: Option<usize>) {
        let known = self.secrets.len();
        for (text, shown) in secrets {
            if self.secrets.len() < MOST_SECRETS {
                self.secrets.entry(text).or_insert((shown, file));
            }
        }
        if self.secrets.len() > known {
            self.found_by = automaton(self.secrets.keys());
        }
    }

    fn number_of(&mut self, file: &str) -> usize {
        let known = self.files.iter().position(|known| known == file);
        known.unwrap_or_else(|| {
            self.files.push(file.to_owned());
            self.files.len() - 1
        })
    }
}

impl Redactor {
    /// Hides these values besides everything that looks like a key.
    pub fn of_values(values: impl IntoIterator<Item = String>) -> Self {
        let texts: BTreeSet<String> = values.into_iter().flat_map(parts).collect();
        Self { values: automaton(&texts), texts: texts.into(), ..Self::default() }
    }

    /// Hides these values too, from now on and in all copies.
    pub(crate) fn also_hide(&self, values: impl IntoIterator<Item = String>) {
        let parts = values.into_iter().flat_map(parts).map(|part| (part, HIDDEN.to_owned()));
        self.later.write().unwrap_or_else(PoisonError::into_inner).add(parts, None);
    }

    /// Hides what is secret in this file, from now on and in all copies.
    pub(crate) fn also_hide_file(&self, file: &SecretFile) {
        let mut secrets = Vec::new();
        for secret in file_values::secrets_in(&file.text) {
            let forms = forms(&secret.text).into_iter();
            secrets.extend(forms.map(|form| (form, secret.shown.clone())));
            secrets.push((secret.text, secret.shown));
        }
        let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
        let number = later.number_of(&file.path);
        later.add(secrets, Some(number));
    }

    /// Returns a copy that notes from which files it hides values.
    pub(crate) fn noting(&self) -> Self {
        Self { met: Some(Arc::default()), ..self.clone() }
    }

    /// Returns the files from which values were hidden.
    pub(crate) fn met(&self) -> Vec<String> {
        let Some(met) = &self.met else { return Vec::new() };
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        let met = met.lock().unwrap_or_else(PoisonError::into_inner);
        met.iter().filter_map(|number| later.files.get(*number).cloned()).collect()
    }

    fn by_later<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        let Some(found_by) = later.found_by.as_ref().filter(|values| values.is_match(&*text)) else { return text };
        let mut hidden = String::with_capacity(text.len());
        found_by.replace_all_with(&text, &mut hidden, |_, found, hidden| {
            let (shown, file) = later.secrets.get(found).map_or((HIDDEN, None), |(shown, file)| (shown, *file));
            hidden.push_str(shown);
            if let (Some(met), Some(file)) = (&self.met, file) {
                met.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
            }
            true
        });
        Cow::Owned(hidden)
    }

    /// Returns the text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // Values first: a shape inside one would leave the rest of it.
        shapes::hide_shapes(self.redact_known(text))
    }

    /// Returns the text without the values that are known to be secret. What looks like a key stays: whoever wrote it
    /// made it up.
    pub fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // What is known of files says most.
        let text = self.by_later(Cow::Borrowed(text));
        match self.values.as_ref().filter(|values| values.is_match(&*text)) {
            Some(values) => Cow::Owned(values.replace_all(&text, &vec![HIDDEN; values.patterns_len()])),
            None => text,
        }
    }

    /// Hides secrets in a string that is kept.
    pub(crate) fn redact_in_place(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Hides secrets in all strings of a value.
    pub fn redact_value(&self, value: &mut Value) {
        in_strings(value, &|text| self.redact(text));
    }

    /// Hides the values that are known to be secret in all strings of a value.
    pub fn redact_known_value(&self, value: &mut Value) {
        in_strings(value, &|text| self.redact_known(text));
    }
}

/// Replaces the strings of a value, those of its keys too.
fn in_strings(value: &mut Value, hide: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(hidden) = hide(text) {
                *text = hidden;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| in_strings(item, hide)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| in_strings(field, hide));
            if fields.keys().any(|key| matches!(hide(key), Cow::Owned(_))) {
                let old = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(key, field)| (hide(&key).into_owned(), field)));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a value in all forms in which it is written; those that are too short are left out.
fn parts(value: String) -> Vec<String> {
    // A value of several lines is also found line by line: what is shown has numbers between them.
    let mut parts: Vec<String> = value.lines().map(|line| line.trim().to_owned()).collect();
    parts.extend(forms(&value));
    parts.push(value);
    parts.retain(|part| part.len() >= SHORTEST);
    parts
}

/// Returns a text in the forms in which programs write it: in JSON, as a name with odd characters is shown, and for a
/// shell, a page or an address.
fn forms(text: &str) -> Vec<String> {
    let json = Value::from(text).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let is_common = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let mut forms = vec![json.clone(), text.escape_debug().to_string()];
    if text.chars().all(is_common) {
        return forms;
    }
    let each = |write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>();
    let percent = |letter: char| {
        let mut bytes = [0; 4];
        letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let units = |letter: char| {
        let mut units = [0; 2];
        letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let plain = |letter: char| letter.to_string();
    forms.push(json.replace('/', "\\/"));
    forms.push(each(&|letter| if letter.is_ascii() { plain(letter) } else { units(letter) }));
    forms.push(each(&|letter| if is_common(letter) || letter == '~' { plain(letter) } else { percent(letter) }));
    forms.push(each(&|letter| if is_common(letter) || letter == '/' { plain(letter) } else { percent(letter) }));
    forms.push(each(&|letter| {
        let is_safe = is_common(letter) || !letter.is_ascii() || "/:=@%+".contains(letter);
        if is_safe { plain(letter) } else { format!("\\{letter}") }
    }));
    forms.push(each(&|letter| if "$`\"\\".contains(letter) { format!("\\{letter}") } else { plain(letter) }));
    forms.push(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"));
    forms
}

fn automaton<'s>(texts: impl IntoIterator<Item = &'s String>) -> Option<AhoCorasick> {
    let mut texts = texts.into_iter().peekable();
    texts.peek()?;
    // Longest first, so that a value that begins with another one goes as a whole.
    let built = AhoCorasick::builder()
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        // Made anew whenever a file changes, so it has to be made quickly.
        .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
        .build(texts);
    Some(built.expect("some thousand short values fit an automaton"))
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
        assert_eq!(redactor.redact("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"), "a\n[secret]\n");
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
    fn a_value_is_hidden_in_the_forms_in_which_programs_write_it() {
        let redactor = Redactor::of_values(["p/ä s$w\"rd&9".to_owned()]);
        for written in [
            r#"p/ä s$w\"rd&9"#,
            r#"p\/ä s$w\"rd&9"#,
            r#"p/\u00e4 s$w"rd&9"#,
            "p%2F%C3%A4%20s%24w%22rd%269",
            "p/%C3%A4%20s%24w%22rd%269",
            r#"p/ä\ s\$w\"rd\&9"#,
            r#"p/ä s\$w\"rd&9"#,
            "p/ä s$w&quot;rd&amp;9",
        ] {
            assert_eq!(redactor.redact(written), "[secret]", "{written}");
        }
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
