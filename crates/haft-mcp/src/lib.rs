//! A runtime as a server of the Model Context Protocol.
//!
//! Programs that speak the protocol get haft's tools, with the same validation, rules, questions, sandbox and undo as
//! any other caller. [`serve::PipeServer`] runs one conversation over a pair of pipes, [`http::HttpServer`] answers many
//! clients over HTTP; what they serve is a [`haft_host::toolbox::Toolbox`].
//!
//! The protocol has two eras. Up to 2025-11-25 there is a handshake, and the server may ask the client; from 2026-07-28
//! on every request says for itself what it needs, and a question is a result. Both may come through the same pipe, so
//! each request is served as what it is.
//!
//! Not here: the terminal, files, processes, rules. This is the only crate that knows types of the protocol.

pub mod client;
pub mod http;
pub mod serve;
pub mod server;
pub mod toolbox;
mod transport;
mod words;
