//! Finds the host that an address of the web names, and says whether the host is public.
//!
//! haft takes an address literally only if all programs read it alike. It reports an address as deceptive if one program
//! reads a part as the host and another reads it as the user before the host, or if an encoding hides the host.
//!
//! Not here: asking the network what a name means; the connection is judged again with the answer.

use std::net::{Ipv4Addr, Ipv6Addr};

use haft_contract::effect::Host;

use haft_command::programs::address::{METADATA, normal};

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebAddress {
    /// A host that everybody can reach.
    Public(Host),
    /// This machine, its network, or a service that gives credentials to it.
    Private(Host),
    /// Something that is not fetched from the web; what, as the end of "it …".
    NotOfTheWeb(String),
    /// Programs may read it differently, or it is none; why, as the end of "it …".
    Unclear(String),
}

impl WebAddress {
    /// Reads an address.
    pub fn read(text: &str) -> Self {
        let unclear = |why: &str| Self::Unclear(why.to_owned());
        if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return unclear("has blanks or control characters in it");
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return unclear("is not a whole address, such as https://example.com/page");
        };
        if !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)) {
            return Self::NotOfTheWeb("begins with neither http:// nor https://".to_owned());
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('\\') {
            return Self::NotOfTheWeb("has a backslash in its host".to_owned());
        }
        let (user, place) = authority.rsplit_once('@').map_or((None, authority), |(user, place)| (Some(user), place));
        let Some((name, port)) = host_and_port(place) else { return unclear("has an invalid port") };
        let host = normal(&name.trim_end_matches('.').to_ascii_lowercase());
        match () {
            () if host.is_empty() => unclear("names no host"),
            () if is_private(&host) => Self::Private(Host(host)),
            () if user.is_some() => Self::NotOfTheWeb("has a user before its host".to_owned()),
            () if port == Some(0) => Self::NotOfTheWeb("has the port 0".to_owned()),
            () if !is_plain(&host) => unclear("has letters in its host that look like others, or hide some"),
            () if is_bad_number(&host) => unclear("has an invalid number as its host"),
            () => Self::Public(Host(host)),
        }
    }
}

/// Takes a host and its port apart; nothing where the port is no number.
fn host_and_port(place: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((address, "")) => return Some((address, None)),
        Some((address, port)) => (address, port.strip_prefix(':')?),
        None => place.split_once(':').unwrap_or((place, "")),
    };
    match port {
        "" => Some((name, None)),
        port => port.parse().ok().map(|port| (name, Some(port))),
    }
}

fn is_plain(host: &str) -> bool {
    host.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.:".contains(letter))
}

/// Tells a number that is no address from a name: no name ends with a part that is a number.
fn is_bad_number(host: &str) -> bool {
    let is_address = host.parse::<Ipv4Addr>().is_ok() || host.parse::<Ipv6Addr>().is_ok();
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|letter: char| letter.is_ascii_digit())
        && last.trim_start_matches("0x").chars().all(|letter| letter.is_ascii_hexdigit());
    !is_address && (host.contains(':') || is_number)
}

fn is_private(host: &str) -> bool {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return is_private_v4(address);
    }
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return is_private_v6(address);
    }
    METADATA.contains(&host) || is_name(host) && Host(host.to_owned()).is_of_own_network()
}

fn is_name(host: &str) -> bool {
    is_plain(host) && !is_bad_number(host)
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && second & 0b1100_0000 == 64;
    let is_assigned = (first, second, third) == (192, 0, 0) || (first == 198 && second & 0xfe == 18);
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || is_shared
        || is_assigned
        || matches!(first, 0 | 240..)
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // These have another address inside of them.
    let is_translated = parts[0] == 0x2002 || (parts[0], parts[1]) == (0x64, 0xff9b) || parts[..6] == [0; 6];
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || is_translated
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what an address leads to in one word, and which host it names.
    fn told(text: &str) -> String {
        match WebAddress::read(text) {
            WebAddress::Public(host) => format!("public {}", host.0),
            WebAddress::Private(host) => format!("private {}", host.0),
            WebAddress::NotOfTheWeb(_) => "not of the web".to_owned(),
            WebAddress::Unclear(_) => "unclear".to_owned(),
        }
    }

    #[test]
    fn the_host_of_an_address_is_the_one_that_is_dialled() {
        for (text, wanted) in [
            ("https://good.example/a?u=http://127.0.0.1", "public good.example"),
            ("HTTPS://Good.Example.:443/", "public good.example"),
            ("https://8.8.8.8/", "public 8.8.8.8"),
            ("https://[2606:4700::1111]:8443/", "public 2606:4700::1111"),
            ("https://local.good.example/", "public local.good.example"),
            ("https://user@good.example/", "not of the web"),
            ("http://good.example@192.168.0.1/", "private 192.168.0.1"),
            ("https://evil.example\\@good.example/", "not of the web"),
            ("https://good.example:0/", "not of the web"),
            ("file:///etc/passwd", "not of the web"),
            ("javascript:alert(1)", "unclear"),
            ("good.example/a", "unclear"),
            ("https://", "unclear"),
            ("https:///etc", "unclear"),
            ("https://good.example:http/", "unclear"),
            ("https://good.ex\tample/", "unclear"),
            ("https://gооd.example/", "unclear"),
            ("https://good%2eexample/", "unclear"),
            ("https://1.2.3.4.5/", "unclear"),
            ("https://300.1.1.1/", "unclear"),
        ] {
            assert_eq!(told(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_not_for_everybody_is_private_in_every_form() {
        for host in [
            "127.0.0.2",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "0177.0.0.1",
            "3232235521",
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[::ffff:10.0.0.1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[64:ff9b::a00:1]",
            "[2002:7f00:1::]",
            "localhost",
            "LOCALHOST.",
            "api.localhost",
            "printer.local",
            "metadata.google.internal",
            "router",
        ] {
            assert!(
                told(&format!("http://{host}/")).starts_with("private "),
                "{host}: {}",
                told(&format!("http://{host}/"))
            );
        }
    }
}
