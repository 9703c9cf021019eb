//! `edit_file` with new, removed and renamed files: one call, one change set, all or nothing.

use std::os::unix::fs::symlink;

use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use serde_json::{Value, json};

fn scene() -> Scene {
    let scene = Scene::new().approver(ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 64)));
    scene.file("a.txt", "one\ntwo\n").file("b.txt", "b\n").file("c.txt", "c\n").file("d.txt", "d\n")
}

fn patch(sections: &str) -> Value {
    json!({ "input": format!("*** Begin Patch\n{sections}\n*** End Patch") })
}

fn exists(scene: &Scene, path: &str) -> bool {
    scene.root().join(path).exists()
}

const MIX: &str = "*** Add File: src/new.txt\n+x\n+y\n*** Update File: a.txt\n-one\n+1\n*** Delete File: b.txt\n\
                   *** Update File: c.txt\n*** Move to: moved/c.txt\n-c\n+C\n*** Update File: d.txt\n*** Move to: e.txt\n\
                   *** Add File: src/empty.txt";

#[tokio::test]
async fn a_patch_adds_changes_removes_and_renames_files_in_one_change_set() {
    let scene = scene();
    snapshot!(scene.told("apply_patch", patch(MIX)).await, @r#"
    ok: Created src/new.txt (4 bytes; +2 −0 lines).
    Edited a.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - one
    + 1
      two
    Removed b.txt (−1 lines).
    Moved c.txt to moved/c.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - c
    + C
    Moved d.txt to e.txt.
    Created src/empty.txt (0 bytes; +0 −0 lines).
    [repaired $: the tool "apply_patch" read as "edit_file"; $.input: the patch read as changes of 6 files]
    repaired: $: the tool "apply_patch" read as "edit_file"
    repaired: $.input: the patch read as changes of 6 files
    did: changed src/new.txt, a.txt, b.txt, moved/c.txt, c.txt, d.txt, e.txt, src/empty.txt
    "#);
    assert_eq!(scene.read("src/new.txt"), "x\ny\n");
    assert_eq!(scene.read("src/empty.txt"), "");
    assert_eq!(scene.read("a.txt"), "1\ntwo\n");
    assert_eq!(scene.read("moved/c.txt"), "C\n");
    assert_eq!(scene.read("e.txt"), "d\n");
    for gone in ["b.txt", "c.txt", "d.txt"] {
        assert!(!exists(&scene, gone), "{gone}");
    }
    let listed = scene.told("undo", json!({ "action": "list" })).await;
    assert!(
        listed.starts_with("ok: 1  edit_file: removed b.txt, c.txt, d.txt; ") && listed.lines().count() == 2,
        "{listed}"
    );
    let undone = scene.told("undo", json!({ "action": "take_back" })).await;
    for (path, content) in [("a.txt", "one\ntwo\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("d.txt", "d\n")] {
        assert_eq!(scene.read(path), content, "{undone}");
    }
    for new in ["src", "moved", "e.txt"] {
        assert!(!exists(&scene, new), "{new}: {undone}");
    }
}

#[tokio::test]
async fn one_section_that_does_not_fit_leaves_everything_as_it_is() {
    for (wrong, words) in [
        ("*** Add File: a.txt\n+x", "a.txt exists already."),
        ("*** Update File: a.txt\n*** Move to: b.txt", "b.txt exists already."),
        ("*** Delete File: missing.txt", "missing.txt"),
        ("*** Delete File: folder", "folder is not a regular file."),
        ("*** Update File: a.txt\n-three\n+3", "old_text does not occur in a.txt"),
        ("*** Add File: ../x.txt\n+x", "outside the workspace"),
        ("*** Update File: a.txt\n*** Move to: ../x.txt", "outside the workspace"),
        ("*** Delete File: link.txt", "is a link to a.txt"),
        ("*** Delete File: folder/a.txt", "is a link to a.txt"),
        ("*** Update File: link.txt\n*** Move to: other.txt", "is a link to a.txt"),
        ("*** Delete File: d.txt\n*** Add File: d.txt\n+x", "d.txt is named twice."),
        ("*** Update File: c.txt\n*** Move to: new.txt", "new.txt is named twice."),
    ] {
        let scene = scene().file("folder/x", "");
        symlink("a.txt", scene.root().join("link.txt")).expect("it can be made");
        symlink("../a.txt", scene.root().join("folder/a.txt")).expect("it can be made");
        let told = scene.told("apply_patch", patch(&format!("*** Add File: new.txt\n+new\n{wrong}"))).await;
        assert!(told.contains(words), "{wrong}: {told}");
        assert!(told.ends_with("did: nothing"), "{wrong}: {told}");
        scene.assert_untouched();
    }
}

#[tokio::test]
async fn an_entry_of_files_says_one_thing() {
    for entry in [
        json!({ "path": "a.txt" }),
        json!({ "path": "new.txt", "content": "x", "move_to": "b" }),
        json!({ "path": "a.txt", "remove": true, "move_to": "x.txt" }),
        json!({ "path": "a.txt", "remove": true, "content": "" }),
        json!({ "path": "a.txt", "remove": false }),
    ] {
        let scene = scene();
        let told = scene.told("edit_file", json!({ "files": [entry] })).await;
        assert!(told.contains("needs one of these"), "{told}");
        scene.assert_untouched();
    }
}

#[tokio::test]
async fn a_diff_that_removes_a_file_must_have_all_of_it() {
    let diff = |old: &str| json!({ "diff": format!("--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n{old}") });
    let scene = scene();
    let told = scene.told("edit_file", diff("-one\n")).await;
    assert!(told.contains("a.txt has more text than the call removes"), "{told}");
    scene.assert_untouched();
    let told = scene.told("edit_file", diff("-one\n-two\n")).await;
    assert!(told.contains("Removed a.txt (−2 lines)."), "{told}");
    assert!(!exists(&scene, "a.txt"));
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_removed() {
    let scene = scene();
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    let scene = scene.file("a.txt", "one\nby somebody else\n");
    let told = scene.told("edit_file", json!({ "files": [{ "path": "a.txt", "remove": true }] })).await;
    assert!(told.contains("changed since it was read, and this call would remove it"), "{told}");
    assert!(exists(&scene, "a.txt"));
}

#[tokio::test]
async fn a_removed_file_that_was_never_read_is_not_shown_to_the_model() {
    let scene = scene();
    let told = scene.told("edit_file", json!({ "files": [{ "path": "a.txt", "remove": true }] })).await;
    assert!(told.contains("Removed a.txt (−2 lines).") && !told.contains("two"), "{told}");
}
