//! Tests calls that are stopped, and calls that wait for a process that never ends.

use std::time::{Duration, Instant};

use haft_workspace::state::JournalLimits;
use rustix::fs::{FlockOperation, flock};
use tokio_util::sync::CancellationToken;

use crate::dice::Dice;
use crate::ground::{Ground, permit};

#[test]
fn a_call_stopped_at_any_moment_is_done_and_in_the_journal_or_nothing_happened() {
    let ground = Ground::with(JournalLimits { patience: Duration::from_secs(5), ..JournalLimits::default() });
    let old = vec![b'o'; 100_000];
    ground.put("big", &old);
    let mut dice = Dice::new(7);
    let (mut done, mut stopped, mut current) = (0, 0, old);
    let mut usual = Duration::from_millis(5);
    for round in 0..150_u32 {
        let stop = CancellationToken::new();
        let permit = permit(Vec::new(), &stop);
        let new = vec![u8::try_from(round % 200).expect("it is small") + 20; 100_000 + dice.below(1_000)];
        let moment = usual * u32::try_from(dice.below(150)).expect("it is small") / 100;
        let begin = Instant::now();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while begin.elapsed() < moment {
                    std::thread::yield_now();
                }
                stop.cancel();
            });
            ground.write_with(&permit, &[("big", &new), ("new/small", b"s\n")])
        });
        if outcome.is_ok() {
            usual = (usual * 3 + begin.elapsed()) / 4;
        }
        let log = ground.history().log().expect("it can be read").sets;
        match outcome {
            Ok(set) => {
                current = new;
                done += 1;
                assert_eq!(log[0].number, set);
            }
            Err(error) => {
                stopped += 1;
                assert_eq!(error.kind.code(), "cancelled", "{}", error.what);
                assert_eq!(permit.receipts().change_set(), None);
            }
        }
        assert_eq!(log.len(), done);
        assert!(ground.content("big").as_ref() == Some(&current), "round {round}");
        assert!(ground.leftovers().is_empty(), "round {round}");
    }
    assert!(done > 10 && stopped > 10, "{done} done, {stopped} stopped");
}

#[test]
fn whoever_finds_the_journal_locked_by_one_that_never_ends_is_told_so_in_bounded_time() {
    let patience = Duration::from_millis(200);
    let ground = Ground::with(JournalLimits { patience, ..JournalLimits::default() });
    ground.write(&[("a", b"1\n")]).expect("nobody has the lock");
    let journal = std::fs::File::open(ground.journal().join("journal")).expect("it is there");
    flock(&journal, FlockOperation::LockExclusive).expect("nobody has the lock");

    let begin = Instant::now();
    let refused = ground.write(&[("a", b"2\n")]).expect_err("somebody has the lock");
    assert!(refused.what.contains("another haft is changing files here"), "{}", refused.what);
    assert_eq!(refused.kind.code(), "io");
    let log = ground.history().log().err().expect("somebody has the lock").to_string();
    let undo =
        ground.undo(haft_workspace::history::UndoSelection::Newest).expect_err("somebody has the lock").to_string();
    assert_eq!((log.as_str(), undo.as_str()), ("the journal: another haft is changing files here", log.as_str()));
    assert!(begin.elapsed() < patience * 3 + Duration::from_secs(5));
    assert_eq!(ground.content("a").as_deref(), Some(&b"1\n"[..]));

    flock(&journal, FlockOperation::Unlock).expect("it is ours");
    ground.write(&[("a", b"2\n")]).expect("nobody has the lock");
}

#[test]
fn a_call_that_waits_for_the_lock_can_be_stopped() {
    let ground = Ground::new();
    ground.write(&[("a", b"1\n")]).expect("nobody has the lock");
    let journal = std::fs::File::open(ground.journal().join("journal")).expect("it is there");
    flock(&journal, FlockOperation::LockExclusive).expect("nobody has the lock");
    let stop = CancellationToken::new();
    let permit = permit(Vec::new(), &stop);
    let begin = Instant::now();
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..100_000).for_each(|_| std::hint::spin_loop());
            stop.cancel();
        });
        ground.write_with(&permit, &[("a", b"2\n")]).expect_err("it is stopped")
    });
    assert_eq!(refused.kind.code(), "cancelled");
    assert!(begin.elapsed() < Duration::from_secs(10));
}
