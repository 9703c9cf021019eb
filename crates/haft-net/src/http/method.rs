//! Converts the contract's HTTP methods to those of the client.

use haft_contract::doors::net::Method;

/// Returns the method for the client.
pub(crate) fn on_the_wire(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}
