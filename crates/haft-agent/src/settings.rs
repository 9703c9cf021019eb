//! The limits of an agent, and its first instructions.

use std::collections::BTreeSet;

use haft_model::writing::effort::Effort;

use crate::instructions::Instructions;
use crate::models::price::Price;
use crate::output::OutputSchema;

/// The default number of tokens that a model takes.
pub const WINDOW: u64 = 128_000;
/// The default limit on how often a model is asked for one prompt.
pub const MOST_STEPS: u32 = 200;

/// The limits and instructions of an agent.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// How often the model may be asked for one prompt.
    pub max_steps: u32,
    /// How many tokens one prompt may cost, of requests and replies together.
    pub token_budget: Option<u64>,
    /// The price of the model, if the user names one.
    pub price: Option<Price>,
    /// How much one prompt may cost, in billionths of the currency of the price. Without a price it is not counted.
    pub cost_budget: Option<u64>,
    /// How many tokens the model takes in one request, with its reply.
    pub window: u64,
    /// How long a reply may be, in tokens; what the provider has as default where nothing is said.
    pub most_tokens: Option<u32>,
    /// How much the model shall think; what the provider has as default where nothing is said.
    pub effort: Option<Effort>,
    /// Whether the first reply to a prompt must call a tool. Later ones need not, or nothing would ever be finished.
    pub call_first: bool,
    /// The only tools that the model may use for its prompts; all that are listed where nothing is said.
    pub only_tools: Option<BTreeSet<String>>,
    /// What the model is told before everything else.
    pub instructions: Instructions,
    /// What the last answer has to fit; any words where nothing is said.
    ///
    /// The model is told of it, and at most twice what is wrong with its answer. A run that is
    /// [`Finished`](crate::outcome::AgentEndReason::Finished) then has an [`output`](crate::outcome::AgentOutcome::output).
    pub output: Option<OutputSchema>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            max_steps: MOST_STEPS,
            token_budget: None,
            price: None,
            cost_budget: None,
            window: WINDOW,
            most_tokens: None,
            effort: None,
            call_first: false,
            only_tools: None,
            instructions: Instructions::default(),
            output: None,
        }
    }
}
