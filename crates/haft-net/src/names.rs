//! Looks names up, and returns only addresses to which haft may connect.

use std::fmt;
use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::addresses::is_public;

/// Looks names up for the client, and returns only addresses that may be connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameResolver;

/// Why a name leads nowhere.
#[derive(Debug)]
pub(crate) enum LeadsNowhere {
    /// All its addresses are of this machine or its network.
    OnlyPrivate,
    /// It has none.
    Unknown,
}

impl fmt::Display for LeadsNowhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeadsNowhere::OnlyPrivate => "its name leads to an address of this machine or its network",
            LeadsNowhere::Unknown => "its name is not known",
        })
    }
}

impl std::error::Error for LeadsNowhere {}

impl Resolve for NameResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // No server of names is asked where this machine is meant.
            let is_here = is_this_machine(name.as_str());
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| LeadsNowhere::Unknown)?;
            let found: Vec<SocketAddr> = found.collect();
            let may_be_reached = |address: &&SocketAddr| match is_here {
                true => address.ip().is_loopback(),
                false => is_public(address.ip()),
            };
            let reached: Vec<SocketAddr> = found.iter().filter(may_be_reached).copied().collect();
            match (reached.is_empty(), found.is_empty()) {
                (false, _) => Ok(Box::new(reached.into_iter()) as Addrs),
                (true, false) => Err(LeadsNowhere::OnlyPrivate.into()),
                (true, true) => Err(LeadsNowhere::Unknown.into()),
            }
        })
    }
}

/// Returns whether a name means this machine.
pub(crate) fn is_this_machine(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}
