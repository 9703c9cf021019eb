//! Tests folders whose mode allows no work in them: a command has opened them and shut them again.

use super::*;

fn scene() -> LayerFixture {
    let scene = LayerFixture::new(&[("s1", "v"), ("s2", "v"), ("ro/f", "f"), ("ro/g", "g")]);
    scene.mode("ro", 0o555);
    scene
}

#[test]
fn what_was_done_in_a_folder_that_is_shut_again_comes_in() {
    let scene = scene();
    let command = |upper: &Upper| {
        upper.write("s1", "w");
        upper.write("s2", "w");
        upper.gone("ro/f");
        upper.write("ro/g", "new");
        upper.write("ro/h", "h");
        upper.mode("ro", 0o555);
    };
    let settled = scene.run(command);
    let wanted = ["create ro/h", "remove ro/f", "replace ro/g", "replace s1", "replace s2"];
    assert_eq!((changed(&settled), settled.notes), (wanted.map(str::to_owned).to_vec(), Vec::new()));
    assert_eq!(scene.tree()["ro"], "folder 555");
    scene.undo();
    assert_eq!(
        (scene.content("s1"), scene.content("ro/f"), scene.content("ro/g")),
        ("v".into(), "f".into(), "g".into())
    );
    assert!(!scene.has("ro/h") && scene.tree()["ro"] == "folder 555");
}

#[test]
fn a_folder_that_is_shut_goes_with_all_that_is_in_it() {
    let files: Vec<String> = (0..12).map(|number| format!("ro/deep/{number}")).collect();
    let scene = LayerFixture::new(&files.iter().map(|path| (path.as_str(), "x")).collect::<Vec<_>>());
    scene.mode("ro/deep", 0o500);
    scene.mode("ro", 0o555);
    let wanted: Vec<String> = files.iter().map(|path| format!("remove {path}")).collect();
    let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    let settled = scene.check(|upper| upper.gone("ro"), &wanted);
    assert!(settled.notes.is_empty(), "{:?}", settled.notes);
}

#[test]
fn a_folder_that_is_shut_in_another_way_gets_its_new_mode_in_the_end() {
    let scene = scene();
    let command = |upper: &Upper| {
        upper.gone("ro/f");
        upper.mode("ro", 0o511);
    };
    let before = scene.tree();
    scene.run(command);
    assert!(!scene.has("ro/f") && scene.tree()["ro"] == "folder 511");
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_folder_that_nobody_can_look_into_does_not_stand_in_the_way_of_the_rest() {
    let scene = LayerFixture::new(&[("closed/f", "f"), ("blind/f", "f"), ("s1", "v")]);
    scene.mode("closed", 0);
    scene.mode("blind", 0o600);
    scene.run(|upper| {
        upper.write("s1", "w");
        upper.folder("closed");
        upper.gone("blind/f");
        upper.mode("blind", 0o600);
    });
    let modes = ["closed", "blind"].map(|name| scene.workspace().join(name).metadata().expect("it is there").mode());
    assert_eq!((scene.content("s1").as_str(), modes.map(|mode| mode & 0o777)), ("w", [0o755, 0o600]));
    // Else the scene could not be removed.
    scene.mode("blind", 0o700);
}

#[test]
fn what_came_with_a_folder_that_lets_nobody_in_can_be_taken_back() {
    let scene = LayerFixture::new(&[("s1", "v")]);
    let before = scene.tree();
    let is_shut = |name: &str| scene.workspace().join(name).metadata().expect("it is there").mode() & 0o777 == 0;
    scene.run(|upper| {
        upper.write("new/f", "f");
        upper.write("new/deep/g", "g");
        upper.mode("new/deep", 0);
        upper.mode("new", 0);
    });
    assert!(is_shut("new"));
    scene.undo();
    assert_eq!(scene.tree(), before);
    let history = WorkspaceHistory::new(scene.root.clone(), scene.state.journal());
    history.redo().expect("it can be done again");
    assert!(is_shut("new"));
    scene.mode("new", 0o755);
    assert!(is_shut("new/deep"));
    scene.mode("new/deep", 0o755);
    assert_eq!((scene.content("new/f"), scene.content("new/deep/g")), ("f".into(), "g".into()));
}
