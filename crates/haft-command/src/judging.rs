//! Judges commands by the default rules, for the unit tests of this crate.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

/// Fails where one of these commands is judged otherwise.
#[track_caller]
pub(crate) fn check_all(wanted: Decision, commands: &[&str]) {
    for command in commands {
        assert_eq!(decision(command), wanted, "{command}");
    }
}
