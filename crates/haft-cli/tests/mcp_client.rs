//! haft as a client of servers: good ones, and those that hurt. Each server is this very test program, started again.
#![expect(clippy::disallowed_methods, reason = "a test lays out the folders that the command finds, and starts it")]

#[path = "mcp_client/calls.rs"]
mod calls;
#[path = "mcp_client/cases.rs"]
mod cases;
#[path = "mcp_client/consent.rs"]
mod consent;
#[path = "mcp_client/hostile.rs"]
mod hostile;
#[path = "mcp_client/http.rs"]
mod http;
#[path = "mcp_client/place.rs"]
mod place;
