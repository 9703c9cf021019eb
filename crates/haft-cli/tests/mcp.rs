//! `haft mcp serve` as clients meet it: one real server each, driven line by line over its pipes.
#![expect(clippy::disallowed_methods, reason = "a test lays out the folders that the command finds, and starts it")]

#[path = "mcp/apart.rs"]
mod apart;
#[path = "mcp/cases.rs"]
mod cases;
#[path = "mcp/client.rs"]
mod client;
#[path = "mcp/endings.rs"]
mod endings;
#[path = "mcp/eras.rs"]
mod eras;
#[path = "mcp/garbage.rs"]
mod garbage;
#[path = "mcp/http.rs"]
mod http;
#[expect(clippy::disallowed_types, reason = "a test speaks HTTP byte by byte")]
#[path = "mcp/http_client.rs"]
mod http_client;
#[path = "mcp/listening.rs"]
mod listening;
#[path = "mcp/processes.rs"]
mod processes;
#[path = "mcp/questions.rs"]
mod questions;
#[path = "mcp/resources.rs"]
mod resources;
#[path = "mcp/roots.rs"]
mod roots;
#[path = "mcp/running.rs"]
mod running;
#[path = "mcp/tools.rs"]
mod tools;
