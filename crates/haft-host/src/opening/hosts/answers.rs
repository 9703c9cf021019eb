//! Reads addresses of registries from the output of tools and from their settings files.
//!
//! Without a sandbox haft does not run these tools.

use haft_config::sections::network::HostPattern;

/// How far behind the word "default" an address may begin.
#[cfg(any(test, feature = "sandbox"))]
const NEAR: usize = 6;
/// How far before it the word "index" must stand.
#[cfg(any(test, feature = "sandbox"))]
const AROUND: usize = 400;

/// Reads addresses out of a text.
pub(super) type AddressReader = fn(&str) -> Vec<String>;

/// Returns the host of an address such as `sparse+https://user:password@host:8443/path`; its port where it is unusual.
pub(super) fn host_of(address: &str) -> Option<HostPattern> {
    let (scheme, rest) = address.split_once("://")?;
    let usual = match scheme.rsplit('+').next()? {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.strip_suffix(usual).unwrap_or(host);
    // A program's own loopback is not another host.
    let is_own = host.split(':').next() == Some("localhost");
    if is_own || host.contains('*') { None } else { host.parse().ok() }
}

/// All addresses in a text.
pub(super) fn addresses(text: &str) -> Vec<String> {
    let begins = text.match_indices("http").filter(|(at, _)| {
        let rest = &text[*at..];
        rest.starts_with("http://") || rest.starts_with("https://")
    });
    begins.map(|(at, _)| address_at(&text[at..])).collect()
}

fn address_at(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || c.is_control() || "\"'<>(),;|`\\]}".contains(c);
    text.split(is_end).next().unwrap_or_default().to_owned()
}

/// What `go env GOPROXY GOSUMDB` prints: addresses, and the name of a database, which may have an address of its own.
#[cfg(any(test, feature = "sandbox"))]
pub(super) fn go_environment(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let proxies = addresses(lines.next().unwrap_or_default());
    let database = lines.next().unwrap_or_default().trim();
    let name = database.split([' ', '+']).next().filter(|name| name.contains('.') && !name.contains("://"));
    let database = match addresses(database) {
        own if own.is_empty() => name.map(|name| format!("https://{name}")).into_iter().collect(),
        own => own,
    };
    [proxies, database].concat()
}

/// The lines of settings that name an index.
pub(super) fn index_lines(text: &str) -> Vec<String> {
    with_words(text, &["index", "url", "find-links"])
}

/// The lines of settings that name a registry, with or without a scope.
pub(super) fn registry_lines(text: &str) -> Vec<String> {
    with_words(text, &["registry", "index", "Registry"])
}

/// The mirrors of Bundler.
pub(super) fn mirror_lines(text: &str) -> Vec<String> {
    with_words(text, &["BUNDLE_"])
}

/// The lines of apt's sources: one line for each, or in paragraphs.
pub(super) fn apt_lines(text: &str) -> Vec<String> {
    let is_source = |line: &&str| ["deb ", "deb-src ", "deb\t", "URIs:"].iter().any(|begin| line.starts_with(begin));
    text.lines().map(str::trim_start).filter(is_source).flat_map(addresses).collect()
}

/// The addresses of repositories and mirrors in XML, without what is commented out.
pub(super) fn xml_addresses(text: &str) -> Vec<String> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    shown.push_str(rest);
    let elements = shown.split("<url>").skip(1).filter_map(|element| element.split("</url>").next());
    elements.flat_map(addresses).collect()
}

/// The address that cargo's index says its downloads come from.
pub(super) fn cargo_index(text: &str) -> Vec<String> {
    let index: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    ["dl", "api"].iter().filter_map(|key| index[*key].as_str()).map(str::to_owned).collect()
}

/// The address that a help text calls the default of an index.
#[cfg(any(test, feature = "sandbox"))]
pub(super) fn default_index(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for (at, word) in text.match_indices("default") {
        let behind = &text[at + word.len()..];
        let Some(begin) = behind.find("http").filter(|begin| *begin <= NEAR) else { continue };
        let from = (at.saturating_sub(AROUND)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
        if text[from..at].to_lowercase().contains("index") {
            found.extend(addresses(&address_at(&behind[begin..])));
        }
    }
    found
}

fn with_words(text: &str, words: &[&str]) -> Vec<String> {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with(['#', ';']));
    lines.filter(|line| words.iter().any(|word| line.contains(word))).flat_map(addresses).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(addresses: &[String]) -> Vec<String> {
        addresses.iter().filter_map(|address| host_of(address)).map(|host| host.to_string()).collect()
    }

    #[test]
    fn a_host_is_found_in_every_form_of_an_address() {
        for (address, host) in [
            ("https://r.example/simple", Some("r.example")),
            ("sparse+https://index.r.example/", Some("index.r.example")),
            ("https://r.example:443/x", Some("r.example")),
            ("http://r.example:80", Some("r.example")),
            ("http://R.example.:8081/repository?x#y", Some("r.example:8081")),
            ("https://me:secret@r.example/a@b", Some("r.example")),
            ("https://me:se@cret@r.example/", Some("r.example")),
            ("http://10.1.2.3/", Some("10.1.2.3")),
            ("file:///srv/mirror", None),
            ("http://localhost:4873/", None),
            ("https://*/", None),
            ("https://", None),
            ("direct", None),
        ] {
            assert_eq!(host_of(address).map(|host| host.to_string()).as_deref(), host, "{address}");
        }
    }

    #[test]
    fn each_way_to_name_a_registry_is_read() {
        let cases: [(AddressReader, &str, &[&str]); 13] = [
            (addresses, "https://npm.r.example/\n", &["npm.r.example"]),
            (addresses, "undefined\n", &[]),
            (
                go_environment,
                "https://p.example,https://q.example|direct\nsum.example\n",
                &["p.example", "q.example", "sum.example"],
            ),
            (go_environment, "off\nsum.example+033de0ae+Ac https://db.example\n", &["db.example"]),
            (go_environment, "direct\noff\n", &[]),
            (
                index_lines,
                "global.index-url='https://a.example/simple'\n:env:.extra-index-url='https://b.example https://c.example/'\nglobal.proxy='http://p.example'\n",
                &["a.example", "b.example", "c.example"],
            ),
            (
                default_index,
                "-i, --index-url <url>  Base URL of the Package Index (default\n   https://i.example/simple). Also https://docs.example/",
                &["i.example"],
            ),
            (default_index, "--default-index  The index (by default: <https://u.example/simple>)", &["u.example"]),
            (default_index, "--mirror  Where programs come from (default https://m.example)", &[]),
            (
                registry_lines,
                "# registry=https://no.example\n@me:registry=https://s.example/\n//s.example/:_authToken=x\n",
                &["s.example"],
            ),
            (
                apt_lines,
                "# deb http://no.example x\ndeb [signed-by=/k] http://deb.example/debian stable main\nURIs: https://u.example/ https://v.example\n",
                &["deb.example", "u.example", "v.example"],
            ),
            (
                xml_addresses,
                "<a><!-- <url>http://no.example</url> --><url>\nhttps://m.example/maven2</url></a>",
                &["m.example"],
            ),
            (
                cargo_index,
                r#"{"dl":"https://dl.example/crates","api":"https://api.example"}"#,
                &["dl.example", "api.example"],
            ),
        ];
        for (read, text, expected) in cases {
            assert_eq!(hosts(&read(text)), expected, "{text}");
        }
    }
}
