//! Scenes of ignore files: they count inside a git repository, never for tracked files, and a call can pass over them.

use std::process::Command;

use haft_testkit::require::Need;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::{Value, json};

/// The paths of all files that a walk meets, on one line.
async fn met(scene: &Scene, arguments: Value) -> String {
    scene.session().begin_turn();
    let mut call = json!({ "pattern": "**/*" });
    call.as_object_mut().expect("it is one").extend(arguments.as_object().expect("it is one").clone());
    let text = scene.call("glob", call).await.text();
    text.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join(" ")
}

/// An index of git that lists these paths.
fn index(version: u32, hash: usize, paths: &[&str]) -> Vec<u8> {
    let mut bytes = [*b"DIRC", version.to_be_bytes(), (paths.len() as u32).to_be_bytes()].concat();
    let mut last = String::new();
    for path in paths {
        let begin = bytes.len();
        bytes.extend(vec![1; 40 + hash]);
        bytes.extend((path.len() as u16).to_be_bytes());
        if version == 4 {
            let shared = last.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
            bytes.push((last.len() - shared) as u8);
            bytes.extend(path[shared..].bytes().chain([0]));
        } else {
            bytes.extend(path.bytes());
            bytes.resize(begin + ((bytes.len() - begin) / 8 + 1) * 8, 0);
        }
        last = (*path).to_owned();
    }
    bytes.extend(vec![7; hash]);
    bytes
}

fn all_but_debian(scene: Scene) -> Scene {
    let scene = scene.file(".gitignore", "/*\n!/debian\n").file("debian/rules", "needle\n");
    scene.file("src/a.c", "needle\n").file("src/new.c", "needle\n").file("README", "needle\n")
}

#[tokio::test]
async fn without_a_repository_gits_ignore_files_say_nothing_and_ours_does() {
    let scene = all_but_debian(Scene::new());
    assert_eq!(met(&scene, json!({})).await, "README debian/rules src/a.c src/new.c");
    let scene = scene.file(".ignore", "README\n");
    assert_eq!(met(&scene, json!({})).await, "debian/rules src/a.c src/new.c");
}

#[tokio::test]
async fn a_repository_below_or_above_a_folder_decides_what_counts_in_it() {
    let scene = Scene::new()
        .file(".gitignore", "*.o\n")
        .file("a.o", "")
        .file("module/.git/HEAD", "")
        .file("module/.gitignore", "*.o\n")
        .file("module/b.o", "")
        .file("module/deep/.gitignore", "c\n")
        .file("module/deep/c", "")
        .file("plain/.gitignore", "*\n")
        .file("plain/d", "");
    assert_eq!(met(&scene, json!({})).await, "a.o plain/d");
    assert_eq!(met(&scene, json!({ "path": "module/deep" })).await, "");
    let inside = Scene::new().outside_file(".git/HEAD", "").file(".gitignore", "*.o\n").file("a.o", "").file("b", "");
    assert_eq!(met(&inside, json!({})).await, "b", "the workspace is a folder of a repository");
}

#[tokio::test]
async fn tracked_files_are_never_ignored_whatever_the_form_of_the_index() {
    for (version, hash) in [(2, 20), (3, 20), (4, 20), (2, 32), (4, 32)] {
        let scene = all_but_debian(Scene::new()).file(".git/index", index(version, hash, &["debian/rules", "src/a.c"]));
        assert_eq!(met(&scene, json!({})).await, "debian/rules src/a.c", "version {version}, {hash}");
        // A folder that is named is wanted; what is tracked in it does not change that.
        assert_eq!(met(&scene, json!({ "path": "src" })).await, "src/a.c src/new.c", "version {version}, {hash}");
    }
}

#[tokio::test]
async fn an_index_that_is_not_understood_lets_the_rules_decide() {
    let split =
        [&index(2, 20, &["src/a.c"])[..index(2, 20, &["src/a.c"]).len() - 20], b"link\0\0\0\0", &[7; 20]].concat();
    for broken in [&b""[..], b"DIRC", b"DIRC\0\0\0\x09\0\0\0\0", &index(2, 20, &["b", "a"]), &split, &[0; 4_000]] {
        let scene = all_but_debian(Scene::new()).file(".git/index", broken);
        assert_eq!(met(&scene, json!({})).await, "debian/rules", "{broken:?}");
    }
    let pipe = all_but_debian(Scene::new()).file(".git/HEAD", "");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, pipe.root().join(".git/index"), rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe can be made");
    assert_eq!(met(&pipe, json!({})).await, "debian/rules");
}

#[tokio::test]
async fn a_worktree_and_a_submodule_have_their_index_elsewhere() {
    let scene = all_but_debian(Scene::new())
        .file(".git", "gitdir: ../main/.git/worktrees/w\n")
        .outside_file("main/.git/worktrees/w/index", index(2, 20, &["README"]));
    assert_eq!(met(&scene, json!({})).await, "README debian/rules");
    let scene = Scene::new()
        .file(".gitignore", "sub\n*.o\n")
        .file(".git/index", index(2, 20, &["sub"]))
        .file(".git/modules/sub/index", index(2, 20, &["kept.o"]))
        .file("sub/.git", "gitdir: ../.git/modules/sub\n")
        .file("sub/.gitignore", "*.o\n")
        .file("sub/kept.o", "")
        .file("sub/other.o", "")
        .file("sub/a", "");
    assert_eq!(met(&scene, json!({})).await, "sub/a sub/kept.o");
}

#[tokio::test]
async fn our_own_ignore_file_also_counts_for_tracked_files() {
    let scene = Scene::new().file(".git/index", index(2, 20, &["a", "b"])).file(".ignore", "a\n");
    let scene = scene.file("a", "").file("b", "");
    assert_eq!(met(&scene, json!({})).await, "b");
    assert_eq!(met(&scene, json!({ "ignored": true })).await, "a b");
}

#[tokio::test]
async fn ignored_files_are_shown_when_asked_for_and_git_and_secrets_stay_out() {
    let scene = Scene::new()
        .file(".git/HEAD", "needle\n")
        .file(".gitignore", "target/\n*.log\nid_rsa\n")
        .file("a.log", "needle\n")
        .file("target/b", "needle\n")
        .file(".dot/c", "needle\n")
        .file("id_rsa", "needle\n");
    snapshot!(scene.told("glob", json!({ "pattern": "*", "ignored": true })).await, @r#"
    ok: a.log
    id_rsa
    target/b
    [3 paths; left out: 3 hidden: .dot/, .git/, .gitignore (a pattern with the dot finds them: ".*", ".github/**")]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "needle", "ignored": true })).await, @r#"
    ok: a.log
    1:needle

    target/b
    1:needle
    [2 matches in 2 files; 2 files searched; not searched: 1 secret-class file: id_rsa (needs the user's permission); left out: 3 hidden: .dot/, .git/, .gitignore (name one as "path" to search it)]
    did: nothing
    "#);
    snapshot!(scene.told("list_dir", json!({ "depth": 2, "hidden": true, "ignored": true })).await, @"
    ok: .dot/
      c  7
    .git/
    .gitignore  21
    a.log  7
    id_rsa  7
    target/
      b  7
    [5 files, 3 folders]
    did: nothing
    ");
}

#[tokio::test]
async fn where_only_ignored_files_are_left_it_is_said_with_the_way_to_see_them() {
    let scene = (0..38).fold(Scene::new().file(".git/HEAD", "").file(".gitignore", "/*\n"), |scene, number| {
        scene.file(&format!("f{number:02}"), "needle\n")
    });
    snapshot!(scene.told("list_dir", json!({})).await, @r#"
    ok: [0 files, 0 folders; only ignored and hidden files are here; left out: 39 ignored (set "ignored" to true to see them), 1 hidden: .git/ (set "hidden" to true to see it)]
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "*" })).await, @r#"
    ok: [nothing matches; 0 names compared; only ignored and hidden files are here; left out: 39 ignored (set "ignored" to true to see them), 1 hidden: .git/ (a pattern with the dot finds it: ".*", ".github/**")]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @r#"
    ok: [no match; 0 files searched; only ignored and hidden files are here; left out: 39 ignored (set "ignored" to true to search them), 1 hidden: .git/ (name it as "path" to search it)]
    did: nothing
    "#);
    assert!(
        scene.told("grep", json!({ "pattern": "needle", "ignored": true })).await.contains("38 matches in 38 files")
    );
}

#[tokio::test]
async fn gits_own_folder_is_never_called_ignored() {
    for pattern in ["/*", "*", ".*", ".git", ".git/", "/.git"] {
        for git in [".git/HEAD", "module/.git/HEAD"] {
            let scene = Scene::new()
                .file(".git/HEAD", "")
                .file(git, "")
                .file(".gitignore", format!("{pattern}\n!*.c\n!/module\n"));
            let scene = scene.file("a.c", "needle\n").file("module/b.c", "needle\n");
            for (tool, arguments) in [
                ("grep", json!({ "pattern": "nothing" })),
                ("glob", json!({ "pattern": "*.none" })),
                ("list_dir", json!({ "depth": 3 })),
            ] {
                let text = scene.call(tool, arguments).await.text();
                let ignored = text.split_once(" ignored").map_or("", |(_, behind)| behind);
                let ignored = ignored.split_once(" (").map_or(ignored, |(named, _)| named);
                assert!(!ignored.contains(".git/"), "{tool} {pattern}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn files_that_are_there_and_not_wanted_are_not_taken_for_ignored_ones() {
    let scene = Scene::new().file(".git/HEAD", "").file(".gitignore", "a\n").file("a", "").file("b/c", "");
    for (tool, arguments, is_said) in [
        ("grep", json!({ "pattern": "x", "include": ["*.rs"] }), false),
        ("glob", json!({ "pattern": "*/" }), false),
        ("list_dir", json!({}), false),
        ("list_dir", json!({ "ignore": ["b"] }), true),
        ("grep", json!({ "pattern": "x", "exclude": ["b"] }), true),
    ] {
        let text = scene.call(tool, arguments.clone()).await.text();
        assert_eq!(text.contains("only ignored and hidden files are here"), is_said, "{tool} {arguments}: {text}");
    }
}

/// What git itself lists as neither ignored nor hidden.
fn as_git_says(scene: &Scene) -> Option<String> {
    let listing = "git ls-files --cached --others --exclude-standard | grep -v '^\\.\\|/\\.' | LC_ALL=C sort -u";
    let listed = Command::new("sh").args(["-c", listing]).current_dir(scene.root()).output().ok()?;
    Some(String::from_utf8_lossy(&listed.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn what_is_met_is_what_git_lists() {
    if !Need::Git.met(Command::new("git").arg("--version").output().is_ok()) {
        return;
    }
    let lay_out = "git init -q . && mkdir -p src/deep build keep/x && touch a.o b.c src/c.o src/deep/d src/deep/e.o build/f keep/x/g keep/h \
        && printf '*.o\\n/build\\n/keep/*\\n!/keep/x\\n' > .gitignore && printf '!c.o\\n' > src/.gitignore \
        && git add . && git add -f a.o src/deep/e.o build/f keep/h && touch build/new src/deep/new.o src/late a2.o keep/i";
    for form in ["true", "git update-index --index-version 4", "git update-index --split-index"] {
        let scene = Scene::new();
        let script = format!("{lay_out} && {form}");
        let made =
            Command::new("sh").args(["-c", &script]).env("HOME", scene.root()).current_dir(scene.root()).output();
        assert!(made.is_ok_and(|made| made.status.success()), "{form}");
        let met = met(&scene, json!({})).await;
        if form.contains("split") {
            assert_eq!(met, "b.c keep/x/g src/c.o src/deep/d src/late", "the rules alone decide");
        } else {
            assert_eq!(Some(met), as_git_says(&scene), "{form}");
        }
    }
}

#[tokio::test]
async fn an_ignored_secret_file_is_told_as_a_secret_one_without_a_way_that_does_not_help() {
    let scene = Scene::new().file(".git/HEAD", "x\n").file(".gitignore", ".env\nout.log\n");
    let scene = scene.file(".env", "KEY=abc\n").file("out.log", "abc\n");
    let scene = scene.file("a.ts", "abc\n");
    snapshot!(scene.told("list_dir", json!({})).await, @r#"
    ok: a.ts  4
    [1 file, 0 folders; left out: 1 secret-class file: .env, 1 ignored: out.log (set "ignored" to true to see it), 2 hidden: .git/, .gitignore (set "hidden" to true to see them)]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "abc" })).await, @r#"
    ok: a.ts
    1:abc
    [1 match in 1 file; 1 file searched; not searched: 1 secret-class file: .env (needs the user's permission); left out: 1 ignored: out.log (set "ignored" to true to search it), 2 hidden: .git/, .gitignore (name one as "path" to search it)]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "abc", "ignored": true })).await, @r#"
    ok: a.ts
    1:abc

    out.log
    1:abc
    [2 matches in 2 files; 2 files searched; not searched: 1 secret-class file: .env (needs the user's permission); left out: 2 hidden: .git/, .gitignore]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "abc", "include": ["*.ts"] })).await, @r#"
    ok: a.ts
    1:abc
    [1 match in 1 file; 1 file searched; left out: 1 hidden: .git/]
    did: nothing
    "#);
    snapshot!(scene.told("glob", json!({ "pattern": "*" })).await, @r#"
    ok: a.ts
    [1 path; left out: 1 secret-class file: .env, 1 ignored: out.log, 2 hidden: .git/, .gitignore (a pattern with the dot finds them: ".*", ".github/**")]
    did: nothing
    "#);
    // What could not match is not told.
    snapshot!(scene.told("glob", json!({ "pattern": "*.ts" })).await, @r#"
    ok: a.ts
    [1 path; left out: 1 hidden: .git/]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_glob_that_names_an_ignored_folder_finds_what_is_in_it() {
    let scene = Scene::new().file(".ignore", "dist/\n").file("dist/a/x.map", "").file("src/y.map", "");
    let scene = scene.file("src/gen/z.map", "").file("src/.ignore", "gen/\n");
    assert_eq!(met(&scene, json!({ "pattern": "dist/**/*.map" })).await, "dist/a/x.map");
    assert_eq!(met(&scene, json!({ "pattern": "./dist/a/*" })).await, "dist/a/x.map");
    assert_eq!(met(&scene, json!({ "pattern": "**/*.map" })).await, "src/y.map");
    assert_eq!(met(&scene, json!({ "pattern": "src/**/*.map" })).await, "src/y.map");
}
