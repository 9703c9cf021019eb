//! The door to the network: it plans and limits the requests of tools, and keeps each to its host.
//!
//! haft looks names up itself and connects only to public addresses, so a stranger's name cannot lead into the user's own
//! network. It connects to exactly the address that it judged. It does not use proxies of the environment, because they
//! would look names up themselves. It keeps no cookies and no sessions.
//!
//! Two clients have other rules, because the user says where they go: [`HttpClient`] reaches a model provider or a server
//! of tools, and with the feature `otel` `Collector` reaches a collector of spans. [`GuidedClient`] is between the two: for
//! a login, it goes where such a server sends it, but not into the user's own network. No other crate has an HTTP client:
//! a crate that reaches the network receives one of these.
//!
//! [`supervisor`] connects commands to the network: it knows their connections by name and asks about each.
//!
//! [`jobs`] is the way of the user's other processes to the jobs of a session, over a socket of the file system. [`exec`] has
//! the messages between `haft exec` and the process that runs its command.
//!
//! [`HttpListener`] is the way of other programs to haft over HTTP; what it answers is its handler's affair.
//!
//! Not here: deciding whether, and what a request is for.

mod address;
mod addresses;
#[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
pub mod exec;
mod fetch;
pub mod http;
#[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
pub mod jobs;
mod names;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
mod require;
mod session_network;
#[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
pub mod supervisor;

pub use address::{Address, form};
pub use http::client::{Headers, HttpClient, Incoming, Outgoing};
#[cfg(feature = "otel")]
pub use http::collector::{Collector, Trouble};
pub use http::door::HttpDoor;
pub use http::guided_client::{GuidedClient, WholeAnswer};
pub use http::http_listener::{HttpListener, RequestHandler, Unreadable};
pub use http::send_error::{Hop, SendError};
pub use session_network::{HostRules, NetworkOfSession};
