//! Finds the tool that a model means by a name that no tool has.
//!
//! Models write `Bash` for `bash`, put the name of an API before a tool's, or call what other agents have. The names that
//! other agents use are listed by each tool (`Tool::OTHER_NAMES`); a name that two tools could have means neither.

use std::sync::Arc;

use haft_contract::call::RawArguments;
use haft_contract::closest::folded;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::arguments;
use crate::entry::Entry;

/// What models put before the name of a tool, as they saw it in the description of an API.
const BEFORE: [&str; 5] = ["functions.", "default_api.", "tools.", "tool.", "haft."];
/// Where the tokens of a chat begin that slipped into a name.
const CHAT_TOKEN: &str = "<|";
/// Longest name that is compared.
const LONGEST: usize = 128;

/// A tool that was called by another name.
pub struct Meant {
    /// The tool.
    pub entry: Arc<Entry>,
    /// The arguments without the one that said which tool is meant, where one had to.
    pub arguments: Option<Map<String, Value>>,
}

/// Returns the one tool that is meant.
pub(super) fn meant(entries: &IndexMap<String, Arc<Entry>>, name: &str, arguments: &RawArguments) -> Option<Meant> {
    let bare = name.split(CHAT_TOKEN).next().unwrap_or(name).trim();
    let bare = BEFORE.iter().find_map(|before| bare.strip_prefix(before)).unwrap_or(bare);
    if bare.len() > LONGEST {
        return None;
    }
    let letters = folded(bare);
    let is_spelled = |other: &str| !letters.is_empty() && folded(other) == letters;
    let shown = only(entries.values().filter(|entry| entry.is_shown && is_spelled(&entry.shown.name)));
    if let Some(entry) = shown {
        return Some(Meant { entry, arguments: None });
    }
    let native = || entries.values().filter(|entry| entry.is_shown && entry.way_in().is_none());
    let conditions = |entry: &Arc<Entry>| -> Vec<Condition> {
        let names = entry.shown.other_names.iter().filter_map(|other| other.split_once(' '));
        names.filter(|(other, _)| is_spelled(other)).filter_map(|(_, written)| Condition::read(written)).collect()
    };
    // The arguments are read only for a name that stands for several tools.
    if native().any(|entry| !conditions(entry).is_empty())
        && let Some(mut fields) = fields(arguments)
    {
        let holds = |entry: &Arc<Entry>| conditions(entry).into_iter().find(|condition| condition.holds(&fields));
        if let Some(entry) = only(native().filter(|entry| holds(entry).is_some())) {
            match holds(&entry) {
                Some(Condition::Is(key, _)) => drop(fields.shift_remove(key)),
                Some(Condition::Sets(key, value)) => drop(fields.entry(key).or_insert_with(|| value.into())),
                Some(Condition::Begins(..)) | None => {}
            }
            return Some(Meant { entry, arguments: Some(fields) });
        }
    }
    let named = native().filter(|entry| entry.shown.other_names.iter().any(|other| is_spelled(other)));
    Some(Meant { entry: only(named)?, arguments: None })
}

/// What the arguments of a call say when a name means a tool.
enum Condition {
    Is(&'static str, &'static str),
    Begins(&'static str, &'static str),
    /// Nothing: the name says this argument.
    Sets(&'static str, &'static str),
}

impl Condition {
    fn read(written: &'static str) -> Option<Self> {
        let (key, value) = written.split_once('=')?;
        Some(match (key.strip_suffix('^'), key.strip_suffix(':')) {
            (Some(key), _) => Condition::Begins(key, value),
            (None, Some(key)) => Condition::Sets(key, value),
            (None, None) => Condition::Is(key, value),
        })
    }

    fn holds(&self, fields: &Map<String, Value>) -> bool {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        match self {
            Condition::Is(key, value) => text(key) == Some(value),
            Condition::Begins(key, begin) => text(key).is_some_and(|text| text.trim_start().starts_with(begin)),
            Condition::Sets(..) => true,
        }
    }
}

fn only<'e>(mut entries: impl Iterator<Item = &'e Arc<Entry>>) -> Option<Arc<Entry>> {
    let first = entries.next()?;
    entries.next().is_none().then(|| first.clone())
}

fn fields(arguments: &RawArguments) -> Option<Map<String, Value>> {
    match arguments {
        RawArguments::Object(fields) => Some(fields.clone()),
        RawArguments::Text(text) => match arguments::read_text(text).ok()?.value {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
        RawArguments::Words(_) => None,
    }
}
