//! Reads calls in the XML of NexAU: `<tool_use>`, and several of them in `<use_parallel_tool_calls>`.
//!
//! Models seldom write XML that a parser accepts: values hold code with `<` and `&`. So a value is the text between its
//! tags, with the five named characters replaced.

use serde_json::{Map, Value};

use super::markers::without_frame;
use super::{CallMatch, ReplySegment};
use crate::writing::offered_names::OfferedNames;

pub(super) const SINGLE: &str = "<tool_use>";
pub(super) const PARALLEL: &str = "<use_parallel_tool_calls>";

const ENTITIES: [(&str, &str); 5] = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];

/// An element's content, and what follows it; nothing follows where it does not end.
struct Element<'a> {
    inside: &'a str,
    after: Option<&'a str>,
}

/// Reads what follows `<tool_use>`.
pub(super) fn single(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let element = up_to(rest, "</tool_use>");
    let call = call(&element, names)?;
    Some(CallMatch { calls: vec![call], length: rest.len() - element.after.map_or(0, str::len) })
}

/// Reads what follows `<use_parallel_tool_calls>`. All its items must be calls.
pub(super) fn parallel(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let element = up_to(rest, "</use_parallel_tool_calls>");
    let mut calls = Vec::new();
    let mut left = element.inside.trim_start();
    while !left.is_empty() {
        let item = up_to(left.strip_prefix("<parallel_tool>")?, "</parallel_tool>");
        calls.push(call(&item, names)?);
        left = item.after.unwrap_or_default().trim_start();
    }
    let length = rest.len() - element.after.map_or(0, str::len);
    (!calls.is_empty()).then_some(CallMatch { calls, length })
}

fn call(element: &Element<'_>, names: &OfferedNames) -> Option<ReplySegment> {
    let named = up_to(element.inside.trim_start().strip_prefix("<tool_name>")?, "</tool_name>");
    let name = named.inside.trim();
    let mut left = named.after?.trim_start();
    if !names.has(name) {
        return None;
    }
    let mut arguments = Map::new();
    // The last tag is often the word at which a server stops: what stands in one block that ends is whole without it.
    let mut is_cut = element.after.is_none();
    while !left.is_empty() {
        let (key, parameter) = parameter(left)?;
        match key {
            Some(key) => add(&mut arguments, key, parameter.inside)?,
            None => is_cut = children(parameter.inside, &mut arguments)?.is_cut(),
        }
        is_cut |= parameter.after.is_none();
        left = parameter.after.unwrap_or_default().trim_start();
    }
    Some(ReplySegment::Call { name: name.to_owned(), arguments: Value::Object(arguments).to_string(), is_cut })
}

/// Reads `<parameter>…</parameter>`, or `<parameter name="key">value</parameter>`.
fn parameter(text: &str) -> Option<(Option<&str>, Element<'_>)> {
    let opened = text.strip_prefix("<parameter")?;
    let (attribute, inside) = opened.split_once('>')?;
    let key = match attribute.trim() {
        "" => None,
        attribute => Some(attribute.strip_prefix("name=")?.trim_matches(['"', '\''])),
    };
    Some((key, up_to(inside, "</parameter>")))
}

/// Whether all children of an element ended.
enum Children {
    Whole,
    Cut,
}

impl Children {
    fn is_cut(&self) -> bool {
        matches!(self, Children::Cut)
    }
}

/// Reads `<key>value</key>` again and again. Nothing where something else stands between them.
fn children(text: &str, arguments: &mut Map<String, Value>) -> Option<Children> {
    let mut left = text.trim_start();
    while !left.is_empty() {
        let Some((key, inside)) = left.strip_prefix('<')?.split_once('>') else { return Some(Children::Cut) };
        let is_name = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !is_name {
            return None;
        }
        let child = up_to(inside, &format!("</{key}>"));
        add(arguments, key, child.inside)?;
        let Some(after) = child.after else { return Some(Children::Cut) };
        left = after.trim_start();
    }
    Some(Children::Whole)
}

/// Adds an argument; nothing where it stands twice.
fn add(arguments: &mut Map<String, Value>, key: &str, written: &str) -> Option<()> {
    let data = written.trim().strip_prefix("<![CDATA[").and_then(|data| data.strip_suffix("]]>"));
    let value = data.map_or_else(|| unescaped(without_frame(written)), str::to_owned);
    arguments.insert(key.to_owned(), Value::String(value)).is_none().then_some(())
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut left = text;
    while let Some(at) = left.find('&') {
        let (before, entity) = left.split_at(at);
        plain.push_str(before);
        let known = ENTITIES.iter().find(|(name, _)| entity.starts_with(name));
        let (name, character) = known.copied().unwrap_or(("&", "&"));
        plain.push_str(character);
        left = entity.get(name.len()..).unwrap_or_default();
    }
    plain.push_str(left);
    plain
}

fn up_to<'a>(text: &'a str, end: &str) -> Element<'a> {
    match text.split_once(end) {
        Some((inside, after)) => Element { inside, after: Some(after) },
        None => Element { inside: text, after: None },
    }
}
