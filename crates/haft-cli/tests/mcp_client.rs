//! haft as a client of servers: good ones, and those that hurt. Each server is this very test program, started again.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out the folders that the command finds, and starts it"
)]

#[path = "mcp_client/asking.rs"]
mod asking;
#[path = "mcp_client/calls.rs"]
mod calls;
#[path = "mcp_client/cases.rs"]
mod cases;
#[expect(dead_code, reason = "the other tests of servers use the rest of it")]
#[path = "mcp/client.rs"]
mod client;
#[path = "mcp_client/consent.rs"]
mod consent;
#[path = "mcp_client/gateway.rs"]
mod gateway;
#[path = "mcp_client/hostile.rs"]
mod hostile;
#[path = "mcp_client/http.rs"]
mod http;
#[path = "mcp_client/many_tools.rs"]
mod many_tools;
#[path = "mcp_client/place.rs"]
mod place;
