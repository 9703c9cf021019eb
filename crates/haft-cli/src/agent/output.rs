//! The flag that asks for a structured answer, and the output of that answer.

use std::path::PathBuf;

use clap::Args;
use haft_agent::outcome::AgentOutcome;
use haft_agent::output::OutputSchema;
use haft_host::conversations::session_records::output_schema;

use crate::screen;

/// Most characters of an answer that does not fit: the session and the records have all of it.
const MOST_SHOWN: usize = 4_000;

/// In which form the answer is wanted.
#[derive(Args, Clone, Default)]
pub(crate) struct OutputFlags {
    /// Require the final answer to fit the JSON Schema in FILE; stdout is then one line of JSON
    #[arg(long = "output-schema", value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
}

impl OutputFlags {
    /// Reads the schema that was named.
    pub(crate) fn schema(&self) -> anyhow::Result<Option<OutputSchema>> {
        self.output_schema.as_deref().map(output_schema).transpose()
    }
}

/// Shows the last words of an unfinished model if the user has not seen them: they may give the reason.
pub(super) fn show_last_words(outcome: &AgentOutcome) {
    let answer = outcome.answer.trim();
    if answer.is_empty() {
        return;
    }
    let (end, rest) = match answer.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => (end, "\n[… the rest is in the session …]"),
        None => (answer.len(), ""),
    };
    screen::talk(&format!("The last reply of the model:\n{}{rest}", &answer[..end]));
}
