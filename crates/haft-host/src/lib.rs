//! Assembles a workspace without a screen: settings, trust, tools, rules, hooks, sessions, models, replay, guard.
//!
//! [`host::Host`] is a workspace that is ready for calls; [`options::Options`] says how it is opened. The host prints
//! nothing: what a person should know goes to [`notices::Notices`].
//!
//! Not here: flags and rendering (`haft-cli`), the Model Context Protocol (`haft-mcp`).

pub mod calling;
pub mod changes;
pub mod conversations;
pub mod opening;
pub mod other_agents;
pub mod reports;
pub mod texts;

#[cfg(feature = "agent")]
pub mod agent;
pub mod host;
pub mod notices;
pub mod options;
#[cfg(feature = "otel")]
pub mod spans;
#[cfg(all(feature = "model", not(feature = "otel")))]
#[path = "no_spans.rs"]
pub mod spans;
pub mod toolbox;
