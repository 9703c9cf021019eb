//! Sets how haft uses the chosen model, and what the model costs: from flags, else from `config.toml`.
//!
//! `[model]` applies to the model that it names, or to any model if it names none. Another model that a flag names may have
//! other effort levels and a smaller window. A price applies to the model under whose name it is listed.

use anyhow::{Context, bail};
use haft_agent::models::price::Price;
use haft_agent::settings::{AgentSettings, WINDOW};
use haft_config::sections::model::ModelSection;
use haft_config::sections::model::tuning::EffortName;
use haft_config::sections::price::{Amount, PriceSection};
use haft_config::settings::Settings;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::client::ModelConnection;
use haft_model::writing::effort::Effort;

use crate::conversations::session_records::RunOptions;

/// What a caller says about how a model is used; it counts before `config.toml`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TuningFlags {
    /// How much the model thinks.
    pub effort: Option<EffortName>,
    /// Whether the first reply must call a tool.
    pub call_first: bool,
    /// Most it may cost.
    pub max_cost: Option<Amount>,
}

/// How a model is used.
pub struct Tuning {
    effort: Option<Effort>,
    window: u64,
    reply_tokens: Option<u32>,
    call_first: bool,
    images: bool,
    price: Option<Price>,
    /// In billionths of the currency of the price.
    max_cost: Option<u64>,
}

impl Tuning {
    /// Puts together what is said about this model.
    pub fn new(flags: &TuningFlags, settings: &Settings, model: &str) -> anyhow::Result<Self> {
        let is_about_it = settings.model.name.as_deref().is_none_or(|name| name == model);
        let said = if is_about_it { settings.model.clone() } else { ModelSection::default() };
        let config_file = settings.config_file.display();
        let window = said.window.map_or(WINDOW, |window| window.0);
        let reply_tokens = said.reply_tokens.map(|tokens| tokens.0);
        if reply_tokens.is_some_and(|reply| u64::from(reply) > window / 2) {
            bail!(
                "{config_file}: reply_tokens leaves too little of the window, which is {} tokens by default; set window under \
                 [model] to what the model accepts, or reply_tokens to {} or less",
                GroupedNumber(window),
                window / 2
            );
        }
        let price = settings.prices.get(model).map(price_of);
        if flags.max_cost.is_some() {
            price.as_ref().with_context(|| {
                format!(
                    "--max-cost needs the price of {model:?}; add [prices.{model:?}] with input and output, per million tokens, to {config_file}"
                )
            })?;
        }
        Ok(Self {
            effort: flags.effort.or(said.effort).map(effort_of),
            window,
            reply_tokens,
            call_first: flags.call_first || said.call_first.unwrap_or_default(),
            images: said.images.unwrap_or(true),
            price,
            max_cost: flags.max_cost.map(|amount| amount.billionths),
        })
    }

    /// Returns a connection over which the model is shown what it shall see.
    pub fn over(&self, connection: ModelConnection) -> ModelConnection {
        if self.images { connection } else { connection.without_images() }
    }

    /// Adds how much the model takes to what is written down of a run.
    pub fn noted_in(&self, said: RunOptions) -> RunOptions {
        RunOptions { window: Some(self.window), reply_tokens: self.reply_tokens, ..said }
    }

    /// Returns the settings of an agent with all of it.
    pub fn of(self, settings: AgentSettings) -> AgentSettings {
        AgentSettings {
            effort: self.effort,
            window: self.window,
            most_tokens: self.reply_tokens,
            call_first: self.call_first,
            price: self.price,
            cost_budget: self.max_cost,
            ..settings
        }
    }
}

/// Without a price for the cache haft uses the price without a cache, so the sum is never too low for that reason.
fn price_of(said: &PriceSection) -> Price {
    Price {
        input: said.input.billionths,
        output: said.output.billionths,
        cache_read: said.cache_read.unwrap_or(said.input).billionths,
        cache_written: said.cache_written.unwrap_or(said.input).billionths,
        currency: said.currency.0.clone(),
    }
}

fn effort_of(name: EffortName) -> Effort {
    match name {
        EffortName::Low => Effort::Low,
        EffortName::Medium => Effort::Medium,
        EffortName::High => Effort::High,
    }
}
