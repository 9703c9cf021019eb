//! Adds values to a JSON file without touching the rest of its text.
//!
//! A settings file belongs to its user: order, spaces and line ends stay unchanged.

use std::fmt;

use anyhow::{Context, bail};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Adds the members of an object to the object in a text: objects are merged, lists are appended. Other values that are
/// there stay.
///
/// # Errors
///
/// Fails if the text is not JSON, or has another kind of value where an object or a list must be.
pub(super) fn merged(text: &str, added: &Value) -> anyhow::Result<String> {
    if text.trim().is_empty() {
        return Ok(format!("{added:#}\n"));
    }
    serde_json::from_str::<&RawValue>(text).context("it is not JSON")?;
    let begin = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let inner = merge(&text[begin..end], added, 0)?;
    Ok(format!("{}{inner}{}", &text[..begin], &text[end..]))
}

/// Merges into one value, which begins at this depth.
fn merge(text: &str, added: &Value, depth: usize) -> anyhow::Result<String> {
    match added {
        Value::Object(members) => {
            let mut text = text.to_owned();
            for (key, value) in members {
                let found = Members::of(&text)?.position(&text, key);
                text = match found {
                    Some((begin, end)) => {
                        format!("{}{}{}", &text[..begin], merge(&text[begin..end], value, depth + 1)?, &text[end..])
                    }
                    None => appended(
                        &text,
                        '}',
                        &format!("{}: {}", Value::from(key.as_str()), pretty(value, depth + 1)),
                        depth,
                    )?,
                };
            }
            Ok(text)
        }
        Value::Array(items) => {
            let add = |text: String, item: &Value| appended(&text, ']', &pretty(item, depth + 1), depth);
            items.iter().try_fold(text.to_owned(), add)
        }
        _ => Ok(text.to_owned()),
    }
}

/// Returns a value in lines that fit at a depth.
fn pretty(value: &Value, depth: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

/// Appends a member before the end of an object or a list.
fn appended(text: &str, closing: char, member: &str, depth: usize) -> anyhow::Result<String> {
    let Some(inner) = text.strip_suffix(closing) else { bail!("it has another kind of value where haft's lines go") };
    let kept = inner.trim_end();
    let comma = if kept.len() > 1 { "," } else { "" };
    Ok(format!("{kept}{comma}\n{}{member}\n{}{closing}", "  ".repeat(depth + 1), "  ".repeat(depth)))
}

/// The members of an object, in their order, as parts of the text.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Members<'t> {
    fn of(text: &'t str) -> anyhow::Result<Self> {
        serde_json::from_str(text).context("it has another kind of value where haft's lines go")
    }

    /// Returns where the value of a member begins and ends.
    fn position(&self, text: &str, key: &str) -> Option<(usize, usize)> {
        let (_, value) = self.0.iter().rev().find(|(name, _)| name == key)?;
        let begin = value.get().as_ptr().addr() - text.as_ptr().addr();
        Some((begin, begin + value.get().len()))
    }
}

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = entries.next_entry::<String, &'de RawValue>()? {
                    members.push(entry);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_there_stays_as_it_is() {
        let text = "{\n\t\"model\":   \"x\",\n  \"hooks\": {\n    \"Pre\": [ {\"a\": 1} ]\n  }, \"z\": []\n}\n\n";
        let added = json!({ "hooks": { "Pre": [{ "b": 2 }], "Post": [] }, "version": 1 });
        let merged = merged(text, &added).expect("it is JSON");
        assert_eq!(
            merged,
            "{\n\t\"model\":   \"x\",\n  \"hooks\": {\n    \"Pre\": [ {\"a\": 1},\n      {\n        \"b\": 2\n      }\n    ],\n    \"Post\": []\n  }, \"z\": [],\n  \"version\": 1\n}\n\n"
        );
    }

    #[test]
    fn an_empty_object_is_filled_and_another_kind_of_value_is_refused() {
        let added = json!({ "hooks": { "Pre": [1] } });
        for text in ["", "{}", " {\n} "] {
            let text = merged(text, &added).expect("it is JSON");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), added, "{text}");
        }
        for text in ["[]", "{\"hooks\": []}", "{\"hooks\": {\"Pre\": {}}}", "{ // no\n}"] {
            assert!(merged(text, &added).is_err(), "{text}");
        }
    }
}
