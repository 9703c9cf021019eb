//! Sets up TLS for every client of haft: the cryptography, the versions and the trusted certificates.
//!
//! This is one place, because `reqwest` and `rustls` each come without a provider of cryptography. A client that chose its
//! own would add a second provider to the program, or panic at its first request.
//!
//! Not here: which addresses haft reaches, and which of them need no TLS.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// The certificates that a connection trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustedRoots {
    /// Those of the system. Reading them takes several milliseconds.
    System,
    /// None: for plain `http`, which costs nothing to set up. A connection of `https` fails.
    None,
}

/// Returns the settings of a client that offers these protocols, best first.
///
/// # Errors
///
/// Fails where the system has no certificates that can be read.
pub(crate) fn client_config(roots: TrustedRoots, protocols: &[&[u8]]) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let trusting = match roots {
        TrustedRoots::System => versions.with_platform_verifier()?,
        TrustedRoots::None => versions.with_root_certificates(RootCertStore::empty()),
    };
    let mut config = trusting.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

/// What a client of `reqwest` offers.
pub(crate) const HTTP_2_OR_1: &[&[u8]] = &[b"h2", b"http/1.1"];
