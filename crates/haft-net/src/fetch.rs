//! Fetches a web document for a call, hop by hop.
//!
//! Each hop passes the same checks. haft parses the address once, plans the host or asks about it, looks the name up once,
//! judges every address in the answer, and dials exactly those addresses. No hop sends a cookie, a user, a password or a
//! referrer, so no data of one host gets to another. All hops share one time limit. The body has a size limit that counts
//! bytes after decompression.
//!
//! Not here: whether haft may reach a host (the rules decide, at the desk of the call), what is in the document.

mod cache;
mod decode;
mod exchange;
mod freshness;
mod http_date;
#[cfg(test)]
mod tests;
mod tls;
mod url;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use haft_contract::doors::connection::{ConnectionRequest, Decision, HostOutcome, ReachedHost, Speaks};
use haft_contract::doors::door::Permit;
use haft_contract::doors::web::{Fetch, FetchedDocument, WebScheme, WebUrl};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::visible::quoted;

use self::cache::{AnswerCache, CachedAnswer};
use self::exchange::{Exchange, FetchAnswer, FetchError};
pub(crate) use self::tls::Security;
use crate::session_network::HostRules;
use crate::supervisor::{Dial, DialError, DialTarget};

/// Longest reason of an error that may have words of a server, in characters.
const LONGEST_REASON: usize = 200;
/// Most redirects that are followed.
const MOST_REDIRECTS: usize = 5;

/// Fetches documents.
pub(crate) struct Fetcher {
    dialler: Arc<dyn Dial>,
    security: Security,
    rules: Option<Arc<dyn HostRules>>,
    cache: Mutex<AnswerCache>,
}

/// Says whether the user's settings name a host, so that it may be on a private address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrivateAccess {
    /// They name the host, so it may be on a private address.
    Yes,
    No,
}

impl Fetcher {
    pub(crate) fn new(dialler: Arc<dyn Dial>, security: Security) -> Self {
        Self { dialler, security, rules: None, cache: Mutex::default() }
    }

    /// Lets the user's settings say which hosts are granted.
    pub(crate) fn ruled_by(mut self, rules: Arc<dyn HostRules>) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Reads an address. What no call may fetch is refused here, before anybody is asked.
    pub(crate) fn read_url(&self, text: &str) -> Result<WebUrl, ToolError> {
        let url = url::read(text)?;
        self.check_name(&url).map(|_| url)
    }

    /// Refuses a host of this machine or its network that the settings do not name.
    fn check_name(&self, url: &WebUrl) -> Result<PrivateAccess, ToolError> {
        let is_named = self.rules.as_ref().is_some_and(|rules| rules.names(&url.host, url.port));
        match (is_named, url::is_private(&url.host)) {
            (true, _) => Ok(PrivateAccess::Yes),
            (false, false) => Ok(PrivateAccess::No),
            (false, true) => Err(private(&url.host, "it is this machine or one of its network")),
        }
    }

    /// Fetches a document within its limits.
    pub(crate) async fn fetch(&self, permit: &Permit, fetch: &Fetch) -> Result<FetchedDocument, ToolError> {
        // A person who is asked about a redirect takes longer than a server may, so that time does not count.
        let mut left = fetch.time;
        let mut url = fetch.url.clone();
        let mut seen = vec![url.clone()];
        loop {
            let named = self.check_name(&url)?;
            match seen.len() {
                1 => permit.admit(&Effect::Connect(url.planned_host()))?,
                _ => self.may_be_led_to(permit, &url).await?,
            }
            let began = tokio::time::Instant::now();
            let hop = self.hop(permit, (&url, named), fetch);
            let answer = tokio::select! {
                biased;
                () = permit.stop().cancelled() => {
                    return Err(ToolError::of(ErrorKind::Cancelled, "The fetch was stopped."));
                }
                answer = tokio::time::timeout(left, hop) => {
                    answer.unwrap_or(Err(FetchError::TimeIsUp)).map_err(|error| error.told(&url, fetch))?
                }
            };
            left = left.saturating_sub(began.elapsed());
            let Some(location) = answer.redirect() else { return Ok(answer.into_fetched(url)) };
            url = self.next(&url, &location, &seen)?;
            seen.push(url.clone());
        }
    }

    /// Reads where a redirect leads.
    fn next(&self, from: &WebUrl, location: &str, seen: &[WebUrl]) -> Result<WebUrl, ToolError> {
        let next = url::join(from, location).map_err(|error| {
            led_astray(from, &error.what, "tell the user; the server sends an address that haft refuses")
        })?;
        if (from.scheme, next.scheme) == (WebScheme::Https, WebScheme::Http) {
            let how = format!("call fetch with {:?} if an unencrypted connection is acceptable", next.text);
            return Err(led_astray(from, "it leads from https to http", &how));
        }
        if seen.contains(&next) {
            return Err(led_astray(
                from,
                "it leads in a circle",
                "tell the user; a browser with cookies may be needed",
            ));
        }
        if seen.len() > MOST_REDIRECTS {
            let what = format!("it is redirected more than {MOST_REDIRECTS} times");
            return Err(led_astray(from, &what, &format!("call fetch with {:?}", next.text)));
        }
        Ok(next)
    }

    /// Lets a redirect pass to a host that was planned; any other host is judged, and perhaps asked about, now.
    async fn may_be_led_to(&self, permit: &Permit, url: &WebUrl) -> Result<(), ToolError> {
        if permit.admit(&Effect::Connect(url.planned_host())).is_ok() {
            return Ok(());
        }
        permit.go_on()?;
        let speaks = match url.scheme {
            WebScheme::Http => Speaks::Http,
            WebScheme::Https => Speaks::Tls,
        };
        let wanted = ConnectionRequest { host: url.host.clone(), port: url.port, speaks };
        let granted = self.granted(&wanted).await;
        let decision = match (granted, permit.desk()) {
            (Some(Decision::Refuse { why }), _) => Decision::Refuse { why },
            (granted, Some(desk)) => match desk.decide(wanted, granted.as_ref()).await {
                Some(decision) => decision,
                None => return Err(ToolError::of(ErrorKind::Cancelled, "The fetch was stopped.")),
            },
            (Some(allowed), None) => allowed,
            (None, None) => Decision::Refuse { why: "No rule allows it, and there is no one to ask now.".to_owned() },
        };
        match decision {
            Decision::Allow { .. } => Ok(()),
            Decision::Refuse { why } => {
                let what = format!("The document is redirected to {}, which was not contacted. {why}", url.host);
                let next = format!("do without it, or call fetch with {:?}, which asks about that host", url.text);
                Err(ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(next)).by_rule("net:redirect"))
            }
        }
    }

    /// Returns what the settings say of a host. Finding that out may take a while.
    async fn granted(&self, wanted: &ConnectionRequest) -> Option<Decision> {
        let rules = self.rules.clone()?;
        if rules.is_denied(&wanted.host) {
            return Some(Decision::Refuse { why: format!("The settings deny {}.", wanted.host) });
        }
        if let Some(decision) = rules.granted(wanted) {
            return Some(decision);
        }
        let prepared = rules.clone();
        let _ = tokio::task::spawn_blocking(move || prepared.prepare()).await;
        rules.granted(wanted)
    }

    /// Gets one answer: from what is kept while that is fresh, else from the server.
    async fn hop(
        &self,
        permit: &Permit,
        (url, named): (&WebUrl, PrivateAccess),
        fetch: &Fetch,
    ) -> Result<FetchAnswer, FetchError> {
        let kept = self.kept().get(&url.text);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_fresh(SystemTime::now()) && kept.serves(fetch.most)) {
            return Ok(kept.answer());
        }
        let traffic = exchange::ByteCounters::default();
        let exchange = Exchange { url, most: fetch.most, idle: fetch.idle, traffic: &traffic };
        let answered = self.ask(exchange, named, kept.as_ref()).await;
        permit.receipts().note_reached(&[reached(url, &traffic, answered.as_ref().err())]);
        let (answer, headers) = answered?;
        let mut cache = self.kept();
        if let (304, Some(kept)) = (answer.status, kept) {
            let renewed = kept.renewed(&headers, SystemTime::now());
            let answer = renewed.answer();
            cache.put(&url.text, renewed);
            return Ok(answer);
        }
        match CachedAnswer::of(&answer, &headers, SystemTime::now()) {
            Some(kept) => cache.put(&url.text, kept),
            None => cache.forget(&url.text),
        }
        Ok(answer)
    }

    async fn ask(
        &self,
        exchange: Exchange<'_>,
        named: PrivateAccess,
        kept: Option<&CachedAnswer>,
    ) -> Result<(FetchAnswer, hyper::HeaderMap), FetchError> {
        let (url, rules) = (exchange.url, self.rules.as_ref());
        // An address of the link or of a provider's own service needs its own name in the settings.
        let granted = |address: IpAddr| rules.is_some_and(|rules| rules.names(&address.to_string(), url.port));
        let destination =
            DialTarget { host: &url.host, port: url.port, private: named == PrivateAccess::Yes, granted: &granted };
        let stream = destination.reach(&self.dialler).await.map_err(FetchError::NotReached)?;
        let stream = self.security.around(stream, url).await?;
        exchange.run(stream, kept).await
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, AnswerCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what the record says of a hop.
fn reached(url: &WebUrl, traffic: &exchange::ByteCounters, error: Option<&FetchError>) -> ReachedHost {
    let (sent, received) = traffic.so_far();
    let outcome = match error {
        Some(FetchError::NotReached(refused @ DialError::AddressRefused(_))) => {
            HostOutcome::Refused(refused.to_string())
        }
        Some(error) if sent == 0 => HostOutcome::Failed(error.to_string()),
        _ => HostOutcome::Reached,
    };
    let (host, port) = (url.host.clone(), url.port);
    ReachedHost { host, port, connections: 1, sent, received, gave_up: 0, outcome }
}

/// Refuses an address of this machine or its network.
fn private(host: &str, why: &str) -> ToolError {
    let what = format!("{host} was not contacted: {why}, and only hosts that the settings name may be that.");
    let next = if host.contains(':') {
        // The settings list names and addresses of IPv4.
        "do without it, or ask the user for a name that leads to this address, which config.toml can list".to_owned()
    } else {
        format!("do without it, or ask the user to allow that host in config.toml: [network] allow = [{host:?}]")
    };
    ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(next)).by_rule("net:private")
}

fn led_astray(from: &WebUrl, why: &str, next: &str) -> ToolError {
    let what = format!("A redirect of {} was not followed: {}.", from.host, why.trim_end_matches('.'));
    ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(next.to_owned())).by_rule("net:redirect")
}

impl FetchError {
    /// Says it to the caller.
    fn told(self, url: &WebUrl, fetch: &Fetch) -> ToolError {
        let host = &url.host;
        let later = |what: String| {
            let next = Next::RetryAfter(Duration::from_secs(5), "try again once, then tell the user".into());
            ToolError::failed(what, next)
        };
        let final_next = |what: String| ToolError::failed(what, Next::DoNotRetry("use another source".into()));
        match self {
            FetchError::NotReached(DialError::AddressRefused(address)) => {
                private(host, &format!("its name leads to {address}, which is this machine or one of its network"))
            }
            FetchError::NotReached(DialError::NoSuchHost) => {
                final_next(format!("{host} cannot be reached: there is no host of this name."))
            }
            FetchError::TimeIsUp => {
                let what = format!("{host} did not send the whole document within {} s.", fetch.time.as_secs_f64());
                ToolError::new(
                    ErrorKind::TimedOut,
                    what,
                    Next::DoNotRetry("use another source, or tell the user".into()),
                )
            }
            FetchError::Silent => {
                let what = format!("{host} sent nothing for {} s.", fetch.idle.as_secs_f64());
                ToolError::new(
                    ErrorKind::TimedOut,
                    what,
                    Next::RetryAfter(Duration::from_secs(5), "try once more".into()),
                )
            }
            // A certificate has names that its owner chose.
            FetchError::NotTrusted(why) => {
                let why = quoted(&why, LONGEST_REASON);
                final_next(format!("The document of {host} cannot be read: the connection cannot be trusted: {why}."))
            }
            error @ FetchError::Encoding(_) => final_next(format!("The document of {host} cannot be read: {error}.")),
            error => later(format!("{host} cannot be reached: {error}.")),
        }
    }
}
