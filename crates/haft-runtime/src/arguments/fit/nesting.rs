//! Moves keys that lie one level too high or too deep: `old_text` beside `edits` instead of inside it.
//!
//! It drops nothing and invents nothing. A key moves deeper only if the unknown keys make exactly one property complete.
//! The other keys stay, and haft reports them. A key moves up only if the outer object requires it.

use serde_json::{Map, Value};

use super::super::fault::shown_text;
use super::super::outline::{item_schema, parts, property_schema};
use super::Fitting;
use super::keys::Spellings;
use super::site::Site;

/// A property that takes keys from the object around it.
struct Deeper<'s> {
    name: &'s str,
    is_list: bool,
    /// Each key with the name it has inside.
    moved: Vec<(String, &'s str)>,
}

impl<'s> Fitting<'_, 's> {
    /// Puts keys where they belong, one level deeper or higher.
    pub(super) fn renest_keys(&mut self, value: &mut Value, schema: &'s Value, site: &Site<'_, 's>) {
        let Value::Object(entries) = value else { return };
        let names = self.names(schema);
        if names.is_open {
            return;
        }
        self.raise_keys(entries, schema, site);
        let is_known = |key: &str| names.known.contains(&key) || site.known.contains(&key);
        let unknown: Vec<String> = entries.keys().filter(|key| !is_known(key)).cloned().collect();
        if unknown.is_empty() {
            return;
        }
        let free = names.targets.iter().filter(|name| !entries.contains_key(**name));
        let mut places: Vec<Deeper<'s>> = free.filter_map(|name| self.deeper(name, schema, &unknown)).collect();
        if let (Some(place), true) = (places.pop(), places.is_empty()) {
            self.sink_keys(entries, place, site);
        }
    }

    fn sink_keys(&mut self, entries: &mut Map<String, Value>, place: Deeper<'s>, site: &Site<'_, 's>) {
        let at = if place.is_list { "[0]" } else { "" };
        let mut inner = Map::new();
        for (key, inside) in place.moved {
            let Some(entry) = entries.shift_remove(&key) else { continue };
            let meant = format!("{}{at}.{inside}", place.name);
            self.repairs.push(format!("{}: read as {}", site.at_key(&key).path(), shown_text(&meant)));
            inner.insert(inside.to_owned(), entry);
        }
        let inner = Value::Object(inner);
        let inner = if place.is_list { Value::Array(vec![inner]) } else { inner };
        entries.insert(place.name.to_owned(), inner);
    }

    /// Returns the property as a place for these keys, when it is complete with those that it has and not without.
    fn deeper(&self, name: &'s str, schema: &'s Value, unknown: &[String]) -> Option<Deeper<'s>> {
        let layers = self.outline.layers(schema);
        let is_closed = layers.iter().any(|layer| layer.get("additionalProperties") == Some(&Value::Bool(false)));
        let is_needed = layers.iter().any(|layer| parts(layer, "required").iter().any(|needed| needed == name));
        if !is_closed && !is_needed {
            return None;
        }
        let property = layers.iter().find_map(|layer| property_schema(layer, name))?;
        let own = self.outline.layers(property);
        let item = own.iter().find_map(|layer| item_schema(layer, 0));
        let inside = item.unwrap_or(property);
        let names = self.names(inside);
        let spellings = Spellings::new(&names, self.aliases);
        let target = |key: &String| {
            let exact = names.targets.iter().copied().find(|target| target == key);
            Some((key.clone(), exact.or_else(|| spellings.target(key))?))
        };
        let moved: Vec<(String, &'s str)> = unknown.iter().filter_map(target).collect();
        let is_given = |name: &Value| moved.iter().any(|(_, inside)| name == inside);
        let inside = self.outline.layers(inside);
        let mut required = inside.iter().flat_map(|layer| parts(layer, "required")).peekable();
        let is_complete = required.peek().is_some() && required.all(is_given);
        let are_apart = (1..moved.len()).all(|index| moved[..index].iter().all(|(_, other)| *other != moved[index].1));
        (is_complete && are_apart).then_some(Deeper { name, is_list: item.is_some(), moved })
    }

    /// Takes what this object requires out of the one object below that has it and does not know it.
    fn raise_keys(&mut self, entries: &mut Map<String, Value>, schema: &'s Value, site: &Site<'_, 's>) {
        let layers = self.outline.layers(schema);
        let required = layers.iter().flat_map(|layer| parts(layer, "required")).filter_map(Value::as_str);
        let missing: Vec<&str> = required.filter(|name| !entries.contains_key(*name)).collect();
        for name in missing {
            let holds = |(key, entry): (&String, &Value)| {
                let property = layers.iter().find_map(|layer| property_schema(layer, key))?;
                let known = self.names(property);
                let is_foreign = !known.is_open && !known.known.is_empty() && !known.known.contains(&name);
                (is_foreign && entry.get(name).is_some()).then(|| key.clone())
            };
            let mut holders = entries.iter().filter_map(holds);
            let (Some(holder), None) = (holders.next(), holders.next()) else { continue };
            let held = entries.get_mut(&holder).and_then(Value::as_object_mut);
            let Some(entry) = held.and_then(|held| held.shift_remove(name)) else { continue };
            let place = site.at_key(&holder);
            self.repairs.push(format!("{}: read as {}", place.at_key(name).path(), shown_text(name)));
            entries.insert(name.to_owned(), entry);
        }
    }
}
