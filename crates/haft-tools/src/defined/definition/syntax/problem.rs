//! Describes a problem in a definition or a list of tools: the place, the error, and the fix.

use std::fmt;

/// Most characters of each of the two sentences: what they quote may be as long as the file.
const LONGEST: usize = 400;

/// One thing that is wrong with a definition or a list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionProblem {
    /// The line, from 1; nothing where it is about the whole, or where there are no lines.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// How to fix it.
    pub fix: String,
    /// Whether the tool works all the same.
    pub is_warning: bool,
}

impl DefinitionProblem {
    pub(crate) fn error(line: Option<usize>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { line, what: one_line(what.into()), fix: one_line(fix.into()), is_warning: false }
    }

    pub(crate) fn warning(line: Option<usize>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::error(line, what, fix) }
    }
}

/// Makes a sentence fit a line.
fn one_line(sentence: String) -> String {
    let mut sentence = sentence.replace(['\n', '\r'], " ");
    if let Some((end, _)) = sentence.char_indices().nth(LONGEST) {
        sentence.truncate(end);
        sentence.push('…');
    }
    sentence
}

/// Shows the line where there is one, what is wrong, and the fix.
impl fmt::Display for DefinitionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        let warning = if self.is_warning { "warning: " } else { "" };
        write!(f, "{warning}{}; {}", self.what, self.fix)
    }
}

impl std::error::Error for DefinitionProblem {}
