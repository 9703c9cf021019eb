//! Holds a value of a definition with its line, read from YAML within limits or made from a JSON value.
//!
//! Each error in a file is reported with its line, so the tree keeps lines until the definition is read. The author of
//! a file may be a stranger. So this module bounds text, depth, values and the expansion of aliases, and immediately
//! reports anything beyond a bound as an error.
//!
//! Words such as `yes`, `no` and `on` are text, as in YAML 1.2; only `true` and `false` are booleans.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::problem::DefinitionProblem;
use super::unreadable::explain;

/// Most bytes of a file.
pub(in crate::defined::definition) const MOST_BYTES: usize = 1 << 20;
/// Most levels of lists and maps; the reader calls itself for each.
pub(in crate::defined::definition) const DEEPEST: usize = 32;
pub(in crate::defined::definition) const TOO_DEEP: &str = "it nests deeper than 32 levels";
/// Most values of a file.
pub(in crate::defined::definition) const MOST_VALUES: usize = 20_000;
/// Most values that all aliases of a file stand for.
pub(in crate::defined::definition) const MOST_ALIASED: usize = 10_000;

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::defined::definition) struct DefinitionNode {
    /// The line, from 1, where it comes from a text.
    pub(in crate::defined::definition) line: Option<usize>,
    pub(in crate::defined::definition) value: DefinitionValue,
}

/// A value of a definition, without its line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::defined::definition) enum DefinitionValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<DefinitionNode>),
    Map(Vec<(DefinitionKey, DefinitionNode)>),
}

/// A key of a map and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::defined::definition) struct DefinitionKey {
    pub(in crate::defined::definition) name: String,
    pub(in crate::defined::definition) line: Option<usize>,
}

impl DefinitionNode {
    /// Reads a text that holds one document.
    pub(in crate::defined::definition) fn from_yaml(text: &str) -> Result<Self, DefinitionProblem> {
        if text.len() > MOST_BYTES {
            let what = format!("it has {} bytes, more than 1 MiB", text.len());
            return Err(DefinitionProblem::error(None, what, "keep data in a file that the tool reads"));
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: DEEPEST,
                flow_nesting_limit: DEEPEST,
                max_nodes: MOST_VALUES,
                max_events: 4 * MOST_VALUES,
                max_recorded_anchor_events: 4 * MOST_VALUES,
            },
            alias_limits: serde_saphyr::alias_limits! {
                max_total_replayed_events: MOST_ALIASED,
                max_replay_stack_depth: 16,
            },
            duplicate_keys: DuplicateKeyPolicy::Error,
            strict_booleans: true,
            reject_unsupported_tags: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| explain(&error))
    }

    /// Takes a JSON value, which has no lines.
    pub(in crate::defined::definition) fn from_value(value: Value) -> Result<Self, DefinitionProblem> {
        Self::at_depth(value, 0)
    }

    fn at_depth(value: Value, depth: usize) -> Result<Self, DefinitionProblem> {
        if depth > DEEPEST {
            return Err(DefinitionProblem::error(None, TOO_DEEP, "use fewer levels, or a `$ref` in a schema"));
        }
        let value = match value {
            Value::Null => DefinitionValue::Null,
            Value::Bool(flag) => DefinitionValue::Bool(flag),
            Value::Number(number) => DefinitionValue::Number(number),
            Value::String(text) => DefinitionValue::Text(text),
            Value::Array(items) => DefinitionValue::List(
                items.into_iter().map(|item| Self::at_depth(item, depth + 1)).collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => {
                let entry = |(name, value)| Ok((DefinitionKey { name, line: None }, Self::at_depth(value, depth + 1)?));
                DefinitionValue::Map(fields.into_iter().map(entry).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { line: None, value })
    }

    /// Returns the value without its lines.
    pub(in crate::defined::definition) fn to_value(&self) -> Value {
        match &self.value {
            DefinitionValue::Null => Value::Null,
            DefinitionValue::Bool(flag) => Value::Bool(*flag),
            DefinitionValue::Number(number) => Value::Number(number.clone()),
            DefinitionValue::Text(text) => Value::String(text.clone()),
            DefinitionValue::List(items) => items.iter().map(DefinitionNode::to_value).collect(),
            DefinitionValue::Map(_) => Value::Object(self.to_map()),
        }
    }

    /// Returns the entries of a map without their lines; none for other values.
    pub(in crate::defined::definition) fn to_map(&self) -> Map<String, Value> {
        self.entries().iter().map(|(key, node)| (key.name.clone(), node.to_value())).collect()
    }

    pub(in crate::defined::definition) fn entries(&self) -> &[(DefinitionKey, DefinitionNode)] {
        match &self.value {
            DefinitionValue::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(in crate::defined::definition) fn text(&self) -> Option<&str> {
        match &self.value {
            DefinitionValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(in crate::defined::definition) fn is_null(&self) -> bool {
        self.value == DefinitionValue::Null
    }

    /// Returns the entry of a map by its name.
    pub(in crate::defined::definition) fn entry(&self, name: &str) -> Option<(&DefinitionKey, &DefinitionNode)> {
        self.entries().iter().find(|(key, _)| key.name == name).map(|(key, node)| (key, node))
    }

    /// Returns the line of what a JSON pointer leads to, or of the last thing on the way that is there.
    pub(in crate::defined::definition) fn line_at(&self, pointer: &str) -> Option<usize> {
        let mut node = self;
        let mut line = self.line;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                DefinitionValue::List(items) => {
                    step.parse().ok().and_then(|index: usize| items.get(index)).map(|n| (n.line, n))
                }
                _ => node.entry(&step).map(|(key, node)| (key.line, node)),
            };
            let Some((found, inner)) = next else { break };
            (line, node) = (found, inner);
        }
        line
    }

    /// Says what the value is, for errors.
    pub(in crate::defined::definition) fn sort(&self) -> &'static str {
        match &self.value {
            DefinitionValue::Null => "nothing",
            DefinitionValue::Bool(_) => "true or false",
            DefinitionValue::Number(_) => "a number",
            DefinitionValue::Text(_) => "text",
            DefinitionValue::List(_) => "a list",
            DefinitionValue::Map(_) => "a map",
        }
    }
}

impl<'de> Deserialize<'de> for DefinitionNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<DefinitionValue>::deserialize(deserializer)?;
        Ok(Self { line: Some(line(&spanned)), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for DefinitionKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self { line: Some(line(&spanned)), name: spanned.value })
    }
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    usize::try_from(spanned.referenced.line()).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for DefinitionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = DefinitionValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has too")
    }

    fn visit_unit<E: de::Error>(self) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Null)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Bool(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Number(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<DefinitionValue, E> {
        Number::from_f64(number).map(DefinitionValue::Number).ok_or_else(|| E::custom("JSON has no such number"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<DefinitionValue, E> {
        Ok(DefinitionValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DefinitionValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(DefinitionValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<DefinitionValue, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(DefinitionValue::Map(map))
    }
}
