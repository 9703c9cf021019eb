//! What a command is given beside its words: input, variables, folders to read.

use std::path::Path;

use haft_contract::doors::process::{CommandSpec, ConfinementLevel, HowEnded, Keeps};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::outcome::kinds::ErrorKind;
use tokio_util::sync::CancellationToken;

use crate::house::{House, Outcome, alone, block_on, houses};
use crate::workshop::{Owner, Workshop};

fn run(house: &House, command: &CommandSpec) -> Outcome {
    let outcome = house.run_command(command, &CancellationToken::new());
    house.assert_empty(&command.line);
    outcome
}

#[test]
fn a_command_reads_exactly_its_input_and_then_its_end() {
    let _alone = alone();
    for (level, house) in houses() {
        let longest = if level == ConfinementLevel::Full { 64 } else { 10 };
        for length in [0, 1, longest * 1024 * 1024] {
            let input: Vec<u8> = (0..length).map(|number: usize| (number % 251) as u8).collect();
            let command = CommandSpec { input: input.clone().into(), ..house.script("cat > copy; cat | wc -c", 60.0) };
            let outcome = run(&house, &command);
            assert_eq!(outcome.text().trim(), "0", "{level}");
            assert!(std::fs::read(house.path().join("copy")).expect("it was made") == input, "{level}: {length}");
        }
    }
}

#[test]
fn input_can_be_opened_by_name_and_cannot_be_changed() {
    let _alone = alone();
    for (level, house) in houses() {
        let script = "cat /dev/stdin; (echo more >> /proc/self/fd/0) 2> /dev/null && echo changed; cat";
        let outcome = run(&house, &CommandSpec { input: "told\n".into(), ..house.script(script, 10.0) });
        assert_eq!(outcome.text(), "told\ntold\n", "{level}");
    }
}

#[test]
fn variables_reach_the_command_and_those_of_the_sandbox_cannot_be_set() {
    let _alone = alone();
    for (level, house) in houses() {
        let with = |name: &str| CommandSpec {
            environment: vec![(name.into(), "a b=c\n".into())],
            ..house.script("printf '%s' \"$GIVEN\"", 10.0)
        };
        assert_eq!(run(&house, &with("GIVEN")).text(), "a b=c\n", "{level}");
        for name in ["PATH", "HOME", "LD_PRELOAD", "TMPDIR"] {
            let refused = run(&house, &with(name));
            assert!(refused.error().what.contains(&format!("{name:?}")), "{level}: {}", refused.error().what);
        }
        assert!(run(&house, &with("A=B")).error().what.contains("in its name"), "{level}");
    }
}

#[test]
fn a_folder_in_something_hidden_is_shown_and_nothing_beside_it() {
    let _alone = alone();
    let outside = tempfile::tempdir_in("/var/tmp").expect("it can be made");
    let config = outside.path().canonicalize().expect("it is there").join("config");
    for (path, text) in [("tools/deep/tool.py", "shown"), ("tools.yaml", "canary"), ("toolset/x", "canary")] {
        let path = config.join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in one")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    let script =
        format!("cd {}; cat tools/deep/tool.py tools.yaml toolset/x; ls; echo x > tools/new", config.display());
    for level in [ConfinementLevel::Partial, ConfinementLevel::Full] {
        let house = House::hiding(level, std::slice::from_ref(&config));
        let shown = CommandSpec { readable: vec![config.join("tools")], ..house.script(&script, 10.0) };
        let outcome = run(&house, &shown);
        assert!(outcome.text().starts_with("shown"), "{level}: {} {:?}", outcome.text(), outcome.result);
        assert!(
            !outcome.text().contains("canary") && !config.join("tools/new").exists(),
            "{level}: {}",
            outcome.text()
        );
        let hidden = run(&house, &house.script(&script, 10.0));
        assert!(!hidden.text().contains("shown"), "{level}: {}", hidden.text());
        let one_file = CommandSpec { readable: vec![config.join("tools.yaml")], ..house.script(&script, 10.0) };
        let outcome = run(&house, &one_file);
        assert!(
            outcome.text().starts_with("canary") && !outcome.text().contains("shown"),
            "{level}: {}",
            outcome.text()
        );
    }
}

#[test]
fn a_folder_in_something_hidden_in_the_workspace_is_shown_too() {
    let _alone = alone();
    let first = House::at(ConfinementLevel::Full);
    let config = first.path().join("config");
    std::fs::create_dir_all(config.join("tools")).expect("it can be made");
    std::fs::write(config.join("tools/a"), "shown").expect("it can be written");
    std::fs::write(config.join("b"), "canary").expect("it can be written");
    let house = House::in_folder_hiding(&first.path(), std::slice::from_ref(&config));
    let shown = CommandSpec {
        readable: vec![config.join("tools")],
        ..house.script("cat config/tools/a config/b; ls config", 9.0)
    };
    let outcome = run(&house, &shown);
    assert_eq!((outcome.text().as_str(), outcome.how()), ("showntools\n", HowEnded::Exited(0)));
}

#[test]
fn what_is_to_be_readable_and_is_not_there_is_passed_over() {
    let _alone = alone();
    for (level, house) in houses() {
        let command =
            CommandSpec { readable: vec![Path::new("/nowhere/at/all").into()], ..house.script("echo well", 10.0) };
        assert_eq!(run(&house, &command).text(), "well\n", "{level}");
    }
}

#[test]
fn a_command_is_kept_to_what_was_said_of_it() {
    let _alone = alone();
    let shop = Workshop::new(ConfinementLevel::Full, Owner::Own);
    shop.write("b", "old");
    let said = Keeps::Only([Target::Inside(FileLocation::new("a", Extent::Entry))].into());
    let ran = block_on(shop.run("echo x > a; echo y > b; cat b", said)).expect("it runs");
    let kept: Vec<String> = ran.settled.changes.iter().map(|change| change.target.to_string()).collect();
    assert_eq!((kept, ran.ended.how), (vec!["a".to_owned()], HowEnded::Exited(0)));
    assert_eq!(ran.settled.notes, ["Not kept, because the tool did not declare that it changes it: b."]);
    assert_eq!(std::fs::read_to_string(shop.at("b")).expect("it is there"), "old");
}

#[test]
fn where_nothing_keeps_a_command_to_what_was_said_of_it_it_does_not_run() {
    let _alone = alone();
    let shop = Workshop::new(ConfinementLevel::None, Owner::Own);
    let refused = block_on(shop.run("echo x > a", Keeps::Only([].into()))).expect_err("it is refused");
    assert_eq!(refused.kind, ErrorKind::Unavailable);
    assert!(refused.what.contains("haft cannot enforce that here"), "{}", refused.what);
    assert!(!shop.at("a").exists());
    block_on(shop.run("echo x > a", Keeps::All)).expect("it runs");
    assert!(shop.at("a").exists());
}
