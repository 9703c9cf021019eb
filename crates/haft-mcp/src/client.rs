//! Connects haft to other servers of the Model Context Protocol, with the same steps for their tools as for its own.
//!
//! A server is foreign code. It starts only after the user agreed to its exact command line, in a separate sandbox. Its
//! tools are those that it had when the user agreed. Its results are untrusted text.
//!
//! Not here: which servers there are, and how they are started (`haft-host`), whether a call may be made (`haft-policy`).

mod asked;
mod attended;
mod calls;
pub mod commands;
mod connection;
mod elicitation;
mod handler;
mod http;
mod life;
mod management;
mod manifest;
mod names;
mod oauth;
mod pipes;
mod prompts;
mod record;
mod requests;
mod resources;
mod result;
mod sampling;
mod server;
pub mod servers;
mod thread;
mod tool;
mod traffic;
