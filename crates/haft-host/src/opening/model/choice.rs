//! Chooses the model: from what the user said, else from what haft can find. It never guesses.
//!
//! Flags have priority over the environment, then the resumed session, then `config.toml`. Without an address haft uses a
//! provider whose key is set, then a server on this machine. It sends a provider's key only to that provider's own host, and
//! the key in the file only to the owner that the file means (`key_owner`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use futures_util::future::join_all;
use haft_config::environment::{NotText, text_of_variable};
use haft_config::keys::{ApiKey, ApiKeys};
use haft_config::proxy::proxy_for;
use haft_config::sections::model::{ModelSection, WireName};
use haft_config::sections::patience::{Tries, WaitTime};
use haft_config::settings::Settings;
use haft_model::client::{Endpoint, ModelConnection, Times};
use haft_model::quirks::{ChatServer, Quirks};
use haft_model::wire::Wire;
use haft_net::HttpClient;
use tokio_util::sync::CancellationToken;

use crate::texts::bounded_text::{one_line_of, paragraph};

use super::key_owner::{key_of_file_is_for, server_of_file};
use super::providers::{LOCAL, ModelProvider, PROVIDERS, host_of};
use super::ways::ModelOptionNames;

/// How long is waited for a server on this machine.
const LOCAL_CONNECT: Duration = Duration::from_millis(150);
const LOCAL_TOTAL: Duration = Duration::from_secs(2);
/// How long is waited for a list of models.
const LIST_TOTAL: Duration = Duration::from_secs(5);
/// Most names that a message lists.
const MOST_NAMES: usize = 8;
/// Longest of them, in columns.
const LONGEST_NAME: usize = 60;

/// A model that was chosen.
pub struct ChosenModel {
    /// Where it is, with its key.
    pub endpoint: Endpoint,
    /// Who is spoken to, and why: for people.
    pub from: String,
    /// The proxy on the way.
    proxy: Option<String>,
}

impl ChosenModel {
    /// Makes the connection to it.
    pub fn connection(self) -> ModelConnection {
        connection(self.endpoint, self.proxy)
    }
}

/// An endpoint that may have models.
pub struct EndpointCandidate {
    /// What people call it.
    pub name: String,
    /// The form of its requests.
    pub wire: Wire,
    /// Its address.
    pub base_url: String,
    /// Its key.
    pub key: Option<ApiKey>,
    /// Why it is looked at, where no key is the reason.
    pub because: String,
}

/// Everything that was said about the model, and all keys.
pub struct Choice {
    said: ModelSection,
    /// The key that was said to be the one.
    key: Option<ApiKey>,
    /// Who was said to answer at the address.
    server: Option<ChatServer>,
    keys: ApiKeys,
    config_file: String,
    ways: ModelOptionNames,
    /// What places said, by their address and why they are known.
    asked: Mutex<HashMap<(String, String), Models>>,
}

/// The models that a place has, or why it does not say so.
pub type Models = Result<Vec<String>, String>;

impl Choice {
    /// Puts together what was said. `session` is what a session that is taken up was last spoken to with.
    pub fn new(flags: ModelSection, settings: &Settings, session: ModelSection) -> anyhow::Result<Self> {
        Self::said(flags, (settings, session), ModelOptionNames::FLAGS)
    }

    /// Puts together what the environment and the settings say, for a program that has no flags.
    pub(super) fn of_environment(settings: &Settings) -> anyhow::Result<Self> {
        Self::said(ModelSection::default(), (settings, ModelSection::default()), ModelOptionNames::VARIABLES)
    }

    fn said(
        flags: ModelSection,
        (settings, session): (&Settings, ModelSection),
        ways: ModelOptionNames,
    ) -> anyhow::Result<Self> {
        for name in ["HAFT_MODEL", "HAFT_WIRE", "HAFT_BASE_URL"] {
            text_of_variable(name)?;
        }
        let keys = ApiKeys::read(&settings.environment.config_folder)?;
        let today = over(flags, ModelSection::of_environment()?);
        // Another model may be at another place than that of the session.
        let is_another = today.name.is_some() && today.name != session.name;
        let stronger = if is_another { today } else { over(today, session) };
        let said = over(stronger, settings.model.clone());
        let named = settings.model.key_env.as_deref().filter(|_| key_of_file_is_for(&settings.model, &said));
        let of_file = named.map(|name| named_key(&keys, name, &settings.config_file));
        let key = match keys.find("HAFT_API_KEY")? {
            Some(key) => Some(key),
            None => of_file.transpose()?,
        };
        if let Some(url) = &said.base_url {
            check_address(url)?;
        }
        if said.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            bail!(
                "the name of the model is empty; name one with {}, or leave it out and haft looks for one",
                ways.model
            );
        }
        let server = server_of_file(&settings.model, &said);
        let config_file = settings.config_file.display().to_string();
        Ok(Self { said, key, server, keys, config_file, ways, asked: Mutex::default() })
    }

    /// Returns what is to be hidden wherever something is shown.
    pub fn secrets(&self) -> Vec<String> {
        self.keys.secrets()
    }

    /// Returns the one model that was said, or that there is, to be waited for as was said.
    pub async fn made(&self) -> anyhow::Result<ChosenModel> {
        let mut chosen = self.found().await?;
        chosen.endpoint.times = times_of(&self.said);
        if let Some(server) = self.server {
            chosen.endpoint.quirks = Quirks::of_server(server);
        }
        Ok(chosen)
    }

    async fn found(&self) -> anyhow::Result<ChosenModel> {
        let place = match (&self.said.base_url, &self.said.name) {
            (Some(url), _) => self.place_at(url)?,
            (None, name) => match self.keyed_place(name.as_deref()).await? {
                Some(place) => place,
                None => return self.on_this_machine().await,
            },
        };
        let name = match &self.said.name {
            Some(name) => name.clone(),
            None => self.only_model_of(&place).await?,
        };
        place.chosen(name)
    }

    /// Returns all places where models may be.
    pub fn places(&self) -> anyhow::Result<Vec<EndpointCandidate>> {
        let said = self.said.base_url.as_deref().map(|url| self.place_at(url)).transpose()?;
        let is_said = |url: &str| said.as_ref().is_some_and(|place| host_of(&place.base_url) == host_of(url));
        let keyed = PROVIDERS.iter().filter(|provider| !is_said(provider.base_url));
        let keyed = self
            .keyed_among(keyed)?
            .into_iter()
            .map(|(provider, key)| EndpointCandidate::of(provider, provider.wire, key));
        let local = EndpointCandidate::all_local().into_iter().filter(|place| !is_said(&place.base_url));
        let others: Vec<EndpointCandidate> = keyed.chain(local).collect();
        Ok(said.into_iter().chain(others).collect())
    }

    /// Returns those of the providers whose key is set.
    fn keyed_among<'p>(
        &self,
        providers: impl Iterator<Item = &'p ModelProvider>,
    ) -> Result<Vec<(&'p ModelProvider, ApiKey)>, NotText> {
        let keyed = providers.map(|provider| Ok(provider.key(&self.keys)?.map(|key| (provider, key))));
        keyed.filter_map(Result::transpose).collect()
    }

    fn wire(&self) -> Option<Wire> {
        self.said.wire.map(wire_of)
    }

    fn place_at(&self, base_url: &str) -> Result<EndpointCandidate, NotText> {
        let provider = ModelProvider::at(base_url);
        let key = match (&self.key, provider) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(provider)) => provider.key(&self.keys)?,
            (None, None) => None,
        };
        Ok(EndpointCandidate {
            name: provider.map_or_else(|| host_of(base_url).unwrap_or_default(), |provider| provider.name.to_owned()),
            wire: self.wire().or(provider.map(|provider| provider.wire)).unwrap_or(Wire::Chat),
            base_url: base_url.to_owned(),
            key,
            because: "no key".to_owned(),
        })
    }

    /// Finds the provider whose key is set; nothing where none is.
    async fn keyed_place(&self, name: Option<&str>) -> anyhow::Result<Option<EndpointCandidate>> {
        let fits = |provider: &&ModelProvider| self.wire().is_none_or(|wire| provider.speaks(wire));
        let wire = |provider: &ModelProvider| self.wire().unwrap_or(provider.wire);
        if let Some(key) = &self.key {
            return match ModelProvider::said_by(name, self.wire()) {
                Some(provider) => Ok(Some(EndpointCandidate::of(provider, wire(provider), key.clone()))),
                None => bail!(
                    "{} is set, but haft does not know which provider it belongs to; name the provider's address with {}",
                    key.from,
                    self.ways.base_url
                ),
            };
        }
        let keyed = self.keyed_among(PROVIDERS.iter().filter(fits))?;
        let Some(name) = name else { return keyed.first().map(|_| Err(self.no_name(&keyed))).transpose() };
        let mut fitting = keyed.iter().filter(|(provider, _)| provider.has(name));
        if let Some((provider, key)) = fitting.next() {
            return Ok(Some(EndpointCandidate::of(provider, wire(provider), key.clone())));
        }
        if keyed.is_empty() || self.local_place_with(name).await {
            return Ok(None);
        }
        match keyed.as_slice() {
            [(provider, key)] => Ok(Some(EndpointCandidate::of(provider, wire(provider), key.clone()))),
            several => {
                let names: Vec<&str> = several.iter().map(|(provider, _)| provider.name).collect();
                bail!(
                    "haft cannot tell from the name {name:?} which provider has it, and there are keys of {}; choose one with {}",
                    names.join(", "),
                    self.ways.base_url
                )
            }
        }
    }

    fn no_name(&self, keyed: &[(&ModelProvider, ApiKey)]) -> anyhow::Error {
        let places: Vec<String> = keyed.iter().map(|(_, key)| key.from.to_string()).collect();
        let is_set = if places.len() == 1 { "is set" } else { "are set" };
        anyhow::anyhow!(
            "{} {is_set}, but no model is named; \"haft models\" lists them; name one with {}, or name under [model] in {}",
            places.join(" and "),
            self.ways.model,
            self.config_file
        )
    }

    /// Returns the model of a place that has only one.
    async fn only_model_of(&self, place: &EndpointCandidate) -> anyhow::Result<String> {
        let models = match self.models_of(place).await {
            Ok(models) => models,
            Err(error) => bail!(
                "no model is named, and {} does not list its models: {} Name one with {}",
                place.base_url,
                paragraph(&error),
                self.ways.model
            ),
        };
        match models.as_slice() {
            [model] => Ok(model.clone()),
            [] => bail!("there is no model at {}; name one with {}", place.base_url, self.ways.model),
            several => {
                let (url, models) = (&place.base_url, some_of(several));
                bail!("no model is named, and {url} has {models}; name one with {}", self.ways.model)
            }
        }
    }

    /// Finds a model on this machine.
    async fn on_this_machine(&self) -> anyhow::Result<ChosenModel> {
        if let Some(wire) = self.wire().filter(|wire| *wire != Wire::Chat) {
            let provider = PROVIDERS.iter().find(|provider| provider.wire == wire);
            let variable = provider.and_then(|provider| provider.variables.first()).copied().unwrap_or_default();
            bail!("the key is missing: set {variable}, or name another server with {}", self.ways.base_url);
        }
        let mut found = self.found_locally().await;
        if found.is_empty() {
            bail!(
                "no model is configured: no key of a provider is set, and no server answers on this machine. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
                 another key and name a model with {}; or start Ollama, LM Studio, llama.cpp or vLLM; or name the address of a server with {}",
                self.ways.model,
                self.ways.base_url
            );
        }
        let all: Vec<String> = found.iter().flat_map(|(_, models)| models.clone()).collect();
        match (&self.said.name, all.as_slice()) {
            (Some(name), _) => match found.iter().position(|(_, models)| models.contains(name)) {
                Some(at) => found.swap_remove(at).0.chosen(name.clone()),
                None if all.is_empty() => bail!("no server on this machine has a model; load {name:?} there first"),
                None => bail!("no server on this machine has {name:?}; they have {}", some_of(&all)),
            },
            (None, [model]) => {
                let at = found.iter().position(|(_, models)| !models.is_empty()).unwrap_or_default();
                found.swap_remove(at).0.chosen(model.clone())
            }
            (None, []) => bail!("{} runs here, but has no model; load one there first", found[0].0.name),
            (None, several) => {
                bail!("no model is named, and this machine has {}; name one with {}", some_of(several), self.ways.model)
            }
        }
    }

    /// Asks all usual ports of this machine side by side. Returns the servers that answer with a list of models.
    async fn found_locally(&self) -> Vec<(EndpointCandidate, Vec<String>)> {
        let asked = EndpointCandidate::all_local().into_iter().map(|place| async {
            let models = self.models_of(&place).await.ok()?;
            Some((place, models))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Asks a place for its models only once, because a place that hangs must not delay the caller twice.
    pub async fn models_of(&self, place: &EndpointCandidate) -> Models {
        let asked = || self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (place.base_url.clone(), place.from());
        if let Some(models) = asked().get(&id) {
            return models.clone();
        }
        let models = place.models().await;
        asked().insert(id, models.clone());
        models
    }

    async fn local_place_with(&self, name: &str) -> bool {
        let is_chat = self.wire().is_none_or(|wire| wire == Wire::Chat);
        is_chat && self.found_locally().await.iter().any(|(_, models)| models.iter().any(|model| model == name))
    }
}

impl EndpointCandidate {
    fn of(provider: &ModelProvider, wire: Wire, key: ApiKey) -> Self {
        let (name, base_url) = (provider.name.to_owned(), provider.base_url.to_owned());
        Self { name, wire, base_url, key: Some(key), because: String::new() }
    }

    fn all_local() -> Vec<Self> {
        let place = |(name, url): (&str, &str)| Self {
            name: name.to_owned(),
            wire: Wire::Chat,
            base_url: url.to_owned(),
            key: None,
            because: "answers on this machine".to_owned(),
        };
        LOCAL.into_iter().map(place).collect()
    }

    /// Returns whether it is one of the usual ports of this machine.
    pub fn is_local(&self) -> bool {
        LOCAL.iter().any(|(_, url)| *url == self.base_url)
    }

    /// Returns why it is known.
    pub fn from(&self) -> String {
        self.key.as_ref().map_or_else(|| self.because.clone(), |key| format!("key: {}", key.from))
    }

    /// Asks which models it has. A server on this machine answers immediately, or does not run.
    async fn models(&self) -> Models {
        let mut endpoint = self.endpoint(String::new());
        let (connect, total) =
            if self.is_local() { (LOCAL_CONNECT, LOCAL_TOTAL) } else { (endpoint.times.connect, LIST_TOTAL) };
        endpoint.times = Times { connect, idle: total, total, ..endpoint.times };
        let proxy = way_to(&self.base_url).map_err(|error| format!("{error:#}."))?;
        let listed = connection(endpoint, proxy).models(&CancellationToken::new()).await;
        listed.map_err(|error| format!("{} Next: {}.", error.what, error.next))
    }

    fn endpoint(&self, model: String) -> Endpoint {
        Endpoint {
            wire: self.wire,
            base_url: self.base_url.clone(),
            model,
            key: self.key.as_ref().map(|key| key.value.clone()),
            quirks: Quirks::of(&self.base_url),
            times: Times::default(),
        }
    }

    fn chosen(self, model: String) -> anyhow::Result<ChosenModel> {
        let from = format!("{} ({})", self.base_url, self.from());
        Ok(ChosenModel { endpoint: self.endpoint(model), from, proxy: way_to(&self.base_url)? })
    }
}

/// Returns the proxy that the environment names for an address. Reports an unusable proxy here, before any work starts.
pub fn way_to(base_url: &str) -> anyhow::Result<Option<String>> {
    let Some(proxy) = proxy_for(base_url)? else { return Ok(None) };
    if let Err(why) = HttpClient::check_proxy(&proxy.address) {
        bail!("{} is not the address of a proxy: {why}; give it as http://HOST:PORT, or unset it", proxy.from);
    }
    Ok(Some(proxy.address))
}

fn connection(endpoint: Endpoint, proxy: Option<String>) -> ModelConnection {
    let client = match proxy {
        Some(proxy) => HttpClient::new().through(proxy),
        None => HttpClient::new(),
    };
    ModelConnection::new(endpoint, client)
}

/// Finds the key that `key_env` names. What stands there may be the key itself, so it is repeated only where it looks as
/// names of variables do and as no key does.
fn named_key(keys: &ApiKeys, name: &str, config_file: &Path) -> anyhow::Result<ApiKey> {
    let file = config_file.display();
    let is_a_name = |may_be: fn(&char) -> bool| {
        let begins = name.chars().next().is_some_and(|first| !first.is_ascii_digit());
        begins && name.chars().all(|c| c == '_' || may_be(&c))
    };
    if !is_a_name(char::is_ascii_alphanumeric) {
        bail!(
            "key_env in {file} is not the name of a variable; write one there, such as OPENAI_API_KEY, and put the key itself into that \
             variable or into keys.toml"
        );
    }
    let shown = match is_a_name(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
        true => format!("{name}, named by key_env in {file}"),
        false => format!("key_env in {file} names a variable that is not set"),
    };
    keys.find(name)?
        .with_context(|| format!("the key is missing: {shown}; set that variable, or put it into keys.toml"))
}

/// Puts one over the other, member by member.
pub(super) fn over(stronger: ModelSection, weaker: ModelSection) -> ModelSection {
    ModelSection {
        name: stronger.name.or(weaker.name),
        wire: stronger.wire.or(weaker.wire),
        base_url: stronger.base_url.or(weaker.base_url),
        key_env: stronger.key_env.or(weaker.key_env),
        idle_seconds: stronger.idle_seconds.or(weaker.idle_seconds),
        total_seconds: stronger.total_seconds.or(weaker.total_seconds),
        tries: stronger.tries.or(weaker.tries),
        ..weaker
    }
}

/// Returns how long is waited. Who allows a long silence allows it twice, as it is asked for again.
fn times_of(said: &ModelSection) -> Times {
    let usual = Times::default();
    let idle = said.idle_seconds.map_or(usual.idle, WaitTime::duration);
    let total = said.total_seconds.map_or(usual.total.max(idle * 2), WaitTime::duration);
    Times { idle, total, tries: said.tries.map_or(usual.tries, Tries::count), ..usual }
}

/// Returns the form of requests that this name means.
pub fn wire_of(name: WireName) -> Wire {
    match name {
        WireName::Anthropic => Wire::Anthropic,
        WireName::Responses => Wire::Responses,
        WireName::Chat => Wire::Chat,
        WireName::Gemini => Wire::Gemini,
    }
}

/// Refuses an address that no request can go to, or that has a key in it: addresses are shown and kept.
fn check_address(url: &str) -> anyhow::Result<()> {
    let how = "give it as https://HOST/… or http://HOST:PORT/…";
    let Some(host) = host_of(url) else { bail!("{url:?} is not the address of a provider; {how}") };
    if host.contains('@') {
        bail!("the base URL has a name or password in it; put the key into HAFT_API_KEY or keys.toml instead");
    }
    if url.contains(['?', '#']) || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        bail!("the base URL must end with its path; leave out blanks, and everything from ? or # on");
    }
    match Endpoint::check_base_url(url) {
        Ok(()) => Ok(()),
        Err(why) => bail!("{url:?} is not the address of a provider. {why} Next: {how}"),
    }
}

fn some_of(models: &[String]) -> String {
    let named =
        models.iter().take(MOST_NAMES).map(|name| one_line_of(name, LONGEST_NAME)).collect::<Vec<_>>().join(", ");
    match models.len().saturating_sub(MOST_NAMES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
