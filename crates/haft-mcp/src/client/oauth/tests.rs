//! Tests logins with a small server on loopback that works correctly or fails in a chosen way.

#![expect(clippy::disallowed_methods, reason = "a test looks at the file that a login is kept in")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_host::opening::servers::LoginSpec;
use haft_host::opening::servers::records::ServerRecords;
use haft_net::{Address, GuidedClient, HttpClient, HttpListener, Outgoing, RequestHandler, Unreadable, form};
use http::header::{LOCATION, WWW_AUTHENTICATE};
use http::request::Parts as Head;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use super::flow::{Browser, ShownVisit, log_in};
use super::record::LoginPlace;
use super::{AfterRefusal, Login, ServerRefusal};

/// How the server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Well,
    /// It says that it is another server.
    OtherResource,
    /// Its authorization server says that it is another one.
    OtherIssuer,
    /// It sends the browser back under the name of another authorization server.
    OtherInBrowser,
    /// It sends the browser back with an answer to another login, and only then with the right one.
    OtherStateFirst,
    /// Its description redirects to another host.
    Redirects,
    /// It renews no key, for a while.
    Busy,
    /// It renews no key any more.
    Over,
    /// It gives no new key to renew the next one with.
    KeepsRefresh,
}

/// A server that logs users in to itself.
struct Authority {
    base: String,
    behaviour: Mutex<Behaviour>,
    /// What came, as one line for each request.
    heard: Mutex<Vec<String>>,
}

impl Authority {
    async fn start(behaviour: Behaviour) -> Arc<Self> {
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.expect("there is a port");
        let base = format!("http://{}", listener.address().expect("it is bound"));
        let authority = Arc::new(Self { base, behaviour: Mutex::new(behaviour), heard: Mutex::default() });
        tokio::spawn(listener.serve(authority.clone(), std::future::pending()));
        authority
    }

    fn behaviour(&self) -> Behaviour {
        *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn becomes(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = behaviour;
    }

    fn heard(&self, path: &str) -> Vec<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().filter(|line| line.starts_with(path)).cloned().collect()
    }

    fn description(&self) -> Value {
        let issuer = if self.behaviour() == Behaviour::OtherIssuer { "https://evil.example" } else { &self.base };
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{}/authorize", self.base),
            "token_endpoint": format!("{}/token", self.base), "registration_endpoint": format!("{}/register", self.base),
            "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    fn authorized(&self, query: &[(String, String)]) -> Response<Full<Bytes>> {
        let value =
            |name: &str| query.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str()).unwrap_or_default();
        let issuer = if self.behaviour() == Behaviour::OtherInBrowser { "https://evil.example" } else { &self.base };
        let back = Address::parse(value("redirect_uri")).expect("an address");
        let with = |state: &str| back.with_query(&[("code", "the-code"), ("state", state), ("iss", issuer)]);
        let to = match self.behaviour() {
            Behaviour::OtherStateFirst => with("of-another-login"),
            _ => with(value("state")),
        };
        let mut answer = text(StatusCode::FOUND, "");
        answer.headers_mut().insert(LOCATION, HeaderValue::from_str(to.as_str()).expect("it is plain"));
        answer
    }

    fn token(&self, body: &str) -> Response<Full<Bytes>> {
        let number = self.heard("/token").len();
        let renews = body.contains("grant_type=refresh_token");
        match self.behaviour() {
            Behaviour::Busy if renews => text(StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Behaviour::Over if renews => text(StatusCode::BAD_REQUEST, r#"{"error": "invalid_grant"}"#),
            Behaviour::KeepsRefresh if renews => text(
                StatusCode::OK,
                &json!({ "access_token": format!("key-{number}"), "token_type": "Bearer" }).to_string(),
            ),
            _ => {
                let refresh = format!("refresh-{number}");
                let given = json!({ "access_token": format!("key-{number}"), "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh });
                text(StatusCode::OK, &given.to_string())
            }
        }
    }
}

impl RequestHandler for Authority {
    type Body = Full<Bytes>;

    fn admit(&self, _head: &Head) -> Result<(), Response<Full<Bytes>>> {
        Ok(())
    }

    fn unreadable(&self, _why: Unreadable) -> Response<Full<Bytes>> {
        text(StatusCode::BAD_REQUEST, "")
    }

    async fn answer(&self, request: Request<Bytes>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let line = format!("{path} {body}");
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        let whole = Address::parse(&format!("{}{}", self.base, request.uri())).expect("an address");
        match path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" if self.behaviour() == Behaviour::Redirects => {
                let mut answer = text(StatusCode::FOUND, "");
                answer.headers_mut().insert(LOCATION, HeaderValue::from_static("http://169.254.169.254/latest"));
                answer
            }
            "/.well-known/oauth-protected-resource/mcp" => {
                let other = self.behaviour() == Behaviour::OtherResource;
                let resource = if other { "https://evil.example/mcp".to_owned() } else { format!("{}/mcp", self.base) };
                let document =
                    json!({ "resource": resource, "authorization_servers": [self.base], "scopes_supported": ["a"] });
                text(StatusCode::OK, &document.to_string())
            }
            "/.well-known/oauth-authorization-server" => text(StatusCode::OK, &self.description().to_string()),
            "/register" => text(StatusCode::CREATED, r#"{"client_id": "registered"}"#),
            "/authorize" => self.authorized(&whole.query()),
            "/token" => self.token(&body),
            "/mcp" => {
                let mut answer = text(StatusCode::UNAUTHORIZED, "");
                answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                answer
            }
            _ => text(StatusCode::NOT_FOUND, ""),
        }
    }
}

fn text(status: StatusCode, body: &str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::copy_from_slice(body.as_bytes())));
    *answer.status_mut() = status;
    answer
}

/// A browser that goes where it is led.
#[derive(Default)]
struct Follower {
    shown: Mutex<Vec<String>>,
}

impl Browser for Follower {
    fn show(&self, visit: &ShownVisit<'_>) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(visit.address.to_owned());
        let address = visit.address.to_owned();
        tokio::spawn(async move {
            let first = opened(&address).await;
            let answer = opened(&first.expect("it leads back")).await;
            assert_eq!(answer, None);
            // The right answer comes even if another one came before.
            let state = Address::parse(&address).expect("an address").query();
            let state: BTreeMap<_, _> = state.into_iter().collect();
            let issuer = Address::parse(&address).expect("an address").place();
            let back = Address::parse(&state["redirect_uri"]).expect("an address");
            let back = back.with_query(&[("code", "the-code"), ("state", &state["state"]), ("iss", &issuer)]);
            opened(back.as_str()).await;
        });
    }

    fn pasted(&self) -> Option<Result<String, String>> {
        None
    }
}

/// Opens an address; returns where it leads.
async fn opened(address: &str) -> Option<String> {
    let address = Address::parse(address).expect("an address");
    let request = Outgoing { method: Method::Get, address, headers: Vec::new(), body: Bytes::new() };
    let answer = HttpClient::new().send(request).await.ok()?;
    answer.headers().text("location").map(str::to_owned)
}

fn login_to(authority: &Authority, folder: &tempfile::TempDir) -> Login {
    let server = Address::parse(&format!("{}/mcp", authority.base)).expect("an address");
    Login {
        name: "web".to_owned(),
        network: GuidedClient::led_by(server.clone()),
        server,
        spec: LoginSpec::default(),
        place: LoginPlace::new(ServerRecords::in_folder(folder.path().to_owned()), "web-1".to_owned()),
        current: Mutex::new(None),
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn refused(key: Option<&str>) -> ServerRefusal<'_> {
    ServerRefusal { status: 401, header: Some("Bearer"), key }
}

async fn logged_in(behaviour: Behaviour, folder: &tempfile::TempDir) -> (Arc<Authority>, Login) {
    let authority = Authority::start(behaviour).await;
    let login = login_to(&authority, folder);
    log_in(&login, &Follower::default()).await.expect("it works");
    (authority, login)
}

#[tokio::test]
async fn a_login_proves_itself_names_its_server_and_is_kept_for_the_user_alone() {
    let folder = folder();
    let (authority, login) = logged_in(Behaviour::Well, &folder).await;
    assert_eq!(login.key().await.as_deref(), Some("key-1"));
    let [asked] = &authority.heard("/token")[..] else { panic!("one request") };
    let resource = form(&[("resource", &format!("{}/mcp", authority.base))]).expect("it is plain");
    for part in ["code=the-code", "code_verifier=", "grant_type=authorization_code", "client_id=registered", &resource]
    {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let registered = &authority.heard("/register")[0];
    assert!(
        registered.contains(r#""application_type":"native""#) && registered.contains("http://127.0.0.1:"),
        "{registered}"
    );
    let path = folder.path().join("web-1.login");
    assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
    assert!(login.state().is_some_and(|state| state.starts_with("logged in at http://127.0.0.1")));

    // The client that is known is used again, with its port.
    log_in(&login, &Follower::default()).await.expect("it works");
    assert_eq!(authority.heard("/register").len(), 1);
    assert_eq!(login.forget(), Ok(true));
    assert_eq!((login.key().await, login.state()), (None, None));
}

#[tokio::test]
async fn a_key_is_renewed_once_whoever_asks() {
    let folder = folder();
    let (authority, login) = logged_in(Behaviour::Well, &folder).await;
    // Each stands for a process.
    let others: Vec<Login> = (0..5).map(|_| login_to(&authority, &folder)).collect();
    let renewing = others.iter().map(|other| other.after(refused(Some("key-1"))));
    for answer in futures_util::future::join_all(renewing).await {
        assert_eq!(answer, AfterRefusal::Retry("key-2".to_owned()));
    }
    let renewals =
        authority.heard("/token").into_iter().filter(|line| line.contains("refresh_token")).collect::<Vec<_>>();
    assert_eq!(renewals.len(), 1, "{renewals:?}");
    assert!(renewals[0].contains("resource="), "{renewals:?}");
    assert_eq!(login.after(refused(Some("key-1"))).await, AfterRefusal::Retry("key-2".to_owned()));
}

#[tokio::test]
async fn a_busy_server_drops_no_login_and_one_that_ends_it_keeps_the_client() {
    let folder = folder();
    let (authority, login) = logged_in(Behaviour::Busy, &folder).await;
    let answer = login.after(refused(Some("key-1"))).await;
    assert!(matches!(&answer, AfterRefusal::Ask(why) if why.contains("503")), "{answer:?}");
    authority.becomes(Behaviour::KeepsRefresh);
    assert_eq!(login.after(refused(Some("key-1"))).await, AfterRefusal::Retry("key-3".to_owned()));
    // Without a new one the old one counts.
    assert_eq!(login.after(refused(Some("key-3"))).await, AfterRefusal::Retry("key-4".to_owned()));

    authority.becomes(Behaviour::Over);
    let answer = login.after(refused(Some("key-4"))).await;
    assert_eq!(answer, AfterRefusal::Ask("it needs a login; run \"haft mcp login web\"".to_owned()));
    authority.becomes(Behaviour::Well);
    log_in(&login, &Follower::default()).await.expect("it works");
    assert_eq!(authority.heard("/register").len(), 1);
}

#[tokio::test]
async fn a_server_that_leads_a_login_elsewhere_gets_none() {
    for (behaviour, why) in [
        (Behaviour::OtherResource, "which is another server"),
        (Behaviour::OtherIssuer, "says that it is \"https://evil.example\""),
        (Behaviour::Redirects, "follows no redirect"),
        (Behaviour::OtherInBrowser, "came back from \"https://evil.example\""),
    ] {
        let (authority, folder) = (Authority::start(behaviour).await, folder());
        let login = login_to(&authority, &folder);
        let failed = log_in(&login, &Follower::default()).await.expect_err("it leads elsewhere");
        assert!(failed.contains(why), "{behaviour:?}: {failed}");
        assert_eq!(authority.heard("/token"), Vec::<String>::new(), "{behaviour:?}");
    }
}

#[tokio::test]
async fn an_answer_to_another_login_is_passed_over() {
    let folder = folder();
    let (_authority, login) = logged_in(Behaviour::OtherStateFirst, &folder).await;
    assert_eq!(login.key().await.as_deref(), Some("key-1"));
}

#[tokio::test]
async fn more_rights_are_asked_for_with_those_of_before_and_the_same_ones_not_again() {
    let folder = folder();
    let (_authority, login) = logged_in(Behaviour::Well, &folder).await;
    let header = r#"Bearer error="insufficient_scope", scope="b""#;
    let missing = || ServerRefusal { status: 403, header: Some(header), key: Some("key-1") };
    let answer = login.after(missing()).await;
    let expected = "it needs a login with more rights (b); run \"haft mcp login web\"";
    assert_eq!(answer, AfterRefusal::Ask(expected.to_owned()));
    let browser = Follower::default();
    log_in(&login, &browser).await.expect("it works");
    let shown = browser.shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(shown[0].contains("scope=a+b"), "{shown:?}");
    let again = login.after(missing()).await;
    assert!(matches!(&again, AfterRefusal::Ask(why) if why.contains("would change nothing")), "{again:?}");
}

#[tokio::test]
async fn what_another_user_can_read_is_no_login() {
    let folder = folder();
    let (authority, login) = logged_in(Behaviour::Well, &folder).await;
    let path = folder.path().join("web-1.login");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_eq!(login_to(&authority, &folder).key().await, None);
    assert!(login.state().is_some_and(|state| state.contains("others may read it")), "{:?}", login.state());
}
