//! Reads calls after a marker that only calls have.

use serde_json::{Map, Value};

use super::json::{CallMarker, calls_of, first_value, half};
use super::xml;
use super::{CallMatch, ReplySegment};
use crate::writing::offered_names::OfferedNames;

const TOOL_CALL: &str = "<tool_call>";
const TOOL_CALL_END: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";
const PARAMETER: &str = "<parameter=";
const PARAMETER_END: &str = "</parameter>";
const MISTRAL: &str = "[TOOL_CALLS]";
const LLAMA: &str = "<|python_tag|>";

type MarkerParser = fn(&str, &OfferedNames) -> Option<CallMatch>;

/// How a call begins, and who reads what follows.
const MARKERS: [(&str, MarkerParser); 6] = [
    (TOOL_CALL, tool_call),
    (FUNCTION, function),
    (MISTRAL, mistral),
    (LLAMA, llama),
    (xml::SINGLE, xml::single),
    (xml::PARALLEL, xml::parallel),
];

/// Whether a text begins with a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    Yes,
    /// It is as far as it goes the beginning of one.
    Perhaps,
    No,
}

/// Says whether a text begins with a marker.
pub(super) fn begins(text: &str) -> Begins {
    if MARKERS.iter().any(|(marker, _)| text.starts_with(marker)) {
        Begins::Yes
    } else if MARKERS.iter().any(|(marker, _)| marker.starts_with(text)) {
        Begins::Perhaps
    } else {
        Begins::No
    }
}

/// Reads the calls at the beginning of a text.
pub(super) fn read(text: &str, names: &OfferedNames) -> Option<CallMatch> {
    let (marker, reader) = MARKERS.iter().find(|(marker, _)| text.starts_with(marker))?;
    let rest = text.get(marker.len()..)?;
    let found = reader(rest, names)?;
    Some(CallMatch { calls: found.calls, length: marker.len() + found.length })
}

fn tool_call(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let space = rest.len() - rest.trim_start().len();
    let body = rest.get(space..)?;
    let inner = match body.strip_prefix(FUNCTION) {
        Some(inside) => {
            let found = function(inside, names)?;
            CallMatch { calls: found.calls, length: FUNCTION.len() + found.length }
        }
        None => json_until(body, TOOL_CALL_END, names)?,
    };
    let after = body.get(inner.length..)?;
    let closing = after.trim_start().strip_prefix(TOOL_CALL_END).map_or(0, |left| after.len() - left.len());
    Some(CallMatch { calls: inner.calls, length: space + inner.length + closing })
}

fn llama(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let space = rest.len() - rest.trim_start().len();
    let found = json_until(rest.get(space..)?, "<|e", names)?;
    Some(CallMatch { calls: found.calls, length: space + found.length })
}

/// Reads JSON that is whole; or else what stands before its end, if that begins like a call.
fn json_until(body: &str, end: &str, names: &OfferedNames) -> Option<CallMatch> {
    if let Some((value, length)) = first_value(body) {
        return Some(CallMatch { calls: calls_of(&value, CallMarker::Yes, names)?, length });
    }
    let ends_at = body.find(end);
    let length = ends_at.unwrap_or(body.len());
    let written = body.get(..length)?.trim_end();
    let mut call = half(written, names)?;
    if let (ReplySegment::Call { arguments, is_cut, .. }, Some(_)) = (&mut call, ends_at) {
        // The model ended it on purpose: the code that reads arguments tells the model what is wrong with it.
        *is_cut = false;
        if arguments.ends_with('}') && closes_too_much(arguments) {
            arguments.pop();
        }
    }
    Some(CallMatch { calls: vec![call], length })
}

/// Says whether there are more closing than opening braces, strings not looked at: the last one is of what stands around.
fn closes_too_much(text: &str) -> bool {
    text.matches('}').count() > text.matches('{').count()
}

/// Reads `name>{…}</function>` or `name><parameter=key>value</parameter>…</function>`.
fn function(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let (name, after) = rest.split_once('>')?;
    let name = name.trim().trim_matches('"');
    if !names.has(name) {
        return None;
    }
    let body = after.trim_start();
    let start = rest.len() - body.len();
    let (arguments, length, is_cut) = if body.starts_with('{') { json_arguments(body)? } else { parameters(body)? };
    let call = ReplySegment::Call { name: name.to_owned(), arguments, is_cut };
    Some(CallMatch { calls: vec![call], length: start + length })
}

fn json_arguments(body: &str) -> Option<(String, usize, bool)> {
    let Some((value, length)) = first_value(body) else {
        let Some(end) = body.find(FUNCTION_END) else { return Some((body.to_owned(), body.len(), true)) };
        return Some((body.get(..end)?.trim_end().to_owned(), end + FUNCTION_END.len(), false));
    };
    let after = body.get(length..)?;
    let closing = after.trim_start().strip_prefix(FUNCTION_END).map_or(0, |left| after.len() - left.len());
    Some((value.get().to_owned(), length + closing, false))
}

fn parameters(body: &str) -> Option<(String, usize, bool)> {
    let mut given = Map::new();
    let mut left = body;
    loop {
        left = left.trim_start();
        if let Some(after) = left.strip_prefix(FUNCTION_END) {
            return Some((Value::Object(given).to_string(), body.len() - after.len(), false));
        }
        let Some(opened) = left.strip_prefix(PARAMETER) else {
            // Nothing more: it broke off between two. Anything else is no call.
            return left.is_empty().then(|| (Value::Object(given).to_string(), body.len(), true));
        };
        let Some((key, value)) = opened.split_once('>') else {
            return Some((Value::Object(given).to_string(), body.len(), true));
        };
        let Some(end) = end_of_parameter(value) else {
            given.insert(key.trim().to_owned(), Value::String(without_frame(value).to_owned()));
            return Some((Value::Object(given).to_string(), body.len(), true));
        };
        let is_new = given.insert(key.trim().to_owned(), Value::String(without_frame(value.get(..end)?).to_owned()));
        if is_new.is_some() {
            return None;
        }
        left = value.get(end + PARAMETER_END.len()..)?;
    }
}

/// Returns where a value ends: at the first end that is followed by another parameter, the end of the call, or nothing.
fn end_of_parameter(value: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = value.get(from..)?.find(PARAMETER_END).map(|at| from + at) {
        let after = value.get(at + PARAMETER_END.len()..)?.trim_start();
        if after.is_empty() || after.starts_with(PARAMETER) || after.starts_with(FUNCTION_END) {
            return Some(at);
        }
        from = at + PARAMETER_END.len();
    }
    None
}

/// Takes the line breaks away between which a value is written.
pub(super) fn without_frame(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
    value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')).unwrap_or(value)
}

/// Reads `[{…}]`, `{…}` or `name[ARGS]{…}`, with or without `[CALL_ID]…` and with more of the kind behind it.
fn mistral(rest: &str, names: &OfferedNames) -> Option<CallMatch> {
    let body = rest.trim_start();
    let space = rest.len() - body.len();
    if body.starts_with(['[', '{']) {
        let found = json_until(body, "</s>", names)?;
        return Some(CallMatch { calls: found.calls, length: space + found.length });
    }
    let head_end = body.find('{').unwrap_or(body.len());
    let head = body.get(..head_end)?.trim_end();
    let head = head.strip_suffix("[ARGS]").unwrap_or(head);
    let name = head.split("[CALL_ID]").next().unwrap_or(head).trim();
    if !names.has(name) {
        return None;
    }
    let written = body.get(head_end..)?;
    let (arguments, length, is_cut) = match first_value(written) {
        Some((value, length)) => (value.get().to_owned(), length, false),
        None => (written.to_owned(), written.len(), true),
    };
    let call = ReplySegment::Call { name: name.to_owned(), arguments, is_cut };
    Some(CallMatch { calls: vec![call], length: space + head_end + length })
}
