use super::*;
use tempfile::TempDir;

fn spills() -> (TempDir, Spills, SessionName) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let spills = Spills::new(folder.path().join("spill"));
    (folder, spills, SessionName::new("s"))
}

fn kept(spills: &Spills, session: &SessionName, id: &str) -> String {
    let path = spills.folder.join(session.as_str()).join(id);
    std::fs::read_to_string(path).expect("the output is kept")
}

fn files(spills: &Spills) -> usize {
    files_below(&spills.folder).len()
}

#[test]
fn an_output_in_pieces_is_kept_whole() {
    let (_folder, spills, session) = spills();
    let mut spilling = spills.spilling(&session, 1 << 20).expect("there is room");
    let line = "äbc\n".repeat(1000);
    (0..50).for_each(|_| spilling.keep(&line));
    let (id, left_out) = spilling.finish().expect("it is kept");
    assert_eq!(left_out, 0);
    assert_eq!(kept(&spills, &session, &id), line.repeat(50));
}

#[test]
fn what_is_beyond_the_limit_is_counted_and_nothing_is_kept_behind_it() {
    let (_folder, spills, session) = spills();
    let mut spilling = spills.spilling(&session, 5).expect("there is room");
    spilling.keep("abcdä");
    spilling.keep("x");
    let (id, left_out) = spilling.finish().expect("it is kept");
    assert_eq!((kept(&spills, &session, &id).as_str(), left_out), ("abcd", 3));
}

#[test]
fn an_output_that_is_not_finished_is_gone() {
    let (_folder, spills, session) = spills();
    let mut spilling = spills.spilling(&session, 1 << 20).expect("there is room");
    spilling.keep(&"x".repeat(200_000));
    assert_eq!(files(&spills), 1);
    drop(spilling);
    assert_eq!(files(&spills), 0);
}

#[test]
fn only_the_user_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, spills, session) = spills();
    let (id, _) = spills.spilling(&session, 10).expect("there is room").finish().expect("it is kept");
    let facts = std::fs::metadata(spills.folder.join("s").join(id)).expect("it is there");
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
}
