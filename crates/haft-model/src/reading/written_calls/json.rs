//! Reads calls written as JSON: an object with a name and arguments, or a list of such objects.

use serde_json::value::RawValue;

use super::ReplySegment;
use crate::reading::raw_json::{Object, compact, list, text};
use crate::writing::offered_names::OfferedNames;

/// Says whether something beside the JSON marks it as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallMarker {
    Yes,
    No,
}

/// Returns the calls of a text that is nothing but calls, or the beginning of one.
pub(super) fn only_calls(body: &str, names: &OfferedNames) -> Option<Vec<ReplySegment>> {
    let mut calls = Vec::new();
    let mut left = body.trim();
    while !left.is_empty() {
        if !left.starts_with(['{', '[']) {
            return None;
        }
        let Some((value, length)) = first_value(left) else {
            calls.push(half(left, names)?);
            break;
        };
        calls.extend(calls_of(&value, CallMarker::No, names)?);
        left = left.get(length..)?.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// Reads the value at the beginning of a text. Returns it and its length.
pub(super) fn first_value(body: &str) -> Option<(Box<RawValue>, usize)> {
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<Box<RawValue>>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Returns the calls that a value is: an object or a list of objects, all of which must be calls.
pub(super) fn calls_of(value: &RawValue, marked: CallMarker, names: &OfferedNames) -> Option<Vec<ReplySegment>> {
    let elements = match list(value.get()) {
        Some(elements) => elements,
        None => vec![value.to_owned()],
    };
    let calls: Option<Vec<ReplySegment>> = elements.iter().map(|element| call_of(element, marked, names)).collect();
    calls.filter(|calls| !calls.is_empty())
}

fn call_of(value: &RawValue, marked: CallMarker, names: &OfferedNames) -> Option<ReplySegment> {
    let outer = Object::read(value.get())?;
    // As it stands in `tool_calls`.
    let inner = outer.object("function");
    let object = inner.as_ref().unwrap_or(&outer);
    let name = object.text("name").filter(|name| names.has(name))?;
    let arguments = match (object.raw("arguments"), object.raw("parameters"), marked) {
        (Some(arguments), None, _) | (None, Some(arguments), _) => arguments_of(arguments)?,
        (None, None, CallMarker::Yes) => "{}".to_owned(),
        (None, None, CallMarker::No) | (Some(_), Some(_), _) => return None,
    };
    let is_known = |member: &str| matches!(member, "name" | "arguments" | "parameters" | "type" | "id" | "function");
    let has_others = outer.members().chain(object.members()).any(|(member, _)| !is_known(member));
    let is_call = marked == CallMarker::Yes || !has_others;
    is_call.then_some(ReplySegment::Call { name, arguments, is_cut: false })
}

/// Returns arguments that are an object, or the text of one.
fn arguments_of(raw: &RawValue) -> Option<String> {
    let written = text(raw).unwrap_or_else(|| compact(raw).get().to_owned());
    Object::read(&written).map(|_| written)
}

/// Reads a call whose JSON is not whole: its name must be there, and its arguments must have begun.
pub(super) fn half(body: &str, names: &OfferedNames) -> Option<ReplySegment> {
    let (name, arguments) = name_and_rest(body)?;
    if !names.has(&name) {
        return None;
    }
    let rest_is_closing = |rest: &str| rest.chars().all(|c| c.is_whitespace() || matches!(c, '}' | ']'));
    let whole = first_value(arguments).filter(|(_, length)| arguments.get(*length..).is_some_and(rest_is_closing));
    // Only the last brackets are missing.
    if let Some(arguments) = whole.and_then(|(value, _)| arguments_of(&value)) {
        return Some(ReplySegment::Call { name, arguments, is_cut: false });
    }
    Some(ReplySegment::Call { name, arguments: arguments.to_owned(), is_cut: true })
}

/// Splits `{"name": "x", "arguments": …` into the name and what follows the last colon.
fn name_and_rest(body: &str) -> Option<(String, &str)> {
    let body = body.trim_start_matches(['[', ' ', '\n', '\r', '\t']).strip_prefix('{')?;
    let rest = after_member(body, &["name"])?;
    let (name, length) = first_value(rest)?;
    let name = text(&name)?;
    let rest = rest.get(length..)?.trim_start().strip_prefix(',')?;
    let arguments = after_member(rest, &["arguments", "parameters"])?;
    let has_begun = arguments.starts_with(['{', '"']);
    has_begun.then_some((name, arguments))
}

/// Returns what follows a member's name and its colon.
fn after_member<'a>(body: &'a str, wanted: &[&str]) -> Option<&'a str> {
    let body = body.trim_start().strip_prefix('"')?;
    let mut names = wanted.iter().filter_map(|name| body.strip_prefix(name)?.strip_prefix('"'));
    Some(names.next()?.trim_start().strip_prefix(':')?.trim_start())
}
