//! The door to the network: requests that are planned, bounded and kept to their host.
//!
//! A name is looked up by us, and only addresses of the whole world are connected to, so that no name of somebody else leads
//! into the user's own network; the address that was judged is the one that is used. Proxies of the environment would look
//! names up themselves, so they are not used. Cookies and sessions are not kept.
//!
//! The feature `otel` adds the way to a collector of spans, which is the user's own word and goes anywhere.
//!
//! Not here: deciding whether, and what a request is for.

mod addresses;
#[cfg(feature = "otel")]
mod collector;
mod door;
mod failing;
mod names;

#[cfg(feature = "otel")]
pub use collector::{Collector, Trouble};
pub use door::HttpDoor;
