//! What the command line says about the model and how far it may go.

use clap::Args;
use haft_config::model::{ModelSection, WireName};

/// Which model.
#[derive(Args, Clone, Default)]
pub(crate) struct ModelFlags {
    /// The name of the model at its provider
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The form in which it is spoken to: anthropic, responses, chat or gemini
    #[arg(long, value_name = "W")]
    pub(crate) wire: Option<WireName>,
    /// The address of the provider, up to the path of the wire
    #[arg(long = "base-url", value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// How far it may go.
#[derive(Args, Clone, Default)]
pub(crate) struct HowFar {
    /// Most times the model is asked
    #[arg(long = "max-steps", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Most tokens it may cost, of requests and replies together
    #[arg(long = "max-tokens", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
}

impl ModelFlags {
    /// Returns what the flags say.
    pub(crate) fn said(&self) -> ModelSection {
        let (name, base_url) = (self.model.clone(), self.base_url.clone());
        ModelSection { name, wire: self.wire, base_url, ..ModelSection::default() }
    }
}
