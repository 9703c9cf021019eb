//! Examples of the rows: commands with the decisions that haft must make about them.
//!
//! Not here: judging them (`haft_policy::examples`).

use crate::programs::table::ProgramTable;
use crate::programs::table::row::ProgramRow;

/// A command with the decision that it must get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableExample {
    /// The first name of the row.
    pub row: &'static str,
    /// The file of the row.
    pub file: &'static str,
    /// The line of the example, from 1.
    pub line: usize,
    /// The command.
    pub command: &'static str,
    /// What must be decided.
    pub decision: ExpectedDecision,
}

/// What the default rules must decide about an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedDecision {
    /// It runs unasked.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// Returns the examples of all rows of the table that haft comes with.
pub fn table_examples() -> Vec<TableExample> {
    let rows = ProgramTable::shipped().rows().filter_map(Result::ok);
    rows.flat_map(|row: &ProgramRow| row.examples.iter().copied()).collect()
}
