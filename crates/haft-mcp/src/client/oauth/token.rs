//! Requests an access key from an authorization server: with the code of a login, or with the result of an earlier login.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::prelude::{BASE64_STANDARD, Engine};
use haft_contract::doors::net::Method;
use haft_contract::text::visible::visible;
use haft_net::{Address, GuidedClient, Outgoing, form};
use serde::Deserialize;

use super::record::{ClientProof, Grant, Registration};

/// Most characters of an error that an authorization server reports.
const LONGEST_ERROR: usize = 300;
/// Longest key.
const LONGEST_KEY: usize = 16 * 1024;

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoToken {
    /// What happened, as a sentence.
    pub(super) what: String,
    /// The login is over: asking again with the same changes nothing.
    pub(super) is_over: bool,
}

/// Who asks where, and for which server.
pub(super) struct TokenRequest<'a> {
    pub(super) endpoint: &'a str,
    pub(super) issuer: &'a str,
    pub(super) resource: &'a str,
    pub(super) client: &'a Registration,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: Option<f64>,
    #[serde(default)]
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
struct TokenErrorResponse {
    error: String,
    #[serde(default)]
    error_description: Option<String>,
}

impl TokenRequest<'_> {
    /// Asks for a key. `more` says by what right.
    pub(super) async fn send(&self, more: &[(&str, &str)], client: &GuidedClient) -> Result<Grant, NoToken> {
        let failed = |what: String| NoToken { what, is_over: false };
        let address =
            Address::parse(self.endpoint).map_err(|_| failed("the address for keys cannot be read".into()))?;
        let Registration { client_id, secret, method, .. } = self.client;
        let mut headers = vec![
            ("content-type", "application/x-www-form-urlencoded".to_owned()),
            ("accept", "application/json".to_owned()),
        ];
        let mut pairs = more.to_vec();
        pairs.push(("resource", self.resource));
        match (method, secret) {
            (ClientProof::ClientSecretBasic, Some(secret)) => {
                headers.push(("authorization", basic(client_id, secret).map_err(failed)?));
            }
            (ClientProof::ClientSecretPost, Some(secret)) => {
                pairs.extend([("client_id", client_id.as_str()), ("client_secret", secret)]);
            }
            (ClientProof::None, _) | (_, None) => pairs.push(("client_id", client_id)),
        }
        let body = form(&pairs).map_err(failed)?.into();
        let request = Outgoing { method: Method::Post, address: address.clone(), headers, body };
        let answer = client.send(request).await.map_err(failed)?;
        if answer.status != 200 {
            return Err(refusal(&address, (answer.status, &answer.body)));
        }
        let given: TokenResponse = serde_json::from_slice(&answer.body)
            .map_err(|_| failed(format!("{} answered with something that is not a key", address.place())))?;
        self.grant(given).map_err(|why| failed(format!("{} {why}", address.place())))
    }

    fn grant(&self, given: TokenResponse) -> Result<Grant, String> {
        let TokenResponse { access_token, token_type, expires_in, refresh_token } = given;
        let is_bearer = token_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        if !is_bearer {
            return Err("gave a key of a kind that haft does not know".to_owned());
        }
        let is_key =
            |key: &str| !key.is_empty() && key.len() <= LONGEST_KEY && key.bytes().all(|b| b.is_ascii_graphic());
        if !is_key(&access_token) {
            return Err("gave a key that no request can carry".to_owned());
        }
        let lasts = expires_in.filter(|seconds| *seconds >= 0.0 && *seconds < 1e9).map(Duration::from_secs_f64);
        Ok(Grant {
            issuer: self.issuer.to_owned(),
            token_endpoint: self.endpoint.to_owned(),
            resource: self.resource.to_owned(),
            client: self.client.clone(),
            access: access_token,
            refresh: refresh_token.filter(|key| is_key(key)),
            ends_at: lasts.map(|lasts| now() + lasts.as_secs()),
        })
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Writes name and secret as a header; both are written as in a form first.
fn basic(client_id: &str, secret: &str) -> Result<String, String> {
    let encoded = |text: &str| Ok::<_, String>(form(&[("", text)])?.trim_start_matches('=').to_owned());
    let pair = format!("{}:{}", encoded(client_id)?, encoded(secret)?);
    Ok(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

fn refusal(address: &Address, (status, body): (u16, &[u8])) -> NoToken {
    let place = address.place();
    if (300..400).contains(&status) {
        let what = format!("{place} redirects haft (HTTP status {status}), and haft follows no redirect");
        return NoToken { what, is_over: false };
    }
    let refused: Option<TokenErrorResponse> = serde_json::from_slice(body).ok();
    let words = refused.as_ref().map_or_else(
        || format!("HTTP status {status}"),
        |refused| {
            let about = refused.error_description.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
            format!("{}{about}", refused.error).chars().take(LONGEST_ERROR).collect()
        },
    );
    let is_over = refused.is_some_and(|refused| refused.error == "invalid_grant");
    NoToken { what: format!("{place} refuses ({})", visible(&words)), is_over }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(resource: &str) -> TokenResponse {
        serde_json::from_str(resource).expect("it is one")
    }

    #[test]
    fn only_a_key_that_a_request_can_carry_is_one() {
        let client = Registration { client_id: "c".into(), secret: None, method: ClientProof::None, redirect: None };
        let asked =
            TokenRequest { endpoint: "https://h/t", issuer: "https://h", resource: "https://m", client: &client };
        assert!(asked.grant(request(r#"{"access_token": "a", "token_type": "bearer", "expires_in": 5}"#)).is_ok());
        for odd in [
            r#"{"access_token": "a\r\nX: y"}"#,
            r#"{"access_token": ""}"#,
            r#"{"access_token": "a", "token_type": "mac"}"#,
        ] {
            assert!(asked.grant(request(odd)).is_err(), "{odd}");
        }
        let grant = asked.grant(request(r#"{"access_token": "a", "expires_in": -1}"#));
        assert!(grant.is_ok_and(|grant| grant.ends_at.is_none()));
    }

    #[test]
    fn a_secret_in_a_header_is_written_as_in_a_form_first() {
        let written = basic("a b", "s:ü").expect("it can be written");
        assert_eq!(written, format!("Basic {}", BASE64_STANDARD.encode("a+b:s%3A%C3%BC")));
    }

    #[test]
    fn a_refusal_says_what_the_server_says_and_whether_the_login_is_over() {
        let address = Address::parse("https://h/t").expect("an address");
        let refused = refusal(&address, (400, br#"{"error": "invalid_grant", "error_description": "gone\u001b[2J"}"#));
        assert_eq!(
            refused,
            NoToken { what: "https://h refuses (invalid_grant: gone\\u{1b}[2J)".into(), is_over: true }
        );
        assert!(!refusal(&address, (503, b"busy")).is_over);
    }
}
