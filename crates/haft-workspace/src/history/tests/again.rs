//! Tests undo of undo, undo of one file, and undo after the user has done part of it by hand.

use super::*;

/// The number and whether it was taken back of all change sets, the oldest first.
fn accounts(ground: &HistoryFixture) -> Vec<(u64, Undone)> {
    let log = ground.workspace().history(&ground.state()).log().expect("it can be read");
    log.sets.iter().rev().map(|set| (set.number, set.undone)).collect()
}

fn undo_file(ground: &HistoryFixture, which: UndoSelection, name: &str) -> Result<TakenBack, HistoryError> {
    ground.workspace().history(&ground.state()).undo(which, Some(&target(name)))
}

#[test]
fn an_undo_that_had_nothing_to_do_does_not_stand_in_the_way_of_redo() {
    let ground = HistoryFixture::new();
    ground.put("a", "old\n");
    ground.write(&[("a", "new\n")]).expect("it can be written");
    ground.write(&[("b", "b\n")]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("b can be taken back");
    ground.put("a", "old\n");
    let taken = ground.undo(UndoSelection::Newest).expect("it is so already");
    assert_eq!(taken.files, [("a".to_owned(), Became::Unchanged)]);
    let redone = ground.redo().expect("b can be brought back");
    assert_eq!((redone.sets, ground.read("b").as_str()), (vec![3], "b\n"));
    assert!(matches!(ground.redo(), Err(HistoryError::NothingToRedo)));
    assert_eq!(ground.undo(UndoSelection::Newest).expect("b holds again").sets, [2]);
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
}

#[test]
fn the_accounts_are_right_at_any_depth() {
    let ground = HistoryFixture::new();
    ground.put("a", "old\n");
    ground.write(&[("a", "new\n")]).expect("it can be written");
    for (number, content) in [(1, "old\n"), (2, "new\n"), (3, "old\n"), (4, "new\n"), (5, "old\n")] {
        ground.undo(UndoSelection::Number(number)).expect("it can be taken back");
        assert_eq!(ground.read("a"), content, "after the undo of {number}");
        let is_taken_back = content == "old\n";
        let first = accounts(&ground)[0];
        assert_eq!(first, (1, if is_taken_back { Undone::Yes } else { Undone::No }), "after the undo of {number}");
    }
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
}

#[test]
fn one_file_brought_back_leaves_the_other_taken_back() {
    let ground = HistoryFixture::new();
    ground.write(&[("a", "a\n"), ("b", "b\n")]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    undo_file(&ground, UndoSelection::Number(2), "a").expect("a can be brought back");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("a\n", "(none)"));
    assert_eq!(accounts(&ground)[..2], [(1, Undone::Partly), (2, Undone::Partly)]);
    let redone = ground.redo().expect("b can be brought back");
    assert_eq!((redone.sets, ground.read("b").as_str()), (vec![2], "b\n"));
    assert_eq!(accounts(&ground)[..2], [(1, Undone::No), (2, Undone::Yes)]);
}

#[test]
fn what_a_call_changes_after_its_change_set_was_taken_back_holds_until_it_is_taken_back() {
    let ground = HistoryFixture::new();
    let permit = ground.permit();
    let write = |name: &str, content: &str| {
        let ops = [FileOp::Put(target(name), Bytes::copy_from_slice(content.as_bytes()))];
        run(ground.workspace().doors(&ground.state()).files.change(&permit, &ops)).expect("it can be written");
    };
    write("a", "a\n");
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    write("b", "b\n");
    assert_eq!(accounts(&ground), [(1, Undone::Partly), (2, Undone::No)]);
    ground.undo(UndoSelection::Newest).expect("what came later holds");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("(none)", "(none)"));
    assert_eq!(accounts(&ground)[0], (1, Undone::Yes));
}

#[test]
fn a_file_is_taken_back_from_the_newest_change_that_concerns_it() {
    let ground = HistoryFixture::new();
    for content in ["1\n", "2\n"] {
        ground.write(&[("a", content)]).expect("it can be written");
    }
    ground.write(&[("b", "b\n")]).expect("it can be written");
    for expected in ["1\n", "(none)"] {
        undo_file(&ground, UndoSelection::Newest, "a").expect("it was changed");
        assert_eq!(ground.read("a"), expected);
    }
    assert_eq!(ground.read("b"), "b\n");
    assert!(matches!(undo_file(&ground, UndoSelection::Newest, "a"), Err(HistoryError::NotConcerned(_))));
}

#[test]
fn folders_go_with_the_one_file_and_come_with_what_returns() {
    let ground = HistoryFixture::new();
    ground.write(&[("new/deep/a", "a\n"), ("new/b", "b\n")]).expect("it can be written");
    let after = ground.tree();
    let taken = undo_file(&ground, UndoSelection::Newest, "new/deep/a").expect("it was made");
    let became = [("new/deep/a".to_owned(), Became::Removed), ("new/deep".to_owned(), Became::Removed)];
    assert_eq!(taken.files, became);
    assert!(!ground.path("new/deep").exists() && ground.path("new/b").exists());
    ground.redo().expect("it can be brought back");
    assert_eq!(ground.tree(), after);

    ground.remove("new/b").expect("it can be removed");
    undo_file(&ground, UndoSelection::Newest, "new/deep/a").expect("it was made");
    assert!(!ground.path("new").exists(), "it was empty");
    ground.undo(UndoSelection::Number(4)).expect("the folder is made for it");
    assert_eq!(ground.read("new/b"), "b\n");
}

#[test]
fn a_rename_taken_back_by_one_of_its_names_is_taken_back() {
    for name in ["a", "b"] {
        let ground = HistoryFixture::new();
        ground.write(&[("z", "z\n")]).expect("it can be written");
        ground.put("a", "a\n");
        ground.rename("a", "b").expect("it can be renamed");
        undo_file(&ground, UndoSelection::Newest, name).expect("it was renamed");
        assert_eq!(accounts(&ground)[1], (2, Undone::Yes), "by {name}");
        assert_eq!(ground.undo(UndoSelection::Newest).expect("the older one is next").sets, [1]);
    }
}

#[test]
fn what_stands_in_the_way_for_good_is_named() {
    let ground = HistoryFixture::new();
    ground.put("a", "a\n");
    ground.rename("a", "b").expect("it can be renamed");
    ground.put("a", "mine\n");
    let refused = ground.undo(UndoSelection::Newest).expect_err("the name is taken");
    assert!(matches!(&refused, HistoryError::InTheWay(path) if path == "a"), "{refused}");
    std::fs::remove_file(ground.path("a")).expect("it is there");
    std::fs::rename(ground.path("b"), ground.path("c")).expect("it is there");
    let refused = ground.undo(UndoSelection::Newest).expect_err("it is gone");
    assert!(matches!(&refused, HistoryError::Conflicts(found) if found[0].path == "b"), "{refused}");
}

#[test]
fn a_file_that_became_a_folder_by_two_changes_is_a_file_again() {
    let ground = HistoryFixture::new();
    ground.put("x", "x\n");
    ground.remove("x").expect("it can be removed");
    ground.write(&[("x/y", "y\n")]).expect("it can be written");
    ground.undo(UndoSelection::Session).expect("nobody works there");
    assert_eq!(ground.read("x"), "x\n");
}

#[test]
fn what_cannot_be_shown_existed_all_the_same() {
    let ground = HistoryFixture::new();
    ground.put("big", &"x".repeat(65 * 1024 * 1024));
    ground.write(&[("big", "small\n"), ("new/a", "a\n")]).expect("it can be written");
    let (_, changes) = ground.workspace().history(&ground.state()).diff(None).expect("it can be read");
    let sides: Vec<(&str, bool, bool)> =
        changes.iter().map(|change| (change.path.as_str(), change.before.exists(), change.after.exists())).collect();
    assert_eq!(sides, [("big", true, true), ("new", false, true), ("new/a", false, true)]);
    assert_eq!(changes[0].before, PathContent::Unshown);
}

/// Change set 1 is undone by 2 and redone by 4, after change set 3 changed another line.
fn redone_over_another_change(another: impl Fn(&mut HistoryFixture)) -> HistoryFixture {
    let mut ground = HistoryFixture::new();
    ground.put("a", "1\n2\n3\n4\n5\n");
    ground.write(&[("a", "one\n2\n3\n4\n5\n")]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    another(&mut ground);
    ground.write(&[("a", "1\n2\n3\n4\nfive\n")]).expect("it can be written");
    ground.redo().expect("the two do not touch");
    assert_eq!(ground.read("a"), "one\n2\n3\n4\nfive\n");
    ground
}

#[test]
fn a_redo_that_was_merged_with_later_changes_is_undone_before_them() {
    let ground = redone_over_another_change(|_| {});
    let (newest, _) = ground.workspace().history(&ground.state()).diff(None).expect("it can be read");
    assert_eq!(newest, 4);
    assert_eq!(ground.undo(UndoSelection::Newest).expect("it is the newest").sets, [4]);
    assert_eq!(ground.read("a"), "1\n2\n3\n4\nfive\n");
    // A redo right after its undo is as if neither had happened.
    ground.redo().expect("it can be brought back");
    assert_eq!(ground.undo(UndoSelection::Newest).expect("it is the newest").sets, [4]);
    assert_eq!(ground.undo(UndoSelection::Newest).expect("it is left").sets, [3]);
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
    assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n");
}

#[test]
fn a_merged_redo_goes_first_also_for_one_file() {
    let ground = redone_over_another_change(|_| {});
    for number in [4, 3] {
        assert_eq!(undo_file(&ground, UndoSelection::Newest, "a").expect("it was changed").sets, [number]);
    }
    assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n");
}

#[test]
fn a_turn_and_a_session_have_a_redo_in_place_of_what_it_restored() {
    for which in [UndoSelection::Turn, UndoSelection::Session] {
        let ground = redone_over_another_change(|_| {});
        assert_eq!(ground.undo(which).expect("all of it is of one").sets, [4, 3], "{which:?}");
        assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n");
    }
}

#[test]
fn a_redo_merged_with_the_work_of_another_session_goes_alone() {
    let ground = redone_over_another_change(|ground| ground.run = "another");
    for number in [4, 3] {
        assert_eq!(ground.undo(UndoSelection::Session).expect("it can be taken back").sets, [number]);
    }
    assert!(matches!(ground.undo(UndoSelection::Session), Err(HistoryError::NothingLeft)));
    assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n");
}

#[test]
fn what_a_redo_restored_and_was_undone_by_its_number_leaves_the_redo_out() {
    let ground = redone_over_another_change(|_| {});
    ground.undo(UndoSelection::Number(1)).expect("the two do not touch");
    assert_eq!(ground.undo(UndoSelection::Newest).expect("it is left").sets, [3]);
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
}
