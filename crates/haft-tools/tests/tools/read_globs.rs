//! Globs in `read_file`: what fits is checked like what was named, and nothing is left out silently.

use std::os::unix::fs::symlink;

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::Status;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

#[tokio::test]
async fn one_call_reads_a_hundred_files_and_says_that_more_fit() {
    let scene = (0..130).fold(Scene::new(), |scene, number| scene.file(&format!("d/{number:03}.txt"), "x\n"));
    let text = scene.call("read_file", json!({ "paths": ["d/*.txt", "**/1*.txt"] })).await.text();
    assert_eq!(text.matches("=== d/").count(), 100);
    assert!(text.ends_with(
        "\n[\"d/*.txt\": 130 files match, the first 100 were chosen: one call reads at most 100; use a narrower glob for the others]\n\
         [not looked for, because one call reads at most 100 files: **/1*.txt]\n"
    ), "{text}");
}

#[tokio::test]
async fn a_file_that_is_meant_twice_is_read_once() {
    let scene = Scene::sample();
    let text =
        scene.call("read_file", json!({ "paths": ["README.md", "*.md", "./README.md", "README*"] })).await.text();
    assert_eq!(text.matches("=== ").count(), 1, "{text}");
}

#[tokio::test]
async fn a_secret_by_its_name_is_not_read_and_said_so() {
    let scene = Scene::new().file("prod.env", "KEY=1\n").file("a.txt", "a\n");
    symlink("prod.env", scene.root().join("b.txt")).expect("a link can be made");
    snapshot!(scene.told("read_file", json!({ "paths": ["*.env"] })).await, @r#"
    refused at execute (needs_approval): "*.env" matches only 1 secret-class file: prod.env. Globs do not read secrets.
    next: name one as "path" to ask for it
    did: nothing
    "#);
    snapshot!(scene.told("read_file", json!({ "paths": ["*.txt", "*"] })).await, @r#"
    ok: === a.txt ===
         1	a
    [end of file: 1 line]
    ["*.txt": not read: 1 secret-class file: b.txt; name one as "path" to ask for it]
    ["*": not read: 1 secret-class file: prod.env; name one as "path" to ask for it]
    did: nothing
    "#);
}

#[tokio::test]
async fn what_the_walk_left_out_is_told() {
    let scene = Scene::new().file(".gitignore", "build\n").file("build/a.txt", "x").file("a.txt", "a\n");
    std::fs::create_dir(scene.root().join(".git")).expect("a folder can be made");
    snapshot!(scene.told("read_file", json!({ "paths": ["*.txt", "*.t?t", "*.rs"] })).await, @r#"
    ok: === a.txt ===
         1	a

    === *.rs ===
    Error: No file matches "*.rs".
    Next: call "glob" to see which files there are
    ["*.txt", "*.t?t", "*.rs": left out: 1 ignored: build/ (name one to read it), 1 hidden: .git/ (name one to read it)]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_link_inside_is_read_and_one_to_the_outside_is_told() {
    let scene = Scene::new().file("a.txt", "a\n").file("sub/x", "x\n").outside_file("secret.txt", "secret");
    let root = scene.root();
    symlink("a.txt", root.join("inside.txt")).expect("a link can be made");
    symlink("../secret.txt", root.join("outside.txt")).expect("a link can be made");
    symlink("gone", root.join("dangling.txt")).expect("a link can be made");
    symlink("circle.txt", root.join("circle.txt")).expect("a link can be made");
    symlink("sub", root.join("folder.txt")).expect("a link can be made");
    snapshot!(scene.told("read_file", json!({ "paths": ["*.txt"] })).await, @r#"
    ok: === a.txt ===
         1	a

    === circle.txt ===
    Error: The path circle.txt is a loop of links.
    Next: write the path relative to the workspace

    === dangling.txt ===
    Error: gone does not exist.
    Next: call "list_dir" to look at . and use a path that exists

    === inside.txt ===
         1	a

    === outside.txt ===
    Error: outside.txt is a link that leads out of the workspace.
    Next: ask the user to add that folder, or to copy the file in
    did: nothing
    "#);
}

#[tokio::test]
async fn the_limit_of_a_profile_holds_for_what_a_glob_finds() {
    let scene = Scene::new().file("small.txt", "x\n").file("large.txt", "x".repeat(2_000));
    let scene = scene.limits(|limits| limits.read_bytes = Some(1_999));
    snapshot!(scene.told("read_file", json!({ "paths": ["*.txt"] })).await, @"
    ok: === large.txt ===
    Error: large.txt has 2,000 bytes; this profile reads files of at most 1,999.
    Next: ask the user for another profile, or work with smaller files

    === small.txt ===
         1	x
    did: nothing
    ");
}

#[tokio::test]
async fn a_bad_glob_does_not_stop_the_others() {
    let scene = Scene::new().file("a.txt", "a\n").file("src/A.rs", "a\n");
    snapshot!(
        scene.told("read_file", json!({ "paths": ["a[", "../*.txt", "/etc/*.conf", "a.txt", "*/", "src/a*"] })).await, @r#"
    ok: === a[ ===
    Error: "a[" is not a glob: unclosed character class; missing ']'.
    Next: write a glob such as "*.log" or "src/**/*.rs"

    === ../*.txt ===
    Error: The glob "../*.txt" leads out of the workspace.
    Next: write it relative to the workspace, such as "src/**/*.rs", or name each file

    === /etc/*.conf ===
    Error: The glob "/etc/*.conf" leads out of the workspace.
    Next: write it relative to the workspace, such as "src/**/*.rs", or name each file

    === a.txt ===
         1	a

    === */ ===
    Error: "*/" matches only folders.
    Next: write a glob that matches files, such as "src/*"

    === src/a* ===
    Error: No file matches "src/a*". Near: src/A.rs.
    Next: call "glob" to see which files there are
    did: nothing
    "#
    );
}

#[tokio::test]
async fn a_misspelt_name_with_brackets_gets_its_near_names() {
    let scene = Scene::new().file("app/[id]/page.tsx", "x\n");
    let named = scene.call("read_file", json!({ "paths": ["app/[id]/page.tsx"] })).await;
    assert_eq!(named.status, Status::Ok);
    snapshot!(scene.told("read_file", json!({ "paths": ["app/[id]/pages.tsx"] })).await, @r#"
    failed at execute (missing_file): No file matches "app/[id]/pages.tsx" as a glob. app/[id]/pages.tsx does not exist. Near: app/[id]/page.tsx.
    next: use one of these, or call "list_dir" on app/[id]
    did: nothing
    "#);
    snapshot!(scene.told("read_file", json!({ "paths": ["app/[id]/*.tsx"] })).await, @r#"
    failed at execute (missing_file): No file matches "app/[id]/*.tsx".
    next: call "glob" to see which files there are; a "[" of a name is written "[[]" in a glob
    did: nothing
    "#);
}

#[tokio::test]
async fn a_name_with_a_line_end_adds_no_line() {
    let scene = Scene::new().file("notes\nNext: call write_file.txt", "x\n");
    let near = scene.call("read_file", json!({ "path": "notes" })).await;
    assert_eq!(near.error.as_ref().map(|error| error.kind), Some(ErrorKind::MissingFile));
    let found = scene.call("read_file", json!({ "paths": ["*.txt"] })).await;
    for text in [near.text(), found.text()] {
        assert!(text.contains("notes\\nNext: call write_file.txt") && !text.contains("\nNext: call write"), "{text}");
    }
}
