//! How a server ends: with its client, when it is asked to, and when it is killed. Nothing is left behind.

use std::process::ChildStdin;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::client::{Place, Server};
use crate::processes::{assert_end, until, with_word};

/// Starts a command that would run for hours and writes files; returns the word by which it is found.
fn long_command(server: &mut Server) -> String {
    let word = format!("9002.{}", server.child.id());
    let command = format!("echo half > half.txt; (setsid sleep {word} &); sleep {word}; echo whole > half.txt");
    server.begin_call("bash", json!({ "command": command }));
    until("the command runs", || with_word(&word).len() >= 2);
    word
}

fn server_pid(server: &Server) -> Pid {
    Pid::from_child(&server.child)
}

/// What the command changed is there and known, or it is not there.
fn assert_untouched_or_journalled(place: &Place) {
    let log = place.run(&["log"]);
    match place.get("ws/half.txt") {
        None => assert!(!log.contains("half.txt"), "{log}"),
        Some(_) => {
            assert!(log.contains("half.txt"), "{log}");
            place.run(&["undo"]);
            assert_eq!(place.get("ws/half.txt"), None);
        }
    }
}

#[test]
fn the_end_of_the_input_is_the_end_also_of_commands() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let word = long_command(&mut server);
    let processes = with_word(&word);
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
    assert_end(&processes);
    assert!(with_word(&word).is_empty());
    assert_untouched_or_journalled(&place);
}

#[test]
fn the_last_call_is_remembered_for_the_doctor() {
    let place = Place::new();
    let mut server = place.shaken(&[], json!({}));
    server.call("read_file", json!({ "path": "src/none.rs" }));
    server.end();
    let told = place.run(&["doctor", "read_file"]);
    assert!(told.contains("src/none.rs does not exist"), "{told}");
}

#[test]
fn an_idle_server_ends_at_once() {
    let (status, said) = Place::new().serve(&[]).end();
    assert!(status.success());
    assert_eq!(said, "");
    let (status, _) = Place::new().shaken(&[], json!({})).end();
    assert!(status.success());
}

#[test]
fn what_was_sent_before_the_end_of_the_input_is_still_answered() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let ids: Vec<u64> = (0..20).map(|_| server.begin_call("read_file", json!({ "path": "src/main.rs" }))).collect();
    drop(server.stdin.take());
    for id in ids {
        assert!(server.answer(id).get("result").is_some());
    }
    assert!(server.wait().success());
}

#[test]
fn a_server_that_is_asked_to_end_ends_with_its_commands() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let mut server = place.shaken(&["--yes"], json!({}));
        let word = long_command(&mut server);
        let processes = with_word(&word);
        kill_process(server_pid(&server), signal).expect("it runs");
        let expected = if signal == Signal::INT { Some(130) } else { Some(0) };
        assert_eq!(server.wait().code(), expected);
        assert_end(&processes);
        assert_untouched_or_journalled(&place);
    }
}

#[test]
fn nobody_reading_is_the_end_even_while_nothing_is_written() {
    let place = Place::new();
    let mut server = place.silent(&["--yes"]);
    let stdin: ChildStdin = server.stdin.take().expect("it is open");
    // The input stays open; only the output is closed.
    assert!(server.child.wait().expect("it ends").success());
    drop(stdin);
}

#[test]
fn a_server_that_is_killed_leaves_no_process_and_a_workspace_that_is_untouched_or_journalled() {
    let place = Place::new();
    for _ in 0..5 {
        let mut server = place.shaken(&["--yes"], json!({}));
        let word = long_command(&mut server);
        let processes = with_word(&word);
        kill_process(server_pid(&server), Signal::KILL).expect("it runs");
        server.wait();
        assert_end(&processes);
        assert!(with_word(&word).is_empty());
        assert_untouched_or_journalled(&place);
    }
    let mut server = place.shaken(&["--yes"], json!({}));
    server.assert_well();
}

#[test]
fn commands_that_print_without_end_delay_neither_others_nor_the_end() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let word = format!("haft-9004.{}", server.child.id());
    for _ in 0..3 {
        let arguments = json!({ "command": format!("yes {word}") });
        server.begin("tools/call", json!({ "name": "bash", "arguments": arguments, "_meta": { "progressToken": 1 } }));
    }
    until("they run", || with_word(&word).len() >= 3);
    let began = std::time::Instant::now();
    for _ in 0..3 {
        server.request("ping", json!({}));
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    let processes = with_word(&word);
    assert!(server.end().0.success());
    assert_end(&processes);
    assert!(with_word(&word).is_empty());
}
