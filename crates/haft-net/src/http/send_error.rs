//! Says why a request to an address that the user named got no answer, as fields.
//!
//! Only this file interprets the error messages of the client and of the system, because this crate pins their versions.
//! The fields never contain the address: there may be a key in it.

use std::error::Error;

/// Why a request got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// A header cannot carry its value.
    BadHeader {
        /// The name of the header.
        name: &'static str,
    },
    /// The address of the proxy cannot be used.
    BadProxy,
    /// The client cannot be set up.
    NoClient {
        /// The innermost cause.
        why: String,
    },
    /// No connection was there in time.
    ConnectTimedOut,
    /// There is no connection.
    NotConnected {
        /// Where it failed.
        hop: Hop,
        /// The innermost cause.
        why: String,
    },
    /// The connection broke before the answer, or within it.
    BrokeOff {
        /// The innermost cause.
        why: String,
    },
}

/// Where a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// The first machine was not reached: the proxy where there is one, else the host.
    First,
    /// A machine was reached, and something after that failed: what lies behind a proxy, or TLS.
    Beyond,
    /// The host answers in plain text where TLS begins.
    PlainText,
}

impl SendError {
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        let why = innermost(error);
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => SendError::ConnectTimedOut,
            (true, false) => SendError::NotConnected { hop: hop(error, &why), why },
            (false, _) => SendError::BrokeOff { why },
        }
    }

    /// Returns the innermost cause; nothing where the kind says all.
    pub fn why(&self) -> Option<&str> {
        match self {
            SendError::NoClient { why } | SendError::NotConnected { why, .. } | SendError::BrokeOff { why } => {
                Some(why)
            }
            SendError::BadHeader { .. } | SendError::BadProxy | SendError::ConnectTimedOut => None,
        }
    }
}

/// The client has no public type for either: it puts these words around a failure of the first connection, and TLS
/// names the content type that it did not expect.
fn hop(error: &reqwest::Error, why: &str) -> Hop {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
    if causes.any(|cause| cause.starts_with("tcp connect error") || cause.starts_with("dns error")) {
        Hop::First
    } else if why.contains("InvalidContentType") {
        Hop::PlainText
    } else {
        Hop::Beyond
    }
}

/// Returns the innermost cause of an error: those around it say only that there was one.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let last = std::iter::successors(error.source(), |&cause| cause.source()).last();
    last.map_or_else(|| "no reason is known".to_owned(), ToString::to_string)
}
