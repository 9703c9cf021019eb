//! A long history: what is read from its end is what all of it says.

use super::*;

fn long(sets: u64) -> Ground {
    let ground = Ground::new();
    for number in 1..=sets {
        ground.write(&[(&format!("f{}", number % 7), &format!("{number}\n"))]).expect("it can be written");
    }
    ground
}

#[test]
fn the_newest_change_sets_are_the_first_of_all() {
    let ground = long(40);
    ground.undo(Which::Number(30)).expect_err("a later one changed the same");
    ground.undo(Which::Newest).expect("it can be undone");
    let history = ground.workspace().history(&ground.state());
    let all = history.log().expect("it can be read");
    assert_eq!((all.sets.len(), all.older), (41, 0));
    for most in [1, 2, 5, 40, 41, 100] {
        let some = history.newest(most).expect("it can be read");
        assert_eq!(some.sets, all.sets[..most.min(41)], "{most}");
        assert_eq!(some.older as usize + some.sets.len(), 41, "{most}");
        assert_eq!(some.warnings, all.warnings);
    }
}

#[test]
fn more_is_undone_and_redone_than_is_read_at_first() {
    let ground = long(40);
    let trees: Vec<_> = std::iter::once(ground.tree())
        .chain((0..40).map(|_| {
            ground.undo(Which::Newest).expect("it can be undone");
            ground.tree()
        }))
        .collect();
    assert!(trees[40].is_empty());
    assert!(matches!(ground.undo(Which::Newest), Err(HistoryError::NothingLeft)));
    for tree in trees.iter().rev().skip(1) {
        ground.redo().expect("it can be redone");
        assert_eq!(ground.tree(), *tree);
    }
}

#[test]
fn an_old_change_set_is_found_and_an_unknown_one_is_not() {
    let ground = long(40);
    let history = ground.workspace().history(&ground.state());
    let (number, changes) = history.diff(Some(3)).expect("it is known");
    assert_eq!((number, changes.len()), (3, 1));
    assert!(matches!(history.diff(Some(99)), Err(HistoryError::Unknown(99))));
    // A file that only old change sets have changed.
    ground.write(&[("old", "x")]).expect("it can be written");
    (0..30).for_each(|number| drop(ground.write(&[("new", &number.to_string())])));
    let taken = ground.workspace().history(&ground.state()).undo(Which::Newest, Some(&target("old")));
    assert_eq!(taken.expect("it can be undone").sets, [41]);
    assert_eq!(ground.read("old"), "(none)");
}
