//! Defines the judge that decides about connections, and its decisions.
//!
//! Not here: rules, grants and questions. The supervisor knows none of them; it asks.

use std::net::IpAddr;

use haft_contract::BoxFuture;
use haft_contract::doors::connection::{ConnectionRequest, Decision};

/// Decides about a connection at the moment it is made.
pub trait ConnectionJudge: Send + Sync {
    /// Returns, without waiting, whether a name may be looked up at all. A command learns that a denied name does not
    /// exist.
    fn may_look_up(&self, host: &str) -> bool;

    /// Returns, without waiting, whether the running command was already refused a host. The name then no longer exists for
    /// the command, so clients that would retry after a refused connection fail immediately.
    fn was_refused(&self, host: &str) -> bool {
        let _ = host;
        false
    }

    /// Decides about a connection; it may wait for a person.
    ///
    /// The supervisor asks once at a time for the same [`ConnectionRequest`]; connections that arrive meanwhile share the answer.
    /// It remembers no answer beyond that, with one exception: if every client gave up before the answer came, the
    /// next connection of the same kind gets it.
    fn decide<'a>(&'a self, wanted: &'a ConnectionRequest) -> BoxFuture<'a, Decision>;

    /// Returns whether the user granted exactly this address, which may then be one of this machine or its network.
    fn grants_address(&self, address: IpAddr, port: u16) -> bool {
        let _ = (address, port);
        false
    }
}
