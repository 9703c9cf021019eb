//! haft runs as root, and the workspace belongs to another user.

use std::os::unix::fs::{MetadataExt, chown};

use haft_contract::doors::process::{ConfinementLevel, HowEnded};
use haft_testkit::require::Need;

use crate::house::{alone, houses};

const SOMEBODY: u32 = 65534;

#[test]
fn a_confined_command_is_its_workspaces_owner_and_can_open_its_streams_by_name() {
    let _alone = alone();
    // Only root can give a folder away.
    if !Need::Users.met(rustix::process::getuid().is_root()) {
        return;
    }
    for (level, house) in houses().into_iter().filter(|(level, _)| *level != ConfinementLevel::None) {
        chown(house.path(), Some(SOMEBODY), Some(SOMEBODY)).expect("root may do so");
        let outcome = house
            .run("touch made ${TMPDIR:-/tmp}/t ~/h || exit; echo 1 > /dev/stdout; echo 2 > /dev/stderr; id -u", 10.0);
        let errors = String::from_utf8_lossy(&outcome.err).into_owned();
        assert_eq!(outcome.how(), HowEnded::Exited(0), "{level}: {errors}");
        assert_eq!((outcome.text(), errors), (format!("1\n{SOMEBODY}\n"), "2\n".into()), "{level}");
        assert_eq!(std::fs::metadata(house.path().join("made")).expect("it was made").uid(), SOMEBODY);
    }
}
