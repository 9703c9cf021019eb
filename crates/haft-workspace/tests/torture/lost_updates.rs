//! Tests many writers of one file: every change reported as done is in the history, and no version is lost.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use haft_contract::files::stamp::ExpectedVersion;
use haft_workspace::history::PathContent;
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, permit, target};

/// Walks the history of one file: what a change found is what the one before it left.
fn assert_chain(ground: &Ground, expected: &BTreeSet<u64>) {
    let log = ground.history().log().expect("it can be read");
    let numbers: BTreeSet<u64> = log.sets.iter().map(|set| set.number).collect();
    assert_eq!((&numbers, log.sets.len()), (expected, expected.len()));
    let mut last: Option<PathContent> = None;
    for number in numbers {
        let (_, changes) = ground.history().diff(Some(number)).expect("it is known");
        if let Some(last) = last {
            assert_eq!(changes[0].before, last, "change set {number}");
        }
        last = Some(changes[0].after.clone());
    }
    assert_eq!(last, ground.content("a").map(PathContent::File));
}

#[test]
fn every_success_of_100_writers_is_in_the_history() {
    let ground = Ground::new();
    let sets = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for writer in 0..100 {
            let (ground, sets) = (&ground, &sets);
            scope.spawn(move || {
                let set = ground.write(&[("a", format!("writer {writer}\n").as_bytes())]);
                let is_new = sets.lock().expect("nobody panics").insert(set.expect("all get their turn"));
                assert!(is_new, "a number was given twice");
            });
        }
    });
    assert_chain(&ground, &sets.into_inner().expect("nobody panics"));
}

#[test]
fn what_100_writers_add_to_what_they_have_read_is_all_there_in_the_end() {
    let ground = Ground::new();
    ground.put("a", "");
    let sets = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for writer in 0..100 {
            let (ground, sets) = (&ground, &sets);
            scope.spawn(move || {
                let set = add_line(ground, &format!("{writer}\n"));
                sets.lock().expect("nobody panics").insert(set);
            });
        }
    });
    let text = String::from_utf8(ground.content("a").expect("it is there")).expect("it is text");
    let lines: BTreeSet<&str> = text.lines().collect();
    assert_eq!((lines.len(), text.lines().count()), (100, 100));
    assert_chain(&ground, &sets.into_inner().expect("nobody panics"));
}

/// Reads, adds a line, and writes on condition that no other writer has written; repeats until it works.
fn add_line(ground: &Ground, line: &str) -> u64 {
    loop {
        let Ok(copy) = ground.doors().look.read(&target("a"), 1_000_000) else { continue };
        let permit = permit(vec![(target("a"), ExpectedVersion::Read(copy.version))], &CancellationToken::new());
        let new = [&copy.bytes, line.as_bytes()].concat();
        match ground.write_with(&permit, &[("a", &new)]) {
            Ok(set) => return set,
            Err(error) => assert_eq!(error.kind.code(), "stale", "{}", error.what),
        }
    }
}

#[test]
fn calls_that_need_the_same_new_folder_do_not_stand_in_each_others_way() {
    for _ in 0..10 {
        let ground = Ground::new();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let ground = &ground;
                scope.spawn(move || {
                    ground
                        .write(&[(&format!("new/deep/{writer}"), b"x")])
                        .unwrap_or_else(|error| panic!("{}", error.what))
                });
            }
        });
        assert_eq!(ground.tree().len(), 10);
        while ground.undo(haft_workspace::history::UndoSelection::Newest).is_ok() {}
        assert_eq!(ground.tree().len(), 0);
    }
}

/// Writes version after version, each by a rename or in place, and returns those that another writer has replaced.
///
/// Between two changes, when `changing` is free, what was swapped by mistake has been given back.
fn write_as_a_stranger(ground: &Ground, stop: &AtomicBool, changing: &Mutex<()>) -> BTreeSet<Vec<u8>> {
    let mut replaced = BTreeSet::new();
    for version in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let content = format!("stranger {version} {}\n", "x".repeat((version % 50) as usize)).into_bytes();
        if version % 2 == 0 {
            ground.put("a", &content);
        } else {
            std::fs::write(ground.outside("beside"), &content).expect("it can be written");
            std::fs::rename(ground.outside("beside"), ground.path("a")).expect("it can be renamed");
        }
        let is_there = ground.content("a").as_deref() == Some(&content);
        // What is still there at the next version is replaced by the stranger's own hand.
        if is_there && version % 3 > 0 && ground.content("a").as_deref() != Some(&content) {
            let _nobody = changing.lock().expect("nobody panics");
            if ground.content("a").as_deref() != Some(&content) {
                replaced.insert(content);
            }
        }
    }
    replaced
}

#[test]
fn no_version_of_a_stranger_that_was_there_is_lost() {
    let ground = Ground::new();
    ground.put("a", "first\n");
    let stop = AtomicBool::new(false);
    let changing = Mutex::new(());
    let (mut done, mut refused) = (0, 0);
    let replaced = std::thread::scope(|scope| {
        let stranger = scope.spawn(|| write_as_a_stranger(&ground, &stop, &changing));
        for round in 0..200 {
            let _this = changing.lock().expect("nobody panics");
            match ground.write(&[("a", format!("haft {round}\n").as_bytes())]) {
                Ok(_) => done += 1,
                Err(_) => refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
        stranger.join().expect("it only writes")
    });
    let mut kept: BTreeSet<Vec<u8>> = BTreeSet::new();
    for set in ground.history().log().expect("it can be read").sets {
        let (_, changes) = ground.history().diff(Some(set.number)).expect("it is known");
        kept.extend(changes.into_iter().filter_map(|change| match change.before {
            PathContent::File(bytes) => Some(bytes),
            PathContent::Absent | PathContent::Unshown => None,
        }));
    }
    for (path, entry) in ground.tree() {
        if let crate::ground::Entry::File(_, content) = entry {
            assert!(!path.to_string_lossy().contains(".haft-"), "{path:?} is left over");
            kept.insert(content);
        }
    }
    let lost: Vec<_> = replaced.difference(&kept).map(|content| String::from_utf8_lossy(content)).collect();
    assert!(lost.is_empty(), "{} of {} are lost, {done} done, {refused} refused: {lost:?}", lost.len(), replaced.len());
    assert!(done > 10 && !replaced.is_empty(), "{done} done, {refused} refused, {} replaced", replaced.len());
}
