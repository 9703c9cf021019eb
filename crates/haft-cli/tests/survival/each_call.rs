//! Fails every single system call of a change and of an undo, one after another, and kills the command at each.
//!
//! Where `strace` is not there or may not trace, these tests say so: the random kills and the limits of file size
//! are tried everywhere.

use std::path::Path;

use haft_testkit::require::Need;
use haft_workspace::history::{HistoryError, UndoSelection};
use serde_json::Value;

use crate::place::{Place, Tree, lines, write};

/// No command makes more calls of one kind than this in one thread.
const MOST: usize = 80;
/// Calls that change something, or that a change cannot do without.
const CHANGING: [&str; 9] =
    ["renameat2", "rename", "fsync", "fdatasync", "unlinkat", "mkdirat", "fchmod", "flock", "write"];
/// Of these, those that fail. Threads wake each other by writing: full disks are tried elsewhere (`disk`).
const FAILING: [&str; 8] = ["renameat2", "rename", "fsync", "fdatasync", "unlinkat", "mkdirat", "fchmod", "flock"];

/// What is done to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Error(&'static str),
    /// This call and all of its kind behind it: taking back what was done fails too.
    ErrorFrom(&'static str),
    Kill,
}

impl Fault {
    fn is_lasting(self) -> bool {
        matches!(self, Fault::ErrorFrom(_))
    }
}

/// What is run. One call alone, so that one thread makes all its system calls and every one has its number.
enum Command {
    Call(Value),
    Undo,
}

/// A workspace with something to change, as it is before and after the change.
struct Ground {
    place: Place,
    calls: Vec<Value>,
    beginning: Tree,
    changed: Tree,
}

impl Ground {
    /// Returns a workspace, unless tracing is not allowed here.
    fn new() -> Option<Self> {
        Self::with(calls().to_vec())
    }

    /// Returns a workspace in which these calls change something.
    fn with(calls: Vec<Value>) -> Option<Self> {
        let place = Place::new();
        let may_trace = std::process::Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).output();
        if !Need::Strace.met(may_trace.is_ok_and(|output| output.status.success())) {
            return None;
        }
        place.put("big.txt", &"old line\n".repeat(9_000));
        place.put("small.txt", "old\n");
        (0..8).for_each(|number| place.put(&format!("many/{number}"), "old\n"));
        place.put(".git/HEAD", "ref: refs/heads/main\n");
        place.put(".gitignore", "build\n");
        place.put("build/a.o", "old\n");
        place.put("build/deep/b.o", "old\n");
        let beginning = place.tree();
        place.call(&[], &calls);
        let changed = place.tree();
        let ground = Self { place, calls, beginning, changed };
        ground.take_all_back("at first");
        Some(ground)
    }

    /// Runs the command with a fault in the call of this kind that has this number; returns whether the fault struck,
    /// and the exit code and the records.
    fn run(&self, (fault, call, number): (Fault, &str, usize), command: Command) -> (bool, Option<i32>, Vec<Value>) {
        let log = self.place.root().join("strace.log");
        let what = match fault {
            Fault::Error(name) => format!("inject={call}:error={name}:when={number}"),
            Fault::ErrorFrom(name) => format!("inject={call}:error={name}:when={number}+"),
            Fault::Kill => format!("inject={call}:signal=KILL:when={number}"),
        };
        let (trace, log_text) = (format!("trace={call}"), log.display().to_string());
        let around = ["strace", "-f", "-qq", "-o", &log_text, "-e", &trace, "-e", &what];
        let output = match command {
            Command::Undo => self.place.run_around(&around, &["--json", "undo", "--session"], ""),
            Command::Call(call) => self.place.run_around(&around, &["--yes", "call", "-"], &lines(&[call])),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let records = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let struck = match fault {
            // Who traces ends as the traced process does; haft itself kills what it has started.
            Fault::Kill => output.status.code().is_none(),
            Fault::Error(_) | Fault::ErrorFrom(_) => is_injected(&log),
        };
        (struck, output.status.code(), records)
    }

    /// Makes sure that what was told is true, and takes it back.
    fn check_write(&self, (fault, call): (Fault, &str), name: &str, records: &[Value]) {
        let what = format!("{call}, {name}: {records:?}");
        let (tree, path) = (self.place.tree(), self.place.path(name));
        for record in records {
            let wanted = if record["did"] == "changed" { &self.changed } else { &self.beginning };
            assert!(tree.get(&path) == wanted.get(&path), "{what}");
            assert!(record["status"] == "ok" || record["did"] == "nothing" || fault.is_lasting(), "{what}");
        }
        if fault != Fault::Kill {
            self.clear_leftovers(call, &what);
        }
        self.take_all_back(&what);
        self.place.leftovers().iter().for_each(|path| drop(std::fs::remove_file(path)));
    }

    fn take_all_back(&self, what: &str) {
        loop {
            match self.place.history().undo(UndoSelection::Newest, None) {
                Ok(_) => {}
                Err(HistoryError::NothingLeft) => break,
                Err(error) => panic!("{what}: {error}"),
            }
        }
        assert_same(&self.place.tree(), &self.beginning, what);
    }

    /// Where removing itself failed, something is left over; everywhere else nothing is.
    fn clear_leftovers(&self, call: &str, what: &str) {
        let left = self.place.leftovers();
        assert!(left.is_empty() || call == "unlinkat", "{what}: {left:?}");
        left.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

fn is_injected(log: &Path) -> bool {
    std::fs::read_to_string(log).unwrap_or_default().contains("(INJECTED)")
}

const NAMES: [&str; 3] = ["big.txt", "small.txt", "new/deep/f.txt"];

fn calls() -> [Value; 3] {
    let big = format!("new line\n{}", "old line\n".repeat(9_000));
    [write(NAMES[0], &big), write(NAMES[1], "new\n"), write(NAMES[2], "made\n")]
}

fn assert_same(tree: &Tree, wanted: &Tree, what: &str) {
    let all = tree.keys().chain(wanted.keys());
    let differing: Vec<_> = all.filter(|path| tree.get(*path) != wanted.get(*path)).collect();
    assert!(differing.is_empty(), "{what}: {differing:?}");
}

/// Fails or kills at every call of these kinds while something is written, and makes sure of the outcome.
fn strike_writes(fault: Fault, kinds: &[&str]) -> usize {
    let Some(ground) = Ground::new() else { return 0 };
    let mut strikes = 0;
    for (write, name) in calls().iter().zip(NAMES) {
        for call in kinds {
            for number in 1..MOST {
                let (struck, _, records) = ground.run((fault, call, number), Command::Call(write.clone()));
                if struck {
                    strikes += 1;
                }
                ground.check_write((fault, call), name, &records);
                if !struck {
                    break;
                }
            }
        }
    }
    strikes
}

/// Fails or kills at every call of these kinds while everything is taken back.
fn strike_undo(fault: Fault, kinds: &[&str]) -> usize {
    Ground::new().map_or(0, |ground| ground.strike_undo(fault, kinds, 1))
}

/// The same for many files, which are synced together; some calls are enough.
fn strike_large_undo(fault: Fault) -> usize {
    let name =
        |number: usize| if number < 8 { format!("many/{number}") } else { format!("new/{}/{number}", number % 3) };
    let calls = (0..17).map(|number| write(&name(number), "new\n")).collect();
    let kinds = ["renameat2", "renameat", "syncfs", "fsync", "fdatasync", "unlinkat"];
    Ground::with(calls).map_or(0, |ground| ground.strike_undo(fault, &kinds, 13))
}

/// The same for ignored trees, which are exchanged by rename.
fn strike_tree_undo(fault: Fault) -> usize {
    let command =
        "echo new > build/a.o; rm build/deep/b.o; mkdir build/new; echo n > build/new/n; echo new > small.txt";
    let call = serde_json::json!({ "name": "bash", "arguments": { "command": command } });
    let kinds = ["renameat2", "fsync", "fdatasync", "unlinkat", "mkdirat", "fchmod", "utimensat"];
    Ground::with(vec![call]).map_or(0, |ground| ground.strike_undo(fault, &kinds, 1))
}

#[test]
fn an_undo_in_a_build_folder_killed_anywhere_is_done_or_not_and_can_be_done_again() {
    let strikes = strike_tree_undo(Fault::Kill);
    assert!(strikes == 0 || strikes > 8, "{strikes}");
}

#[test]
fn an_undo_in_a_build_folder_in_which_any_call_fails_says_truly_whether_it_was_done() {
    let strikes = strike_tree_undo(Fault::Error("ENOSPC"));
    assert!(strikes == 0 || strikes > 8, "{strikes}");
}

#[test]
fn an_undo_in_a_build_folder_in_which_every_call_from_one_on_fails_says_truly_what_stands() {
    let strikes = strike_tree_undo(Fault::ErrorFrom("EIO"));
    assert!(strikes == 0 || strikes > 8, "{strikes}");
}

impl Ground {
    /// Strikes at every `step`-th call of these kinds.
    fn strike_undo(&self, fault: Fault, kinds: &[&str], step: usize) -> usize {
        let mut strikes = 0;
        for call in kinds {
            for number in (1..MOST).step_by(step) {
                self.place.call(&[], &self.calls);
                let (struck, code, records) = self.run((fault, call, number), Command::Undo);
                let what = format!("{call} {number}: {records:?}");
                if fault != Fault::Kill {
                    self.clear_leftovers(call, &what);
                }
                match code {
                    Some(0) => assert_same(&self.place.tree(), &self.beginning, &what),
                    Some(1) if fault.is_lasting() && what.contains("it remains as change set") => {}
                    Some(1) => assert_same(&self.place.tree(), &self.changed, &what),
                    _ => assert!(fault == Fault::Kill, "{what}: exit {code:?}"),
                }
                self.take_all_back(&what);
                self.place.leftovers().iter().for_each(|path| drop(std::fs::remove_file(path)));
                if !struck {
                    break;
                }
                strikes += 1;
            }
        }
        strikes
    }
}

#[test]
fn a_large_undo_killed_anywhere_is_done_or_not_and_can_be_done_again() {
    let strikes = strike_large_undo(Fault::Kill);
    assert!(strikes == 0 || strikes > 3, "{strikes}");
}

#[test]
fn a_large_undo_in_which_any_call_fails_says_truly_whether_it_was_done() {
    let strikes = strike_large_undo(Fault::Error("EIO"));
    assert!(strikes == 0 || strikes > 3, "{strikes}");
}

#[test]
fn a_large_undo_in_which_every_call_from_one_on_fails_says_truly_what_stands() {
    let strikes = strike_large_undo(Fault::ErrorFrom("EIO"));
    assert!(strikes == 0 || strikes > 3, "{strikes}");
}

#[test]
fn a_write_killed_at_any_call_is_done_or_not_and_can_be_taken_back() {
    let strikes = strike_writes(Fault::Kill, &CHANGING);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}

#[test]
fn an_undo_killed_at_any_call_is_done_or_not_and_can_be_done_again() {
    let strikes = strike_undo(Fault::Kill, &CHANGING);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}

#[test]
fn a_write_in_which_any_call_fails_says_truly_whether_it_was_done() {
    let strikes = strike_writes(Fault::Error("EIO"), &FAILING) + strike_writes(Fault::Error("ENOSPC"), &["mkdirat"]);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}

#[test]
fn an_undo_in_which_any_call_fails_says_truly_whether_it_was_done() {
    let strikes = strike_undo(Fault::Error("EIO"), &FAILING) + strike_undo(Fault::Error("EDQUOT"), &["fsync"]);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}

#[test]
fn a_write_in_which_every_call_from_one_on_fails_says_truly_what_stands() {
    let strikes =
        strike_writes(Fault::ErrorFrom("EIO"), &FAILING) + strike_writes(Fault::ErrorFrom("ENOSPC"), &["fsync"]);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}

#[test]
fn an_undo_in_which_every_call_from_one_on_fails_says_truly_what_stands() {
    let strikes = strike_undo(Fault::ErrorFrom("EIO"), &FAILING);
    assert!(strikes == 0 || strikes > 20, "{strikes}");
}
