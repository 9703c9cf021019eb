//! Assembles a workspace without a screen: settings, trust, tools, rules, hooks, sessions, models, replay, guard.
//!
//! [`host::Host`] is a workspace that is ready for calls; [`options::Options`] says how it is opened. The host prints
//! nothing: what a person should know goes to [`notices::Notices`].
//!
//! Not here: flags and rendering (`haft-cli`), the Model Context Protocol (`haft-mcp`).

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "agent")]
pub mod agent_lines;
#[cfg(feature = "agent")]
pub mod agent_records;
pub mod argument_lines;
pub mod blame;
pub mod bounded_text;
pub mod call_lines;
pub mod call_words;
pub mod change_log;
pub mod change_records;
#[cfg(feature = "agent")]
pub mod check;
#[cfg(feature = "agent")]
pub mod circle_question;
mod described_tools;
mod dialects;
pub mod examination;
#[cfg(all(feature = "model", feature = "sandbox"))]
pub mod exec;
pub mod explain;
pub mod for_person;
pub mod gc;
pub mod guard;
mod hooks;
pub mod host;
pub mod hosts;
pub mod hunk_choice;
#[cfg(feature = "model")]
mod job_publication;
#[cfg(feature = "model")]
pub mod jobs;
pub mod loaded_workspace;
#[cfg(feature = "agent")]
pub mod model;
pub mod new_tool;
pub mod notices;
pub mod options;
pub mod project_files;
#[cfg(feature = "agent")]
pub mod prompt_images;
mod prompt_names;
mod reload;
#[cfg(feature = "agent")]
pub mod replay;
pub mod rescue;
pub mod result_preview;
pub mod rulebook;
pub mod servers;
#[cfg(feature = "agent")]
pub mod session_export;
pub mod session_names;
#[cfg(feature = "agent")]
pub mod session_preview;
#[cfg(feature = "agent")]
pub mod session_records;
pub mod setup;
#[cfg(feature = "agent")]
pub mod shown_tools;
#[cfg(feature = "otel")]
pub mod spans;
#[cfg(all(feature = "model", not(feature = "otel")))]
#[path = "no_spans.rs"]
pub mod spans;
pub mod stop_signals;
pub mod toolbox;
pub mod tour;
pub mod trust_listing;
pub mod typed_words;
#[cfg(feature = "agent")]
pub mod user_commands;
pub mod user_questions;
pub mod wrapped;
