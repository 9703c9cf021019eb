//! The proxy on the way to a provider, as the environment names it.
//!
//! The variables are those that most programs read: `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` in capitals or small
//! letters, and `NO_PROXY` with the hosts that are reached directly. What runs on this machine always is.

use crate::environment::variable;

/// Returns the proxy for an address; nothing where it is reached directly.
pub fn proxy_for(url: &str) -> Option<String> {
    among(url, &|name| variable(name).or_else(|| variable(&name.to_lowercase())))
}

fn among(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let said = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let (scheme, rest) = url.split_once("://")?;
    let host = host_of(rest);
    if is_this_machine(&host) || said("NO_PROXY").is_some_and(|list| is_listed(&host, &list)) {
        return None;
    }
    let own = if scheme.eq_ignore_ascii_case("https") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let proxy = said(own).or_else(|| said("ALL_PROXY"))?;
    Some(if proxy.contains("://") { proxy } else { format!("http://{proxy}") })
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
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(among(url, &variable).as_deref(), expected, "{url} {variables:?}");
    }

    #[test]
    fn the_proxy_of_the_scheme_goes_before_the_one_for_all() {
        let both = [("HTTPS_PROXY", "http://p:1"), ("ALL_PROXY", "q:2")];
        check("https://api.example.org/v1", &both, Some("http://p:1"));
        check("http://api.example.org/v1", &both, Some("http://q:2"));
        check("https://api.example.org/v1", &[("HTTPS_PROXY", " ")], None);
        check("https://api.example.org/v1", &[], None);
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
        check("https://notexample.org/", &all, Some("http://p:1"));
        check("https://user:p@localhost.example.com/", &all, Some("http://p:1"));
        check("https://x.org", &[("ALL_PROXY", "http://p:1"), ("NO_PROXY", "*")], None);
    }
}
