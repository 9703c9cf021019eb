//! Finds the tool that a model means when it uses a name that no tool has.
//!
//! Models write `Bash` for `bash`, put the name of an API before a tool's, or call the tools of other agents. Each tool
//! lists its names in other agents (`Tool::OTHER_NAMES`). A name that two tools could have means neither.

use std::sync::Arc;

use haft_contract::call::RawArguments;
use haft_contract::text::closest::folded;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::arguments;
use crate::catalogue::entry::CatalogEntry;

/// What models put before the name of a tool, as they saw it in the description of an API.
const BEFORE: [&str; 5] = ["functions.", "default_api.", "tools.", "tool.", "haft."];
/// Where the tokens of a chat begin that slipped into a name.
const CHAT_TOKEN: &str = "<|";
/// Longest name that is compared.
const LONGEST: usize = 128;
/// What stands behind the name of a tool whose agents count in milliseconds.
const MILLISECONDS: &str = " ms";
/// The least number that is read as milliseconds.
const LEAST_MILLISECONDS: f64 = 1_000.0;

/// The tool that a model means by a name that no tool has.
pub struct IntendedTool {
    /// The tool.
    pub entry: Arc<CatalogEntry>,
    /// The arguments without the one that said which tool is meant, where one had to.
    pub arguments: Option<Map<String, Value>>,
}

/// Returns the one tool that is meant.
pub(super) fn meant(
    entries: &IndexMap<String, Arc<CatalogEntry>>,
    name: &str,
    arguments: &RawArguments,
) -> Option<IntendedTool> {
    let bare = name.split(CHAT_TOKEN).next().unwrap_or(name).trim();
    let bare = BEFORE.iter().find_map(|before| bare.strip_prefix(before)).unwrap_or(bare);
    if bare.len() > LONGEST {
        return None;
    }
    let letters = folded(bare);
    let is_spelled = |other: &str| !letters.is_empty() && folded(other) == letters;
    let shown = only(entries.values().filter(|entry| entry.is_shown && is_spelled(&entry.shown.name)));
    if let Some(entry) = shown {
        let arguments = in_milliseconds(&entry, bare, arguments);
        return Some(IntendedTool { entry, arguments });
    }
    let native = || entries.values().filter(|entry| entry.is_shown && entry.way_in().is_none());
    let conditions = |entry: &Arc<CatalogEntry>| -> Vec<Condition> {
        let names = entry.shown.other_names.iter().filter_map(|other| other.split_once(' '));
        names.filter(|(other, _)| is_spelled(other)).filter_map(|(_, written)| Condition::read(written)).collect()
    };
    // The arguments are read only for a name that stands for several tools.
    if native().any(|entry| !conditions(entry).is_empty())
        && let Some(mut fields) = fields(arguments)
    {
        let holds =
            |entry: &Arc<CatalogEntry>| conditions(entry).into_iter().find(|condition| condition.holds(&fields));
        if let Some(entry) = only(native().filter(|entry| holds(entry).is_some())) {
            match holds(&entry) {
                Some(Condition::Is(key, _)) => drop(fields.shift_remove(key)),
                Some(Condition::Sets(key, value)) => drop(fields.entry(key).or_insert_with(|| value.into())),
                None => {}
            }
            return Some(IntendedTool { entry, arguments: Some(fields) });
        }
    }
    let is_named = |other: &&str| is_spelled(other.strip_suffix(MILLISECONDS).unwrap_or(other));
    let entry = only(native().filter(|entry| entry.shown.other_names.iter().any(is_named)))?;
    let arguments = in_milliseconds(&entry, bare, arguments);
    Some(IntendedTool { entry, arguments })
}

/// Says the times of a call in milliseconds, where agents with a tool of this name count in them. A time that would be less
/// than a second is not meant so.
fn in_milliseconds(entry: &CatalogEntry, name: &str, arguments: &RawArguments) -> Option<Map<String, Value>> {
    let is_other = |other: &str| folded(other) == folded(name) && folded(other) != folded(&entry.shown.name);
    let counts = entry.shown.other_names.iter().filter_map(|other| other.strip_suffix(MILLISECONDS));
    if !counts.into_iter().any(|other| other == name || is_other(other)) {
        return None;
    }
    let mut fields = fields(arguments)?;
    let mut is_said = false;
    for (seconds, _) in &entry.shown.times {
        let Some(given) = fields.get_mut(seconds) else { continue };
        let number = given.as_f64().or_else(|| given.as_str()?.trim().parse().ok());
        if number.is_some_and(|number| number >= LEAST_MILLISECONDS) {
            *given = format!("{} ms", given.as_str().map_or_else(|| given.to_string(), |text| text.trim().to_owned()))
                .into();
            is_said = true;
        }
    }
    is_said.then_some(fields)
}

/// What the arguments of a call say when a name means a tool.
enum Condition {
    Is(&'static str, &'static str),
    /// Nothing: the name says this argument.
    Sets(&'static str, &'static str),
}

impl Condition {
    fn read(written: &'static str) -> Option<Self> {
        let (key, value) = written.split_once('=')?;
        Some(match key.strip_suffix(':') {
            Some(key) => Condition::Sets(key, value),
            None => Condition::Is(key, value),
        })
    }

    fn holds(&self, fields: &Map<String, Value>) -> bool {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        match self {
            Condition::Is(key, value) => text(key) == Some(value),
            Condition::Sets(..) => true,
        }
    }
}

fn only<'e>(mut entries: impl Iterator<Item = &'e Arc<CatalogEntry>>) -> Option<Arc<CatalogEntry>> {
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
