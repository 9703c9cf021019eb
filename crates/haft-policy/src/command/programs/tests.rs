//! The rules of the table, with small rows, and the table that haft comes with.

use super::examples::{check_examples, examples};
use super::table::Table;
use crate::decision::Decision;

#[test]
fn every_row_of_the_table_is_understood() {
    let faults: Vec<String> = Table::shipped().rows().filter_map(Result::err).map(ToString::to_string).collect();

    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
