//! The tools of a catalogue, as a model is offered them.

use std::collections::HashMap;
use std::sync::Arc;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::lift::Lift;
use haft_model::conversation::Call;
use haft_model::lower::{LoweredList, Offered, Provider, lower_all};
use haft_model::wire::Wire;
use haft_runtime::catalog::Catalog;

/// Tools in the form of a provider, with the way back.
pub(crate) struct OfferedTools {
    pub(crate) list: LoweredList,
    /// How long they are in a request, in bytes.
    pub(crate) size: usize,
    lifts: HashMap<String, Arc<Lift>>,
}

impl OfferedTools {
    /// Offers everything that a catalogue shows.
    pub(crate) fn of(catalog: &Catalog, wire: Wire) -> Self {
        let entries = catalog.list();
        let offered: Vec<Offered<'_>> = entries.iter().map(|entry| Offered::of(entry.shown())).collect();
        let list = lower_all(&offered, provider(wire));
        let lifts = list
            .tools
            .iter()
            .filter(|tool| tool.lift != Lift::none())
            .filter_map(|tool| Some((list.native_name(&tool.name)?.to_owned(), Arc::new(tool.lift.clone()))));
        let lifts = lifts.collect();
        let size = list.tools.iter().map(|tool| tool.value.to_string().len()).sum();
        Self { list, size, lifts }
    }

    /// Makes a call of what the model wrote.
    pub(crate) fn tool_call(&self, call: &Call) -> ToolCall {
        let arguments = RawArguments::Text(call.arguments.clone());
        let tool_call = ToolCall::new(&call.name, arguments).with_id(&call.id);
        match self.lifts.get(&call.name) {
            Some(lift) => tool_call.lifted_by(lift.clone()),
            None => tool_call,
        }
    }
}

/// Returns the form in which tools are declared on a wire.
fn provider(wire: Wire) -> Provider {
    match wire {
        Wire::Anthropic => Provider::Anthropic,
        Wire::Responses | Wire::Chat => Provider::OpenAi,
        Wire::Gemini => Provider::Gemini,
    }
}
