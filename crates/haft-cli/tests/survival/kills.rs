//! Kills the command at random points; files are whole at any moment, and everything can be taken back.

use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Place, edit, lines, read, write};

/// How many kills one test makes; there are four, 500 kills in all.
const KILLS: usize = 125;
/// After so many kills everything is taken back.
const EPOCH: usize = 25;
/// Files that exist from the beginning and are never removed; the last one is kept as an object.
const FILES: [(&str, usize); 3] = [("a.txt", 5), ("d/b.txt", 200), ("big.txt", 9_000)];

/// A content that says of itself whether it is whole.
fn content(head: usize, body: usize, many: usize) -> String {
    format!("head {head}\n{}end {body} after {many}\n", format!("body {body}\n").repeat(many))
}

fn is_whole(text: &str) -> bool {
    let mut lines = text.lines();
    let (head, end) = (lines.next().unwrap_or_default(), lines.next_back().unwrap_or_default());
    let Some((body, many)) = end.strip_prefix("end ").and_then(|end| end.split_once(" after ")) else { return false };
    let body = format!("body {body}");
    let counted = lines.clone().count();
    text.ends_with('\n') && head.starts_with("head ") && lines.all(|line| line == body) && many == counted.to_string()
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }
}

/// Reads the files all the time, until told to stop; returns how many contents it has seen.
fn watch(place: &Place, stop: &Receiver<()>) -> usize {
    let mut last = FILES.map(|_| String::new());
    let mut contents = 0;
    // A breath between two looks, or the commands would get no time to work.
    while stop.recv_timeout(Duration::from_micros(300)) == Err(RecvTimeoutError::Timeout) {
        for ((name, _), last) in FILES.iter().zip(&mut last) {
            match std::fs::read_to_string(place.path(name)) {
                Ok(text) if text == *last => {}
                Ok(text) => {
                    assert!(is_whole(&text), "{name} is not whole: {:?}…", &text[..text.len().min(200)]);
                    *last = text;
                    contents += 1;
                }
                Err(error) => panic!("{name} is not there: {error}"),
            }
        }
    }
    contents
}

/// Starts a random command and kills it after some results or some time.
fn kill_one(place: &Place, dice: &mut Dice, round: usize) {
    let calls = some_calls(dice, round);
    let (arguments, input): (&[&str], String) = match dice.below(10) {
        0 | 1 => (&["undo"], String::new()),
        2 => (&["redo"], String::new()),
        3 => (&["undo", "--turn"], String::new()),
        _ => (&["--yes", "call", "-"], lines(&calls)),
    };
    let mut child = place.haft(&[], arguments).spawn().expect("it can be started");
    let mut stdin = child.stdin.take().expect("it is piped");
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()));
        scope.spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let results = dice.below(calls.len() + 1);
        for _ in 0..results {
            if told.recv().is_err() {
                break;
            }
        }
        let moment = Instant::now() + Duration::from_micros(dice.below(30_000) as u64);
        while let Some(left) = moment.checked_duration_since(Instant::now()) {
            if told.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        child.kill().expect("it is our child");
        child.wait().expect("it is our child");
    });
}

fn some_calls(dice: &mut Dice, round: usize) -> Vec<Value> {
    let mut calls = Vec::new();
    for number in 0..1 + dice.below(4) {
        let (name, many) = FILES[dice.below(FILES.len())];
        let version = round * 10 + number;
        match dice.below(4) {
            0 => calls.push(write(&format!("new{}/deep/f{number}", dice.below(6)), &content(1, version, many))),
            1 => calls.extend([read(name), edit(name, "head 1\n", "head 2\n")]),
            _ => calls.push(write(name, &content(1, version, many + dice.below(50)))),
        }
    }
    calls
}

/// Takes everything back, and compares with the beginning.
fn take_all_back(place: &Place, how: &[&str], which: &str) {
    for _ in 0..10_000 {
        let output = place.run(&[&["--json", "undo"], how].concat());
        let told: Value = serde_json::from_slice(&output.stdout).expect("one record");
        match output.status.code() {
            Some(0) => {}
            Some(1) if told["error"]["kind"] == "nothing_left" => return,
            _ => panic!("{which}: {told}\n{}", String::from_utf8_lossy(&place.run(&["log"]).stdout)),
        }
    }
    panic!("{which}: there is always something left");
}

/// Kills so many commands in one workspace, then takes everything back.
fn kill_in_one_place(dice: &mut Dice, how: &[&str], which: &str) {
    let place = Place::new();
    for (name, many) in FILES {
        place.put(name, &content(1, 0, many));
    }
    let beginning = place.tree();
    let contents = std::thread::scope(|scope| {
        // Dropped when something is wrong here, so that the reader ends in any case.
        let (stop, stopped) = channel();
        let watcher = scope.spawn({
            let place = &place;
            move || watch(place, &stopped)
        });
        for round in 1..=EPOCH {
            assert!(!watcher.is_finished(), "{which}, round {round}: the reader saw something wrong");
            kill_one(&place, dice, round);
            let log = place.run(&["--json", "log"]);
            assert_eq!(log.status.code(), Some(0), "{which}, round {round}: {}", String::from_utf8_lossy(&log.stderr));
            if round % 10 == 0 {
                let records = place.call(&[], &[write("d/b.txt", &content(1, round, 100))]);
                assert_eq!(records[0]["status"], "ok", "{which}, round {round}: {}", records[0]);
                assert!(place.leftovers().is_empty(), "{which}, round {round}: {:?}", place.leftovers());
            }
        }
        take_all_back(&place, how, which);
        stop.send(()).expect("the reader waits for it");
        watcher.join().expect("all it saw was whole")
    });
    let tree = place.tree();
    let all = tree.keys().chain(beginning.keys());
    let differing: Vec<_> = all.filter(|path| tree.get(*path) != beginning.get(*path)).collect();
    assert!(differing.is_empty(), "{which}: {differing:?}");
    assert!(contents > FILES.len(), "the reader was too slow to see more than {contents} contents");
}

fn kill_many(seed: u64) {
    let mut dice = Dice(seed);
    for (round, how) in [&[][..], &["--session"]].into_iter().cycle().take(KILLS / EPOCH).enumerate() {
        kill_in_one_place(&mut dice, how, &format!("seed {seed}, workspace {round}"));
    }
}

#[test]
fn killed_at_125_random_points_files_are_whole_and_everything_can_be_taken_back() {
    kill_many(11);
}

#[test]
fn killed_at_125_other_points_files_are_whole_and_everything_can_be_taken_back() {
    kill_many(1_234_567);
}

#[test]
fn killed_at_125_more_points_files_are_whole_and_everything_can_be_taken_back() {
    kill_many(77_777);
}

#[test]
fn killed_at_125_last_points_files_are_whole_and_everything_can_be_taken_back() {
    kill_many(900_001);
}
