//! Connects haft to other servers of the Model Context Protocol, with the same steps for their tools as for its own.
//!
//! A server is foreign code. It starts only after the user agreed to its exact command line, in a separate sandbox. Its
//! tools are those that it had when the user agreed. Its results are untrusted text.
//!
//! Not here: which servers there are, and how they are started (`haft-host`), whether a call may be made (`haft-policy`).

mod calls;
pub mod commands;
mod link;
mod management;
mod oauth;
mod offers;
mod questions;
mod record;
mod requests;
mod server;
pub mod servers;
