//! How a run of an agent ended.

use std::fmt;

use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::Usage;
use haft_model::provider::ModelError;

use crate::models::price::Cost;
use crate::output::StructuredOutput;

/// How a run ended, and its results.
#[derive(Clone, Debug)]
pub struct AgentOutcome {
    /// Why it ended.
    pub ended: AgentEndReason,
    /// The last words of the model.
    pub answer: String,
    /// The answer as it was wanted: there where it had to fit a schema and the model has finished.
    pub output: Option<StructuredOutput>,
    /// How often the model was asked.
    pub steps: u32,
    /// What that cost, in tokens.
    pub usage: Usage,
    /// What that cost in money, where a price is known.
    pub cost: Option<Cost>,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEndReason {
    /// The model has nothing more to do.
    Finished,
    /// The caller stopped it.
    Stopped,
    /// The model was asked as often as it may be.
    OutOfSteps(u32),
    /// It has cost as many tokens as it may.
    OutOfBudget {
        /// So many it has cost.
        used: u64,
        /// So many it may.
        budget: u64,
    },
    /// It has cost as much money as it may.
    OutOfMoney {
        /// So much it has cost.
        cost: Cost,
        /// So much it may.
        budget: Cost,
    },
    /// The prompt is longer than any request may be; nothing was sent.
    PromptTooLong {
        /// About how many tokens it has.
        tokens: u64,
        /// About how many the instructions and tools beside it have.
        beside: u64,
        /// How many the model takes.
        window: u64,
    },
    /// The model, or a filter before it, refused.
    Refused,
    /// The reply broke off again and again, or was longer than one may be: for this reason.
    Unfinished(String),
    /// The model neither says nor calls anything.
    SaidNothing,
    /// The answer does not fit the schema that it has to, for this reason.
    Unfit(String),
    /// The model makes the same call again and again, which leads nowhere.
    GoesInCircles {
        /// The tool.
        tool: String,
        /// How often it made the call.
        times: u32,
    },
    /// The model could not be asked.
    Failed(ModelError),
    /// The session cannot be written down, for this reason.
    NotRecorded(String),
}

impl fmt::Display for AgentEndReason {
    /// Writes what happened, and what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentEndReason::Finished => f.write_str("The model has finished."),
            AgentEndReason::Stopped => f.write_str("Stopped. Next: resume the session and say what to do instead."),
            AgentEndReason::OutOfSteps(most) => write!(
                f,
                "Stopped after {}, which is the limit. Next: resume the session, or allow more steps.",
                GroupedNumber(u64::from(*most)).of("step")
            ),
            AgentEndReason::OutOfBudget { used, budget } => write!(
                f,
                "Stopped after {}; the budget is {}. Next: resume the session, or allow more tokens.",
                GroupedNumber(*used).of("token"),
                GroupedNumber(*budget)
            ),
            AgentEndReason::OutOfMoney { cost, budget } => write!(
                f,
                "Stopped after {cost}; the budget is {budget}. Next: resume the session, or allow a higher cost."
            ),
            AgentEndReason::PromptTooLong { tokens, beside, window } => {
                f.write_str(&too_long(*tokens, *beside, *window))
            }
            AgentEndReason::Refused => {
                f.write_str("The model refused to continue. Next: ask for something else, or in other words.")
            }
            AgentEndReason::Unfinished(why) => {
                write!(
                    f,
                    "The last reply is incomplete: {why}. Next: resume the session, or ask for less in one reply."
                )
            }
            AgentEndReason::SaidNothing => f.write_str(
                "The model said nothing and called nothing. Next: ask in other words, or use another model.",
            ),
            AgentEndReason::Unfit(why) => write!(
                f,
                "The answer does not fit the schema, even after haft told the model what is wrong:\n{why}\nNext: resume the \
                 session with the schema, or use a simpler one or another model."
            ),
            AgentEndReason::GoesInCircles { tool, times } => write!(
                f,
                "The model called \"{tool}\" {times} times in the same way with the same result. Next: resume the session \
                 and say what it should do instead."
            ),
            AgentEndReason::Failed(error) => {
                // What a provider says is not always a sentence.
                let end = if error.what.ends_with(['.', '!', '?', '…', '"']) { "" } else { "." };
                write!(f, "{}{end} Next: {}.", error.what, error.next)
            }
            AgentEndReason::NotRecorded(why) => write!(
                f,
                "The session cannot be recorded: {why}. Next: check that its folder has room and is writable, or start \
                 another session."
            ),
        }
    }
}

/// Says of a prompt that no request can carry it.
fn too_long(tokens: u64, beside: u64, window: u64) -> String {
    let and_the_rest = match beside {
        0 => String::new(),
        beside => format!(", instructions and tools have about {}", GroupedNumber(beside)),
    };
    format!(
        "The task has about {}{and_the_rest}, and the model accepts {}. Nothing was sent. Next: put the text into a file of the \
         workspace and name the file in the task, or use a model that accepts more; if this one does, set its window.",
        GroupedNumber(tokens).of("token"),
        GroupedNumber(window)
    )
}
