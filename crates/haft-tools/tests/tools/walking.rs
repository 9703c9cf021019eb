//! Scenes of all tools that walk: what is left out, what cannot lead them astray, and how far they go.

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::Status;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

fn link(scene: &Scene, to: &str, name: &str) {
    std::os::unix::fs::symlink(to, scene.root().join(name)).expect("a link can be made");
}

/// The paths of all files that a walk meets, on one line.
async fn met(scene: &Scene, path: &str) -> String {
    scene.session().begin_turn();
    let text = scene.call("glob", json!({ "pattern": "**/*", "path": path })).await.text();
    text.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn ignore_files_count_as_in_git() {
    let scene = Scene::new()
        .file(".git/HEAD", "")
        .file(".gitignore", "\u{feff}*.log\n!keep.log\n/top\nbuild/\n# note\ndoc/*.txt\n[bad\n")
        .file("a.log", "")
        .file("keep.log", "")
        .file("top", "")
        .file("sub/top", "")
        .file("build/x", "")
        .file("sub/build", "a file, no folder")
        .file("doc/a.txt", "")
        .file("doc/deep/a.txt", "")
        .file("sub/.gitignore", "!a.log\nlocal\n")
        .file("sub/a.log", "")
        .file("sub/local", "")
        .file("local", "");
    assert_eq!(met(&scene, ".").await, "doc/deep/a.txt keep.log local sub/a.log sub/build sub/top");
    assert_eq!(met(&scene, "sub").await, "sub/a.log sub/build sub/top");
    assert_eq!(met(&scene, "build").await, "build/x");
}

#[tokio::test]
async fn an_ignore_file_of_ours_comes_before_gits_and_a_repository_below_has_its_own_rules() {
    let scene = Scene::new()
        .file(".git/info/exclude", "excluded\n")
        .file(".gitignore", "*.gen\n")
        .file(".ignore", "!wanted.gen\nunwanted\n")
        .file("wanted.gen", "")
        .file("other.gen", "")
        .file("unwanted", "")
        .file("excluded", "")
        .file("module/.git/HEAD", "")
        .file("module/own.gen", "")
        .file("module/excluded", "")
        .file("module/unwanted", "");
    assert_eq!(met(&scene, ".").await, "module/excluded module/own.gen wanted.gen");
}

#[tokio::test]
async fn a_hidden_name_that_an_ignore_file_keeps_is_met() {
    let scene =
        Scene::new().file(".git/HEAD", "").file(".gitignore", "!.config\n").file(".config/a", "").file(".other/b", "");
    assert_eq!(met(&scene, ".").await, ".config/a");
}

#[tokio::test]
async fn everything_that_was_left_out_is_told() {
    let scene = Scene::new()
        .file(".git/HEAD", "")
        .file(".gitignore", "*.log\n")
        .file("a.log", "needle")
        .file(".hidden/b", "needle")
        .file("image.bin", b"needle\0")
        .file("id_rsa", "needle")
        .file("conf/.env.example", "needle")
        .file("conf/server.PEM", "needle")
        .file("c.txt", "needle\n");
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @r#"
    ok: c.txt
    1:needle
    [1 match in 1 file; 1 file searched; not searched: 2 secret-class files: conf/server.PEM, id_rsa (needs the user's permission); left out: 1 ignored: a.log (set "ignored" to true to search it), 4 hidden (name one as "path" to search it), 1 binary: image.bin]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "needle", "path": "image.bin" })).await, @"
    ok: [no match; 0 files searched; left out: 1 binary: image.bin]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "needle", "include": [".env*"] })).await, @"
    ok: conf/.env.example
    1:needle
    [1 match in 1 file; 1 file searched]
    did: nothing
    ");
    snapshot!(scene.told("list_dir", json!({})).await, @r#"
    ok: c.txt  7
    conf/
    id_rsa  6
    image.bin  7
    [3 files, 1 folder; left out: 1 ignored: a.log (set "ignored" to true to see it), 3 hidden: .git/, .gitignore, .hidden/ (set "hidden" to true to see them)]
    did: nothing
    "#);
}

#[tokio::test]
async fn the_way_that_is_told_leads_to_what_was_left_out() {
    let scene = Scene::new()
        .file(".git/HEAD", "")
        .file(".gitignore", "*.log\nbuild/\n")
        .file("a.log", "needle\n")
        .file("build/b", "needle\n")
        .file(".rc", "needle\n")
        .file(".config/c", "needle\n");
    let found = async |tool: &str, arguments: serde_json::Value| scene.call(tool, arguments).await.text();
    snapshot!(found("list_dir", json!({})).await, @r#"
    [0 files, 0 folders; only ignored and hidden files are here; left out: 2 ignored: a.log, build/ (set "ignored" to true to see them), 4 hidden (set "hidden" to true to see them)]
    "#);
    assert_eq!(found("list_dir", json!({ "hidden": true })).await.lines().count(), 5);
    assert!(found("list_dir", json!({ "ignored": true })).await.starts_with("a.log  7\nbuild/\n"));
    assert!(found("list_dir", json!({ "path": "build" })).await.starts_with("b  7\n"));
    snapshot!(found("glob", json!({ "pattern": "*" })).await, @r#"
    [nothing matches; 0 names compared; only ignored and hidden files are here; left out: 2 ignored: a.log, build/ (set "ignored" to true to see them), 4 hidden (a pattern with the dot finds them: ".*", ".github/**")]
    "#);
    assert!(found("glob", json!({ "pattern": ".*" })).await.starts_with(".gitignore\n.rc\n"));
    assert!(found("glob", json!({ "pattern": ".config/**" })).await.starts_with(".config/c\n"));
    assert!(found("glob", json!({ "pattern": "*", "path": "build" })).await.starts_with("build/b\n"));
    snapshot!(found("grep", json!({ "pattern": "needle" })).await, @r#"
    [no match; 0 files searched; only ignored and hidden files are here; left out: 2 ignored: a.log, build/ (set "ignored" to true to search them), 4 hidden (name one as "path" to search it)]
    "#);
    assert!(found("glob", json!({ "pattern": "*", "ignored": true })).await.starts_with("a.log\nbuild/b\n"));
    assert!(found("grep", json!({ "pattern": "needle", "ignored": true })).await.contains("[2 matches in 2 files"));
    for path in ["a.log", "build", ".rc", ".config"] {
        let text = found("grep", json!({ "pattern": "needle", "path": path })).await;
        assert!(text.contains("[1 match in 1 file"), "{path}: {text}");
    }
}

#[tokio::test]
async fn links_lead_nowhere() {
    let scene = Scene::new().outside_file("secret.txt", "needle\n").file("a/b.txt", "needle\n");
    link(&scene, "..", "a/up");
    link(&scene, "../..", "a/out");
    link(&scene, "../../secret.txt", "a/secret.txt");
    link(&scene, "../secret.txt", ".gitignore");
    let found = scene.call("grep", json!({ "pattern": "needle", "mode": "files" })).await.text();
    assert!(found.starts_with("a/b.txt\n[1 file with matches; 1 file searched"), "{found}");
    assert_eq!(met(&scene, ".").await, "a/b.txt a/out a/secret.txt a/up");
}

#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_again_and_again_never_leads_out() {
    let scene = Scene::new().file("a/b/inside.txt", "needle\n");
    std::fs::create_dir_all(scene.root().join("../outside/b")).expect("a folder can be made");
    std::fs::write(scene.root().join("../outside/b/outside.txt"), "needle\n").expect("a file can be written");
    let root = scene.root();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let done = done.clone();
        move || {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = std::fs::rename(root.join("a"), root.join("c"));
                let _ = std::os::unix::fs::symlink("../outside", root.join("a"));
                let _ = std::fs::remove_file(root.join("a"));
                let _ = std::fs::rename(root.join("c"), root.join("a"));
            }
        }
    });
    for _ in 0..100 {
        scene.session().begin_turn();
        let names = scene.call("glob", json!({ "pattern": "*.txt" })).await.text();
        let found = scene.call("grep", json!({ "pattern": "needle" })).await.text();
        assert!(!names.contains("outside") && !found.contains("outside"), "{names}\n{found}");
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    swapper.join().expect("the other thread ends");
}

#[tokio::test]
async fn pipes_sockets_and_giant_holes_answer_at_once() {
    let scene = Scene::new().file("a.txt", "needle\n");
    let root = scene.root();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe can be made");
    std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket can be made");
    std::fs::File::create(root.join("hole")).and_then(|file| file.set_len(1 << 40)).expect("a hole can be made");
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @"
    ok: a.txt
    1:needle
    [1 match in 1 file; 1 file searched; left out: 1 binary: hole]
    did: nothing
    ");
    let pipe = scene.call("grep", json!({ "pattern": "needle", "path": "pipe" })).await;
    assert_eq!(pipe.error.map(|error| error.kind), Some(ErrorKind::SpecialFile));
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_is_not_searched_and_told() {
    let scene = Scene::new().file("long.txt", "x".repeat(100 << 20)).file("short.txt", "needle\n");
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @"
    ok: short.txt
    1:needle
    [1 match in 1 file; 1 file searched; left out: 1 with lines too long to search: long.txt]
    did: nothing
    ");
}

#[tokio::test]
async fn a_hundred_thousand_names_in_one_folder_are_counted_and_the_first_shown() {
    let scene = Scene::new();
    let root = scene.root();
    std::fs::create_dir(root.join("many")).expect("a folder can be made");
    let mut file = std::path::PathBuf::new();
    for number in 0..100_000 {
        let name = root.join(format!("many/{number:05}"));
        // Links to a file are made faster than files, but a file may have only some ten thousand.
        if number % 50_000 == 0 {
            std::fs::write(&name, "needle\n").expect("a file can be written");
            file = name;
        } else {
            std::fs::hard_link(&file, &name).expect("a link can be made");
        }
    }
    let scene = scene.limits(|limits| limits.list_entries = 2);
    snapshot!(scene.told("list_dir", json!({ "path": "many" })).await, @r#"
    ok: 00000  7
    00001  7
    [100,000 files, 0 folders; the first 2 names shown; list a folder below or use "ignore"]
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "*99" , "limit": 1 })).await, @r#"
    ok: many/00099
    [1 of 1,000 paths; go on with offset=1]
    did: nothing
    "#);
    let found = scene.call("grep", json!({ "pattern": "needle", "limit": 1 })).await;
    // As many as were counted within a second; a machine that is fast enough counts all.
    let text = found.text();
    let total =
        text.split_once("\n1:needle\n[1 of ").and_then(|(_, said)| said.split_once(" match")).map(|(total, _)| total);
    let counted = |total: &str| total.trim_start_matches("at least ").replace(',', "").parse::<u64>().ok();
    let counted = total.and_then(counted).unwrap_or_default();
    assert!((1_024..=100_000).contains(&counted) && text.contains("go on with offset=1; "), "{text}");
    assert_eq!(counted < 100_000, text.contains("at least"), "{text}");
}

#[tokio::test]
async fn very_deep_folders_are_left_out_and_told() {
    let scene = Scene::new();
    let deep = (0..300).fold(scene.root(), |folder, _| folder.join("d"));
    std::fs::create_dir_all(&deep).expect("folders can be made");
    std::fs::write(deep.join("f"), "needle\n").expect("a file can be written");
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @"
    ok: [no match; 0 files searched; left out: 1 too deep or too many in one folder]
    [note: There are more secrets in files here than haft looks at; values from the rest are not hidden.]
    note: There are more secrets in files here than haft looks at; values from the rest are not hidden.
    did: nothing
    ");
}

#[tokio::test]
async fn a_folder_that_cannot_be_opened_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new().file("closed/a", "needle\n").file("open/b", "needle\n");
    let closed = scene.root().join("closed");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).expect("rights can be taken");
    let text = scene.call("grep", json!({ "pattern": "needle", "mode": "files" })).await.text();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).expect("rights can be given");
    // Root can open everything.
    assert!(text.contains("could not open closed") || text.starts_with("closed/a\nopen/b\n"), "{text}");
}

#[tokio::test]
async fn a_search_that_is_told_to_stop_ends_soon() {
    let scene = (0..2_000).fold(Scene::new(), |scene, number| scene.file(&format!("f{number}"), "x".repeat(20_000)));
    let call = haft_contract::call::ToolCall::new("grep", json!({ "pattern": "(x+x+)+y" }).into()).with_id("1");
    let (result, ()) = tokio::join!(scene.send(call), async {
        tokio::task::yield_now().await;
        scene.session().stop_turn();
    });
    assert_eq!(result.status, Status::Cancelled);
}
