//! Renames a key that has the letters of exactly one property: `filePath` for `file_path`.
//!
//! Only spelling counts. `timeout` for `timeout_ms` may mean seconds, and `path` for `paths` may be one of many. A fault
//! mentions such names as hints, but haft never renames them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::fault::shown_text;
use super::super::outline::{MOST_LAYERS, parts};
use super::Fitting;
use super::site::Site;
use haft_contract::text::closest::folded;

/// The names of the properties that a schema mentions.
#[derive(Default)]
pub(super) struct PropertyNames<'s> {
    /// Those a key may be renamed to: they apply whatever else the object holds.
    pub(super) targets: Vec<&'s str>,
    /// All of them, also those of branches that may not apply.
    pub(super) known: Vec<&'s str>,
    /// Whether the schema says that other keys are welcome, or leads to one that may.
    pub(super) is_open: bool,
    /// How many branches were looked at.
    branches: usize,
}

/// Most branches of a union that are searched for names.
const MOST_BRANCHES: usize = 200;

impl<'s> Fitting<'_, 's> {
    /// Renames the keys of an object; an alias counts wherever the property is known that it stands for.
    pub(super) fn rename_keys(&mut self, value: &mut Value, schema: &'s Value, site: &Site<'_, 's>) {
        let Value::Object(entries) = value else { return };
        if has_only_own_keys(entries, schema) {
            return;
        }
        let names = self.names(schema);
        if names.is_open {
            return;
        }
        let spellings = Spellings::new(&names, self.aliases);
        // The one key that stands for a property; nothing where several do.
        let mut renames: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for key in entries.keys() {
            if names.known.contains(&key.as_str()) || site.known.contains(&key.as_str()) {
                continue;
            }
            if let Some(target) = spellings.target(key) {
                let is_first = !renames.contains_key(target);
                let rename = is_first.then(|| key.clone());
                renames.insert(target, rename);
            }
        }
        let single = renames.into_iter().filter_map(|(target, key)| Some((key?, target)));
        let settled: Vec<(String, &str)> = single.filter(|(_, target)| !entries.contains_key(*target)).collect();
        if settled.is_empty() {
            return;
        }
        let old = std::mem::take(entries);
        for (key, entry) in old {
            match settled.iter().find(|(from, _)| *from == key) {
                Some((_, target)) => {
                    let place = site.at_key(&key).path();
                    self.repairs.push(format!("{place}: read as {}", shown_text(target)));
                    entries.insert((*target).to_owned(), entry);
                }
                None => {
                    entries.insert(key, entry);
                }
            }
        }
    }

    /// Collects the names of the properties of a schema.
    pub(super) fn names(&self, schema: &'s Value) -> PropertyNames<'s> {
        let mut names = PropertyNames::default();
        let layers = self.outline.layers(schema);
        names.is_open = layers.len() >= MOST_LAYERS;
        for layer in layers {
            names.targets.extend(property_names(layer));
            names.is_open |= welcomes_others(layer) || self.outline.leads_away(layer);
        }
        self.add_known(schema, 0, &mut names);
        names
    }

    fn add_known(&self, schema: &'s Value, depth: usize, names: &mut PropertyNames<'s>) {
        names.branches += 1;
        // The complete list of known names is not available, so no key is renamed.
        if depth > 4 || names.branches > MOST_BRANCHES {
            names.is_open = true;
        }
        names.is_open |= !self.outline.is_readable(schema);
        if names.is_open {
            return;
        }
        for layer in self.outline.layers(schema) {
            names.known.extend(property_names(layer));
            names.is_open |= depth > 0 && welcomes_others(layer);
            for keyword in ["anyOf", "oneOf"] {
                for branch in parts(layer, keyword) {
                    self.add_known(branch, depth + 1, names);
                }
            }
            for keyword in ["if", "then", "else", "not"] {
                if let Some(branch) = layer.get(keyword) {
                    self.add_known(branch, depth + 1, names);
                }
            }
            for keyword in ["dependentSchemas", "dependencies"] {
                let branches = layer.get(keyword).and_then(Value::as_object);
                for branch in branches.into_iter().flat_map(Map::values) {
                    self.add_known(branch, depth + 1, names);
                }
            }
        }
    }
}

/// The names that a key may stand for, each with its letters. They are folded once: a call may have many keys.
pub(super) struct Spellings<'s> {
    /// Listed aliases with the property that each of them means, if the schema has it.
    aliases: Vec<(Vec<char>, Option<&'s str>)>,
    targets: Vec<(Vec<char>, &'s str)>,
    /// The longest of them, in letters.
    longest: usize,
}

impl<'s> Spellings<'s> {
    pub(super) fn new(names: &PropertyNames<'s>, aliases: &[(String, String)]) -> Self {
        let meant = |name: &String| names.targets.iter().copied().find(|target| target == name);
        let aliases: Vec<_> = aliases.iter().map(|(alias, name)| (folded(alias), meant(name))).collect();
        let targets: Vec<_> = names.targets.iter().map(|target| (folded(target), *target)).collect();
        let lengths = aliases.iter().map(|(letters, _)| letters.len()).chain(targets.iter().map(|(l, _)| l.len()));
        let longest = lengths.max().unwrap_or(0);
        Self { aliases, targets, longest }
    }

    /// The property a key stands for: a listed alias, or the only one with the same letters.
    pub(super) fn target(&self, key: &str) -> Option<&'s str> {
        // A key of a megabyte is no spelling of anything. Dashes do not count as letters, but so many are none either.
        if key.len() > 8 * self.longest {
            return None;
        }
        let letters = folded(key);
        if let Some((_, meant)) = self.aliases.iter().find(|(alias, _)| *alias == letters) {
            return *meant;
        }
        let mut found = self.targets.iter().filter(|(target, _)| *target == letters).map(|(_, target)| *target);
        let target = found.next().filter(|_| !letters.is_empty())?;
        found.all(|other| other == target).then_some(target)
    }
}

/// The usual case, without collecting anything.
fn has_only_own_keys(entries: &Map<String, Value>, schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    entries.keys().all(|key| properties.is_some_and(|properties| properties.contains_key(key)))
}

fn property_names(layer: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = layer.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

fn welcomes_others(layer: &Map<String, Value>) -> bool {
    let is_welcome = |keyword: &str| layer.get(keyword).is_some_and(|others| others != &Value::Bool(false));
    is_welcome("additionalProperties") || is_welcome("unevaluatedProperties") || is_welcome("patternProperties")
}
