//! Scenes of `glob`.

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::Status;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

#[tokio::test]
async fn a_pattern_without_a_slash_is_for_names_in_any_folder() {
    let scene = Scene::sample();
    snapshot!(scene.told("glob", json!({ "pattern": "*.rs" })).await, @"
    ok: src/lib.rs
    src/main.rs
    [2 paths]
    did: nothing
    ");
    snapshot!(scene.told("glob", json!({ "pattern": "{src,docs}/*.{rs,md}", "limit": 1 })).await, @r#"
    ok: src/lib.rs
    [1 of 2 paths; go on with offset=1]
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "*/" })).await, @"
    ok: src/
    [1 path]
    did: nothing
    ");
}

#[tokio::test]
async fn paths_are_told_from_the_root_whatever_folder_is_looked_in() {
    let scene = Scene::new().file("a/b/c.txt", "").file("a/d.txt", "").file("e.txt", "");
    snapshot!(scene.told("glob", json!({ "path": "a", "pattern": "b/*.txt" })).await, @"
    ok: a/b/c.txt
    [1 path]
    did: nothing
    ");
    snapshot!(scene.told("glob", json!({ "path": "a", "pattern": "**/*.txt" })).await, @"
    ok: a/b/c.txt
    a/d.txt
    [2 paths]
    did: nothing
    ");
}

#[tokio::test]
async fn when_nothing_fits_near_names_are_told_and_it_is_no_error() {
    let scene = Scene::new().file("docs/README.md", "").file("src/deep/main.rs", "");
    snapshot!(scene.told("glob", json!({ "pattern": "readme.*" })).await, @"
    ok: [nothing matches; 2 names compared; near: docs/README.md]
    did: nothing
    ");
    snapshot!(scene.told("glob", json!({ "pattern": "deep/*.rs" })).await, @"
    ok: [nothing matches; 0 names compared; near: src/deep/main.rs]
    did: nothing
    ");
    snapshot!(scene.told("glob", json!({ "pattern": "*.xyz" })).await, @"
    ok: [nothing matches; 2 names compared]
    did: nothing
    ");
}

#[tokio::test]
async fn the_newest_come_first_when_asked_for() {
    let scene = Scene::new().file("old.txt", "").file("new.txt", "").file("middle.txt", "");
    for (name, seconds) in [("old.txt", 100), ("middle.txt", 200), ("new.txt", 300)] {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = std::fs::File::options().write(true).open(scene.root().join(name)).expect("it is there");
        file.set_modified(time).expect("a time can be set");
    }
    snapshot!(scene.told("glob", json!({ "pattern": "*", "sort": "time", "limit": 2 })).await, @r#"
    ok: new.txt
    middle.txt
    [1–2 of 3 paths; go on with offset=2]
    did: nothing
    "#);
}

#[tokio::test]
async fn what_is_ignored_or_hidden_is_left_out_unless_it_is_named() {
    let scene = Scene::new()
        .file(".git/HEAD", "")
        .file(".gitignore", "target/\n")
        .file("target/x.rs", "")
        .file(".github/ci.yml", "")
        .file("a.rs", "");
    snapshot!(scene.told("glob", json!({ "pattern": "*" })).await, @r#"
    ok: a.rs
    [1 path; left out: 1 ignored: target/ (set "ignored" to true to see it), 3 hidden: .git/, .github/, .gitignore (a pattern with the dot finds them: ".*", ".github/**")]
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "*", "path": "target" })).await, @"
    ok: target/x.rs
    [1 path]
    did: nothing
    ");
    snapshot!(scene.told("glob", json!({ "pattern": ".github/*.yml" })).await, @"
    ok: .github/ci.yml
    [1 path]
    did: nothing
    ");
}

#[tokio::test]
async fn a_pattern_that_cannot_be_used_says_how_to_write_it() {
    let scene = Scene::sample();
    snapshot!(scene.told("glob", json!({ "pattern": "a[" })).await, @r#"
    failed at execute (bad_arguments): "a[" is not a glob: unclosed character class; missing ']'.
    next: write a glob such as "*.log" or "src/**/*.rs"
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "../*.rs" })).await, @r#"
    failed at execute (bad_arguments): The pattern "../*.rs" leads out of the folder that is searched.
    next: give the folder as "path", and the pattern relative to it
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "" })).await, @r#"
    failed at execute (bad_arguments): The pattern is empty.
    next: write a glob such as "*.rs"; for all files, "*"
    note: This tool has now failed 3 times in a row.
    did: nothing
    "#);
    let file = scene.call("glob", json!({ "pattern": "*", "path": "notes.txt" })).await;
    assert_eq!(file.error.map(|error| error.kind), Some(ErrorKind::NotAFolder));
}

#[tokio::test]
async fn no_pattern_is_too_slow() {
    let scene = Scene::new().file(&format!("{}/{}", "a".repeat(200), "b".repeat(200)), "");
    for pattern in ["{a,b}".repeat(30), "**/".repeat(30) + "**", "*a".repeat(300), "{".repeat(200), "a?*".repeat(333)] {
        scene.session().begin_turn();
        let result = scene.call("glob", json!({ "pattern": pattern })).await;
        let kind = result.error.as_ref().map(|error| error.kind);
        assert!(matches!(kind, None | Some(ErrorKind::BadArguments)), "{pattern}: {}", result.text());
    }
}

#[tokio::test]
async fn links_are_listed_and_never_followed() {
    let scene = Scene::sample().outside_file("secret.txt", "x");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, scene.root().join(name)).expect("a link can be made");
    };
    link("..", "src/up");
    link(".", "here");
    link("../secret.txt", "leads_out.txt");
    snapshot!(scene.told("glob", json!({ "pattern": "*.txt" })).await, @"
    ok: leads_out.txt
    notes.txt
    [2 paths]
    did: nothing
    ");
}

#[tokio::test]
async fn odd_names_stay_one_line_each() {
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new().file("two\nlines.txt", "");
    let odd = std::ffi::OsStr::from_bytes(b"not\xFFtext.txt");
    std::fs::write(scene.root().join(odd), "").expect("any bytes are a name");
    snapshot!(scene.told("glob", json!({ "pattern": "*.txt" })).await, @r"
    ok: not�text.txt
    two\nlines.txt
    [2 paths]
    did: nothing
    ");
}

#[tokio::test]
async fn outside_the_workspace_nothing_is_looked_at() {
    let scene = Scene::sample();
    assert_eq!(scene.call("glob", json!({ "pattern": "*", "path": ".." })).await.status, Status::Refused);
}
