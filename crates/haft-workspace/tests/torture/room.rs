//! Tests a journal with little room: the oldest go, listed changes can be undone, and two writers do not hurt each other.

use std::time::Duration;

use haft_contract::doors::door::{ChangeSetId, OldChanges};
use haft_contract::doors::history::History as _;
use haft_workspace::history::{HistoryError, UndoSelection};
use haft_workspace::state::JournalLimits;

use crate::ground::Ground;

const ROOM: u64 = 1_000_000;
const SIZE: usize = 100_000;

/// A journal with little room, in which everything is so old that it may go.
fn narrow() -> Ground {
    Ground::with(JournalLimits { room: ROOM, age: Duration::ZERO, ..JournalLimits::default() })
}

fn used(ground: &Ground) -> u64 {
    let size = |path: std::path::PathBuf| std::fs::metadata(path).map_or(0, |facts| facts.len());
    let objects = std::fs::read_dir(ground.journal().join("objects")).expect("there are some");
    size(ground.journal().join("journal")) + objects.flatten().map(|entry| size(entry.path())).sum::<u64>()
}

fn content(number: usize) -> Vec<u8> {
    // Contents that have something in common would take less.
    let seed = number as u64 + 1;
    (0..SIZE as u64).map(|at| ((at + 7) * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[6]).collect()
}

/// Makes sure that whatever the log lists has its old content.
fn assert_whole(ground: &Ground) -> usize {
    let log = ground.history().log().expect("it can be read");
    for set in &log.sets {
        let (_, changes) = ground.history().diff(Some(set.number)).expect("it is listed");
        let notes: Vec<_> = changes.iter().filter_map(|change| change.note.as_ref()).collect();
        assert!(notes.is_empty(), "change set {}: {notes:?}", set.number);
    }
    log.sets.len()
}

#[test]
fn contents_go_with_their_change_sets_and_the_rest_can_be_taken_back() {
    let ground = narrow();
    ground.put("a", content(0));
    for number in 1..=40 {
        ground.write(&[("a", &content(number))]).expect("it can be written");
        assert!(used(&ground) <= ROOM, "{} bytes are used after {number}", used(&ground));
    }
    let left = assert_whole(&ground);
    assert!((3..20).contains(&left), "{left}");
    assert!(matches!(ground.undo(UndoSelection::Number(1)), Err(HistoryError::Dropped(1))));
    // Each undo is a change itself and makes room for itself, at the cost of the oldest.
    let mut back = 40;
    while ground.undo(UndoSelection::Newest).is_ok() {
        back -= 1;
        assert!(ground.content("a") == Some(content(back)), "after going back to {back}");
        assert!(used(&ground) <= ROOM);
    }
    assert!(back < 38, "{back}");
    assert_whole(&ground);
}

#[test]
fn what_goes_to_make_room_is_said_by_the_change_that_needs_it() {
    let ground = narrow();
    ground.put("a", content(0));
    let mut told = Vec::new();
    for number in 1..=12 {
        let set = ground.write_noting(&[("a", &content(number))], &mut told);
        assert_eq!(set.expect("it can be written"), number as u64);
    }
    let log = ground.history().log().expect("it can be read");
    let dropped = log.sets.iter().map(|set| set.number).min().expect("the newest stays") - 1;
    assert!(dropped > 0);
    let wanted = format!("Change sets up to {dropped} can no longer be undone: the journal was full.");
    assert_eq!(told.last(), Some(&wanted));
}

#[test]
fn nothing_goes_that_nobody_agreed_to_lose() {
    let mut ground = Ground::with(JournalLimits { room: ROOM, ..JournalLimits::default() });
    ground.put("a", content(0));
    for number in 1..=30 {
        ground.write(&[("a", &content(number))]).expect("it can be written");
    }
    assert!(used(&ground) > 2 * ROOM);
    assert_eq!(assert_whole(&ground), 30);
    let eviction = ground.history().eviction().expect("the journal is full");
    let ChangeSetId(up_to) = eviction.up_to;
    assert!((20..29).contains(&up_to) && eviction.change_sets == up_to, "{eviction:?}");
    assert!(eviction.newest <= eviction.oldest && eviction.oldest < Duration::from_secs(3_600), "{eviction:?}");
    // What was agreed to is all that goes, even if more room is needed.
    ground.old_changes = OldChanges::MayGo(ChangeSetId(10));
    ground.write(&[("b", b"b\n")]).expect("it can be written");
    assert!(matches!(ground.undo(UndoSelection::Number(10)), Err(HistoryError::Dropped(10))));
    assert_eq!(assert_whole(&ground), 21);
    ground.old_changes = OldChanges::MayGo(eviction.up_to);
    ground.write(&[("b", b"c\n")]).expect("it can be written");
    ground.old_changes = OldChanges::Stay;
    assert!(used(&ground) <= ROOM);
    assert_eq!(ground.history().eviction(), None);
    assert_whole(&ground);
    ground.undo(UndoSelection::Newest).expect("the newest stays");
}

#[test]
fn the_newest_change_can_be_taken_back_whatever_its_size() {
    let ground = Ground::with(JournalLimits { room: 1_000, age: Duration::ZERO, ..JournalLimits::default() });
    ground.put("a", content(0));
    ground.write(&[("b", b"b\n")]).expect("it can be written");
    ground.write(&[("a", &content(1))]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("the newest stays");
    assert!(ground.content("a") == Some(content(0)));
}

#[test]
fn what_a_killed_process_left_half_kept_goes_when_room_is_needed() {
    let ground = Ground::with(JournalLimits { room: 1_000, age: Duration::ZERO, ..JournalLimits::default() });
    ground.put("a", content(0));
    ground.write(&[("a", &content(1))]).expect("it can be written");
    let half = ground.journal().join("objects/0123.tmp");
    std::fs::write(&half, content(7)).expect("it is ours");
    ground.write(&[("a", &content(2))]).expect("it can be written");
    assert!(!half.exists());
    ground.undo(UndoSelection::Newest).expect("the newest stays");
}

#[test]
fn two_that_make_room_at_once_remove_nothing_that_the_other_keeps() {
    let ground = narrow();
    std::thread::scope(|scope| {
        for writer in ["a", "b", "c"] {
            let ground = &ground;
            scope.spawn(move || {
                ground.put(writer, content(writer.len()));
                for number in 0..60 {
                    ground.write(&[(writer, &content(number))]).unwrap_or_else(|error| panic!("{}", error.what));
                    if number % 7 == 0 {
                        // Another change may be the newest by now, and two writers may undo it together.
                        let _ = ground.undo(UndoSelection::Newest);
                    }
                }
            });
        }
    });
    assert!(assert_whole(&ground) >= 1);
    assert!(used(&ground) <= ROOM);
}
