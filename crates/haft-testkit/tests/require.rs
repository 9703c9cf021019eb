//! What becomes of a test that cannot do its work here: it is reported, or it fails.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this program runs a test of itself, as the harness does"
)]

use std::process::{Command, Output};

use haft_testkit::require::{Need, REQUIRE, SKIPPED};

/// Names the need that the test below goes without.
const MISSING: &str = "HAFT_TEST_MISSING";

/// Not a test by itself: goes without what it is told.
#[test]
fn without() {
    let Ok(missing) = std::env::var(MISSING) else { return };
    let need = Need::ALL.into_iter().find(|need| need.name() == missing).expect("it has a name");
    if need.met(false) {
        panic!("nothing was found");
    }
}

fn run(need: Need, required: Option<&str>) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command.args(["--exact", "without"]).env(MISSING, need.name()).env_remove(REQUIRE);
    command.envs(required.map(|required| (REQUIRE, required)));
    let Output { status, stdout, stderr } = command.output().expect("it can be started");
    (status.success(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

#[test]
fn a_skip_is_reported_although_the_harness_captures_what_passing_tests_print() {
    for need in Need::ALL {
        let (passed, said) = run(need, None);
        let line = format!("{SKIPPED} without: needs {} (", need.name());
        assert!(passed && said.matches(&line).count() == 1, "{said}");
    }
}

#[test]
fn a_skip_of_what_is_required_is_a_failure() {
    let all = Need::ALL.map(Need::name).join(",");
    for need in Need::ALL {
        for required in [need.name(), all.as_str(), &format!(" {} ,", need.name())] {
            let (passed, said) = run(need, Some(required));
            assert!(!passed && said.contains("must not be missing"), "{required}: {said}");
        }
        let others = all.split(',').filter(|name| *name != need.name()).collect::<Vec<_>>().join(",");
        assert!(run(need, Some(&others)).0, "{others}");
    }
}

#[test]
fn a_name_that_means_nothing_is_a_failure_too() {
    let (passed, said) = run(Need::Git, Some("full,pyhton"));
    assert!(!passed && said.contains("names [\"pyhton\"]"), "{said}");
}

#[test]
fn what_is_there_is_handed_on() {
    assert!(Need::Python.met(true));
    assert_eq!(Need::Git.found(Some(2)), Some(2));
    for (program, need) in
        [("python3", Need::Python), ("git", Need::Git), ("strace", Need::Strace), ("perl", Need::Programs)]
    {
        assert_eq!(Need::of_program(program), need);
    }
}
