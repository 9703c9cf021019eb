//! Examples of the rows: commands with the decision that they must get, checked with the whole judge.

use super::row::{Example, Row};
use super::table::Table;
use crate::decision::Decision;

/// An example that got another decision than it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The example.
    pub(crate) example: Example,
    /// What was decided.
    pub(crate) got: Decision,
}

/// Returns the examples of all rows.
pub(crate) fn examples() -> Vec<Example> {
    of(Table::shipped())
}

/// Judges the examples of all rows, and returns those that failed.
pub(crate) fn check_examples(judge: impl Fn(&str) -> Decision) -> Vec<Failure> {
    let failure = |example: Example| {
        let got = judge(example.command);
        (got != example.decision).then_some(Failure { example, got })
    };
    examples().into_iter().filter_map(failure).collect()
}

fn of(table: &Table) -> Vec<Example> {
    let rows = table.rows().filter_map(Result::ok);
    rows.flat_map(|row: &Row| row.examples.iter().copied()).collect()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Example { row, file, line, command, decision } = self.example;
        write!(f, "{file}:{line} ({row}): {command}: wanted {decision:?}, got {:?}", self.got)
    }
}
