//! Finds the model that the environment and the user's settings name, as `haft run` does.

use haft_config::settings::Settings;
use haft_model::client::{Endpoint, ModelConnection};
use haft_net::HttpClient;

use super::Model;
use super::choice::{Choice, ChosenModel};
use crate::host::block_on;

/// Found by what the environment says: `HAFT_MODEL`, `HAFT_WIRE`, `HAFT_BASE_URL`, `HAFT_API_KEY`, the keys of providers,
/// the user's `config.toml`, and servers on this machine.
pub trait FromEnv: Sized {
    /// Finds it.
    ///
    /// # Errors
    ///
    /// Says what is missing.
    fn from_env() -> Result<Self, ModelNotFound>;
}

/// Why no model was found, and what to set.
pub struct ModelNotFound(anyhow::Error);

impl std::fmt::Display for ModelNotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// The same text: a `main` that returns the error shows it in this form.
impl std::fmt::Debug for ModelNotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ModelNotFound {}

impl FromEnv for Endpoint {
    fn from_env() -> Result<Self, ModelNotFound> {
        found().map(|chosen| chosen.endpoint)
    }
}

impl FromEnv for Model {
    fn from_env() -> Result<Self, ModelNotFound> {
        found().map(|chosen| Model::custom(chosen.connection()))
    }
}

impl From<Endpoint> for Model {
    fn from(endpoint: Endpoint) -> Self {
        Model::custom(ModelConnection::new(endpoint, HttpClient::new()))
    }
}

/// Looks on a thread of its own: servers on this machine are asked, and the caller may be in a runtime.
fn found() -> Result<ChosenModel, ModelNotFound> {
    let look = || -> anyhow::Result<ChosenModel> {
        let settings = Settings::read(None)?;
        let choice = Choice::of_environment(&settings)?;
        block_on(choice.made())?
    };
    let found = std::thread::scope(|scope| scope.spawn(look).join());
    found
        .unwrap_or_else(|_| Err(anyhow::anyhow!("a defect in haft while it looked for a model")))
        .map_err(ModelNotFound)
}
