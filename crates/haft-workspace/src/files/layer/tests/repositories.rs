//! Tests that git works in a workspace, and that its changes are committed as a whole.

use super::*;

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

#[test]
fn a_new_repository_comes_in_without_its_hooks() {
    let scene = LayerFixture::new(&[("a", "a")]);
    let before = scene.tree();
    scene.run(|upper| {
        upper.write(".git/HEAD", "ref: refs/heads/main\n");
        upper.write(".git/config", CONFIG);
        upper.write(".git/hooks/pre-commit.sample", "#!/bin/sh\n");
        upper.folder(".git/objects/info");
        upper.folder(".git/refs/heads");
    });
    assert_eq!(scene.content(".git/config"), CONFIG);
    assert!(scene.has(".git/objects/info") && scene.has(".git/refs/heads") && !scene.has(".git/hooks"));
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn the_settings_of_a_repository_that_is_there_stay() {
    let scene = LayerFixture::new(&[("sub/.git/config", CONFIG), ("sub/.git/HEAD", "a")]);
    scene.run(|upper| {
        upper.write("sub/.git/config", &format!("{CONFIG}\tlogallrefupdates = true\n"));
        upper.write("sub/.git/HEAD", "b");
    });
    assert_eq!(scene.content("sub/.git/config"), CONFIG);
    assert_eq!(scene.content("sub/.git/HEAD"), "b");
}

#[test]
fn a_lock_that_a_killed_git_left_is_dropped() {
    let scene = LayerFixture::new(&[(".git/index", "i"), ("Cargo.lock", "l")]);
    let settled = scene.run(|upper| {
        upper.write(".git/index.lock", "half");
        upper.write("Cargo.lock", "new");
        upper.write("sub/yarn.lock", "new");
    });
    assert!(!scene.has(".git/index.lock"));
    assert_eq!(changed(&settled), ["create sub/yarn.lock", "replace cargo.lock"]);
    assert_eq!(settled.notes, ["Discarded, because a stopped git left it behind: .git/index.lock."]);
}

#[test]
fn references_and_index_come_in_together_or_not_at_all() {
    let files = [(".git/index", "i"), (".git/HEAD", "h"), (".git/refs/heads/main", "1"), ("a", "a")];
    let scene = LayerFixture::new(&files);
    let settled = scene.run(|upper| {
        upper.write(".git/objects/ab/cd", "commit");
        upper.write(".git/refs/heads/main", "2");
        upper.write(".git/index", "j");
        upper.write("a", "b");
        scene.write(".git/index", "somebody else's");
    });
    assert_eq!(changed(&settled), ["create .git/objects/ab/cd", "replace a"]);
    assert_eq!(scene.content(".git/refs/heads/main"), "1");
    assert!(!scene.has(".git/index.kept-by-haft"));
    assert!(settled.notes.iter().any(|note| note.contains("git fsck --lost-found")), "{:?}", settled.notes);
}

#[test]
fn a_repository_in_which_somebody_is_at_work_is_left_alone() {
    let scene = LayerFixture::new(&[(".git/index", "i"), (".git/index.lock", "somebody's"), ("a", "a")]);
    let settled = scene.run(|upper| {
        upper.write(".git/index", "j");
        upper.write("a", "b");
    });
    assert_eq!(scene.content(".git/index"), "i");
    assert_eq!(changed(&settled), ["replace a"]);
}

#[test]
fn a_stale_lock_can_be_removed_by_a_command() {
    let scene = LayerFixture::new(&[(".git/index", "i"), (".git/index.lock", "stale")]);
    let command = |upper: &Upper| {
        upper.gone(".git/index.lock");
        upper.write(".git/index", "j");
    };
    scene.check(command, &["remove .git/index.lock", "replace .git/index"]);
}

#[test]
fn a_link_in_the_place_of_a_repository_is_refused() {
    let scene = LayerFixture::new(&[("evil/hooks/pre-commit", "x")]);
    let settled = scene.run(|upper| {
        upper.link("sub/.git", "../evil");
        upper.link(".git", "evil");
    });
    assert!(settled.changes.is_empty());
    assert!(!scene.has(".git") && !scene.has("sub"));
}
