//! The connection to a server: its process or address, and the messages on it.

pub(crate) mod attended;
pub(crate) mod connection;
pub(crate) mod handler;
pub(crate) mod http;
pub(crate) mod life;
pub(crate) mod pipes;
pub(crate) mod thread;
pub(crate) mod traffic;
