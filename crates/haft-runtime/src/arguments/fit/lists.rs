//! Reads lists with the wrong nesting: one item, several in one text, a row for a list of rows.
//!
//! haft does not wrap each item of a flat list in its own list, because either nesting may be meant. It does so only if
//! the schema rules the other nesting out.

use serde_json::{Map, Value};

use super::super::outline::{item_schema, types};
use super::site::Site;
use super::{Fitting, Layers};
use crate::arguments::repairs::literal;
use crate::arguments::repairs::literal::Literal;

/// Brackets inside which a comma separates nothing: `*.{rs,md}`.
const BRACKETS: [(char, char); 3] = [('{', '}'), ('[', ']'), ('(', ')')];

/// Returns the lists that a text without brackets may stand for: of one item, of several, or none.
pub(super) fn in_text(text: &str) -> Vec<Value> {
    let trimmed = text.trim();
    let is_quoted = ['"', '\'', '`'].iter().any(|quote| trimmed.starts_with(*quote) && trimmed.ends_with(*quote));
    if trimmed.is_empty() || is_quoted || super::coerce::is_null_in_text(trimmed) {
        return Vec::new();
    }
    let one = Value::Array(vec![text.into()]);
    let separators = separators(trimmed);
    let Some(first) = separators.first().copied() else { return vec![one] };
    if separators.iter().any(|other| *other != first) || is_one_number(trimmed) {
        return Vec::new();
    }
    let several = trimmed.split(first).map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect();
    vec![one, Value::Array(several)]
}

/// The commas, semicolons and line ends outside of brackets.
fn separators(text: &str) -> Vec<char> {
    let mut depth = 0_i64;
    let mut found = Vec::new();
    for c in text.chars() {
        if BRACKETS.iter().any(|(open, _)| *open == c) {
            depth += 1;
        } else if BRACKETS.iter().any(|(_, close)| *close == c) {
            depth -= 1;
        } else if depth <= 0 && matches!(c, ',' | ';' | '\n') {
            found.push(c);
        }
    }
    found
}

/// Whether commas may group the digits of one number, or stand before its fraction: `1,234` and `1,5`.
fn is_one_number(text: &str) -> bool {
    let groups: Vec<&str> = text.trim_start_matches('-').split(',').collect();
    let are_digits = groups.iter().all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    are_digits && (groups.len() == 2 || groups[1..].iter().all(|group| group.len() == 3))
}

impl<'s> Fitting<'_, 's> {
    /// Puts a row into a list of rows, or takes the only row out of one, where only that fits.
    pub(super) fn renest(&mut self, value: &mut Value, schema: &'s Value, layers: Layers<'_, 's>, site: &Site<'_, 's>) {
        let Value::Array(items) = &*value else { return };
        if items.is_empty() || site.is_item() || self.outline.admits(value, schema) {
            return;
        }
        let wants_rows = layers.iter().any(|layer| has_only_lists(layer));
        let nested = if wants_rows && !items.iter().any(is_list) {
            let each: Vec<Value> = items.iter().map(|item| Value::Array(vec![item.clone()])).collect();
            let each_alone = self.settled(each.into(), schema, site);
            if self.outline.admits(&each_alone, schema) {
                return;
            }
            Value::Array(vec![value.clone()])
        } else if let ([Value::Array(only)], false) = (&items[..], wants_rows) {
            Value::Array(only.clone())
        } else {
            return;
        };
        let nested = self.settled(nested, schema, site);
        if self.outline.admits(&nested, schema) {
            self.tell_change(site, value, &nested);
            *value = nested;
        }
    }
}

/// Whether an item is a list, or a text that is read as one.
fn is_list(item: &Value) -> bool {
    item.is_array() || item.as_str().is_some_and(|text| !matches!(literal::read(text), Literal::Plain))
}

/// Whether the items of a list are lists and nothing else.
fn has_only_lists(layer: &Map<String, Value>) -> bool {
    let item = item_schema(layer, 0).and_then(Value::as_object);
    item.is_some_and(|item| types(item) == ["array"])
}
