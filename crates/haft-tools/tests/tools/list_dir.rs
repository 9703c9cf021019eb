//! Scenes of `list_dir`.

use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

#[tokio::test]
async fn a_folder_is_listed_by_name_with_sizes() {
    let scene = Scene::sample().file(".hidden", "x").file("two\nlines", "x");
    snapshot!(scene.told("list_dir", json!({})).await, @r#"
    ok: README.md  69
    notes.txt  24
    src/
    two\nlines  1
    [3 files, 1 folder; left out: 1 hidden: .hidden (set "hidden" to true to see it)]
    did: nothing
    "#);
    snapshot!(scene.told("list_dir", json!({ "depth": 2, "hidden": true, "ignore": ["*.md", "two*"] })).await, @"
    ok: .hidden  1
    notes.txt  24
    src/
      lib.rs  48
      main.rs  37
    [4 files, 1 folder]
    did: nothing
    ");
}

#[tokio::test]
async fn the_flat_view_has_a_whole_path_in_each_line() {
    snapshot!(Scene::sample().told("list_dir", json!({ "depth": 2, "view": "flat", "ignore": ["*.md"] })).await, @"
    ok: notes.txt  24
    src/
    src/lib.rs  48
    src/main.rs  37
    [3 files, 1 folder]
    did: nothing
    ");
}

#[tokio::test]
async fn what_does_not_fit_is_counted() {
    let scene = (0..20).fold(Scene::new(), |scene, number| scene.file(&format!("f{number:02}"), ""));
    let scene = scene.limits(|limits| limits.list_entries = 3);
    snapshot!(scene.told("list_dir", json!({})).await, @r#"
    ok: f00  0
    f01  0
    f02  0
    [20 files, 0 folders; the first 3 names shown; list a folder below or use "ignore"]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_file_is_not_a_folder_and_a_bad_glob_is_told() {
    let scene = Scene::sample();
    snapshot!(scene.told("list_dir", json!({ "path": "notes.txt" })).await, @r#"
    failed at execute (not_a_folder): notes.txt is a file, not a folder.
    next: call "read_file" to read it
    did: nothing
    "#);
    snapshot!(scene.told("list_dir", json!({ "path": "scr" })).await, @r#"
    failed at line_up (missing_file): scr does not exist. Near: src.
    next: use one of these, or call "list_dir" on .
    did: nothing
    "#);
    snapshot!(scene.told("list_dir", json!({ "ignore": ["a[" ] })).await, @r#"
    failed at execute (bad_arguments): "a[" is not a glob: unclosed character class; missing ']'.
    next: write a glob such as "*.log" or "src/**/*.rs"
    note: This tool has now failed 3 times in a row.
    did: nothing
    "#);
}

#[tokio::test]
async fn a_link_to_a_folder_above_does_not_run_in_circles() {
    let scene = Scene::sample();
    std::os::unix::fs::symlink("..", scene.root().join("src/up")).expect("a link can be made");
    let told = scene.told("list_dir", json!({ "depth": 20 })).await;
    assert!(told.contains("up  (link)"), "{told}");
}
