//! What the sandbox denies is explained: the place or the rule, and what would permit it.

use haft_contract::doors::process::ConfinementLevel;
use haft_testkit::require::Need;

use crate::house::{House, alone, houses};

/// Runs a script in the full sandbox, where there is one; one of the notes says this.
fn check(script: &str, said: &str) {
    let house = House::at(ConfinementLevel::Full);
    let outcome = house.run(script, 10.0);
    let ended = outcome.ended();
    if !Need::Full.met(ended.level == ConfinementLevel::Full) {
        return;
    }
    let printed = String::from_utf8_lossy(&outcome.err);
    assert!(ended.notes.iter().any(|note| note.contains(said)), "{script:?} printed {printed:?}: {:?}", ended.notes);
}

#[test]
fn writing_outside_the_workspace_names_the_place_and_the_grant() {
    let _alone = alone();
    check("echo x > /usr/local/x", "/usr/local/x belongs to the system");
    check("touch /etc/x", "/etc/x belongs to the system");
    check("mkdir /srv-of-mine", "/srv-of-mine is outside the workspace");
}

#[test]
fn a_file_that_is_hidden_is_said_to_be_hidden() {
    let _alone = alone();
    let outside = tempfile::Builder::new().prefix("haft-denied-").tempfile_in("/var/tmp").expect("it can be made");
    let said = "they have their own private /var/tmp";
    check(&format!("cat {}", outside.path().display()), said);
}

#[test]
fn a_missing_network_names_the_setting() {
    let _alone = alone();
    check("exec 3<>/dev/tcp/192.0.2.1/80", "network = true under [sandbox]");
}

#[test]
fn refused_system_calls_are_named() {
    let _alone = alone();
    check("unshare --mount true", "system calls that mount");
    check("mount -t tmpfs none .", "system calls that mount");
}

#[test]
fn giving_files_away_is_explained() {
    let _alone = alone();
    check("touch f; chown 12345 f", "another owner or group");
}

#[test]
fn a_command_that_is_denied_nothing_has_nothing_explained() {
    let _alone = alone();
    let house = House::at(ConfinementLevel::Full);
    for script in ["true", "cat missing", "exit 3", "ls /no/such/folder", "echo 'Permission denied: /etc/x'"] {
        let outcome = house.run(script, 10.0);
        let notes = &outcome.ended().notes;
        assert!(!notes.iter().any(|note| note.contains("outside the workspace")), "{script:?}: {notes:?}");
    }
}

#[test]
fn no_program_gains_rights_at_any_level() {
    let _alone = alone();
    for (level, house) in houses() {
        let outcome = house.run("grep NoNewPrivs /proc/self/status", 10.0);
        assert_eq!(String::from_utf8_lossy(&outcome.out), "NoNewPrivs:\t1\n", "{level}");
    }
}
