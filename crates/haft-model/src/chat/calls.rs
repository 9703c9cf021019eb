//! Assembles the calls of a stream from their pieces.
//!
//! The index of a piece says to which call it belongs. Servers that send whole calls omit the index or always send 0,
//! some repeat the name or the id with every piece, and some make up a new id for each. So a piece begins another call
//! only if it has a name and another sign of a new call.

use serde_json::Value;
use serde_json::json;
use serde_json::value::RawValue;

use super::arguments_of;
use crate::conversation::{ModelToolCall, StopReason};
use crate::lower::names::safe_name;
use crate::provider::{ModelError, ModelErrorKind, ReplyEvent, ReplyListener};
use crate::reading::made_ids::Ids;
use crate::reading::raw_json::{Object, compact, text};
use crate::writing::offered_names::OfferedNames;

/// More calls in one reply are an endless loop of the model, or of the server.
const MOST_CALLS: usize = 512;

/// The calls of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Whether the arguments so far may be a whole object.
    braces: Braces,
    /// What else stood beside `function`: Gemini keeps its signatures there.
    more: Vec<(String, Box<RawValue>)>,
    is_told: bool,
}

/// The braces of arguments while they come. To read all of them again with every piece would take longer with each.
#[derive(Debug, Default)]
struct Braces {
    open: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether the first one was closed, and nothing but space came since.
    is_closed: bool,
}

impl Braces {
    fn add(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' => self.open += 1,
                b'}' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            self.is_closed = match byte {
                b'}' => self.open == 0 && !self.in_string,
                byte => self.is_closed && byte.is_ascii_whitespace(),
            };
        }
    }

    fn are_closed(&self) -> bool {
        self.is_closed
    }
}

/// A piece of a call.
struct Delta {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds an element of `tool_calls`.
    pub(super) fn add(
        &mut self,
        sent: &Object,
        names: &OfferedNames,
        heard: ReplyListener<'_>,
    ) -> Result<(), ModelError> {
        let delta = Delta::read(sent.number("index"), sent, &sent.object("function").unwrap_or_default());
        let at = self.place(delta, names, heard)?;
        let call = &mut self.calls[at];
        for (name, raw) in sent.members().filter(|(name, _)| !matches!(*name, "index" | "id" | "type" | "function")) {
            call.more.retain(|(kept, _)| kept != name);
            call.more.push((name.to_owned(), compact(raw)));
        }
        Ok(())
    }

    /// Adds a piece of `function_call`, the form before `tool_calls`. There is at most one.
    pub(super) fn add_single(
        &mut self,
        sent: &Object,
        names: &OfferedNames,
        heard: ReplyListener<'_>,
    ) -> Result<(), ModelError> {
        self.place(Delta::read(Some(u64::MAX), &Object::default(), sent), names, heard).map(|_| ())
    }

    fn place(&mut self, delta: Delta, names: &OfferedNames, heard: ReplyListener<'_>) -> Result<usize, ModelError> {
        let at = match self.belongs_to(&delta) {
            Some(at) => at,
            None if self.calls.len() == MOST_CALLS => return Err(too_many()),
            None => {
                self.calls.push(PartialCall { index: delta.index, ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        self.calls[at].add(&delta);
        self.calls[at].tell(at, &delta.arguments, names, heard);
        Ok(at)
    }

    fn belongs_to(&self, delta: &Delta) -> Option<usize> {
        let at = match delta.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == delta.index),
            None if !delta.id.is_empty() => self.calls.iter().rposition(|call| call.id == delta.id),
            None if delta.name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        at.filter(|at| !delta.begins_another_than(&self.calls[*at]))
    }

    /// Returns the calls with what stands for them in later requests. Each that is not whole is cut where the reply
    /// ended before its time: pieces of several calls may come in turns, so it need not be the last.
    pub(super) fn end(self, ids: &mut Ids, names: &OfferedNames, stop: StopReason) -> Vec<(ModelToolCall, Value)> {
        self.calls.into_iter().map(|building| building.end(ids, names, stop)).collect()
    }
}

impl PartialCall {
    fn add(&mut self, delta: &Delta) {
        if self.id.is_empty() {
            self.id.clone_from(&delta.id);
        }
        // A name comes whole, or in pieces before the arguments; some repeat it.
        if self.name.is_empty() || (self.name != delta.name && self.arguments.is_empty()) {
            self.name.push_str(&delta.name);
        }
        self.arguments.push_str(&delta.arguments);
        self.braces.add(&delta.arguments);
    }

    fn tell(&mut self, at: usize, arguments: &str, names: &OfferedNames, heard: ReplyListener<'_>) {
        if self.name.is_empty() {
            return;
        }
        // What came before the name is told with it.
        let arguments = if self.is_told { arguments } else { &self.arguments };
        if !self.is_told {
            heard(ReplyEvent::CallBegins(at, names.native(&self.name)));
        }
        if !arguments.is_empty() {
            heard(ReplyEvent::Arguments(at, arguments));
        }
        self.is_told = true;
    }

    fn is_whole(&self) -> bool {
        self.braces.are_closed() && Object::read(&self.arguments).is_some()
    }

    fn end(self, ids: &mut Ids, names: &OfferedNames, stop: StopReason) -> (ModelToolCall, Value) {
        let ended_early = !matches!(stop, StopReason::Calls | StopReason::Finished);
        let is_cut = ended_early && !self.is_whole();
        let call = ModelToolCall {
            id: ids.take(&self.id),
            name: names.native(&self.name).to_owned(),
            arguments: self.arguments,
            is_cut,
        };
        let mut native = native(&call, &self.name);
        for (name, raw) in self.more {
            // The text of a signature is a string, which comes back as it was.
            native[name] = serde_json::from_str(raw.get()).unwrap_or_default();
        }
        (call, native)
    }
}

/// Returns what stands for a call in later requests. A name that is no name, which weak models write, would be refused
/// in all of them.
pub(super) fn native(call: &ModelToolCall, wire_name: &str) -> Value {
    let function = json!({ "name": safe_name(wire_name), "arguments": arguments_of(call) });
    json!({ "id": call.id, "type": "function", "function": function })
}

impl Delta {
    fn read(index: Option<u64>, outer: &Object, function: &Object) -> Delta {
        // Mistral and a few others send the arguments as the object itself.
        let arguments = function.raw("arguments").map(|raw| text(raw).unwrap_or_else(|| compact(raw).get().to_owned()));
        Delta {
            index,
            id: outer.text("id").filter(|id| id != "null").unwrap_or_default(),
            name: function.text("name").unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
        }
    }

    fn begins_another_than(&self, call: &PartialCall) -> bool {
        if self.name.is_empty() || call.name.is_empty() {
            return false;
        }
        if !self.id.is_empty() && !call.id.is_empty() {
            return self.id != call.id;
        }
        let only_repeats = self.name == call.name && self.arguments.is_empty();
        !only_repeats && call.is_whole()
    }
}

fn too_many() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Broken,
        what: format!("The model makes more than {MOST_CALLS} calls in one reply."),
        next: "try again, or use another model".to_owned(),
    }
}
