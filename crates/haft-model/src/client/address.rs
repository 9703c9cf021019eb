//! Builds the address of a request from the configured base address and the path of the format.

use haft_net::Address;

use super::Endpoint;
use super::again::ReplyFailure;
use crate::provider::ModelErrorKind;

/// Versions that stand at the front of a form's path, or at the end of a base address.
const VERSIONS: [&str; 3] = ["/v1", "/v1beta", "/v1alpha"];

impl Endpoint {
    /// Says what is wrong with a base address to which no request can go.
    pub fn check_base_url(base_url: &str) -> Result<(), String> {
        joined(base_url, "/models").map(|_| ()).map_err(|failure| failure.error.what)
    }
}

/// Joins the two. People write the version at the end of the address, or leave it out: it is there once.
pub(super) fn joined(base: &str, path: &str) -> Result<Address, ReplyFailure> {
    let unusable = |what: String| {
        ReplyFailure::because(ModelErrorKind::BadRequest, what)
            .final_with("give it as http:// or https:// with a host, up to the path of the wire")
    };
    let trimmed = base.trim().trim_end_matches('/');
    let parsed = Address::parse(trimmed).map_err(|error| unusable(format!("The base URL cannot be used: {error}.")))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(unusable(format!("The base URL begins with {:?}, which haft does not support.", parsed.scheme())));
    }
    let version = VERSIONS.into_iter().find(|version| path.starts_with(&format!("{version}/")));
    let has_version = VERSIONS.into_iter().any(|version| parsed.path().ends_with(version));
    let full = match version {
        Some(version) if has_version => format!("{trimmed}{}", &path[version.len()..]),
        None if parsed.path() == "/" => format!("{trimmed}/v1{path}"),
        _ => format!("{trimmed}{path}"),
    };
    Address::parse(&full).map_err(|error| unusable(format!("The base URL cannot be used: {error}.")))
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, joined};

    fn check(base: &str, path: &str, expected: &str) {
        let url = joined(base, path).map_or_else(|failure| failure.error.what, |url| url.as_str().to_owned());
        assert_eq!(url, expected);
    }

    #[test]
    fn the_version_stands_in_the_address_once() {
        let full = "https://api.anthropic.com/v1/messages";
        check("https://api.anthropic.com", "/v1/messages", full);
        check("https://api.anthropic.com/v1/", "/v1/messages", full);
        check("http://127.0.0.1:8080", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions");
        check("https://api.openai.com/v1", "/responses", "https://api.openai.com/v1/responses");
        check("https://openrouter.ai/api/v1", "/chat/completions", "https://openrouter.ai/api/v1/chat/completions");
        check("https://h.example/openai", "/chat/completions", "https://h.example/openai/chat/completions");
        check("https://g.example/v1beta", "/v1beta/models/a:b?alt=sse", "https://g.example/v1beta/models/a:b?alt=sse");
        check("https://g.example", "/v1beta/models/a:b?alt=sse", "https://g.example/v1beta/models/a:b?alt=sse");
    }

    #[test]
    fn an_address_to_which_no_request_can_go_is_known_before_one_does() {
        for usable in ["http://127.0.0.1:1", "HTTPS://Example.org/v1/", "http://[::1]:8080/v1"] {
            assert_eq!(Endpoint::check_base_url(usable), Ok(()), "{usable}");
        }
        for unusable in ["http://h:99999/v1", "http://[::1%25lo]/v1", "http://xn--/v1", "ftp://h", "http://", "h:1"] {
            assert!(Endpoint::check_base_url(unusable).is_err(), "{unusable}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_told_without_being_repeated() {
        check("localhost:1234", "/v1/x", "The base URL begins with \"localhost\", which haft does not support.");
        check("//user:secret@host", "/v1/x", "The base URL cannot be used: relative URL without a base.");
    }
}
