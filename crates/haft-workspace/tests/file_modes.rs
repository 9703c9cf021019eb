//! Modes of haft's own files under a mask that takes nothing away.
//!
//! The mask belongs to the whole process, so this is the only test of its program.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use haft_workspace::state::WorkspaceState;
use haft_workspace::state::sessions::Tally;

#[test]
fn only_the_user_can_read_sessions_whatever_the_mask() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    rustix::process::umask(rustix::fs::Mode::empty());
    let state = WorkspaceState::new(&folder.path().join("state"), Path::new("/ws"));
    let log = state.sessions().begin("words").expect("a session can be begun");
    log.append(&"a", Tally::default()).expect("there is room");
    let (mut files, mut folders) = (0, vec![folder.path().join("state")]);
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("it can be read").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
            }
        }
    }
    assert!(files > 0);
}
