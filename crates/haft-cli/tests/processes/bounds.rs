//! Bounds: a command that uses up memory or disk is ended, and the result says by which setting.

use std::time::{Duration, Instant};

use haft_contract::doors::process::{ConfinementLevel, HowEnded};
use haft_sandbox::SandboxSettings;

use crate::house::{House, alone, houses};

const SIGKILL: i32 = 9;

fn notes(outcome: &crate::house::Outcome) -> String {
    outcome.ended().notes.join("\n")
}

#[test]
fn a_command_that_takes_too_much_memory_is_ended_with_all_its_processes() {
    let _alone = alone();
    for (level, _) in houses() {
        let house = House::bounded(level, |settings| SandboxSettings { memory: Some(200 << 20), ..settings });
        // Each of two takes less than is allowed, both together more.
        let hungry = "take() { x=$(head -c 120000000 /dev/zero | tr '\\0' x); echo taken; tail -f /dev/null; }; take & take & wait";
        let began = Instant::now();
        let outcome = house.run_command(&house.script(hungry, 60.0), &Default::default());
        assert_eq!(outcome.how(), HowEnded::Killed(SIGKILL), "{level}: {}", notes(&outcome));
        let said = notes(&outcome);
        assert!(said.contains("of memory, and the setting [sandbox] memory allows 200 MiB"), "{level}: {said}");
        assert!(began.elapsed() < Duration::from_secs(50), "{level}");
        house.assert_empty(hungry);
        let modest = house.run("x=$(head -c 1000000 /dev/zero | tr '\\0' x); echo ${#x}", 20.0);
        assert_eq!((modest.how(), modest.text()), (HowEnded::Exited(0), "1000000\n".to_owned()), "{level}");
    }
}

#[test]
fn memory_that_copies_of_a_process_share_is_counted_once() {
    let _alone = alone();
    let house =
        House::bounded(ConfinementLevel::Full, |settings| SandboxSettings { memory: Some(400 << 20), ..settings });
    if !house.reaches(ConfinementLevel::Full) {
        return;
    }
    let sharing = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6; do \
                   (for j in 1 2 3 4; do timeout 0.1 tail -f /dev/null; done; : ${#x}) & done; wait; echo whole";
    let outcome = house.run(sharing, 30.0);
    assert_eq!((outcome.how(), outcome.text()), (HowEnded::Exited(0), "whole\n".to_owned()), "{}", notes(&outcome));
}
