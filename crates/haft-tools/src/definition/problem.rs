//! What is wrong with a definition or a list of tools: where, what, and how to mend it.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1; nothing where it is about the whole, or where there are no lines.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub fix: String,
    /// Whether the tool works all the same.
    pub is_warning: bool,
}

impl Problem {
    pub(crate) fn error(line: Option<usize>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { line, what: what.into(), fix: fix.into(), is_warning: false }
    }

    pub(crate) fn warning(line: Option<usize>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::error(line, what, fix) }
    }
}

/// Shows the line where there is one, what is wrong, and the fix.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        let warning = if self.is_warning { "warning: " } else { "" };
        write!(f, "{warning}{}; {}", self.what, self.fix)
    }
}

impl std::error::Error for Problem {}
