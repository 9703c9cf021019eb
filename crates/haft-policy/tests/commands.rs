//! The commands of the cases, judged by the defaults in the scene of the examples.

#[path = "../../haft-testkit/src/corpora/command_cases.rs"]
mod command_cases;

use command_cases::{CommandCase, KNOWN_MISSES, surprises};
use haft_policy::decision::Decision;
use haft_policy::examples::{decision, steps_in_scene};

fn judged(case: &CommandCase) -> String {
    let verdict = match decision(&case.command) {
        Decision::Allow => "safe",
        Decision::Ask => "ask",
        Decision::Deny => "dangerous",
    };
    verdict.to_owned()
}

fn check(cases: &str) -> Vec<CommandCase> {
    let cases = CommandCase::read_all(cases);
    let surprises = surprises(&cases, judged, KNOWN_MISSES);
    let steps = |command: &str| steps_in_scene(command).iter().map(|step| format!("    {step}\n")).collect::<String>();
    let commands = cases.iter().filter(|case| surprises.iter().any(|line| line.starts_with(&format!("{}: ", case.id))));
    let read: String = commands.map(|case| format!("{} is read as:\n{}", case.id, steps(&case.command))).collect();
    assert!(surprises.is_empty(), "{} surprises:\n{}\n{read}", surprises.len(), surprises.join("\n"));
    cases
}

#[test]
fn the_open_cases_are_judged_right() {
    check(include_str!("../../../tests/cases/commands.jsonl"));
}

#[test]
fn more_cases_are_judged_right() {
    check(include_str!("../../../tests/cases/more_commands.jsonl"));
}

#[test]
fn cases_that_were_written_before_they_were_tried_are_judged_right() {
    check(include_str!("../../../tests/cases/examined_commands.jsonl"));
}

/// A command that agents send must not be refused for what it writes, and a dangerous one must be.
#[test]
fn scripts_that_a_command_writes_and_runs_are_judged_right() {
    let cases = check(include_str!("../../../tests/cases/script_commands.jsonl"));
    let dangerous = cases.iter().filter(|case| case.verdict == "dangerous").count();
    let harmless = cases.len() - dangerous;
    assert!(harmless >= 200 && dangerous >= 40, "{harmless} harmless and {dangerous} dangerous cases");
}
