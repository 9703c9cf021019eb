//! Files that belong to others: what can be kept of owner, group and mode, and what must not.
//!
//! Only the system's own user can make files for others; for everybody else these tests are reported as skipped.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::sync::Arc;

use haft_contract::call::CallId;
use haft_contract::doors::door::{FileOp, Permit, PermitIssuer, Provenance, SessionName};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation as At, Target};
use haft_testkit::require::Need;
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;

use crate::place::{Place, write};

/// The user that the command runs as, and a group of others.
const USER: u32 = 65_534;
const OTHERS: u32 = 65_000;

/// Lays out a file of another user in a workspace of the ordinary user, unless we may not do so.
#[track_caller]
fn laid_out(name: &str, owner: (u32, u32), mode: u32) -> Option<Place> {
    let place = Place::new();
    place.put(name, "old\n");
    let given: std::io::Result<()> = ["", "ws", "home", "state", "config"]
        .iter()
        .try_for_each(|folder| chown(place.root().join(folder), Some(USER), Some(USER)));
    let given = given.and_then(|()| chown(place.path(name), Some(owner.0), Some(owner.1)));
    std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).expect("it is there");
    let can_run = given.is_ok() && place.run_around(&as_user("--clear-groups"), &["--version"], "").status.success();
    Need::Users.found(can_run.then_some(place))
}

fn as_user(groups: &str) -> [&str; 4] {
    ["setpriv", "--reuid=65534", "--regid=65534", groups]
}

/// Who owns a file, and its mode.
fn rights(place: &Place, name: &str) -> (u32, u32, u32) {
    let facts = std::fs::metadata(place.path(name)).expect("it is there");
    (facts.uid(), facts.gid(), facts.mode() & 0o7777)
}

#[test]
fn the_group_is_kept_where_only_the_owner_cannot_be() {
    let Some(place) = laid_out("a.txt", (0, OTHERS), 0o664) else { return };
    let records = place.call(&as_user("--groups=65000"), &[write("a.txt", "new\n")]);
    assert_eq!(rights(&place, "a.txt"), (USER, OTHERS, 0o664), "{records:?}");
    let told = records[0].to_string();
    assert!(told.contains("Its owner (user 0) could not be kept."), "{told}");
}

#[test]
fn a_group_that_cannot_be_kept_takes_its_bits_along() {
    let Some(place) = laid_out("a.txt", (0, OTHERS), 0o676) else { return };
    let records = place.call(&as_user("--clear-groups"), &[write("a.txt", "new\n")]);
    assert_eq!(rights(&place, "a.txt"), (USER, USER, 0o666), "{records:?}");
    let told = records[0].to_string();
    assert!(told.contains("Its owner (user 0) and its group (65000) could not be kept."), "{told}");
}

/// Removes a file through the door, as the user of this test.
fn remove(place: &Place, name: &str) {
    // Neither the state folder nor a folder above it may belong to another user.
    for folder in [place.root(), &place.root().join("state"), &place.root().join("state/haft")] {
        if folder.exists() {
            std::os::unix::fs::chown(folder, Some(0), Some(0)).expect("the test runs as root");
        }
    }
    let workspace = Workspace::open(&place.path("")).expect("it is there");
    let state = WorkspaceState::new(&place.root().join("state/haft"), workspace.path());
    let target = Target::Inside(At::new(name, Extent::Entry));
    let errand = Provenance {
        call: CallId::new("1"),
        tool: "remove".into(),
        session: SessionName::new("s"),
        run: "r".into(),
        turn: 1,
        purpose: haft_contract::doors::door::Purpose::default(),
        old_changes: haft_contract::doors::door::OldChanges::Stay,
    };
    let effects: Arc<[Effect]> = [Effect::Change(target.clone(), Change::Remove)].into();
    let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects, Default::default());
    let removing = async { workspace.doors(&state).files.change(&permit, &[FileOp::Remove(target)]).await };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads are to be had");
    runtime.block_on(removing).expect("it is removed");
}

#[test]
fn undoing_a_removal_gives_the_file_back_to_whom_it_belonged() {
    let Some(place) = laid_out("tool", (OTHERS, OTHERS), 0o6755) else { return };
    remove(&place, "tool");
    assert!(place.run(&["undo"]).status.success());
    assert_eq!(rights(&place, "tool"), (OTHERS, OTHERS, 0o6755));
}

#[test]
fn undoing_a_removal_as_another_user_makes_no_program_that_runs_as_that_one() {
    let Some(place) = laid_out("tool", (OTHERS, OTHERS), 0o6775) else { return };
    remove(&place, "tool");
    let given = std::process::Command::new("chown").args(["-R", "65534:65534"]).arg(place.root()).status();
    assert!(given.is_ok_and(|status| status.success()));
    let output = place.run_around(&as_user("--clear-groups"), &["undo"], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rights(&place, "tool"), (USER, USER, 0o755));
}
