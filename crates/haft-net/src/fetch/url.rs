//! Parses addresses of documents; haft dials, shows and judges the same parsed address.
//!
//! An address follows the rules of browsers (WHATWG): `0x7f.1`, `2130706433` and full-width digits are addresses, and names
//! with letters of other scripts become punycode, in which no letter looks like another. Browsers remove control
//! characters and blanks. haft refuses them, because they only serve to hide something.

use std::net::IpAddr;

use haft_contract::doors::web::{WebScheme, WebUrl};
use haft_contract::effect::Host;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use reqwest::Url;

use crate::addresses::is_public;

/// Longest address, in bytes.
const LONGEST: usize = 8 * 1024;

/// Reads an address that a call names.
pub(super) fn read(text: &str) -> Result<WebUrl, ToolError> {
    let text = text.trim_matches(' ');
    parse(text, None).map_err(|why| {
        let what = format!("{} cannot be fetched: {why}.", shown(text));
        let next = "give a whole address of a public page, such as https://example.com/page".to_owned();
        ToolError::new(ErrorKind::Denied, what, Next::FixArguments(next)).by_rule("net:url")
    })
}

/// Why a redirect leads nowhere.
pub(super) struct Unusable {
    pub(super) what: String,
}

/// Reads where a redirect leads, from the address that sent it.
pub(super) fn join(from: &WebUrl, location: &str) -> Result<WebUrl, Unusable> {
    parse(location.trim(), Some(from))
        .map_err(|why| Unusable { what: format!("it leads to {}: {why}", shown(location)) })
}

/// Returns whether a host is of this machine or its network, as far as its name or its address tells.
pub(super) fn is_private(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => !is_public(address),
        Err(_) => Host(host.to_owned()).is_of_own_network(),
    }
}

fn parse(text: &str, from: Option<&WebUrl>) -> Result<WebUrl, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err("it has blanks or control characters in it".into());
    }
    let base = from.map(|from| Url::parse(&from.text)).transpose().map_err(|error| error.to_string())?;
    let mut url = Url::options().base_url(base.as_ref()).parse(text).map_err(|error| error.to_string())?;
    let scheme = match url.scheme() {
        "http" => WebScheme::Http,
        "https" => WebScheme::Https,
        other => return Err(format!("{other:?} is neither http nor https")),
    };
    if has_backslash(text) {
        return Err("it has a backslash before its path, which programs read differently".into());
    }
    if !url.username().is_empty() || url.password().is_some() || has_user(text) {
        return Err("it has a user before its host".into());
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_owned();
    if host.is_empty() {
        return Err("it names no host".into());
    }
    if host.contains('%') || host.len() > 253 {
        return Err("its host is not a name".into());
    }
    let port = url.port_or_known_default().unwrap_or_default();
    if port == 0 {
        return Err("it has the port 0".into());
    }
    url.set_fragment(None);
    Ok(WebUrl { text: url.into(), scheme, host, port })
}

/// The part of an address before its path, where it has a scheme.
fn authority(text: &str) -> &str {
    let rest = text.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn has_backslash(text: &str) -> bool {
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    authority(before_query).contains('\\') || before_query.starts_with('\\') || before_query.contains(":\\")
}

/// An empty user is removed while an address is read; here it still counts.
fn has_user(text: &str) -> bool {
    let begins =
        text.starts_with("//") || text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']));
    begins && authority(text).contains('@')
}

/// An address as errors show it: without its user and what comes behind its host, and short.
fn shown(text: &str) -> String {
    let text = match text.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            let user = if authority.contains('@') { "…@" } else { "" };
            format!("{scheme}://{user}{host}{}", if rest.len() > authority.len() { "/…" } else { "" })
        }
        None => text.to_owned(),
    };
    let short: String = text.chars().take(120).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        match parse(text, None) {
            Ok(url) if is_private(&url.host) => format!("private {}", url.host),
            Ok(url) => format!("{} {}", url.host, url.port),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn the_host_of_an_address_is_the_one_that_is_dialled() {
        for (text, expected) in [
            ("https://Good.Example.:443/a?u=http://127.0.0.1", "good.example 443"),
            ("http://good.example", "good.example 80"),
            ("https://good.example:8443/", "good.example 8443"),
            ("https://good.example/a@b", "good.example 443"),
            ("https://good.example/?mail=a@b", "good.example 443"),
            ("https://bücher.example/", "xn--bcher-kva.example 443"),
            ("https://8.8.8.8/", "8.8.8.8 443"),
            ("https://[2606:4700::1111]/", "2606:4700::1111 443"),
            ("https://127.0.0.1.good.example/", "127.0.0.1.good.example 443"),
            ("https://user@good.example/", "refused"),
            ("https://@good.example/", "refused"),
            ("http://good.example@192.168.0.1/", "refused"),
            ("https://evil.example\\@good.example/", "refused"),
            ("https:\\\\good.example/", "refused"),
            ("https://good.example:0/", "refused"),
            ("https://good.example:99999/", "refused"),
            ("https://good.example\0/", "refused"),
            ("https://good.exa\nmple/", "refused"),
            ("https://good.example/a b", "refused"),
            ("https://good.example%00.evil.example/", "refused"),
            ("file:///etc/passwd", "refused"),
            ("javascript:alert(1)", "refused"),
            ("gopher://good.example/", "refused"),
            ("good.example/a", "refused"),
            ("https://", "refused"),
            ("https://1.2.3.4.5/", "refused"),
            ("https://300.1.1.1/", "refused"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn an_address_of_this_machine_or_its_network_is_private_in_every_spelling() {
        for host in [
            "127.0.0.2",
            "127.1",
            "0x7f.0.0.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "017700000001",
            "3232235521",
            "0",
            "0.0.0.0",
            "１２７.0.0.1",
            "①②⑦.⓪.⓪.①",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:10.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[::127.0.0.1]",
            "[64:ff9b::a00:1]",
            "[2002:7f00:1::]",
            "[2001:0:7f00:1::]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[ff02::1]",
            "localhost",
            "LOCALHOST.",
            "ｌｏｃａｌｈｏｓｔ",
            "api.localhost",
            "printer.local",
            "metadata.google.internal",
            "metadata.goog",
            "router",
            "host.docker.internal",
        ] {
            let told = told(&format!("http://{host}/"));
            assert!(told.starts_with("private "), "{host}: {told}");
        }
    }

    #[test]
    fn an_error_does_not_repeat_what_may_be_a_password() {
        let error = read("https://me:hunter2@good.example/x?token=abc").expect_err("it has a user");
        assert!(!error.what.contains("hunter2") && !error.what.contains("abc"), "{}", error.what);
    }
}
