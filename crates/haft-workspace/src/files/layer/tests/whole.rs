//! Ignored folders that programs fill by themselves, the layers' own folders, and grounds without layers.

use super::*;

#[test]
fn a_new_ignored_folder_of_the_list_comes_in_as_a_whole_and_is_named() {
    let scene = Scene::new(&[(".gitignore", "node_modules\n/secret\n"), ("web/a", "")]);
    let settled = scene.run(|upper| {
        upper.write("node_modules/a/index.js", "a");
        upper.mode("node_modules/a/index.js", 0o4755);
        upper.write("web/node_modules/b", "b");
        upper.write("secret/c", "c");
    });
    assert_eq!(changed(&settled), ["create node_modules", "create secret/c", "create web/node_modules"]);
    assert_eq!(scene.tree()["node_modules/a/index.js"], "file 755 a");
    let wanted = "node_modules is new and ignored by the repository: it came in as a whole (3 entries, 1 bytes), and \
                  undo does not take it away.";
    assert!(settled.notes.iter().any(|note| note == wanted), "{:?}", settled.notes);
}

#[test]
fn a_whole_folder_comes_into_one_that_is_new_itself() {
    let scene = Scene::new(&[(".gitignore", "node_modules\n")]);
    let settled = scene.run(|upper| {
        upper.write("app/node_modules/b", "b");
        upper.write("app/package.json", "{}");
        upper.write("lib/node_modules/b", "b");
    });
    assert!(scene.has("app/node_modules/b") && scene.has("lib/node_modules/b"), "{:?}", settled.notes);
}

#[test]
fn an_ignored_folder_that_was_there_lies_outside_the_layer_and_is_named_once() {
    let scene = Scene::new(&[(".gitignore", "target\n"), ("target/a", ""), ("build/a", "")]);
    assert_eq!(scene.ground().roots()[0].through, [PathBuf::from("target")]);
    let named =
        |settled: &Settled| settled.notes.iter().any(|note| note.contains("undo does not take it back: target"));
    assert!(named(&scene.run(|_| {})));
    assert!(!named(&scene.run(|_| {})));
}

#[test]
fn a_line_in_an_ignore_file_opens_no_folder_that_was_protected_before() {
    let scene = Scene::new(&[(".gitignore", "target\n"), ("build/a", "")]);
    assert!(scene.ground().roots()[0].through.is_empty());
    scene.write(".gitignore", "target\nbuild\n");
    fs::create_dir(scene.workspace().join("target")).expect("it is new");
    assert!(scene.ground().roots()[0].through.is_empty());
}

#[test]
fn what_is_only_shown_is_written_nowhere() {
    let scene = Scene::new(&[(".gitignore", "target\n"), ("target/a", "")]);
    let ground = scene.layers.prepare(Wanted::Layered, Settle::Show).expect("it can be prepared");
    assert!(ground.roots()[0].through.is_empty());
}

#[test]
fn a_layer_has_the_mode_of_its_folder_and_is_gone_afterwards() {
    let scene = Scene::new(&[("a", "a")]);
    fs::set_permissions(scene.workspace(), PermissionsExt::from_mode(0o750)).expect("it is ours");
    let ground = scene.ground();
    let layer = ground.folder.as_ref().expect("it has a layer").path().to_owned();
    assert_eq!(layer.join("0/upper").metadata().expect("it is there").mode() & 0o7777, 0o750);
    assert_eq!(layer.parent().expect("it has one").metadata().expect("it is there").mode() & 0o7777, 0o700);
    drop(ground);
    let Scene { layers, folder, .. } = scene;
    drop(layers);
    assert!(!layer.exists());
    drop(folder);
}

#[test]
fn a_layer_in_memory_is_committed_by_copying() {
    let scene = Scene::new(&[("a", "a"), (".gitignore", "target\n")]);
    let before = scene.tree();
    let wanted = Wanted::LayeredInMemory("the disk does not".into());
    let ground = scene.layers.prepare(wanted, Settle::Keep).expect("it can be prepared");
    let upper = Upper(upper_of(&ground));
    assert!(upper.0.starts_with("/dev/shm"));
    upper.write("a", "b");
    upper.write("d/n", "n");
    upper.link("l", "a");
    let settled = scene.settling(&ground, Settle::Keep).expect("it comes in");
    assert_eq!(changed(&settled), ["create d/n", "create l", "replace a"]);
    scene.undo();
    assert_eq!(scene.tree(), before);
    let ground = scene.ground();
    Upper(upper_of(&ground)).write("target/x/y", "y");
    scene.settling(&ground, Settle::Keep).expect("it comes in");
    assert_eq!(scene.content("target/x/y"), "y");
}

#[test]
fn a_ground_without_layers_says_why() {
    let scene = Scene::new(&[("a", "a")]);
    let ground = scene.layers.prepare(Wanted::Open("of the level".into()), Settle::Keep).expect("it can be prepared");
    assert_eq!(ground.uncovered(), Some("there is no layer over the workspace: of the level"));
    assert!(ground.roots()[0].layer.is_none());
}

#[test]
fn haft_itself_is_hidden() {
    let scene = Scene::new(&[("a", "a")]);
    let ground = scene.ground();
    assert!(ground.hidden().contains(&scene.state.layers()));
}
