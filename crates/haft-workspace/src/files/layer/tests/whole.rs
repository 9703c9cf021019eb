//! Tests ignored folders that programs fill by themselves, the layers' own folders, and grounds without layers.

use haft_contract::doors::process::ChangeCounts;

use super::*;

const HEAD: (&str, &str) = (".git/HEAD", "ref: refs/heads/main\n");

#[test]
fn a_new_ignored_folder_of_the_list_comes_in_as_a_whole_and_is_named() {
    let scene = LayerFixture::new(&[HEAD, (".gitignore", "node_modules\n/secret\n"), ("web/a", "")]);
    let settled = scene.run(|upper| {
        upper.write("node_modules/a/index.js", "a");
        upper.mode("node_modules/a/index.js", 0o4755);
        upper.write("web/node_modules/b", "b");
        upper.write("secret/c", "c");
    });
    assert_eq!(changed(&settled), ["create node_modules", "create secret/c", "create web/node_modules"]);
    assert_eq!(scene.tree()["node_modules/a/index.js"], "file 755 a");
    assert_eq!(settled.notes, Vec::<String>::new());
    assert_eq!(
        settled.changes.last().and_then(|change| change.inside),
        Some(ChangeCounts { created: 1, ..ChangeCounts::default() })
    );
}

#[test]
fn an_ignored_folder_comes_in_as_a_whole_only_where_its_ignore_file_counts() {
    let fill = |upper: &Upper| upper.write("target/a", "a");
    let whole = ["create target"];
    let each = ["create target/a"];
    let gitignore = (".gitignore", "target\n");
    let check = |files: &[(&str, &str)], wanted: [&str; 1]| {
        let scene = LayerFixture::new(files);
        let before = scene.tree();
        assert_eq!(changed(&scene.run(fill)), wanted, "{files:?}");
        scene.undo();
        assert_eq!(scene.tree(), before, "{files:?}");
    };
    check(&[HEAD, gitignore], whole);
    check(&[("../.git/HEAD", HEAD.1), gitignore], whole);
    check(&[(".ignore", "target\n")], whole);
    check(&[gitignore], each);
    check(&[("sub/.git/HEAD", HEAD.1), gitignore], each);
    check(&[HEAD, (".git/index", "not one"), gitignore], each);
}

#[test]
fn a_whole_folder_comes_into_one_that_is_new_itself() {
    let scene = LayerFixture::new(&[HEAD, (".gitignore", "node_modules\n")]);
    let settled = scene.run(|upper| {
        upper.write("app/node_modules/b", "b");
        upper.write("app/package.json", "{}");
        upper.write("lib/node_modules/b", "b");
    });
    assert!(scene.has("app/node_modules/b") && scene.has("lib/node_modules/b"), "{:?}", settled.notes);
    let lines = ["create app/node_modules", "create app/package.json", "create lib/node_modules"];
    assert_eq!(changed(&settled), lines);
}

#[test]
fn what_makes_programs_run_does_not_come_in_with_a_whole_folder() {
    let scene = LayerFixture::new(&[HEAD, (".gitignore", "build/\nout/\ndeps/\n")]);
    let evil = "[core]\n\tfsmonitor = evil\n";
    let settled = scene.run(|upper| {
        upper.write(".git/modules/build/config", evil);
        upper.write(".git/worktrees/out/commondir", "../../../evil\n");
        upper.write(".git/refs/heads/build/a", "1");
        upper.write("new/build/.git/config", evil);
        upper.write("new/build/.git/HEAD", "ref: refs/heads/main\n");
        upper.write("new/build/.git/hooks/pre-commit", "evil");
        upper.write("new/build/.vscode/tasks.json", "evil");
        upper.write("new/build/bare/HEAD", "ref: refs/heads/main\n");
        upper.write("new/build/bare/commondir", "../evil\n");
        upper.link("new/build/sub/.git", "../evil");
        upper.write("new/build/a.o", "a");
    });
    let tree = scene.tree();
    for refused in ["modules/build/config", "commondir", ".git/hooks", "build/.git/config", ".vscode", "sub/.git"] {
        assert!(!tree.keys().any(|path| path.contains(refused)), "{refused} came in: {tree:?}");
    }
    assert!(scene.has("new/build/a.o") && scene.has("new/build/.git/HEAD"), "{:?}", settled.notes);
    assert!(changed(&settled).contains(&"create .git/refs/heads/build/a".to_owned()), "{:?}", changed(&settled));
    for named in ["new/build/.git/config", "new/build/.vscode", "new/build/sub/.git", "new/build/bare/commondir"] {
        let is_named = |note: &String| note.starts_with("Refused, because") && note.contains(named);
        assert!(settled.notes.iter().any(is_named), "{named}: {:?}", settled.notes);
    }
}

#[test]
fn a_whole_folder_brings_no_attributes_of_the_layer_and_no_bits_of_power() {
    let scene = LayerFixture::new(&[HEAD, (".gitignore", "target\n")]);
    scene.run(|upper| {
        upper.write("target/a", "a");
        upper.opaque("target/d");
        let mark = |path: &str, name: &str| {
            rustix::fs::setxattr(upper.0.join(path), name, b"x", XattrFlags::empty()).expect("there are attributes");
        };
        mark("target/a", "user.overlay.origin");
        mark("target/a", "user.overlay.overlay.metacopy");
        mark("target/a", "user.own");
        mark("target/d", "user.overlay.overlay.redirect");
        mark("target/d", "user.overlay.whatever");
        upper.mode("target/a", 0o4444);
    });
    let names = |path: &str| {
        let mut names = vec![0_u8; 1024];
        let length = rustix::fs::listxattr(scene.workspace().join(path), &mut names).expect("it is there");
        String::from_utf8_lossy(&names[..length]).replace('\0', " ")
    };
    assert!(!names("target/a").contains("overlay") && names("target/a").contains("user.own"));
    assert!(!names("target/d").contains("overlay"), "{}", names("target/d"));
    assert_eq!(scene.tree()["target/a"], "file 444 a");
}

#[test]
fn a_layer_has_the_mode_of_its_folder_and_is_gone_afterwards() {
    let scene = LayerFixture::new(&[("a", "a")]);
    fs::set_permissions(scene.workspace(), PermissionsExt::from_mode(0o750)).expect("it is ours");
    let ground = scene.ground();
    let layer = ground.folder.as_ref().expect("it has a layer").path().to_owned();
    assert_eq!(layer.join("0/upper").metadata().expect("it is there").mode() & 0o7777, 0o750);
    assert_eq!(layer.parent().expect("it has one").metadata().expect("it is there").mode() & 0o7777, 0o700);
    drop(ground);
    let LayerFixture { layers, folder, .. } = scene;
    drop(layers);
    assert!(!layer.exists());
    drop(folder);
}

#[test]
fn a_layer_in_memory_is_committed_by_copying() {
    let scene = LayerFixture::new(&[HEAD, ("a", "a"), (".gitignore", "target\n")]);
    let before = scene.tree();
    let wanted = StagingMode::LayeredInMemory("the disk does not".into());
    let ground = scene.layers.prepare(wanted, None).expect("it can be prepared");
    let upper = Upper(upper_of(&ground));
    assert!(upper.0.starts_with("/dev/shm"));
    upper.write("a", "b");
    upper.write("d/n", "n");
    upper.link("l", "a");
    let settled = scene.settling(&ground, Disposition::Commit).expect("it comes in");
    assert_eq!(changed(&settled), ["create d/n", "create l", "replace a"]);
    scene.undo();
    assert_eq!(scene.tree(), before);
    let ground = scene.ground();
    Upper(upper_of(&ground)).write("target/x/y", "y");
    scene.settling(&ground, Disposition::Commit).expect("it comes in");
    assert_eq!(scene.content("target/x/y"), "y");
}

#[test]
fn a_ground_without_layers_says_why() {
    let scene = LayerFixture::new(&[("a", "a")]);
    let ground = scene.layers.prepare(StagingMode::Open("of the level".into()), None).expect("it can be prepared");
    assert_eq!(ground.uncovered(), Some("there is no layer over the workspace: of the level"));
    assert!(ground.roots()[0].layer.is_none());
}

#[test]
fn haft_itself_is_hidden() {
    let scene = LayerFixture::new(&[("a", "a")]);
    let ground = scene.ground();
    assert!(ground.hidden().contains(&scene.state.layers()));
}
