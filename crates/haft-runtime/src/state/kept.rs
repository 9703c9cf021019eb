//! Builds the key and the stored form of results that haft may reuse for an identical call.
//!
//! The key holds everything that the answer depends on: the tool and its version, the limits, the arguments including
//! fixed and hidden ones, the stamps of the files that the plan reads, and the tool's own dependencies. The store gets
//! the key unchanged and keeps only a keyed hash of it.
//!
//! Not here: where haft stores results (`haft-workspace`), whether it reuses one (`stages/recall`).

use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_contract::files::path::{Extent, Target};
use haft_contract::outcome::output::{Content, ReducedLimit, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pipeline::call_context::CallContext;
use crate::pipeline::stages::line_up::LinedUpCall;
use crate::redaction::redact::Redactor;

/// Changes when what is kept has another form.
const FORM: &str = "2";

/// What a kept result depends on.
pub(crate) type KeptKey = Arc<[u8]>;

/// Makes the key of a planned call.
pub(crate) fn key(cx: &CallContext<'_>, planned: &LinedUpCall) -> KeptKey {
    let spec = planned.entry.tool.spec();
    let arguments = planned.entry.with_fixed(&planned.called.arguments);
    let limits = format!("{:?}", cx.limits());
    let mut parts = vec![FORM, &spec.name, &spec.version, &limits].into_iter().map(str::to_owned).collect::<Vec<_>>();
    parts.push(canonical(&arguments));
    parts.push(stamps(cx, planned));
    parts.extend(planned.plan.depends_on.iter().cloned());
    // The length before each part: no two lists of parts are the same text.
    let mut key = String::new();
    for part in parts {
        let _ = write!(key, "{}:{part}", part.len());
    }
    key.into_bytes().into()
}

/// Stamps all files that the plan reads. A tree has no stamp: a tool that reads a tree and keeps results accepts that.
fn stamps(cx: &CallContext<'_>, planned: &LinedUpCall) -> String {
    let look = &cx.session.ground.doors.look;
    let read = planned.plan.effects.iter().filter_map(|effect| match effect {
        Effect::Read(target) | Effect::Step(CommandStep { does: StepEffect::Read(target), .. }) => Some(target),
        _ => None,
    });
    let is_file = |target: &&Target| target.place().extent() == Extent::Entry;
    let declared = read.filter(is_file).map(|target| format!("{target:?} {:?}", look.stamp(target)));
    let seen = planned.read.iter().map(|(target, version)| format!("{target:?} {:?}", version.content));
    let mut all: Vec<String> = declared.chain(seen).collect();
    all.sort_unstable();
    all.join("\n")
}

/// A value as text, so that the order of an object's keys does not matter.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// An output as it lies on disk.
#[derive(Deserialize, Serialize)]
struct KeptOutput {
    text: Vec<String>,
    human: Option<String>,
    data: Option<Value>,
    /// Whether the data is null, which is not the same as none; `data` alone does not tell them apart.
    #[serde(default)]
    is_null: bool,
    limited: Option<(u64, u64)>,
}

/// Writes an output down, without secrets. Nothing where it is more than text and data.
pub(crate) fn to_bytes(output: &ToolOutput, redactor: &Redactor) -> Option<Bytes> {
    // The whole of a long output belongs to its session, so the part that was shown would lead nowhere.
    if output.spilled.is_some() {
        return None;
    }
    let hide = |text: &str| redactor.redact(text).into_owned();
    let text = output.for_model.iter().map(|piece| piece.text().map(hide)).collect::<Option<_>>()?;
    let mut data = output.data.clone();
    if let Some(data) = &mut data {
        redactor.redact_value(data);
    }
    let limited = output.limited.map(|ReducedLimit { asked, used }| (asked, used));
    let is_null = data == Some(Value::Null);
    let kept = KeptOutput { text, human: output.for_human.as_deref().map(hide), data, is_null, limited };
    serde_json::to_vec(&kept).ok().map(Bytes::from)
}

/// Reads an output again.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<ToolOutput> {
    let KeptOutput { text, human, data, is_null, limited } = serde_json::from_slice(bytes).ok()?;
    let data = data.or_else(|| is_null.then_some(Value::Null));
    let for_model = text.into_iter().map(Content::Text).collect();
    let limited = limited.map(|(asked, used)| ReducedLimit { asked, used });
    Some(ToolOutput { for_model, for_human: human, data, spilled: None, limited, changes: None, said: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_output_comes_back_as_it_was_but_for_its_secrets() {
        let output =
            ToolOutput::text("key hunter2-hunter2").with_data(json!({ "a": ["hunter2-hunter2"] })).with_display("d");
        let output = output.with_limited(Some(ReducedLimit { asked: 9, used: 3 }));
        let redactor = Redactor::of_values(["hunter2-hunter2".to_owned()]);
        let bytes = to_bytes(&output, &redactor).expect("it can be kept");
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"));
        assert_eq!(from_bytes(&to_bytes(&output, &Redactor::default()).expect("it can be kept")), Some(output));
        assert_eq!(from_bytes(&bytes[1..]), None);
        assert_eq!(to_bytes(&ToolOutput { spilled: Some("id".into()), ..ToolOutput::text("x") }, &redactor), None);
    }

    #[test]
    fn data_that_is_null_comes_back_as_null_and_none_as_none() {
        for output in [ToolOutput::text("Done.").with_data(Value::Null), ToolOutput::text("Done.")] {
            let bytes = to_bytes(&output, &Redactor::default()).expect("it can be kept");
            assert_eq!(from_bytes(&bytes), Some(output));
        }
    }

    #[test]
    fn the_order_of_keys_does_not_matter() {
        assert_eq!(
            canonical(&json!({ "b": [1, null], "a": { "d": "x", "c": 2 } })),
            r#"{"a":{"c":2,"d":"x"},"b":[1,null]}"#
        );
    }
}
