//! Reads the arguments, and repairs text that has exactly one sensible reading.

use std::sync::Arc;

use haft_contract::call::RawArguments;
use haft_contract::description::dialect::Dialect;
use haft_contract::description::shape::{ArgumentShape, Meaning};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use serde_json::Value;

use super::prepare::{describe, example_call, sentence};
use super::resolve::ResolvedCall;
use crate::arguments::{self, ArgumentReading};
use crate::catalogue::entry::CatalogEntry;
use crate::pipeline::call_context::CallContext;

/// A call whose arguments are JSON.
pub(crate) struct ParsedCall {
    pub(crate) entry: Arc<CatalogEntry>,
    pub(crate) arguments: Value,
}

/// Reads the arguments and turns them back from a provider's schema.
pub(crate) fn parse(cx: &CallContext<'_>, resolved: ResolvedCall) -> Result<ParsedCall, ToolError> {
    let ResolvedCall { entry, arguments, lift, repair } = resolved;
    cx.note(|notes| {
        notes.repairs.extend(repair);
        notes.tool.clone_from(&entry.shown.name);
        notes.entry = Some(entry.clone());
    });
    let read = match arguments {
        RawArguments::Object(fields) => Value::Object(fields),
        RawArguments::Words(words) => arguments::read_words(&words, &entry.call_spec().input_schema)
            .map_err(|faults| describe(cx.dialect(), &entry, &faults))?,
        RawArguments::Text(text) => match read(&text, &entry) {
            Ok(reading) => {
                cx.note(|notes| notes.repairs.extend(reading.repairs));
                reading.value
            }
            Err(fault) => {
                cx.note(|notes| notes.key = Some(cx.session.memory.key_of_text(entry.native_name(), &text)));
                // An excerpt may cut a secret in two, so it is taken from a text that has none.
                let redacted = cx.session.ground.redactor.redact(&text);
                let fault = arguments::read_text(&redacted).err().unwrap_or(fault);
                return Err(unreadable(cx.dialect(), &entry, &fault));
            }
        },
    };
    let arguments = match lift {
        Some(lift) => lift.apply(read),
        None => read,
    };
    if cx.dialect().is_some() {
        cx.note(|notes| notes.arguments = arguments.clone());
    }
    Ok(ParsedCall { entry, arguments })
}

/// Reads the text as an object, or as the one argument that it looks like where it is no JSON.
fn read(text: &str, entry: &CatalogEntry) -> Result<ArgumentReading, arguments::Fault> {
    let looks_like = |shape: &&ArgumentShape| matches!(shape.meaning, Meaning::Raw(looks_like) if looks_like(text));
    match entry.shown.shapes.0.iter().find(looks_like) {
        None => arguments::read_text(text),
        Some(shape) => {
            let value = serde_json::json!({ shape.written: text });
            Ok(ArgumentReading { value, repairs: vec![format!("json: the text read as \"{}\"", shape.written)] })
        }
    }
}

pub(crate) fn unreadable(dialect: Option<&dyn Dialect>, entry: &CatalogEntry, fault: &arguments::Fault) -> ToolError {
    let what = format!("{}: {}", entry.shown.name, sentence(fault));
    let next = format!("send the arguments again as one JSON object, for example {}", example_call(dialect, entry));
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next))
}
