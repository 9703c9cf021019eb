//! Tests large files that change a little, again and again.

use std::time::SystemTime;

use super::*;
use crate::history::{Placement, UndoRequest};
use crate::state::{Selection, StateKind, WorkspaceUsage};

/// Many different lines, more than a record holds.
fn lines(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("line {number} of a long text\n")).collect()
}

/// Returns how much room the journal takes.
fn journal_size(scene: &TransactionFixture) -> u64 {
    let usage = WorkspaceUsage::of_all(&scene.at("state"));
    usage.iter().filter_map(|usage| usage.bytes.get(&StateKind::Journal)).sum()
}

/// Lets a command leave a new version of a file.
fn change(scene: &TransactionFixture, content: &str) {
    scene.put("layer/large", content);
    scene.commit(&[scene.bring("large")]).expect("it is there");
}

fn content(scene: &TransactionFixture) -> String {
    std::fs::read_to_string(scene.at("ws/large")).expect("it is there")
}

#[test]
fn a_hundred_versions_take_little_and_all_can_be_undone_and_redone() {
    let scene = TransactionFixture::new();
    let first = lines(0, 50_000);
    scene.put("ws/large", &first);
    let mut versions = vec![first];
    let mut sizes = Vec::new();
    for number in 0..100 {
        let mut next = versions[number].clone();
        next.insert_str(if number % 3 == 0 { number * 2_600 } else { next.len() }, "new\n");
        change(&scene, &next);
        versions.push(next);
        sizes.push(journal_size(&scene));
    }
    assert!(sizes[99] - sizes[0] < 400_000, "{sizes:?}");
    for version in versions[..100].iter().rev() {
        scene.undo();
        assert!(content(&scene) == *version);
    }
    for version in &versions[1..] {
        scene.history().redo().expect("it was undone");
        assert!(content(&scene) == *version);
    }
    let grown = journal_size(&scene) - sizes[99];
    assert!(grown < 500_000, "what is undone and redone is kept already: {grown}");
}

#[test]
fn a_version_in_the_middle_is_undone_below_the_later_ones() {
    let scene = TransactionFixture::new();
    let (one, two, three) = (lines(0, 10_000), lines(10_000, 20_000), lines(20_000, 30_000));
    let all = |parts: &[&str]| parts.concat();
    scene.put("ws/large", &all(&[&one, &two, &three]));
    change(&scene, &all(&["first\n", &one, &two, &three]));
    change(&scene, &all(&["first\n", &one, "second\n", &two, &three]));
    change(&scene, &all(&["first\n", &one, "second\n", &two, "third\n", &three]));
    scene.history().undo(UndoSelection::Number(2), None).expect("the others are elsewhere");
    assert!(content(&scene) == all(&["first\n", &one, &two, "third\n", &three]));
    scene.history().undo(UndoSelection::Number(4), None).expect("it is the undo");
    assert!(content(&scene) == all(&["first\n", &one, "second\n", &two, "third\n", &three]));
}

#[test]
fn newer_versions_can_be_undone_when_older_ones_were_dropped() {
    let scene = TransactionFixture::new();
    let mut versions = vec![lines(0, 20_000)];
    scene.put("ws/large", &versions[0]);
    let mut before = SystemTime::now();
    for number in 0..40 {
        if number == 30 {
            before = SystemTime::now();
        }
        versions.push(format!("{}more {number}\n", versions[number]));
        change(&scene, &versions[number + 1]);
    }
    let usage = WorkspaceUsage::of_all(&scene.at("state"));
    let journal = Selection { kinds: vec![StateKind::Journal], before: Some(before) };
    usage[0].free(&journal).expect("nobody else is at it");
    let log = scene.history().log().expect("it can be read");
    assert!((10..=12).contains(&log.sets.len()), "{}", log.sets.len());
    for version in versions[30..40].iter().rev() {
        scene.undo();
        assert!(content(&scene) == *version);
    }
}

#[test]
fn an_earlier_version_is_there_although_somebody_wrote_into_the_file_since() {
    let scene = TransactionFixture::new();
    let first = lines(0, 20_000);
    scene.put("ws/large", &first);
    change(&scene, &format!("{first}more\n"));
    scene.put("ws/large", "something else");
    let request = UndoRequest { placement: Placement::Beside, ..UndoRequest::all(UndoSelection::Newest) };
    scene.history().request(&request).expect("it is kept");
    assert!(std::fs::read_to_string(scene.at("ws/large.before-1")).expect("it is there") == first);
}

#[test]
fn a_large_change_can_be_cut_off_at_any_point() {
    let (old, new) = (lines(0, 10_000), format!("{}more\n", lines(0, 10_000)));
    for point in 0.. {
        let scene = TransactionFixture::new();
        scene.put("ws/large", &old);
        change(&scene, &new);
        scene.put("layer/large", &format!("{new}again\n"));
        let is_through =
            crate::files::change::crash_points::ending_at(point, || scene.commit(&[scene.bring("large")]).map(drop))
                .is_some();
        scene.history().log().expect("it is cleaned up");
        while content(&scene) != old {
            scene.undo();
        }
        if is_through {
            break;
        }
    }
}
