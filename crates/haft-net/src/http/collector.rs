//! Sends requests to a collector of spans, and puts failures into words: one address, no redirects.
//!
//! A call blocks, so it belongs on a separate thread. The first request sets everything up, on that thread. Unlike the
//! requests of tools, this one goes wherever the user's environment says, also into the user's own network. The client
//! follows no redirect: a redirect would send headers with keys to an address that the user did not name.
//!
//! Not here: what haft sends, and where.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::blocking::Client;
use reqwest::{Proxy, redirect};

use super::trusted_tls::{HTTP_2_OR_1, TrustedRoots, client_config};

/// Sends to a collector.
pub struct Collector {
    is_plain: bool,
    proxy: Option<String>,
    time: Duration,
    client: OnceLock<Client>,
    trouble: Trouble,
}

/// What went wrong last; all copies share it.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<Option<String>>>);

impl Collector {
    /// Makes a way to the collector at this address. One request takes at most this time.
    pub fn at(url: &str, time: Duration) -> Self {
        let trouble = Trouble::default();
        Self { is_plain: is_plain(url), proxy: None, time, client: OnceLock::new(), trouble }
    }

    /// Goes through a proxy, given as its address.
    #[must_use]
    pub fn through(self, proxy: Option<String>) -> Self {
        Self { proxy, ..self }
    }

    /// Returns where it is said what went wrong.
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    fn client(&self) -> Result<&Client, HttpError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let mut builder = Client::builder().timeout(self.time).redirect(redirect::Policy::none()).no_proxy();
        // Trust in certificates takes a while to set up, and a plain address needs none.
        let roots = match self.is_plain && self.proxy.as_deref().is_none_or(is_plain) {
            true => TrustedRoots::None,
            false => TrustedRoots::System,
        };
        builder = builder.tls_backend_preconfigured(client_config(roots, HTTP_2_OR_1)?);
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(Proxy::all(proxy)?);
        }
        let built = builder.user_agent(concat!("haft/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(self.client.get_or_init(|| built))
    }

    fn note(&self, answer: &Result<Response<Bytes>, HttpError>) {
        match answer {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => self.trouble.set(format!("it answers with status {}", answer.status().as_u16())),
            Err(error) => self.trouble.set(self.words_of(error.as_ref())),
        }
    }

    /// Says why there is no answer, without the address: there may be a key in it.
    fn words_of(&self, error: &(dyn Error + 'static)) -> String {
        if error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout) {
            return format!("no answer within {} s", self.time.as_secs_f64());
        }
        let mut innermost = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        match innermost.downcast_ref::<reqwest::Error>() {
            Some(_) => "the request cannot be made".to_owned(),
            None => innermost.to_string(),
        }
    }
}

fn is_plain(address: &str) -> bool {
    address.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("http://"))
}

impl fmt::Debug for Collector {
    /// Writes nothing of the proxy: there may be a password in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("time", &self.time).finish_non_exhaustive()
    }
}

impl HttpClient for Collector {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let answer = match self.client() {
                Ok(client) => client.send_bytes(request).await,
                Err(error) => Err(error),
            };
            self.note(&answer);
            answer
        })
    }
}

impl Trouble {
    fn set(&self, words: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }

    /// Returns what went wrong last, in a few words.
    pub fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
