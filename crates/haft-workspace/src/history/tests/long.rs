//! Tests that a long history gives the same answers when only its end is read.

use super::super::LogFilter;
use super::*;

fn long(sets: u64) -> HistoryFixture {
    let ground = HistoryFixture::new();
    for number in 1..=sets {
        ground.write(&[(&format!("f{}", number % 7), &format!("{number}\n"))]).expect("it can be written");
    }
    ground
}

#[test]
fn the_newest_change_sets_are_the_first_of_all() {
    let ground = long(40);
    ground.undo(UndoSelection::Number(30)).expect_err("a later one changed the same");
    ground.undo(UndoSelection::Newest).expect("it can be undone");
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
            ground.undo(UndoSelection::Newest).expect("it can be undone");
            ground.tree()
        }))
        .collect();
    assert!(trees[40].is_empty());
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
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
    let taken = ground.workspace().history(&ground.state()).undo(UndoSelection::Newest, Some(&target("old")));
    assert_eq!(taken.expect("it can be undone").sets, [41]);
    assert_eq!(ground.read("old"), "(none)");
}

#[test]
fn a_filtered_log_is_what_fits_of_the_whole_one() {
    let mut ground = HistoryFixture::new();
    for (agent, name) in [("claude-code", "src/a"), ("person", "b"), ("Claude", "src/c"), ("person", "target/d")] {
        ground.turn += 1;
        let purpose = haft_contract::doors::door::Purpose {
            agent: Some(agent.into()),
            description: Some(format!("writes {name}")),
            ..Default::default()
        };
        let op = FileOp::Put(target(name), Bytes::from_static(b"x\n"));
        let permit = ground.permit_for(purpose);
        run(ground.workspace().doors(&ground.state()).files.change(&permit, &[op])).expect("it can be written");
    }
    ground.undo(UndoSelection::Number(1)).expect("it can be undone");
    let history = ground.workspace().history(&ground.state());
    let all = history.log().expect("it can be read");
    let numbers = |filter: LogFilter| {
        let log = history.newest_of(&filter, 10).expect("it can be read");
        let is_same = |set: &super::super::ChangeSet| all.sets.iter().any(|other| other == set);
        assert!(log.sets.iter().all(is_same), "{filter:?}: {:?}", log.sets);
        log.sets.iter().map(|set| set.number).collect::<Vec<_>>()
    };
    let filter = LogFilter::default;
    let (agent, words) = (|name: &str| Some(name.to_owned()), |words: &str| Some(words.to_owned()));
    assert_eq!(numbers(filter()), [5, 4, 3, 2, 1]);
    assert_eq!(numbers(LogFilter { agent: agent("claude"), ..filter() }), [3, 1]);
    assert_eq!(numbers(LogFilter { below: Some("src".into()), ..filter() }), [5, 3, 1]);
    assert_eq!(numbers(LogFilter { below: Some("src/a".into()), ..filter() }), [5, 1]);
    assert_eq!(numbers(LogFilter { words: words("WRITES SRC"), ..filter() }), [3, 1]);
    assert_eq!(numbers(LogFilter { agent: agent("claude"), words: words("src/c"), ..filter() }), [3]);
    assert_eq!(numbers(LogFilter { since: Some(all.sets[1].at), below: Some("b".into()), ..filter() }).len() as u64, {
        u64::from(all.sets[3].at >= all.sets[1].at)
    });
    assert!(numbers(LogFilter { since: Some(u64::MAX), ..filter() }).is_empty());
    assert!(numbers(LogFilter { below: Some("sr".into()), ..filter() }).is_empty());
    let log = history.newest_of(&LogFilter { below: Some("src".into()), ..filter() }, 2).expect("it can be read");
    assert_eq!((log.sets.len(), log.older), (2, 1));
}
