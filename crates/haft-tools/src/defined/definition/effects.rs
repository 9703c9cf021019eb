//! Reads the effects that a tool declares: files that it reads or changes, hosts that it connects to.

use std::fmt;

use serde_json::Value;

use super::syntax::fields::{Fields, Problems};
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use super::syntax::template::PathTemplate;

const FORM: &str = "write a list such as [{read: \"{path}\"}, {connect: api.example.com}], or [] when it only computes";
const KINDS: [&str; 3] = ["read", "change", "connect"];

/// One thing that a tool declares to do.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredEffect {
    /// It reads what lies at a path.
    Read(PathTemplate),
    /// It makes, changes or removes what lies at a path.
    Change(PathTemplate),
    /// It connects to a host.
    Connect(String),
}

/// Says what is declared, as its file does.
impl fmt::Display for DeclaredEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredEffect::Read(path) => write!(f, "read {path}"),
            DeclaredEffect::Change(path) => write!(f, "change {path}"),
            DeclaredEffect::Connect(host) => write!(f, "connect to {host}"),
        }
    }
}

/// Reads the declared effects; nothing when nothing is declared.
pub(super) fn read(fields: &Fields<'_>, schema: &Value, problems: &mut Problems) -> Option<Vec<DeclaredEffect>> {
    let (key, node) = fields.entry("effects")?;
    let DefinitionValue::List(items) = &node.value else {
        problems.error(key.line, format!("\"effects\" is {}, but it is a list", node.sort()), FORM);
        return None;
    };
    let mut declared = Vec::new();
    for item in items {
        let [(kind, inner)] = item.entries() else {
            problems.error(item.line, "an effect is a map with one key", FORM);
            continue;
        };
        if !KINDS.contains(&kind.name.as_str()) {
            let fix = haft_contract::text::closest::closest(&kind.name, KINDS.into_iter())
                .map_or(FORM.to_owned(), |near| format!("did you mean \"{near}\"?"));
            problems.error(kind.line, format!("there is no effect {:?}", kind.name), fix);
            continue;
        }
        match &inner.value {
            DefinitionValue::List(several) => {
                several.iter().for_each(|one| declared.extend(effect(kind, one, schema, problems)))
            }
            _ => declared.extend(effect(kind, inner, schema, problems)),
        }
    }
    Some(declared)
}

fn effect(
    kind: &DefinitionKey,
    inner: &DefinitionNode,
    schema: &Value,
    problems: &mut Problems,
) -> Option<DeclaredEffect> {
    let line = inner.line.or(kind.line);
    let Some(text) = inner.text() else {
        let name = &kind.name;
        let fix = match inner.entries() {
            // Without quotes, YAML reads braces as a map.
            [(argument, value)] if value.is_null() => format!("put it in quotes: {name}: \"{{{}}}\"", argument.name),
            _ => FORM.to_owned(),
        };
        problems.error(line, format!("\"{name}\" is {}, but it is text", inner.sort()), fix);
        return None;
    };
    if kind.name == "connect" {
        return host(text, line, problems);
    }
    if text.contains('*') {
        let what = format!("{text:?} is taken as it is written: effects have no patterns");
        problems.warn(line, what, "for everything in a folder write its name and a slash, such as out/");
    }
    match PathTemplate::read(text, schema) {
        Ok(template) if kind.name == "read" => Some(DeclaredEffect::Read(template)),
        Ok(template) => Some(DeclaredEffect::Change(template)),
        Err((what, fix)) => {
            problems.error(line, what, fix);
            None
        }
    }
}

/// A host is written as in an address, without scheme, port and path.
fn host(text: &str, line: Option<usize>, problems: &mut Problems) -> Option<DeclaredEffect> {
    let host = text.trim().to_ascii_lowercase();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let is_host = host.starts_with(|first: char| first.is_ascii_alphanumeric()) && host.chars().all(is_letter);
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    if is_host || is_address {
        return Some(DeclaredEffect::Connect(host));
    }
    let bare = host.split_once("://").map_or(&*host, |(_, rest)| rest).split(['/', ':']).next().unwrap_or_default();
    let fix = match bare.chars().all(is_letter) && !bare.is_empty() {
        true => format!("write connect: {bare}"),
        false => "name one host, such as api.example.com; leave \"effects\" out when it is not known before".to_owned(),
    };
    problems.error(line, format!("{text:?} is not a host"), fix);
    None
}
