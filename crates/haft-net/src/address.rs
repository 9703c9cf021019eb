//! An address on the network that was read once and can be taken apart.

use std::fmt;

use reqwest::Url;

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

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}
