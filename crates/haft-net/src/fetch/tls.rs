//! Encrypts the connection of a hop, and checks the certificate of its host.

use std::sync::{Arc, OnceLock};

use haft_contract::doors::web::{WebScheme, WebUrl};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
#[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::exchange::FetchError;
use crate::http::trusted_tls::{TrustedRoots, client_config};

/// A connection, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// How connections of `https` are secured.
pub(crate) enum Security {
    /// By the certificates that the system trusts. They are read for the first connection.
    System(OnceLock<TlsConnector>),
    /// Not at all: servers of tests on the loopback.
    #[cfg(test)]
    None,
}

impl Security {
    pub(crate) fn of_the_system() -> Self {
        Security::System(OnceLock::new())
    }

    #[expect(clippy::disallowed_types, reason = "this is the crate that the network is reached through")]
    pub(super) async fn around(&self, stream: TcpStream, url: &WebUrl) -> Result<Box<dyn Stream>, FetchError> {
        let connector = match (self, url.scheme) {
            (_, WebScheme::Http) => return Ok(Box::new(stream)),
            #[cfg(test)]
            (Security::None, WebScheme::Https) => return Ok(Box::new(stream)),
            (Security::System(connector), WebScheme::Https) => match connector.get() {
                Some(connector) => connector,
                None => {
                    let built = connector_of_the_system()?;
                    connector.get_or_init(|| built)
                }
            },
        };
        let not_trusted = |error: &dyn std::fmt::Display| FetchError::NotTrusted(error.to_string());
        let name = ServerName::try_from(url.host.clone()).map_err(|error| not_trusted(&error))?;
        let stream = connector.connect(name, stream).await.map_err(|error| not_trusted(&error))?;
        Ok(Box::new(stream))
    }
}

fn connector_of_the_system() -> Result<TlsConnector, FetchError> {
    let config = client_config(TrustedRoots::System, &[b"http/1.1"]);
    let config = config.map_err(|error| FetchError::NotTrusted(error.to_string()))?;
    Ok(TlsConnector::from(Arc::new(config)))
}
