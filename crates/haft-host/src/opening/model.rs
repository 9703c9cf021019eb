//! Chooses the model, its API key, and how haft uses it.

#[cfg(feature = "model")]
pub mod asked;
#[cfg(feature = "model")]
pub mod choice;
#[cfg(feature = "model")]
mod from_env;
#[cfg(feature = "model")]
mod key_owner;
#[cfg(feature = "model")]
pub(crate) mod providers;
#[cfg(feature = "model")]
pub mod tuning;
#[cfg(feature = "model")]
mod ways;

use std::sync::Arc;

use haft_agent::models::mock::MockModel;
use haft_model::provider::LanguageModel;

#[cfg(feature = "model")]
pub use from_env::{FromEnv, ModelNotFound};

/// A model that an agent asks: over the network, from a script, or of the program's own. Clones are the same model.
#[derive(Clone)]
pub struct Model(pub(crate) Arc<dyn LanguageModel>);

impl Model {
    /// Asks this model.
    pub fn custom(model: impl LanguageModel + 'static) -> Self {
        Self(Arc::new(model))
    }

    /// Asks a model that others look at, too, such as a mock whose requests a test reads.
    #[must_use]
    pub fn shared(model: Arc<dyn LanguageModel>) -> Self {
        Self(model)
    }
}

impl From<MockModel> for Model {
    fn from(model: MockModel) -> Self {
        Self::custom(model)
    }
}

impl From<Arc<MockModel>> for Model {
    fn from(model: Arc<MockModel>) -> Self {
        Self(model)
    }
}
