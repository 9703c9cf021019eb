//! The HTTP clients, and a bounded HTTP server.

pub(crate) mod client;
#[cfg(feature = "otel")]
pub(crate) mod collector;
pub(crate) mod door;
pub(crate) mod failing;
pub(crate) mod guided_client;
#[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
pub(crate) mod http_listener;
pub(crate) mod method;
pub(crate) mod send_error;
pub mod sse;
pub(crate) mod trusted_tls;
