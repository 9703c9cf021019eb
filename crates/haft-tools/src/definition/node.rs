//! A value of a definition that knows its line, read from YAML within limits or made from a JSON value.
//!
//! Everything that is wrong in a file is told with its line, so the tree keeps lines until the definition is read.
//! Whoever hands over a file may be a stranger: text, depth, values and what aliases stand for are bounded, and what is
//! beyond a bound is an error at once.
//!
//! Words such as `yes`, `no` and `on` are text, as in YAML 1.2; only `true` and `false` are booleans.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::problem::Problem;
use super::unreadable::explain;

/// Most bytes of a file.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// Most levels of lists and maps; the reader calls itself for each.
pub(super) const DEEPEST: usize = 32;
pub(super) const TOO_DEEP: &str = "it nests deeper than 32 levels";
/// Most values of a file.
pub(super) const MOST_VALUES: usize = 20_000;
/// Most values that all aliases of a file stand for.
pub(super) const MOST_ALIASED: usize = 10_000;

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The line, from 1, where it comes from a text.
    pub(super) line: Option<usize>,
    pub(super) value: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a map and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) line: Option<usize>,
}

impl Node {
    /// Reads a text that holds one document.
    pub(super) fn from_yaml(text: &str) -> Result<Self, Problem> {
        if text.len() > MOST_BYTES {
            let what = format!("it has {} bytes, more than 1 MiB", text.len());
            return Err(Problem::error(None, what, "keep data in a file that the tool reads"));
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
    pub(super) fn from_value(value: Value) -> Result<Self, Problem> {
        Self::at_depth(value, 0)
    }

    fn at_depth(value: Value, depth: usize) -> Result<Self, Problem> {
        if depth > DEEPEST {
            return Err(Problem::error(None, TOO_DEEP, "use fewer levels, or a `$ref` in a schema"));
        }
        let value = match value {
            Value::Null => Kind::Null,
            Value::Bool(flag) => Kind::Bool(flag),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => {
                Kind::List(items.into_iter().map(|item| Self::at_depth(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let entry = |(name, value)| Ok((Key { name, line: None }, Self::at_depth(value, depth + 1)?));
                Kind::Map(fields.into_iter().map(entry).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { line: None, value })
    }

    /// Returns the value without its lines.
    pub(super) fn to_value(&self) -> Value {
        match &self.value {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Node::to_value).collect(),
            Kind::Map(_) => Value::Object(self.to_map()),
        }
    }

    /// Returns the entries of a map without their lines; none for other values.
    pub(super) fn to_map(&self) -> Map<String, Value> {
        self.entries().iter().map(|(key, node)| (key.name.clone(), node.to_value())).collect()
    }

    pub(super) fn entries(&self) -> &[(Key, Node)] {
        match &self.value {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.value == Kind::Null
    }

    /// Returns the entry of a map by its name.
    pub(super) fn entry(&self, name: &str) -> Option<(&Key, &Node)> {
        self.entries().iter().find(|(key, _)| key.name == name).map(|(key, node)| (key, node))
    }

    /// Returns the line of what a JSON pointer leads to, or of the last thing on the way that is there.
    pub(super) fn line_at(&self, pointer: &str) -> Option<usize> {
        let mut node = self;
        let mut line = self.line;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                Kind::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)).map(|n| (n.line, n)),
                _ => node.entry(&step).map(|(key, node)| (key.line, node)),
            };
            let Some((found, inner)) = next else { break };
            (line, node) = (found, inner);
        }
        line
    }

    /// Says what the value is, for errors.
    pub(super) fn sort(&self) -> &'static str {
        match &self.value {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        Ok(Self { line: Some(line(&spanned)), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self { line: Some(line(&spanned)), name: spanned.value })
    }
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    usize::try_from(spanned.referenced.line()).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has too")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Kind, E> {
        Ok(Kind::Number(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Kind, E> {
        Ok(Kind::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Kind, E> {
        Number::from_f64(number).map(Kind::Number).ok_or_else(|| E::custom("JSON has no such number"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Kind, E> {
        Ok(Kind::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Kind, E> {
        Ok(Kind::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Kind::Map(map))
    }
}
