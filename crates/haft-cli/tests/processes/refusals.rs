//! Commands that cannot be run: nothing happens, and the error says why and what to do.

use std::path::Path;

use haft_contract::doors::process::{CommandSpec, ConfinementLevel, NotRun, Processes};
use haft_contract::effect::{Effect, Exposure};
use haft_contract::outcome::kinds::ErrorKind;
use haft_sandbox::Launcher;
use tokio_util::sync::CancellationToken;

use crate::house::{House, OpenGround, Outcome, alone, block_on, houses, permit_with};

/// Runs a command at every level and makes sure that it is refused in this way.
fn check(change: impl Fn(&mut CommandSpec), kind: ErrorKind, what: &str) {
    for (level, house) in houses() {
        let mut command = house.script("echo x > ran", 10.0);
        change(&mut command);
        let outcome = house.run_command(&command, &CancellationToken::new());
        assert_refused(&house, &outcome, kind, what);
        assert!(!outcome.error().next.to_string().is_empty(), "{level}");
    }
}

fn assert_refused(house: &House, outcome: &Outcome, kind: ErrorKind, what: &str) {
    let error = outcome.error();
    assert_eq!(error.kind, kind, "{error:?}");
    assert!(error.what.contains(what), "{error:?}");
    assert!(outcome.receipts.is_empty(), "{:?}", outcome.receipts);
    assert!(!house.path().join("ran").exists());
    house.assert_empty(what);
}

#[test]
fn a_missing_shell_is_named() {
    let _alone = alone();
    check(|command| command.words[0] = "/no/such/shell".into(), ErrorKind::Failed, "no program \"/no/such/shell\"");
}

#[test]
fn a_shell_that_is_not_found_by_its_name_is_named() {
    let _alone = alone();
    check(|command| command.words[0] = "no-such-shell".into(), ErrorKind::Failed, "no program \"no-such-shell\"");
}

#[test]
fn a_program_that_may_not_be_executed_is_named() {
    let _alone = alone();
    check(|command| command.words[0] = "/etc/passwd".into(), ErrorKind::Permission, "execute \"/etc/passwd\"");
}

#[test]
fn a_missing_working_folder_is_named() {
    let _alone = alone();
    let missing = |command: &mut CommandSpec| command.folder = command.folder.join("no such folder");
    check(missing, ErrorKind::MissingFile, "no such folder does not exist");
}

#[test]
fn a_file_is_no_working_folder() {
    let _alone = alone();
    for (_, house) in houses() {
        std::fs::write(house.path().join("file"), "").expect("it can be written");
        let command = CommandSpec { folder: house.path().join("file"), ..house.script("echo x > ran", 10.0) };
        let outcome = house.run_command(&command, &CancellationToken::new());
        assert_refused(&house, &outcome, ErrorKind::NotAFolder, "is not a folder");
    }
}

#[test]
fn a_command_of_a_megabyte_is_refused_with_its_limit() {
    let _alone = alone();
    let script = format!("echo x > ran; : {}", "x".repeat(1_000_000));
    let long = |command: &mut CommandSpec| command.words[4] = script.clone().into();
    check(long, ErrorKind::TooLarge, "takes at most 131071 in one piece");
}

#[test]
fn many_words_that_are_too_long_together_are_refused() {
    let _alone = alone();
    let many = |command: &mut CommandSpec| command.words.extend((0..80).map(|_| "x".repeat(100_000).into()));
    check(many, ErrorKind::TooLarge, "more than the system takes");
}

#[test]
fn a_command_with_a_nul_is_refused() {
    let _alone = alone();
    check(|command| command.words[4] = "echo x > ran\0".into(), ErrorKind::BadArguments, "NUL");
}

#[test]
fn a_command_without_words_is_a_defect_of_the_tool() {
    let _alone = alone();
    check(|command| command.words.clear(), ErrorKind::Bug, "no program");
}

#[test]
fn what_was_not_planned_is_not_run() {
    let _alone = alone();
    let house = House::at(ConfinementLevel::None);
    let command = house.script("echo x > ran", 10.0);
    let planned = house.script("echo another", 10.0);
    let permit = crate::house::permit(&planned, &CancellationToken::new());
    let ground = OpenGround::at(&house.path());
    let Err(NotRun::Failed(error)) = block_on(house.sandbox.run(&permit, &command, &ground, &|_, _| {})) else {
        panic!("it was run")
    };
    assert_eq!(error.kind, ErrorKind::Bug);
    assert!(!house.path().join("ran").exists());
}

#[test]
fn a_program_that_does_not_call_launcher_is_told_what_to_write() {
    let _alone = alone();
    // This very test is such a program.
    let house = House::with(Launcher::own(), ConfinementLevel::Full);
    let outcome = house.run_command(&house.script("echo x > ran", 10.0), &CancellationToken::new());
    assert_refused(&house, &outcome, ErrorKind::Unavailable, "did not call haft::sandbox_launcher()");
    let confinement = house.sandbox.confinement();
    assert_eq!(confinement.reached, ConfinementLevel::None);
    assert!(confinement.missing[0].contains("haft::sandbox_launcher()"), "{confinement:?}");
}

#[test]
fn a_launcher_that_is_none_is_found_out() {
    let _alone = alone();
    for program in ["/bin/true", "/bin/false", "/bin/cat", "/no/such/launcher"] {
        let house = House::with(Launcher::at(Path::new(program)), ConfinementLevel::None);
        let outcome = house.run_command(&house.script("echo x > ran", 1.0), &CancellationToken::new());
        assert_refused(&house, &outcome, ErrorKind::Unavailable, program);
    }
}

#[test]
fn a_level_that_could_not_be_tried_is_not_replaced_by_a_lower_one() {
    let _alone = alone();
    for strongest in [ConfinementLevel::Partial, ConfinementLevel::Full] {
        let house = House::with(Launcher::at(Path::new("/bin/true")), strongest);
        let outcome = house.run_command(&house.script("echo x > ran", 1.0), &CancellationToken::new());
        assert_refused(&house, &outcome, ErrorKind::Unavailable, "haft could not test the sandbox");
        let confinement = house.sandbox.confinement();
        assert!(confinement.untried.is_some() && confinement.missing.len() == 1, "{confinement:?}");
    }
}

#[test]
fn below_the_required_level_nothing_runs_without_a_yes() {
    let _alone = alone();
    let house = House::requiring(ConfinementLevel::Full, ConfinementLevel::None);
    let outcome = house.run_command(&house.script("echo x > ran", 10.0), &CancellationToken::new());
    assert_refused(&house, &outcome, ErrorKind::Denied, "only the level \"none\" here, and \"full\" is required");
}

#[test]
fn below_the_required_level_a_yes_lets_it_run_and_the_level_is_named() {
    let _alone = alone();
    let house = House::requiring(ConfinementLevel::Full, ConfinementLevel::None);
    let command = house.script("echo x > ran", 10.0);
    let exposure = Exposure::BelowRequired { required: ConfinementLevel::Full, reached: ConfinementLevel::None };
    let permit = permit_with(&command, &[Effect::Expose(exposure)]);
    let ground = OpenGround::at(&house.path());
    let ended = block_on(house.sandbox.run(&permit, &command, &ground, &|_, _| {})).expect("it runs");
    assert_eq!(ended.level, ConfinementLevel::None);
    assert!(house.path().join("ran").exists());
}
