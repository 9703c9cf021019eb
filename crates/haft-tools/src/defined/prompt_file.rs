//! Reads prompt files: the words of a tool, written in XML beside it (`prompts/{tool}_prompt.xml`).
//!
//! The format is that of TunaCode's tools. A file replaces what a model reads about any tool: its description, the
//! descriptions of its arguments, and which of the allowed values are offered. It never admits a value that the tool's
//! own schema refuses. haft reports a file that contradicts the schema and does not use it in part.
//!
//! Not here: finding the files and trusting them.

mod apply;
mod read;
mod tree;
mod write;

#[cfg(test)]
mod tests;

pub use read::{CheckedPrompt, check};

use haft_contract::description::spec::Spec;

use super::definition::DefinitionProblem;

/// How the name of a prompt file ends, behind the name of the tool.
pub const ENDING: &str = "_prompt.xml";

/// The words of a tool, as a prompt file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFile {
    /// What the model reads. Without it the tool's own words stay.
    pub description: Option<String>,
    /// The arguments that it speaks about.
    pub parameters: Vec<PromptParameter>,
}

/// What a prompt file says of one argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptParameter {
    /// The argument.
    pub name: String,
    /// Whether it must be given, where the file says so.
    pub required: Option<bool>,
    /// What the model reads of it. Without it the schema's own words stay.
    pub description: Option<String>,
    /// Its type as JSON Schema names it, where the file says so.
    pub kind: Option<String>,
    /// The values that are offered; as the schema has it where there is none.
    pub enums: Vec<String>,
    /// Where it stands in the file.
    pub line: Option<usize>,
}

impl PromptFile {
    /// Reads the text of a prompt file.
    ///
    /// ```
    /// use haft_tools::defined::prompt_file::PromptFile;
    ///
    /// let file = PromptFile::from_xml("
    ///     <tool_prompt>
    ///         <description>
    ///             Greets a person.
    ///             Once is enough.
    ///         </description>
    ///     </tool_prompt>
    /// ").expect("nothing is wrong with it");
    /// assert_eq!(file.description.as_deref(), Some("Greets a person.\nOnce is enough."));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns everything that is wrong, warnings too. A text with warnings only is read; [`check`] tells them.
    pub fn from_xml(text: &str) -> Result<Self, Vec<DefinitionProblem>> {
        let CheckedPrompt { prompt, problems } = check(text);
        prompt.ok_or(problems)
    }

    /// Writes the words that a tool has now, as a file to begin with. What the format cannot say is left out, and stays
    /// as it is when the file is applied.
    pub fn of(spec: &Spec) -> Self {
        write::of(spec)
    }

    /// Writes the file.
    pub fn to_xml(&self) -> String {
        write::to_xml(self)
    }

    /// Returns the tool in these words. Its name, its arguments and what it does stay as they are.
    ///
    /// # Errors
    ///
    /// Returns everything in which the file and the schema contradict each other.
    pub fn apply(&self, spec: &Spec) -> Result<Spec, Vec<DefinitionProblem>> {
        apply::apply(self, spec)
    }
}

/// Returns a tool in the words of a prompt file, and everything that is wrong with the file. Where that is more than
/// warnings, the tool keeps its own description.
pub fn worded(spec: &Spec, text: &str) -> (Spec, Vec<DefinitionProblem>) {
    let CheckedPrompt { prompt, mut problems } = check(text);
    match prompt.map(|prompt| prompt.apply(spec)) {
        Some(Ok(worded)) => (worded, problems),
        Some(Err(contradictions)) => {
            problems.extend(contradictions);
            (spec.clone(), problems)
        }
        None => (spec.clone(), problems),
    }
}

/// Returns the tool that a file is about, by its name.
pub fn tool_of(file_name: &str) -> Option<&str> {
    file_name.strip_suffix(ENDING).filter(|tool| !tool.is_empty())
}

/// The types that JSON Schema has.
const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Returns whether XML has a way to write this character.
fn is_of_xml(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}
