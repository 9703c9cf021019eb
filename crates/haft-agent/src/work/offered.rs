//! The tools of a catalogue, in the form in which haft offers them to a model.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::description::lift::InverseLowering;
use haft_model::conversation::ModelToolCall;
use haft_model::lower::{LoweredList, ProviderDialect, ToolOffer, lower_all};
use haft_model::wire::Wire;
use haft_runtime::catalogue::catalog::Catalog;

/// Tools in the form of a provider, with the way back.
pub(crate) struct OfferedTools {
    pub(crate) list: LoweredList,
    /// How long they are in a request, in bytes.
    pub(crate) size: usize,
    lifts: HashMap<String, Arc<InverseLowering>>,
    /// The only tools that may be used, by their names in the catalogue.
    only: Option<BTreeSet<String>>,
}

impl OfferedTools {
    /// Offers what a catalogue shows; of that only these tools, where they are named.
    pub(crate) fn of(catalog: &Catalog, wire: Wire, only: Option<&BTreeSet<String>>) -> Self {
        let only = only.map(|names| names.iter().filter_map(|name| name_in(catalog, name)).collect::<BTreeSet<_>>());
        let mut entries = catalog.list();
        entries.retain(|entry| only.as_ref().is_none_or(|names| names.contains(&entry.shown().name)));
        let offered: Vec<ToolOffer<'_>> = entries.iter().map(|entry| ToolOffer::of(entry.shown())).collect();
        let list = lower_all(&offered, provider(wire));
        let lifts = list
            .tools
            .iter()
            .filter(|tool| tool.lift != InverseLowering::none())
            .filter_map(|tool| Some((list.native_name(&tool.name)?.to_owned(), Arc::new(tool.lift.clone()))));
        let lifts = lifts.collect();
        let size = list.tools.iter().map(|tool| tool.value.to_string().len()).sum();
        Self { list, size, lifts, only }
    }

    /// Says why a call is refused although its tool exists; nothing where it may be made.
    pub(crate) fn refuses(&self, catalog: &Catalog, call: &ModelToolCall) -> Option<String> {
        let only = self.only.as_ref()?;
        // A name that no tool has is told by the runtime.
        let name = name_in(catalog, &call.name)?;
        if only.contains(&name) {
            return None;
        }
        let names = only.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let next =
            if only.is_empty() { "Next: answer without tools.".to_owned() } else { format!("Next: use {names}.") };
        Some(format!("Not run: the user's command does not allow \"{name}\". Nothing was done. {next}"))
    }

    /// Makes a call of what the model wrote.
    pub(crate) fn tool_call(&self, call: &ModelToolCall) -> ToolCall {
        let arguments = RawArguments::Text(call.arguments.clone());
        let tool_call = ToolCall::new(&call.name, arguments).with_id(&call.id);
        match self.lifts.get(&call.name) {
            Some(lift) => tool_call.lifted_by(lift.clone()),
            None => tool_call,
        }
    }
}

/// Returns the name that a tool has in a catalogue, from that or from what other agents call it.
fn name_in(catalog: &Catalog, name: &str) -> Option<String> {
    let meant = || catalog.meant(name, &RawArguments::Text("{}".to_owned())).map(|meant| meant.entry);
    catalog.find(name).or_else(meant).map(|entry| entry.shown().name.clone())
}

/// Returns the form in which tools are declared on a wire.
fn provider(wire: Wire) -> ProviderDialect {
    match wire {
        Wire::Anthropic => ProviderDialect::Anthropic,
        Wire::Responses | Wire::Chat => ProviderDialect::OpenAi,
        Wire::Gemini => ProviderDialect::Gemini,
    }
}
