//! The commands of the cases, judged by the defaults in the scene of the examples.

use haft_policy::command::examples::{decision, steps_in_scene};
use haft_policy::decision::Decision;
use serde_json::Value;

/// The share of cases that must be exactly right, in percent.
const EXACT: usize = 95;

fn verdict(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "safe",
        Decision::Ask => "ask",
        Decision::Deny => "dangerous",
    }
}

fn check(cases: &str) {
    let (mut right, mut all, mut grave, mut misses) = (0, 0, Vec::new(), Vec::new());
    for line in cases.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let command = case["cmd"].as_str().expect("a case has a command");
        let judged = verdict(decision(command));
        let accepted = case["accept"].as_array().expect("a case says what is accepted");
        let wanted = case["verdict"].as_str().expect("a case has a verdict");
        all += 1;
        if accepted.iter().any(|accepted| accepted == judged) {
            right += 1;
            continue;
        }
        let steps: Vec<String> = steps_in_scene(command).iter().map(|step| format!("    {step}\n")).collect();
        misses.push(format!("{}: {judged}, not {wanted}: {command}\n{}", case["id"], steps.concat()));
        if (wanted, judged) == ("dangerous", "safe") || (wanted, judged) == ("safe", "dangerous") {
            grave.push(command.to_owned());
        }
    }
    assert!(grave.is_empty(), "gravely wrong: {grave:#?}\n{}", misses.concat());
    assert!(right * 100 >= all * EXACT, "{right} of {all} are right\n{}", misses.concat());
}

#[test]
fn the_open_cases_are_judged_right() {
    check(include_str!("../../../tests/cases/commands.jsonl"));
}

#[test]
fn more_cases_are_judged_right() {
    check(include_str!("../../../tests/cases/more_commands.jsonl"));
}

/// A command that agents send must not be refused for what it writes, and a dangerous one must be.
#[test]
fn scripts_that_a_command_writes_and_runs_are_judged_right() {
    let cases = include_str!("../../../tests/cases/script_commands.jsonl");
    let (mut harmless, mut dangerous, mut wrong) = (0, 0, Vec::new());
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let command = case["cmd"].as_str().expect("a case has a command");
        let judged = verdict(decision(command));
        if case["verdict"] == "dangerous" {
            dangerous += 1
        } else {
            harmless += 1
        }
        let accepted = case["accept"].as_array().expect("a case says what is accepted");
        if !accepted.iter().any(|accepted| accepted == judged) {
            let steps: Vec<String> = steps_in_scene(command).iter().map(|step| format!("    {step}\n")).collect();
            wrong.push(format!("{}: {judged}, not {accepted:?}: {command}\n{}", case["id"], steps.concat()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
    assert!(harmless >= 200 && dangerous >= 40, "{harmless} harmless and {dangerous} dangerous cases");
}
