//! Tests the supervisor with a real network namespace: clients inside, servers on the loopback outside.

mod decisions;
mod first_bytes;
mod look_ups;
#[expect(clippy::disallowed_methods, reason = "a process of the tests makes the namespace")]
mod namespace;
#[path = "../../../haft-sandbox/src/launcher/enter/network.rs"]
#[expect(dead_code, reason = "the sandbox uses the rest")]
mod network;
#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "unmodified programs are run inside")]
mod programs;
mod proxy;
mod relaying;
mod scene;
