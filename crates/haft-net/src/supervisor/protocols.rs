//! The first bytes of a connection in each protocol that the supervisor knows.

pub(crate) mod client_hello;
pub(crate) mod dns;
pub(crate) mod forwarded;
pub(crate) mod opening;
pub(crate) mod proxy;
pub(crate) mod request_head;
pub(crate) mod socks;
