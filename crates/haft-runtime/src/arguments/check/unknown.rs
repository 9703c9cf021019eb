//! Says what to do with a key that the schema does not know.
//!
//! Models use the names that other tools have. Most often the schema itself has the answer: it has the property in
//! another spelling, or one level deeper (`old_text` belongs into `edits`), or as a choice of another property
//! (`replace_all` is `count: "all"`). haft reports the hint and never acts on it.
//!
//! Not here: renaming (`fit/keys.rs`).

use serde_json::{Map, Value};

use super::super::fault::{UnknownKey, shown_text};
use super::super::outline::{Outline, item_schema, parts, property_schema};
use super::union::choices_of;
use haft_contract::text::closest::{closest, folded};

/// What to do about a key, in words and as a fact.
pub(super) struct Hint {
    pub(super) words: String,
    pub(super) key: UnknownKey,
}

/// An object with a key too many.
pub(super) struct Unknown<'a, 's> {
    pub(super) outline: &'a Outline<'s>,
    /// The schemas of the object.
    pub(super) layers: &'a [&'s Map<String, Value>],
    pub(super) object: &'a Value,
    pub(super) key: &'a str,
}

impl<'s> Unknown<'_, 's> {
    /// Returns the first hint that is to the point.
    pub(super) fn hint(&self) -> Hint {
        let deeper = self.deeper();
        let words = self.given_twice().or_else(|| self.belongs_into(&deeper)).or_else(|| self.is_a_choice(&deeper));
        let said = words.map(|words| Hint { words, key: UnknownKey::Unsaid });
        let nothing = || Hint { words: "leave it out".to_owned(), key: UnknownKey::WithoutCounterpart };
        said.or_else(|| self.near_name()).unwrap_or_else(nothing)
    }

    fn given_twice(&self) -> Option<String> {
        let name = names(self.layers).find(|name| self.is_spelled(name) && self.object.get(name).is_some())?;
        Some(format!("it is {} in another spelling, which is given too: send only {0}", shown_text(name)))
    }

    fn belongs_into(&self, deeper: &[Deeper<'s>]) -> Option<String> {
        deeper.iter().find_map(|deeper| {
            let name = names(&deeper.layers).find(|name| self.is_spelled(name))?;
            Some(format!("put it into {}", deeper.with(name)))
        })
    }

    /// A word of a key that is true may be what another property lists as a choice, when only one does.
    fn is_a_choice(&self, deeper: &[Deeper<'s>]) -> Option<String> {
        if self.object.get(self.key) != Some(&Value::Bool(true)) {
            return None;
        }
        let words: Vec<String> = self.key.split(['_', '-']).map(str::to_lowercase).collect();
        let here = std::iter::once((self.layers, None));
        let places = here.chain(deeper.iter().map(|deeper| (deeper.layers.as_slice(), Some(deeper.name))));
        let mut found = places.flat_map(|(layers, into)| {
            let words = &words;
            let fits = move |choice: &&str| words.iter().any(|word| word == choice);
            let choices = |name: &'s str| self.choices(layers, name).into_iter().map(move |choice| (name, choice));
            let chosen: Vec<_> = names(layers).flat_map(choices).filter(|(_, choice)| fits(choice)).collect();
            chosen.into_iter().map(move |(name, choice)| (name, choice, into))
        });
        let (name, choice, into) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let into = into.map_or(String::new(), |into| format!(" in {}", shown_text(into)));
        Some(format!("give {}: {}{into} instead", shown_text(name), shown_text(choice)))
    }

    fn near_name(&self) -> Option<Hint> {
        let free = names(self.layers).filter(|name| self.object.get(name).is_none());
        if let Some(name) = closest(self.key, free) {
            let words = format!("did you mean {}?", shown_text(name));
            return Some(Hint { words, key: UnknownKey::MeantFor(name.to_owned()) });
        }
        let required = self.layers.iter().flat_map(|layer| parts(layer, "required")).filter_map(Value::as_str);
        let missing: Vec<&str> = required.filter(|name| self.object.get(name).is_none()).collect();
        let [name] = missing[..] else { return None };
        let known = UnknownKey::MeantFor(name.to_owned());
        let (name, key) = (shown_text(name), shown_text(self.key));
        let words = format!("the property {name} is missing; if {key} is meant for it, send it under that name");
        Some(Hint { words, key: known })
    }

    fn is_spelled(&self, name: &str) -> bool {
        // A key may be megabytes long.
        self.key.len() <= 8 * name.len() && folded(self.key) == folded(name)
    }

    /// The words that a property may be, also where it may be something else.
    fn choices(&self, layers: &[&'s Map<String, Value>], name: &str) -> Vec<&'s str> {
        let Some(schema) = layers.iter().find_map(|layer| property_schema(layer, name)) else { return Vec::new() };
        let own = self.outline.layers(schema);
        let branches = own.iter().flat_map(|layer| [parts(layer, "anyOf"), parts(layer, "oneOf")]).flatten();
        let of = |schema: &'s Value| choices_of(self.outline, schema);
        of(schema).into_iter().chain(branches.flat_map(of)).filter_map(Value::as_str).collect()
    }

    /// The properties of the object that are objects themselves, or lists of such.
    fn deeper(&self) -> Vec<Deeper<'s>> {
        let of_name = |name: &'s str| {
            let schema = self.layers.iter().find_map(|layer| property_schema(layer, name))?;
            let own = self.outline.layers(schema);
            let item = own.iter().find_map(|layer| item_schema(layer, 0));
            let layers = item.map_or(own, |item| self.outline.layers(item));
            Some(Deeper { name, layers, is_list: item.is_some() })
        };
        names(self.layers).filter_map(of_name).collect()
    }
}

/// A property that holds objects.
struct Deeper<'s> {
    name: &'s str,
    /// The schemas of the objects.
    layers: Vec<&'s Map<String, Value>>,
    is_list: bool,
}

impl Deeper<'_> {
    /// Shows the property with an object that has this name and what is required beside it.
    fn with(&self, name: &str) -> String {
        /// More are not needed to see what is meant.
        const MOST: usize = 6;
        let required = self.layers.iter().flat_map(|layer| parts(layer, "required")).filter_map(Value::as_str);
        let mut shown: Vec<&str> = required.take(MOST).collect();
        if !shown.contains(&name) {
            shown.push(name);
        }
        let entries: Vec<String> = shown.iter().map(|name| format!("{}: …", shown_text(name))).collect();
        let object = format!("{{{}}}", entries.join(", "));
        let object = if self.is_list { format!("[{object}]") } else { object };
        format!("{}: {object}", shown_text(self.name))
    }
}

/// The names of the properties of an object.
pub(super) fn names<'s>(layers: &[&'s Map<String, Value>]) -> impl Iterator<Item = &'s str> {
    let properties = layers.iter().filter_map(|layer| layer.get("properties")?.as_object());
    properties.flat_map(Map::keys).map(String::as_str)
}
