//! The pipeline from the outside: scenes with real files, real doors and test tools.

#![expect(clippy::disallowed_methods, reason = "some scenes change a file as the user would, past every door")]

#[path = "pipeline/approval.rs"]
mod approval;
#[path = "pipeline/arguments.rs"]
mod arguments;
#[path = "pipeline/cancel.rs"]
mod cancel;
#[path = "pipeline/catalog.rs"]
mod catalog;
#[path = "pipeline/conformance.rs"]
mod conformance;
#[path = "pipeline/connections.rs"]
mod connections;
#[path = "pipeline/events.rs"]
mod events;
#[path = "pipeline/full_journal.rs"]
mod full_journal;
#[path = "pipeline/grants.rs"]
mod grants;
#[path = "pipeline/hooks.rs"]
mod hooks;
#[path = "pipeline/inspecting.rs"]
mod inspecting;
#[path = "pipeline/kept.rs"]
mod kept;
#[path = "pipeline/memory.rs"]
mod memory;
#[path = "pipeline/order.rs"]
mod order;
#[path = "pipeline/shrink.rs"]
mod shrink;
