//! Asks each provider or server for its models, as `haft models` lists them.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::choice::{Choice, ChosenModel, EndpointCandidate, Models};

/// A place, and what it said.
pub struct AskedPlace {
    /// The place.
    pub place: EndpointCandidate,
    /// Its models, or why they are not known.
    pub models: Models,
}

impl AskedPlace {
    /// Asks all places at the same time.
    pub async fn ask_all(choice: &Choice, places: Vec<EndpointCandidate>) -> Vec<Self> {
        let asked = places.into_iter().map(|place| async {
            let models = choice.models_of(&place).await;
            Self { place, models }
        });
        let places: Vec<Self> = join_all(asked).await;
        // An unused usual port of this machine is not worth reporting.
        let is_there = |asked: &Self| asked.models.is_ok() || !asked.place.is_local() || asked.place.key.is_some();
        places.into_iter().filter(is_there).collect()
    }
}

/// Returns the places and the model that `haft run` would use, for programs.
#[must_use]
pub fn record(places: &[AskedPlace], chosen: &anyhow::Result<ChosenModel>) -> Value {
    let place = |asked: &AskedPlace| {
        let EndpointCandidate { name, wire, base_url, .. } = &asked.place;
        let mut record =
            json!({ "provider": name, "wire": wire.name(), "base_url": base_url, "from": asked.place.from() });
        match &asked.models {
            Ok(models) => record["models"] = models.clone().into(),
            Err(why) => record["error"] = why.as_str().into(),
        }
        record
    };
    let mut record = json!({ "v": 1, "providers": places.iter().map(place).collect::<Vec<_>>() });
    match chosen {
        Ok(ChosenModel { endpoint, .. }) => {
            record["chosen"] =
                json!({ "model": endpoint.model, "wire": endpoint.wire.name(), "base_url": endpoint.base_url });
        }
        Err(error) => record["needs"] = format!("{error:#}").into(),
    }
    record
}
