//! The ports and hosts of a session's network.

pub(crate) mod network_jobs;
pub(crate) mod ports;
pub(crate) mod reached_hosts;
