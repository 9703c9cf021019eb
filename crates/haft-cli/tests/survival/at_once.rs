//! Many processes side by side on one workspace.

use std::collections::BTreeSet;

use haft_workspace::history::PathContent;
use serde_json::Value;

use crate::place::{Place, write};

const PROCESSES: usize = 8;
const OPERATIONS: usize = 40;

#[test]
fn every_success_of_8_processes_on_one_file_is_in_the_history() {
    let place = Place::new();
    place.put("shared.txt", "beginning\n");
    let records: Vec<Value> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let place = &place;
                scope.spawn(move || {
                    let calls: Vec<Value> = (0..OPERATIONS)
                        .map(|number| write("shared.txt", &format!("process {process}, write {number}\n")))
                        .collect();
                    place.call(&[], &calls)
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().expect("it runs")).collect()
    });
    let mut done = BTreeSet::new();
    for record in &records {
        match record["status"].as_str() {
            Some("ok") => {
                let set = record["change_set"].as_u64().unwrap_or_else(|| panic!("{record}"));
                assert!(done.insert(set), "change set {set} was given twice");
            }
            _ => assert_eq!(record["error"]["kind"], "stale", "{record}"),
        }
    }
    assert!(done.len() > OPERATIONS, "{} of {} were done", done.len(), records.len());
    assert_chain(&place, &done);
}

/// Walks the history: what a change found is what the one before it left.
fn assert_chain(place: &Place, done: &BTreeSet<u64>) {
    let history = place.history();
    let log = history.log().expect("it can be read");
    assert_eq!(log.sets.iter().map(|set| set.number).collect::<BTreeSet<u64>>(), *done);
    let mut last = PathContent::File(b"beginning\n".to_vec());
    for number in done {
        let (_, changes) = history.diff(Some(*number)).expect("it is known");
        assert_eq!(changes[0].before, last, "change set {number}");
        last = changes[0].after.clone();
    }
    assert_eq!(PathContent::File(std::fs::read(place.path("shared.txt")).expect("it is there")), last);
}
