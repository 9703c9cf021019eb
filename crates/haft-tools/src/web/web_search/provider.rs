//! Describes how to ask each service.

use std::sync::LazyLock;
use std::time::Duration;

use haft_contract::doors::net::{HttpRequest, Method};
use haft_contract::effect::Host;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use serde::Deserialize;

/// A service that searches the web.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchProvider {
    pub(super) name: String,
    pub(super) key: String,
    method: HttpMethod,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    pub(super) results: String,
    pub(super) title: String,
    pub(super) address: String,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum HttpMethod {
    #[serde(rename = "GET")]
    Get,
    #[serde(rename = "POST")]
    Post,
}

#[derive(Deserialize)]
struct Providers {
    provider: Vec<SearchProvider>,
}

/// Returns all services.
pub(super) fn all() -> &'static [SearchProvider] {
    static ALL: LazyLock<Vec<SearchProvider>> = LazyLock::new(|| {
        let providers: Providers = toml::from_str(include_str!("providers.toml")).expect("a test reads the table");
        providers.provider
    });
    &ALL
}

impl SearchProvider {
    /// Returns the request, and the host that it goes to.
    pub(super) fn request(&self, key: &str, (query, count): (&str, usize)) -> Result<(HttpRequest, Host), ToolError> {
        let count = count.to_string();
        let fill = |text: &str, written: &dyn Fn(&str) -> String| {
            // The query comes last: what it says is never filled in.
            text.replace("{key}", key).replace("{count}", &count).replace("{query}", &written(query))
        };
        let url = match self.url.strip_prefix("{key}") {
            Some(rest) => format!("{}{}", key.trim_end_matches('/'), fill(rest, &percent_encoded)),
            None => fill(&self.url, &percent_encoded),
        };
        let host = host(&url).ok_or_else(|| self.bad_key())?;
        let in_text = |text: &str| {
            let quoted = serde_json::Value::from(text).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        };
        let request = HttpRequest {
            method: match self.method {
                HttpMethod::Get => Method::Get,
                HttpMethod::Post => Method::Post,
            },
            url,
            headers: self.headers.iter().map(|(name, value)| (name.clone(), fill(value, &str::to_owned))).collect(),
            body: self.body.as_ref().map(|body| fill(body, &in_text)).unwrap_or_default().into(),
            time: Duration::ZERO,
            most: 0,
        };
        Ok((request, host))
    }

    fn bad_key(&self) -> ToolError {
        let what = format!("{} is not the address of a service.", self.key);
        let next = format!("ask the user to set {} to an address such as https://search.example.com", self.key);
        ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next))
    }
}

/// Returns the host of an address as the door takes it.
fn host(url: &str) -> Option<Host> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.contains(['@', '\\', '%']))?;
    let name = match authority.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => authority.split(':').next().unwrap_or_default(),
    };
    (!name.is_empty()).then(|| Host(name.to_ascii_lowercase()))
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_is_asked_in_its_own_way_and_a_query_cannot_change_the_request() {
        let query = "a&b=\"{key}\" ü\\";
        for provider in all() {
            let key = if provider.name == "searxng" { "http://localhost:8888/" } else { "k3y" };
            let (request, host) = provider.request(key, (query, 5)).expect("it can be asked");
            match request.method {
                Method::Get => {
                    assert!(request.url.contains("?q=a%26b%3D%22%7Bkey%7D%22%20%C3%BC%5C"), "{}", request.url);
                    assert!(request.body.is_empty());
                }
                _ => {
                    let body: serde_json::Value = serde_json::from_slice(&request.body).expect("it is JSON");
                    assert!(body.as_object().unwrap().values().any(|value| value == query), "{body}");
                }
            }
            let in_header = request.headers.iter().any(|(_, value)| value.contains("k3y"));
            assert_eq!(
                (in_header, request.url.contains("k3y")),
                (provider.name != "searxng", false),
                "{}",
                provider.name
            );
            assert!(request.url.contains(&host.0), "{host:?}");
        }
        let searxng = all().iter().find(|provider| provider.name == "searxng").unwrap();
        let (request, host) = searxng.request("http://localhost:8888/", ("x", 5)).unwrap();
        assert_eq!(
            (request.url.as_str(), host.0.as_str()),
            ("http://localhost:8888/search?q=x&format=json", "localhost")
        );
        for bad in ["localhost:8888", "ftp://x", "https://", "https://u:p@x"] {
            assert!(searxng.request(bad, ("x", 5)).is_err(), "{bad}");
        }
    }
}
