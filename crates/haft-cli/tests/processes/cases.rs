//! Forty ways of ending, and of not ending.

use std::time::{Duration, Instant};

use haft_contract::doors::process::{ConfinementLevel, HowEnded};

use crate::house::{House, alone};

/// A script, its seconds, how it ends, how many it leaves behind, and what it prints.
struct Case {
    rule: &'static str,
    script: &'static str,
    seconds: f64,
    how: HowEnded,
    left_behind: Left,
    prints: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Left {
    Exactly(usize),
    Any,
}

use HowEnded::{Exited, Killed, TimedOut};
use Left::{Any, Exactly};

const fn case(rule: &'static str, seconds: f64, script: &'static str, how: HowEnded) -> Case {
    Case { rule, script, seconds, how, left_behind: Any, prints: None }
}

impl Case {
    const fn leaves(self, processes: usize) -> Self {
        Self { left_behind: Exactly(processes), ..self }
    }

    const fn prints(self, text: &'static str) -> Self {
        Self { prints: Some(text), ..self }
    }
}

#[rustfmt::skip]
const CASES: [Case; 44] = [
    case("it ends by itself", 10.0, "echo hello", Exited(0)).leaves(0).prints("hello\n"),
    case("nothing to do is done at once", 10.0, "", Exited(0)).leaves(0).prints(""),
    case("its status is its own", 10.0, "exit 7", Exited(7)).leaves(0),
    case("255 is a status", 10.0, "exit 255", Exited(255)),
    case("a program that is missing is the shell's matter", 10.0, "no-such-program 2>/dev/null", Exited(127)),
    case("a signal to itself is named", 10.0, "kill -TERM $$", Killed(15)),
    case("kill -9 to itself is named", 10.0, "kill -9 $$", Killed(9)),
    case("a crash is named", 10.0, "ulimit -c 0; kill -SEGV $$", Killed(11)),
    case("a closed pipe is a signal", 10.0, "set -o pipefail; yes | head -1", Exited(141)).prints("y\n"),
    case("its time ends", 0.2, "sleep 1000", TimedOut),
    case("its time ends although another program took its place", 0.2, "exec sleep 1000", TimedOut),
    case("what it printed before is kept", 0.3, "echo before; sleep 1000", TimedOut).prints("before\n"),
    case("it may say goodbye", 0.2, "trap 'echo bye; exit 0' TERM; sleep 1000 & wait", TimedOut).prints("bye\n"),
    case("it ends although it ignores being asked", 0.2, "trap '' TERM INT HUP; while :; do sleep 1000; done", TimedOut),
    case("it ends although it stopped itself", 0.2, "kill -STOP $$", TimedOut),
    case("it ends although its child is stopped", 0.2, "sleep 1000 & kill -STOP $!; wait", TimedOut),
    case("a stopped child that ignores being asked ends", 0.2, "(trap '' TERM; kill -STOP $BASHPID) & wait; sleep 1000", TimedOut),
    case("a background process ends with it", 10.0, "sleep 1000 & exit 0", Exited(0)).leaves(1),
    case("double forks end with it", 10.0, "( ( sleep 1000 & ) & ); exit 0", Exited(0)),
    case("sessions of their own end with it", 10.0, "setsid sleep 1000 & exit 3", Exited(3)),
    case("a session within a session ends", 0.4, "setsid bash -c 'setsid sleep 1000 & wait' & wait", TimedOut),
    case("nohup does not help", 10.0, "nohup sleep 1000 >/dev/null 2>&1 & exit 0", Exited(0)).leaves(1),
    case("disown does not help", 10.0, "sleep 1000 & disown; exit 0", Exited(0)).leaves(1),
    case("job control does not help", 10.0, "set -m; sleep 1000 & sleep 1000 & exit 0", Exited(0)).leaves(2),
    case("a daemon that closes everything ends", 10.0, "setsid bash -c 'exec 0<&- 1>&- 2>&-; trap \"\" TERM HUP; while :; do sleep 0.1; done' & exit 0", Exited(0)),
    case("a daemon that clears its environment ends", 10.0, "env -i setsid /bin/sleep 1000 & exit 0", Exited(0)),
    case("a grandchild that holds the output does not hold the call", 10.0, "sleep 1000 2>/dev/null & echo done", Exited(0)).leaves(1).prints("done\n"),
    case("a grandchild that holds the errors does not hold the call", 10.0, "sleep 1000 >/dev/null & echo done", Exited(0)).leaves(1).prints("done\n"),
    case("a grandchild that prints for ever does not hold the call", 10.0, "(trap '' TERM; while :; do echo x; done) & exit 0", Exited(0)),
    case("a co-process ends", 10.0, "coproc cat; exit 0", Exited(0)),
    case("50 processes end", 10.0, "for i in {1..50}; do sleep 1000 & done; exit 0", Exited(0)).leaves(50),
    case("50 stubborn processes end", 1.0, "for i in {1..50}; do (trap '' TERM; setsid sleep 1000) & done; wait", TimedOut),
    case("500 processes end", 20.0, "for i in {1..500}; do sleep 1000 & done; exit 0", Exited(0)).leaves(500),
    case("who forks while dying ends", 0.3, "for i in {1..5}; do bash -c 'trap \"setsid sleep 1000 & setsid sleep 1000 &\" TERM; while :; do sleep 0.01; done' & done; wait", TimedOut),
    case("a chain of processes ends", 10.0, "next() { sleep 0.01; next & }; next & exit 0", Exited(0)),
    case("children that nobody waits for are no matter", 0.3, "for i in {1..20}; do sleep 0 & done; exec sleep 1000", TimedOut),
    case("who reads gets nothing", 10.0, "read line; echo $?; cat; wc -c < /dev/stdin", Exited(0)).prints("1\n0\n"),
    case("there is no terminal", 10.0, "(echo x > /dev/tty) 2>/dev/null || exit 5", Exited(5)),
    case("a password cannot be asked for", 10.0, "read -s -p 'Password: ' word < /dev/tty 2>/dev/null || exit 5", Exited(5)),
    case("its streams have names", 10.0, "echo 1 > /dev/stdout; echo 2 | tee /dev/stderr; echo 3 > /proc/self/fd/1", Exited(0)).prints("1\n2\n3\n"),
    case("closed streams are no end", 10.0, "exec 1>&- 2>&-; sleep 0.1; exit 4", Exited(4)),
    case("its watcher does not end when it is asked to", 10.0, "kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; exit 6", Exited(6)),
    case("it has no descriptors but three", 10.0, "ls /proc/self/fd | wc -l", Exited(0)).prints("4\n"),
    case("its mask, its signals and its umask are the usual ones", 10.0, "umask; exec grep -hoE '^Sig(Blk|Ign).*' /proc/self/status", Exited(0)).prints("0022\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"),
];

#[test]
fn every_case_ends_in_its_time_and_leaves_nobody_in_the_full_sandbox() {
    let _alone = alone();
    check_all(ConfinementLevel::Full);
}

#[test]
fn every_case_ends_in_its_time_and_leaves_nobody_without_namespaces() {
    let _alone = alone();
    check_all(ConfinementLevel::Partial);
}

#[test]
fn every_case_ends_in_its_time_and_leaves_nobody_without_sandbox() {
    let _alone = alone();
    check_all(ConfinementLevel::None);
}

fn check_all(level: ConfinementLevel) {
    let house = House::at(level);
    if !house.reaches(level) {
        return;
    }
    let mut beyond: Vec<Duration> = CASES.iter().map(|case| check(case, level, &house)).collect();
    beyond.sort();
    println!("{level}: {} cases, median {:?} over the time", CASES.len(), beyond[beyond.len() / 2]);
}

/// Runs a case; returns how much longer it took than it may, or than it needs.
fn check(case: &Case, level: ConfinementLevel, house: &House) -> Duration {
    let began = Instant::now();
    let outcome = house.run(case.script, case.seconds);
    let (rule, ended) = (case.rule, outcome.ended());
    println!("{level}: {rule}: {:?} {:?} left {}", began.elapsed(), ended.how, ended.left_behind);
    assert_eq!(ended.how, case.how, "{level}: {rule}: {}", String::from_utf8_lossy(&outcome.err));
    assert_eq!(ended.level, level, "{rule}");
    if let Exactly(processes) = case.left_behind {
        assert_eq!(ended.left_behind, processes, "{level}: {rule}");
    }
    if let Some(text) = case.prints {
        assert_eq!(outcome.text(), text, "{level}: {rule}");
    }
    match case.how {
        TimedOut => outcome.took.saturating_sub(Duration::from_secs_f64(case.seconds)),
        _ => outcome.took,
    }
}
