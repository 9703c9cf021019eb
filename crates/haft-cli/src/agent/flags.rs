//! The flags that choose the model and the limits of a run.

use clap::Args;
use haft_config::sections::model::tuning::EffortName;
use haft_config::sections::model::{ModelSection, WireName};
use haft_config::sections::price::Amount;
use haft_host::opening::model::tuning::TuningFlags;

/// Which model.
#[derive(Args, Clone, Default)]
pub(crate) struct ModelFlags {
    /// The provider's name for the model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The API format: anthropic, responses, chat or gemini
    #[arg(long, value_name = "W")]
    pub(crate) wire: Option<WireName>,
    /// The provider's base URL, without the path of the API
    #[arg(long = "base-url", value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// How it works, and how far it may go.
#[derive(Args, Clone, Default)]
pub(crate) struct HowFar {
    /// Ask the model at most N times
    #[arg(long = "max-steps", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Use at most N tokens, in requests and replies together
    #[arg(long = "max-tokens", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Spend at most AMOUNT, in the currency of the model's price in config.toml
    #[arg(long = "max-cost", value_name = "AMOUNT", value_parser = some_money)]
    pub(crate) max_cost: Option<Amount>,
    /// How much the model thinks: low, medium or high [default: the provider decides]
    #[arg(long, value_name = "E")]
    pub(crate) effort: Option<EffortName>,
    /// Require the first reply to call a tool; for small models that talk instead of working
    #[arg(long = "call-first")]
    pub(crate) call_first: bool,
}

impl HowFar {
    /// Returns what the flags say about how the model is used.
    pub(crate) fn tuning(&self) -> TuningFlags {
        TuningFlags { effort: self.effort, call_first: self.call_first, max_cost: self.max_cost }
    }
}

impl ModelFlags {
    /// Returns what the flags say.
    pub(crate) fn said(&self) -> ModelSection {
        ModelSection {
            name: self.model.clone(),
            wire: self.wire,
            base_url: self.base_url.clone(),
            ..ModelSection::default()
        }
    }

    /// Returns what the flags say, or this model where they name none.
    pub(crate) fn or(&self, name: Option<String>) -> ModelSection {
        let said = self.said();
        ModelSection { name: said.name.or(name), ..said }
    }
}

fn some_money(text: &str) -> Result<Amount, String> {
    match text.parse::<Amount>() {
        Ok(Amount { billionths: 0 }) => Err("must be more than 0".to_owned()),
        Ok(amount) => Ok(amount),
        Err(error) => Err(error.to_string()),
    }
}
