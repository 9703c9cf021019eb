//! The proxy on the way to a provider, from the environment.
//!
//! Most programs read the same variables: `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` in capitals or small letters, and
//! `NO_PROXY` for hosts that haft reaches directly. haft always reaches servers on this machine directly.

use crate::environment::{NotText, text_of_variable};

/// A proxy, and the variable that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its address. There may be a password in it.
    pub address: String,
    /// The variable.
    pub from: String,
}

/// Returns the proxy for an address; nothing where it is reached directly.
pub fn proxy_for(url: &str) -> Result<Option<Proxy>, NotText> {
    among(url, &text_of_variable)
}

fn among(url: &str, variable: &dyn Fn(&str) -> Result<Option<String>, NotText>) -> Result<Option<Proxy>, NotText> {
    let said = |name: &str| -> Result<Option<(String, String)>, NotText> {
        for name in [name.to_owned(), name.to_lowercase()] {
            if let Some(value) = variable(&name)? {
                let value = value.trim().to_owned();
                return Ok(Some((name, value)).filter(|(_, value)| !value.is_empty()));
            }
        }
        Ok(None)
    };
    let Some((scheme, rest)) = url.split_once("://") else { return Ok(None) };
    let host = host_of(rest);
    if is_this_machine(&host) || said("NO_PROXY")?.is_some_and(|(_, list)| is_listed(&host, &list)) {
        return Ok(None);
    }
    let own = if scheme.eq_ignore_ascii_case("https") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let named = match said(own)? {
        Some(own) => Some(own),
        None => said("ALL_PROXY")?,
    };
    Ok(named.map(|(from, address)| {
        let address = if address.contains("://") { address } else { format!("http://{address}") };
        Proxy { address, from }
    }))
}

fn host_of(rest: &str) -> String {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_this_machine(host: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback() || address.is_unspecified();
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(is_loopback)
}

fn is_listed(host: &str, list: &str) -> bool {
    let entries = list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
    let mut names = entries.map(|entry| entry.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase());
    names.any(|name| name == "*" || host == name || host.strip_suffix(&name).is_some_and(|rest| rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, variables: &[(&str, &str)], expected: Option<&str>) {
        let variable =
            |name: &str| Ok(variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()));
        let found =
            among(url, &variable).expect("they are text").map(|proxy| format!("{}={}", proxy.from, proxy.address));
        assert_eq!(found.as_deref(), expected, "{url} {variables:?}");
    }

    #[test]
    fn the_proxy_of_the_scheme_goes_before_the_one_for_all() {
        let both = [("HTTPS_PROXY", "http://p:1"), ("ALL_PROXY", "q:2")];
        check("https://api.example.org/v1", &both, Some("HTTPS_PROXY=http://p:1"));
        check("http://api.example.org/v1", &both, Some("ALL_PROXY=http://q:2"));
        check("https://api.example.org/v1", &[("HTTPS_PROXY", " ")], None);
        check("https://api.example.org/v1", &[], None);
        check("http://api.example.org/v1", &[("http_proxy", "p:1")], Some("http_proxy=http://p:1"));
    }

    #[test]
    fn this_machine_and_listed_hosts_are_reached_directly() {
        let all = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", "example.org, .inner,10.0.0.1")];
        for url in [
            "http://127.0.0.1:11434/v1",
            "http://localhost:1234",
            "http://[::1]:80/",
            "https://api.example.org:443/v1",
            "https://example.org",
            "https://a.inner/",
            "http://10.0.0.1/",
        ] {
            check(url, &all, None);
        }
        check("https://notexample.org/", &all, Some("ALL_PROXY=http://p:1"));
        check("https://user:p@localhost.example.com/", &all, Some("ALL_PROXY=http://p:1"));
        check("https://x.org", &[("ALL_PROXY", "http://p:1"), ("NO_PROXY", "*")], None);
    }
}
