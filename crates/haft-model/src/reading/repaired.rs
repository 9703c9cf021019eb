//! Writes repaired arguments into a reply with broken calls.
//!
//! haft runs a call whose JSON has one reading. The model must see that reading in later requests: if it sees its own
//! broken text, or a stand-in for it, it repeats the mistake. Everything else from the provider stays unchanged byte
//! for byte, because the signatures of thoughts cover it.
//!
//! Not here: what a broken text means (`haft_runtime::arguments`).

use serde_json::value::RawValue;

use super::raw_json::{Object, joined, list};
use crate::conversation::{ModelToolCall, Reply, ReplyPart};
use crate::wire::Wire;

impl Reply {
    /// Returns the reply with other arguments for those calls for which `repair` knows some. It is asked about whole calls
    /// whose arguments are no JSON object; what it returns is the text of one.
    pub fn with_repaired_arguments(self, repair: impl Fn(&ModelToolCall) -> Option<String>) -> Reply {
        let is_broken = |call: &ModelToolCall| !call.is_cut && Object::read(&call.arguments).is_none();
        let repaired: Vec<Option<String>> =
            self.calls().map(|call| if is_broken(call) { repair(call) } else { None }).collect();
        if repaired.iter().all(Option::is_none) {
            return self;
        }
        let mut of_calls = repaired.iter();
        let parts = self.parts.iter().map(|part| match part {
            ReplyPart::Call(call) => ReplyPart::Call(match of_calls.next() {
                Some(Some(arguments)) => ModelToolCall { arguments: arguments.clone(), ..call.clone() },
                Some(None) | None => call.clone(),
            }),
            ReplyPart::Text(_) | ReplyPart::Thinking(_) | ReplyPart::Refusal(_) => part.clone(),
        });
        let parts: Vec<ReplyPart> = parts.collect();
        match native(self.native.wire, &self.native.json, &repaired) {
            Some(json) => Reply { parts, native: crate::conversation::Native { json, ..self.native }, ..self },
            None => self.put_differently(parts),
        }
    }
}

/// Returns what the provider sent with other arguments; nothing where its calls are not those of the reply.
fn native(wire: Wire, json: &RawValue, repaired: &[Option<String>]) -> Option<Box<RawValue>> {
    match wire {
        Wire::Anthropic => {
            let is_call = |block: &Object| block.text("type").as_deref() == Some("tool_use");
            let put = |block: Object, arguments: &str| Some(block.with_raw("input", raw(arguments)?));
            with_each(list(json.get())?, repaired, is_call, put)
        }
        Wire::Responses => {
            let is_call = |item: &Object| item.text("type").as_deref() == Some("function_call");
            with_each(list(json.get())?, repaired, is_call, |item, arguments| Some(item.with("arguments", arguments)))
        }
        Wire::Chat => {
            let message = Object::read(json.get())?;
            let put = |call: Object, arguments: &str| {
                let function = call.object("function")?.with("arguments", arguments);
                Some(call.with_raw("function", function.to_raw()))
            };
            let calls = with_each(message.list("tool_calls")?, repaired, |_| true, put)?;
            Some(message.with_raw("tool_calls", calls).to_raw())
        }
        Wire::Gemini => {
            let content = Object::read(json.get())?;
            let put = |part: Object, arguments: &str| {
                let call = part.object("functionCall")?.with_raw("args", raw(arguments)?);
                Some(part.with_raw("functionCall", call.to_raw()))
            };
            let is_call = |part: &Object| part.object("functionCall").is_some();
            let parts = with_each(content.list("parts")?, repaired, is_call, put)?;
            Some(content.with_raw("parts", parts).to_raw())
        }
    }
}

/// Writes a list with other arguments in its calls. Elements that stay keep their text.
fn with_each(
    elements: Vec<Box<RawValue>>,
    repaired: &[Option<String>],
    is_call: impl Fn(&Object) -> bool,
    put: impl Fn(Object, &str) -> Option<Object>,
) -> Option<Box<RawValue>> {
    let mut of_calls = repaired.iter();
    let mut written = Vec::with_capacity(elements.len());
    for element in elements {
        let call = Object::read(element.get()).filter(&is_call);
        written.push(match call.map(|call| (call, of_calls.next())) {
            Some((call, Some(Some(arguments)))) => put(call, arguments)?.to_raw(),
            Some((_, Some(None))) | None => element,
            Some((_, None)) => return None,
        });
    }
    let is_same_number = of_calls.next().is_none();
    is_same_number.then(|| raw(&joined(written.iter().map(AsRef::as_ref)))).flatten()
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Native, StopReason, Usage};

    /// What a provider sent, with three calls of which the second is broken, comes back with the arguments `{"b":2}` there.
    #[track_caller]
    fn check(wire: Wire, sent: &str, expected: &str) {
        let call = |id: &str, arguments: &str| {
            ReplyPart::Call(ModelToolCall {
                id: id.into(),
                name: "t".into(),
                arguments: arguments.into(),
                is_cut: false,
            })
        };
        let reply = Reply {
            parts: vec![
                ReplyPart::Thinking("hm".into()),
                call("1", r#"{"a": 1.50}"#),
                call("2", "{b: 2}"),
                call("3", r#"{"c":3}"#),
            ],
            native: Native { wire, model: "m".into(), json: raw(sent).expect("it is JSON") },
            stop: StopReason::Calls,
            usage: Usage::default(),
            why_cut: None,
        };
        let same = reply.clone().with_repaired_arguments(|_| None);
        assert_eq!((same.native.json.get(), &same.parts), (sent, &reply.parts), "nothing is known");

        let repaired = reply.with_repaired_arguments(|call| (call.id == "2").then(|| r#"{"b":2}"#.to_owned()));

        assert_eq!(repaired.native.json.get(), expected);
        let arguments: Vec<&str> = repaired.calls().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, [r#"{"a": 1.50}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
    }

    #[test]
    fn repaired_arguments_stand_in_each_form_and_all_else_stays_byte_for_byte() {
        check(
            Wire::Anthropic,
            r#"[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"1","name":"t","input":{"a": 1.50}},{"type":"server_tool_use","id":"s"},{"type":"tool_use","id":"2","name":"t","input":{"INVALID_JSON":"{b: 2}"}},{"type":"tool_use","id":"3","name":"t","input":{"c":3}}]"#,
            r#"[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"1","name":"t","input":{"a": 1.50}},{"type":"server_tool_use","id":"s"},{"id":"2","input":{"b":2},"name":"t","type":"tool_use"},{"type":"tool_use","id":"3","name":"t","input":{"c":3}}]"#,
        );
        check(
            Wire::Responses,
            r#"[{"type":"reasoning","encrypted_content":"x"},{"type":"function_call","call_id":"1","arguments":"{\"a\": 1.50}"},{"type":"function_call","call_id":"2","arguments":"{b: 2}"},{"type":"function_call","call_id":"3","arguments":"{\"c\":3}"}]"#,
            r#"[{"type":"reasoning","encrypted_content":"x"},{"type":"function_call","call_id":"1","arguments":"{\"a\": 1.50}"},{"arguments":"{\"b\":2}","call_id":"2","type":"function_call"},{"type":"function_call","call_id":"3","arguments":"{\"c\":3}"}]"#,
        );
        check(
            Wire::Chat,
            r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"t","arguments":"{\"a\": 1.50}"}},{"id":"2","extra":{"s": "c2ln"},"function":{"name":"t","arguments":"{\"not_json\":\"{b: 2}\"}"}},{"id":"3","function":{"name":"t","arguments":"{\"c\":3}"}}]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"t","arguments":"{\"a\": 1.50}"}},{"extra":{"s": "c2ln"},"function":{"arguments":"{\"b\":2}","name":"t"},"id":"2"},{"id":"3","function":{"name":"t","arguments":"{\"c\":3}"}}]}"#,
        );
        check(
            Wire::Gemini,
            r#"{"parts":[{"text":"hm","thought":true},{"functionCall":{"name":"t","args":{"a": 1.50}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"t","args":"{b: 2}"}},{"functionCall":{"name":"t","args":{"c":3}}}],"role":"model"}"#,
            r#"{"parts":[{"text":"hm","thought":true},{"functionCall":{"name":"t","args":{"a": 1.50}},"thoughtSignature":"c2ln"},{"functionCall":{"args":{"b":2},"name":"t"}},{"functionCall":{"name":"t","args":{"c":3}}}],"role":"model"}"#,
        );
    }
}
