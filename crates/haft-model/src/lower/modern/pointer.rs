//! Finds where a reference leads inside one schema, and what the definition there is called.

use std::collections::HashMap;

use serde_json::Value;

use super::super::receipt::inside;

/// Returns the pointer of every `$anchor` (and draft-07 `"$id": "#name"`) in the schema.
pub(super) fn anchors(schema: &Value) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut rest = vec![(schema, String::new())];
    while let Some((value, at)) = rest.pop() {
        match value {
            Value::Object(map) => {
                for keyword in ["$anchor", "$dynamicAnchor", "$id"] {
                    if let Some(name) = map.get(keyword).and_then(Value::as_str)
                        && (keyword != "$id" || name.starts_with('#'))
                    {
                        let name = name.trim_start_matches('#').to_owned();
                        found.entry(name).or_insert_with(|| at.clone());
                    }
                }
                rest.extend(map.iter().map(|(key, value)| (value, inside(&at, key))));
            }
            Value::Array(list) => {
                rest.extend(list.iter().enumerate().map(|(i, value)| (value, inside(&at, &i.to_string()))))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Returns the JSON pointer a reference stands for, or nothing when it leaves the schema.
pub(super) fn local(reference: &str, base: &str, anchors: &HashMap<String, String>) -> Option<String> {
    let base = base.trim_end_matches('#');
    let fragment = match reference.split_once('#') {
        Some((before, fragment)) if before.is_empty() || before == base => fragment,
        None if !base.is_empty() && reference == base => "",
        _ => return None,
    };
    let fragment = percent_decoded(fragment)?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return Some(fragment);
    }
    anchors.get(&fragment).cloned()
}

/// Returns a name for the definition at `pointer` that no other definition has. `taken` counts how
/// often each name was wanted.
pub(super) fn free_name(pointer: &str, taken: &mut HashMap<String, usize>) -> String {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    let mut name: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect();
    if name.is_empty() {
        name = "root".to_owned();
    }
    let mut free = name.clone();
    while taken.contains_key(&free) {
        let count = taken.entry(name.clone()).or_insert(1);
        *count += 1;
        free = format!("{name}_{count}");
    }
    taken.insert(free.clone(), 1);
    free
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}
