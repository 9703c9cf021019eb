//! The arguments of a call as a person types them: one JSON object, or `key=value` words (`haft call TOOL`).

use anyhow::anyhow;
use haft_contract::call::RawArguments;
use haft_runtime::catalogue::entry::CatalogEntry;

/// What stands behind the name of a tool.
pub enum CallWords {
    /// One JSON object, or nothing.
    Text(String),
    /// `key=value` words, before them perhaps the value of the first argument alone.
    Words(Option<String>, Vec<(String, String)>),
}

impl CallWords {
    /// Reads what was typed.
    ///
    /// # Errors
    ///
    /// Fails for a word that is no argument.
    pub fn read(words: &[String]) -> anyhow::Result<Self> {
        let (first, pairs) = match words {
            [] => return Ok(CallWords::Text(String::new())),
            [text] if text.trim_start().starts_with(['{', '[', '"', '`']) => return Ok(CallWords::Text(text.clone())),
            [first, rest @ ..] if pair(first).is_none() => (Some(first.clone()), rest),
            words => (None, words),
        };
        let pairs = pairs.iter().map(|word| pair(word).ok_or_else(|| no_argument(word)));
        Ok(CallWords::Words(first, pairs.collect::<Result<_, _>>()?))
    }

    /// Returns the arguments for this tool; one that is not there has none.
    ///
    /// # Errors
    ///
    /// Fails if the tool takes no argument without its key.
    pub fn for_tool(self, entry: Option<&CatalogEntry>) -> anyhow::Result<RawArguments> {
        let (value, mut pairs) = match self {
            CallWords::Text(text) => return Ok(RawArguments::Text(text)),
            CallWords::Words(None, pairs) => return Ok(RawArguments::Words(pairs)),
            CallWords::Words(Some(value), pairs) => (value, pairs),
        };
        let Some(entry) = entry else { return Ok(RawArguments::Text(String::new())) };
        match first_argument(entry) {
            Some(key) if pairs.iter().all(|(given, _)| *given != key) => pairs.insert(0, (key, value)),
            Some(_) | None => return Err(no_argument(&value)),
        }
        Ok(RawArguments::Words(pairs))
    }
}

/// Splits `key=value`. What cannot be a key, such as the `ls --color` of a command, makes no pair.
fn pair(word: &str) -> Option<(String, String)> {
    let (key, value) = word.split_once('=')?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let fits = key.chars().all(is_key) && key.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
    fits.then(|| (key.to_owned(), value.to_owned()))
}

/// Returns the argument that a tool wants first: the first required one, or the first of all.
fn first_argument(entry: &CatalogEntry) -> Option<String> {
    let spec = entry.call_spec();
    let schema = &spec.input_schema;
    let required = schema["required"].as_array().and_then(|names| names.first()?.as_str());
    let first = || schema["properties"].as_object()?.keys().next().map(String::as_str);
    required.or_else(first).map(str::to_owned)
}

fn no_argument(word: &str) -> anyhow::Error {
    anyhow!("\"{word}\" is neither key=value nor a JSON object; for example: path=src/main.rs")
}
