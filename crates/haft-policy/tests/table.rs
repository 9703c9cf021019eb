//! The examples in the table of programs, judged by the defaults in the scene of the examples.

use haft_policy::examples::failures_of_table;

#[test]
fn every_example_of_the_table_gets_its_decision() {
    let failures = failures_of_table();
    assert!(failures.is_empty(), "{failures:#?}");
}
