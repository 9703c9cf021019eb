//! Tests that the work of another program is never lost while a command runs.

use super::*;
use crate::files::change::refused::TransactionRefusal;
use crate::files::change::transaction::NotDone;
use crate::files::read::facts::stamp_of;

#[test]
fn a_file_that_somebody_else_changed_stays_and_the_commands_version_lies_beside_it() {
    let scene = LayerFixture::new(&[("a", "a\n"), ("b", "b\n")]);
    let settled = scene.run(|upper| {
        upper.write("a", "by the command\n");
        upper.write("b", "by the command\n");
        scene.write("a", "by somebody else\n");
    });
    assert_eq!(scene.content("a"), "by somebody else\n");
    assert_eq!(scene.content("a.kept-by-haft"), "by the command\n");
    assert_eq!(changed(&settled), ["create a.kept-by-haft", "replace b"]);
    assert_eq!(
        settled.notes,
        [
            "a was changed by another call or program while the command ran, so haft left it unchanged; the command's version is \
          a.kept-by-haft."
        ]
    );
}

#[test]
fn a_file_that_appeared_meanwhile_stays() {
    let scene = LayerFixture::new(&[("x", "x")]);
    scene.run(|upper| {
        upper.write("a", "by the command\n");
        scene.write("a", "by somebody else\n");
        scene.write("a.kept-by-haft", "theirs too\n");
    });
    assert_eq!(scene.content("a"), "by somebody else\n");
    assert_eq!(scene.content("a.kept-by-haft"), "theirs too\n");
    assert_eq!(scene.content("a.kept-by-haft-2"), "by the command\n");
}

#[test]
fn a_file_that_somebody_else_changed_is_not_removed_and_neither_is_its_folder() {
    let scene = LayerFixture::new(&[("d/a", "a"), ("d/b", "b"), ("d/e/c", "c")]);
    let settled = scene.run(|upper| {
        upper.gone("d");
        scene.write("d/e/c", "newer");
        scene.write("d/new", "new");
    });
    assert_eq!(scene.tree().keys().collect::<Vec<_>>(), ["d", "d/e", "d/e/c", "d/new"]);
    assert_eq!(changed(&settled), ["remove d/a", "remove d/b"]);
    assert_eq!(
        settled.notes,
        [
            "The command's changes there were not kept, because it was changed by another call or program while the command ran: \
          d/e/c, d/new."
        ]
    );
}

#[test]
fn a_folder_that_somebody_else_moved_away_keeps_everything_below_it_as_it_is() {
    let scene = LayerFixture::new(&[("d/a", "a"), ("other/a", "theirs")]);
    scene.run(|upper| {
        upper.write("d/a", "by the command");
        upper.write("d/n", "new");
        let at = |path: &str| scene.workspace().join(path);
        fs::rename(at("d"), at("old")).expect("it is there");
        fs::rename(at("other"), at("d")).expect("it is there");
    });
    assert_eq!(scene.content("d/a"), "theirs");
    assert_eq!(scene.content("old/a"), "a");
    assert_eq!(scene.content("d/a.kept-by-haft"), "by the command");
    assert_eq!(scene.content("d/n.kept-by-haft"), "new");
}

#[test]
fn a_changed_file_that_somebody_else_removed_stays_removed() {
    let scene = LayerFixture::new(&[("d/a", "a"), ("d/b", "b")]);
    let settled = scene.run(|upper| {
        upper.write("d/a", "by the command");
        rustix::fs::setxattr(upper.0.join("d/a"), "user.overlay.origin", b"", XattrFlags::empty())
            .expect("the file system has attributes");
        fs::remove_file(scene.workspace().join("d/a")).expect("it is there");
    });
    assert!(!scene.has("d/a"));
    assert_eq!(changed(&settled), ["create d/a.kept-by-haft"]);
}

#[test]
fn a_file_that_changes_right_before_it_is_replaced_is_left_out_and_the_rest_comes_in() {
    let scene = LayerFixture::new(&[("a", "a"), ("b", "b"), ("c", "c")]);
    let ground = scene.ground();
    let upper = Upper(upper_of(&ground));
    for name in ["a", "b", "c"] {
        upper.write(name, "by the command");
    }
    let settling = scene.open(&ground).expect("it is open");
    let judged = settling.judged().expect("it can be read");
    scene.write("b", "by somebody else");
    let settled = settling.keep_judged(judged).expect("the rest comes in");
    assert_eq!(changed(&settled), ["create b.kept-by-haft", "replace a", "replace c"]);
    assert_eq!(scene.content("b"), "by somebody else");
}

#[test]
fn what_a_refused_attempt_wrote_anew_is_not_taken_for_somebody_elses() {
    let scene = LayerFixture::new(&[("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]);
    let ground = scene.ground();
    let upper = Upper(upper_of(&ground));
    for name in ["a", "b", "c", "d"] {
        upper.write(name, "by the command");
    }
    let settling = scene.open(&ground).expect("it is open");
    let mut judged = settling.judged().expect("it can be read");
    let denied = |name: &str| (PathBuf::from(name), std::io::ErrorKind::PermissionDenied.into());
    let ((place, error), others) = (denied("c"), vec![denied("d")]);
    let mut refused = TransactionRefusal { others, ..NotDone::System(place, error).into() };
    for name in ["a", "b"] {
        let path = scene.workspace().join(name);
        fs::remove_file(&path).expect("it is there");
        scene.write(name, name);
        refused.as_before.push((name.into(), stamp_of(&rustix::fs::stat(&path).expect("it is there"))));
    }
    settling.without(&mut judged, refused, 1).expect("the rest can be tried again");
    let settled = settling.keep_judged(judged).expect("the rest comes in");
    assert_eq!(changed(&settled), ["replace a", "replace b"]);
    assert_eq!((scene.content("c"), scene.content("d")), ("c".into(), "d".into()));
}

#[test]
fn more_than_may_come_in_leaves_everything_as_it_was() {
    let mut scene = LayerFixture::new(&[("a", "a")]);
    let (root, journal) = (scene.root.clone(), Arc::new(scene.state.journal()));
    let mut layers = Layers::new(root, journal, &scene.state);
    layers.caps = super::super::Caps { entries: 3, bytes: 1 << 30 };
    scene.layers = Arc::new(layers);
    let before = scene.tree();
    let refused = scene.try_run(|upper| {
        for number in 0..4 {
            upper.write(&format!("gen/{number}"), "x");
        }
        upper.write("a", "b");
    });
    let refused = refused.expect_err("it is too much").to_string();
    assert!(
        refused.contains("changed 6 files and folders with 5 bytes of new contents; haft keeps at most 3 and"),
        "{refused}"
    );
    assert!(refused.contains("None of it was kept. Most of it: gen (5 entries, 4 bytes)"), "{refused}");
    assert_eq!(scene.tree(), before);
}
