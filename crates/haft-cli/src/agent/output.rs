//! The flag that asks for an answer in a form for programs, and what is printed of it.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use haft_agent::outcome::Outcome;
use haft_agent::output::OutputSchema;
use haft_workspace::state::read_named_file;
use serde_json::Value;

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
        let Some(path) = &self.output_schema else { return Ok(None) };
        let shown = path.display();
        let text = match read_named_file(path) {
            Ok(text) => text,
            Err(_) if path.to_string_lossy().trim_start().starts_with('{') => {
                bail!("--output-schema takes the name of a file; write the schema to a file and name that file")
            }
            Err(error) => bail!("--output-schema: {shown} cannot be read: {error}; name a file with one JSON Schema"),
        };
        match OutputSchema::from_text(&text) {
            Ok(schema) => Ok(Some(schema)),
            Err(error) => bail!("--output-schema {shown}: {error}"),
        }
    }
}

/// Puts the answer into the last record, as it was wanted.
pub(super) fn add_to(record: &mut Value, outcome: &Outcome) {
    if let Some(output) = &outcome.output {
        record["output"] = output.value.clone();
        if !output.repairs.is_empty() {
            record["repairs"] = output.repairs.clone().into();
        }
    }
}

/// Shows the last words of a model that has not finished, to whoever has not seen them come: they may say why.
pub(super) fn show_last_words(outcome: &Outcome) {
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
