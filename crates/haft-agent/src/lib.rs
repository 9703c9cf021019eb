//! The loop between a model and its tools: small, stopped at any point, with a history that is always valid.
//!
//! A model is asked, its calls run through the runtime, and what came of them is fed back, until it has nothing more to
//! call or a limit is reached ([`agent::AgentLoop::run`]). Every call that a model makes has exactly one answer, however it
//! ended: providers refuse a conversation in which one is missing, and with it everything that was said in it.
//!
//! Not here: the stages of a call (`haft-runtime`), the words of providers (`haft-model`), where a session is kept and
//! what is printed of it (whoever runs the agent).

pub mod agent;
mod ask;
mod calls;
pub mod compaction;
pub mod each_time;
mod finishing;
mod gauge;
mod guard;
pub mod history;
mod images;
pub mod inbox;
pub mod instructions;
pub mod mock;
mod offered;
pub mod outcome;
pub mod output;
pub mod overseer;
pub mod preview;
pub mod price;
pub mod record;
pub mod recorded;
pub mod settings;
mod state;
pub mod told;
pub mod waiting;
