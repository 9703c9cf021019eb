//! haft is killed while a command runs: nothing of the command is left, neither processes nor half of its changes.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;

use crate::place::{Place, lines};

/// Ignores being asked to end, in sessions of their own, stopped, and doubly forked.
const STUBBORN: &str = "trap '' TERM INT HUP; echo half > kept.txt; rm gone.txt
for i in {1..10}; do
    (setsid sleep 1000) & (trap '' TERM; kill -STOP $BASHPID) & ( ( sleep 1000 & ) & )
done
wait; sleep 1000";
const PROCESSES: usize = 30;
/// How long the command may take to start all its processes, on a machine that has much else to do.
const TO_START: Duration = Duration::from_secs(30);

/// Returns all processes that descend from one.
fn descendants(ancestor: u32) -> BTreeSet<i32> {
    let all = std::fs::read_dir("/proc").expect("it is there").flatten();
    let parents: HashMap<i32, i32> = all
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let parent = stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, parent))
        })
        .collect();
    let mut found = BTreeSet::from([i32::try_from(ancestor).expect("numbers of processes are small")]);
    loop {
        let more = parents.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid);
        let all: BTreeSet<i32> = found.iter().copied().chain(more).collect();
        if all.len() == found.len() {
            return all;
        }
        found = all;
    }
}

/// Returns a descriptor of each process that descends from one, as soon as there are so many.
fn when_there_are(many: usize, ancestor: u32) -> Vec<OwnedFd> {
    let (_keep, never) = channel::<()>();
    let until = Instant::now() + TO_START;
    loop {
        let pids = descendants(ancestor);
        if pids.len() > many {
            let open = |pid: &i32| pidfd_open(Pid::from_raw(*pid)?, PidfdFlags::empty()).ok();
            return pids.iter().filter_map(open).collect();
        }
        assert!(Instant::now() < until, "there are only {}", pids.len());
        assert_eq!(never.recv_timeout(Duration::from_millis(10)), Err(RecvTimeoutError::Timeout));
    }
}

#[test]
fn when_haft_is_killed_nothing_of_a_command_is_left() {
    let place = Place::new();
    place.put("kept.txt", "whole\n");
    place.put("gone.txt", "still here\n");
    let before = place.tree();
    let mut haft = place.haft(&[], &["--yes", "call", "-"]).spawn().expect("it can be started");
    let mut stdin = haft.stdin.take().expect("it is piped");
    let call = lines(&[json!({ "name": "bash", "arguments": { "command": STUBBORN, "timeout": 60 } })]);
    std::io::Write::write_all(&mut stdin, call.as_bytes()).expect("it reads");

    let processes = when_there_are(PROCESSES, haft.id());
    haft.kill().expect("it runs");
    let killed = Instant::now();
    haft.wait().expect("it was killed");

    for process in &processes {
        let left = Duration::from_millis(1500).saturating_sub(killed.elapsed());
        let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        let left = Timespec::try_from(left).expect("it is short");
        assert_eq!(poll(&mut polled, Some(&left)), Ok(1), "a process is alive 1.5 s later");
    }
    // The next command cleans up, and the call after that works.
    assert!(place.run(&["log"]).status.success());
    assert!(place.tree() == before, "something of the command's changes is there");
    let record = &place.call(&[], &[json!({ "name": "bash", "arguments": { "command": "cat kept.txt gone.txt" } })])[0];
    assert_eq!(record["status"], "ok", "{record}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}
