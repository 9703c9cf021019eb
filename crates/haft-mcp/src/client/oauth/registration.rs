//! Chooses the client identity for the login to an authorization server.
//!
//! haft uses the client of the user's file, else a document that describes haft, else a client that haft registers itself.

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_contract::text::visible::visible;
use haft_host::opening::servers::LoginSpec;
use haft_net::{Address, GuidedClient, Outgoing};
use serde::Deserialize;
use serde_json::json;

use super::discovery::Issuer;
use super::record::{ClientProof, LoginRecord, Registration};

/// Longest name and longest secret of a client.
const LONGEST: usize = 4 * 1024;

#[derive(Deserialize)]
struct RegistrationResponse {
    client_id: String,
    #[serde(default)]
    client_secret: Option<String>,
    #[serde(default)]
    token_endpoint_auth_method: Option<ClientProof>,
}

impl Issuer {
    /// Finds the client that haft is to this authorization server, with the address to which the browser comes back.
    pub(super) async fn client(
        &self,
        record: &LoginRecord,
        redirect: &str,
        spec: &LoginSpec,
        network: &GuidedClient,
    ) -> Result<Registration, String> {
        let redirect_to = || Some(redirect.to_owned());
        if let Some(client_id) = &spec.client_id {
            check_owner(self, (record, spec))?;
            let secret = spec.secret()?;
            let method = proof(self, secret.as_deref())?;
            return Ok(Registration { client_id: client_id.clone(), secret, method, redirect: redirect_to() });
        }
        if let Some(document) = spec.client_metadata.as_ref().filter(|_| self.client_id_metadata_document_supported) {
            check_document(document)?;
            let client_id = document.clone();
            return Ok(Registration { client_id, secret: None, method: ClientProof::None, redirect: redirect_to() });
        }
        let known = record.registrations.get(&self.issuer);
        if let Some(known) = known.filter(|known| known.redirect.as_deref() == Some(redirect)) {
            return Ok(known.clone());
        }
        match &self.registration_endpoint {
            Some(endpoint) => register(self, (endpoint, redirect), network).await,
            None => Err(format!(
                "{} does not let haft register itself; register a client there yourself, with the address {redirect}, and write it \
                 into the server's entry of config.toml: oauth = {{ client_id = \"…\", callback_port = … }}",
                visible(&self.issuer)
            )),
        }
    }
}

/// Sends the client of the user's file to no other authorization server than the one that it belongs to.
fn check_owner(issuer: &Issuer, (record, spec): (&LoginRecord, &LoginSpec)) -> Result<(), String> {
    let owner = spec.issuer.as_ref().or(record.issuer_of_client.as_ref());
    match owner {
        Some(owner) if *owner != issuer.issuer => Err(format!(
            "the client of your file belongs to {owner}, and the server now logs users in at {}; if that is right, change \
             client_id and issuer in your file, and run \"haft mcp logout\" first",
            visible(&issuer.issuer)
        )),
        Some(_) | None => Ok(()),
    }
}

fn check_document(document: &str) -> Result<(), String> {
    let address = Address::parse(document).ok();
    let is_one = address.is_some_and(|address| {
        address.scheme() == "https" && address.path() != "/" && !address.has_more_than_a_place()
    });
    if is_one { Ok(()) } else { Err("client_metadata must be an https address with a path".to_owned()) }
}

/// Chooses how the client shows that it is the one, from what the authorization server takes.
fn proof(issuer: &Issuer, secret: Option<&str>) -> Result<ClientProof, String> {
    let takes = |method: &str| match &issuer.token_endpoint_auth_methods_supported {
        Some(methods) => methods.iter().any(|one| one == method),
        // The standard's default.
        None => method == "client_secret_basic",
    };
    match secret {
        None => Ok(ClientProof::None),
        Some(_) if takes("client_secret_basic") => Ok(ClientProof::ClientSecretBasic),
        Some(_) if takes("client_secret_post") => Ok(ClientProof::ClientSecretPost),
        Some(_) => Err(format!("{} takes no secret of a client in a way that haft knows", visible(&issuer.issuer))),
    }
}

async fn register(
    issuer: &Issuer,
    (endpoint, redirect): (&str, &str),
    network: &GuidedClient,
) -> Result<Registration, String> {
    let place = visible(&issuer.issuer).into_owned();
    let takes = issuer.token_endpoint_auth_methods_supported.as_deref().unwrap_or_default();
    let known = ["none", "client_secret_basic", "client_secret_post"];
    let method = known.into_iter().find(|known| takes.iter().any(|method| method == known)).unwrap_or("none");
    let body = json!({
        "client_name": "haft", "application_type": "native", "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    let address = Address::parse(endpoint).map_err(|_| format!("{place} names an address that cannot be read"))?;
    let headers = vec![("content-type", "application/json".to_owned()), ("accept", "application/json".to_owned())];
    let request = Outgoing { method: Method::Post, address, headers, body: Bytes::from(body.to_string()) };
    let answer = network.send(request).await?;
    if !(200..300).contains(&answer.status) {
        return Err(format!("{place} does not register haft: HTTP status {}", answer.status));
    }
    let registered: RegistrationResponse = serde_json::from_slice(&answer.body)
        .map_err(|_| format!("{place} answered the registration with something that is no client"))?;
    let RegistrationResponse { client_id, client_secret: secret, token_endpoint_auth_method } = registered;
    if client_id.is_empty() || client_id.len() > LONGEST || secret.as_ref().is_some_and(|secret| secret.len() > LONGEST)
    {
        return Err(format!("{place} answered the registration with something that is no client"));
    }
    // A server that does not say how it registered haft did it as haft asked.
    let asked = match (method, secret.is_some()) {
        ("client_secret_basic", true) => ClientProof::ClientSecretBasic,
        ("client_secret_post", true) => ClientProof::ClientSecretPost,
        _ => ClientProof::None,
    };
    let method = token_endpoint_auth_method.unwrap_or(asked);
    Ok(Registration { client_id, secret, method, redirect: Some(redirect.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(more: serde_json::Value) -> Issuer {
        let mut value =
            json!({ "issuer": "https://i", "authorization_endpoint": "https://i/a", "token_endpoint": "https://i/t" });
        value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        serde_json::from_value(value).expect("it is one")
    }

    async fn found(more: serde_json::Value, (record, spec): (LoginRecord, LoginSpec)) -> Result<String, String> {
        let network = GuidedClient::led_by(Address::parse("https://m/mcp").expect("an address"));
        let client = issuer(more).client(&record, "http://127.0.0.1:1/callback", &spec, &network).await;
        client.map(|client| client.client_id)
    }

    #[tokio::test]
    async fn the_client_of_the_file_comes_before_a_document_and_a_document_before_a_registration() {
        let both = LoginSpec {
            client_id: Some("mine".into()),
            client_metadata: Some("https://haft.example/client.json".into()),
            ..LoginSpec::default()
        };
        let document = LoginSpec { client_id: None, ..both.clone() };
        let record = || LoginRecord::default();
        let supported = json!({ "client_id_metadata_document_supported": true });
        assert_eq!(found(supported.clone(), (record(), both)).await.as_deref(), Ok("mine"));
        assert_eq!(
            found(supported, (record(), document.clone())).await.as_deref(),
            Ok("https://haft.example/client.json")
        );
        let no_way = found(json!({}), (record(), document)).await;
        assert!(no_way.is_err_and(|why| why.contains("register a client there yourself")));
    }

    #[tokio::test]
    async fn a_client_is_never_shown_to_another_authorization_server() {
        let mine = LoginSpec { client_id: Some("mine".into()), ..LoginSpec::default() };
        let other = LoginRecord { issuer_of_client: Some("https://other".into()), ..LoginRecord::default() };
        assert!(found(json!({}), (other, mine)).await.is_err_and(|why| why.contains("belongs to https://other")));
        let registration = Registration {
            client_id: "of-other".into(),
            secret: None,
            method: ClientProof::None,
            redirect: Some("http://127.0.0.1:1/callback".into()),
        };
        let mut record = LoginRecord::default();
        record.registrations.insert("https://other".into(), registration.clone());
        assert!(found(json!({}), (record.clone(), LoginSpec::default())).await.is_err());
        record.registrations.insert("https://i".into(), registration);
        assert_eq!(found(json!({}), (record, LoginSpec::default())).await.as_deref(), Ok("of-other"));
    }
}
