//! A network address, parsed once, with access to its parts.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use crate::names::is_this_machine;

/// An address with a scheme.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Says why the text is no address, without repeating it: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        Url::parse(text).map(Self).map_err(|error| error.to_string())
    }

    /// Returns the scheme, in lower case.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Returns the host, in lower case, without the brackets of an IPv6 address.
    pub fn host(&self) -> String {
        self.0.host_str().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase()
    }

    /// Returns whether the host is written as one of this machine: `localhost` or an address of the loopback.
    pub fn is_this_machine(&self) -> bool {
        let host = self.host();
        host.parse::<IpAddr>().map_or_else(|_| is_this_machine(&host), |address| address.is_loopback())
    }

    /// Returns whether it has a user, a password or a fragment.
    pub fn has_more_than_a_place(&self) -> bool {
        !self.0.username().is_empty() || self.0.password().is_some() || self.0.fragment().is_some()
    }

    /// Returns the same place with another path and without a query.
    #[must_use]
    pub fn at_path(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        Self(url)
    }

    /// Adds names and values to the query.
    #[must_use]
    pub fn with_query(&self, pairs: &[(&str, &str)]) -> Self {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        Self(url)
    }

    /// Returns the names and values of the query.
    pub fn query(&self) -> Vec<(String, String)> {
        self.0.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns the whole address.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns scheme, host and port, and nothing else: the rest may hold a key.
    pub fn place(&self) -> String {
        let port = self.0.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.0.scheme(), self.0.host_str().unwrap_or_default())
    }

    pub(crate) fn into_url(self) -> Url {
        self.0
    }
}

/// Writes names and values as the body of a form.
///
/// # Errors
///
/// Never fails for names and values; the error is that of [`Address::parse`].
pub fn form(pairs: &[(&str, &str)]) -> Result<String, String> {
    let written = Address::parse("http://form/")?.with_query(pairs);
    Ok(written.0.query().unwrap_or_default().to_owned())
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}
