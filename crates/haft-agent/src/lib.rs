//! The loop between a model and its tools: small, stoppable at any point, with a history that is always valid.
//!
//! It asks a model, runs its calls through the runtime, and returns the results, until the model has nothing more to
//! call or a limit is reached ([`agent::AgentLoop::run`]). Every call of a model has exactly one answer, however it
//! ended: providers refuse a whole conversation for one missing answer.
//!
//! Not here: the stages of a call (`haft-runtime`), the providers' formats (`haft-model`), where a session is stored
//! and what is printed of it (the program that runs the agent).

pub mod agent;
mod guard;
pub mod instructions;
pub mod memory;
pub mod models;
pub mod outcome;
pub mod output;
pub mod overseer;
pub mod settings;
pub mod work;
