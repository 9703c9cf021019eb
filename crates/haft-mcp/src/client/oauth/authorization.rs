//! Handles the login in the user's browser: the address to open, and the answer.
//!
//! The proof (PKCE) ties the code to this login, the state ties the browser's answer to it, and the name of the
//! authorization server ties both to the one that was asked.

use std::collections::BTreeSet;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use haft_contract::text::visible::visible;
use haft_net::Address;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use super::discovery::Issuer;

/// Most characters of an error that an authorization server reports.
const LONGEST_ERROR: usize = 300;

/// One login on its way through the browser.
pub(super) struct Visit {
    /// The address that the user opens.
    pub(super) address: Address,
    /// What only this process knows, and shows with the code.
    pub(super) verifier: String,
    /// What tells the answer to this login from any other.
    pub(super) state: String,
    issuer: String,
    says_issuer: bool,
}

/// The parameters of a request for authorization.
pub(super) struct AuthorizationRequest<'a> {
    pub(super) client_id: &'a str,
    pub(super) redirect: &'a str,
    pub(super) resource: &'a str,
    pub(super) scopes: &'a BTreeSet<String>,
}

impl Visit {
    /// Prepares a login.
    pub(super) fn to(issuer: &Issuer, wanted: &AuthorizationRequest<'_>) -> Result<Self, String> {
        let (verifier, state) = (random()?, random()?);
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let scopes = wanted.scopes.iter().cloned().collect::<Vec<_>>().join(" ");
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", wanted.client_id),
            ("redirect_uri", wanted.redirect),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", wanted.resource),
        ];
        if !scopes.is_empty() {
            pairs.push(("scope", &scopes));
        }
        let endpoint = Address::parse(&issuer.authorization_endpoint);
        let address = endpoint.map_err(|_| "the address of the login cannot be read".to_owned())?.with_query(&pairs);
        let says_issuer = issuer.authorization_response_iss_parameter_supported;
        Ok(Self { address, verifier, state, issuer: issuer.issuer.clone(), says_issuer })
    }

    /// Takes the code out of what came back; the error is a sentence. An answer to another login is none of this one.
    pub(super) fn code(&self, answer: &[(String, String)]) -> Result<String, String> {
        let of = |name: &str| {
            let mut values = answer.iter().filter(|(one, _)| one == name).map(|(_, value)| value.as_str());
            (values.next(), values.next())
        };
        match of("state") {
            (Some(state), None) if state == self.state => {}
            _ => return Err("The browser came back from another login; nothing was done.".to_owned()),
        }
        match of("iss") {
            (Some(named), None) if named == self.issuer => {}
            (None, _) if !self.says_issuer => {}
            (Some(named), _) => {
                return Err(format!(
                    "The browser came back from \"{}\", and haft asked \"{}\"; the login was given up.",
                    visible(named),
                    visible(&self.issuer)
                ));
            }
            (None, _) => {
                return Err(format!(
                    "\"{}\" did not say its name, as it promises; the login was given up.",
                    visible(&self.issuer)
                ));
            }
        }
        if let (Some(error), _) = of("error") {
            let about = of("error_description").0.map(|about| format!(": {about}")).unwrap_or_default();
            let words: String = format!("{error}{about}").chars().take(LONGEST_ERROR).collect();
            return Err(format!("The login was refused ({}).", visible(&words)));
        }
        match of("code") {
            (Some(code), None) if !code.is_empty() => Ok(code.to_owned()),
            _ => Err("The browser came back without a code.".to_owned()),
        }
    }
}

/// Returns 256 random bits as text.
fn random() -> Result<String, String> {
    let mut bytes = [0; 32];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(32) => Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes)),
        Ok(_) | Err(_) => Err("the system gives no random numbers".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(says_issuer: bool) -> Visit {
        let issuer: Issuer = serde_json::from_value(serde_json::json!({
            "issuer": "https://i", "authorization_endpoint": "https://i/a?x=y", "token_endpoint": "https://i/t",
            "authorization_response_iss_parameter_supported": says_issuer,
        }))
        .expect("it is one");
        let scopes = ["a", "b"].map(str::to_owned).into();
        let wanted = AuthorizationRequest {
            client_id: "c",
            redirect: "http://127.0.0.1:1/callback",
            resource: "https://m",
            scopes: &scopes,
        };
        Visit::to(&issuer, &wanted).expect("there are random numbers")
    }

    fn came_back(visit: &Visit, pairs: &[(&str, &str)]) -> Result<String, String> {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        visit.code(&pairs)
    }

    #[test]
    fn the_address_has_the_proof_the_state_and_the_server_that_the_login_is_for() {
        let (one, other) = (visit(false), visit(false));
        let query = one.address.query();
        let value = |name: &str| query.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str());
        assert_eq!((value("x"), value("scope"), value("resource")), (Some("y"), Some("a b"), Some("https://m")));
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&one.verifier));
        assert_eq!(value("code_challenge"), Some(challenge.as_str()));
        assert!(one.verifier != other.verifier && one.state != other.state && one.verifier != one.state);
        assert!(!one.address.as_str().contains(&one.verifier));
    }

    #[test]
    fn only_the_answer_to_this_login_from_this_server_has_a_code() {
        for (says, iss, is_right) in [
            (true, Some("https://i"), true),
            (false, None, true),
            (false, Some("https://i"), true),
            (true, None, false),
            (true, Some("https://i/"), false),
            (false, Some("https://evil.example"), false),
        ] {
            let visit = visit(says);
            let mut pairs = vec![("code", "k"), ("state", visit.state.as_str())];
            pairs.extend(iss.map(|iss| ("iss", iss)));
            assert_eq!(came_back(&visit, &pairs).is_ok(), is_right, "{says} {iss:?}");
        }
        let visit = visit(false);
        let state = visit.state.as_str();
        assert!(came_back(&visit, &[("code", "k"), ("state", "other")]).is_err());
        assert!(came_back(&visit, &[("code", "k")]).is_err());
        assert!(came_back(&visit, &[("code", "k"), ("code", "l"), ("state", state)]).is_err());
        let refused = came_back(&visit, &[("error", "access_denied\u{1b}"), ("state", state)]);
        assert_eq!(refused, Err("The login was refused (access_denied\\u{1b}).".to_owned()));
    }
}
