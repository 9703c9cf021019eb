//! Finds the processes that run, from /proc.
//!
//! The system may give a number to another process between looking and signalling. So haft signals a descriptor of the
//! process, after it has compared the start time.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// A process that was found in /proc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: i32,
    /// Whether it has ended and no process has asked for its status yet. A process whose first thread has ended looks the
    /// same while its other threads run, so haft also kills such a process.
    pub(crate) has_ended: bool,
    /// Whether it is git, which tidies up in the background after a commit.
    pub(crate) is_git: bool,
    parent: i32,
    started: u64,
}

impl ProcessEntry {
    fn of(pid: i32) -> Option<Self> {
        // The name of the program stands in parentheses and may hold anything, also parentheses.
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let rest = String::from_utf8_lossy(&stat[after_name..]);
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let is_git = stat[..after_name].ends_with(b"(git)");
        let has_ended = matches!(*fields.first()?, "Z" | "X" | "x");
        Some(Self {
            pid,
            has_ended,
            is_git,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// Sends it a signal, if it is still there.
    pub(crate) fn signal(self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Some(descriptor),
            // Without descriptors of processes there is only the number, which is compared right before.
            Err(Errno::NOSYS | Errno::PERM) => None,
            Err(_) => return,
        };
        if Self::of(self.pid).is_some_and(|now| now.started == self.started) {
            let _ = match descriptor {
                Some(descriptor) => pidfd_send_signal(descriptor, signal),
                None => kill_process(pid, signal),
            };
        }
    }

    /// Returns whether it, or a thread of it, has not ended.
    pub(crate) fn is_at_work(self) -> bool {
        let threads = || std::fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten().count();
        !self.has_ended || threads() > 1
    }

    /// Returns whether it was started with this in its environment.
    pub(crate) fn has_in_environment(self, setting: &OsStr) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| pair == setting.as_bytes())
    }
}

/// Finds all processes that can be seen.
pub(crate) fn all() -> Vec<ProcessEntry> {
    some(|_| true)
}

/// Finds all processes that can be seen and have such a number.
pub(crate) fn some(is_wanted: impl Fn(i32) -> bool) -> Vec<ProcessEntry> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_wanted(*pid)).filter_map(ProcessEntry::of).collect()
}

/// Finds all processes that descend from one.
pub(crate) fn descendants_of(ancestor: i32) -> Vec<ProcessEntry> {
    let all = all();
    let parents: HashMap<i32, i32> = all.iter().map(|running| (running.pid, running.parent)).collect();
    let descends = |running: &ProcessEntry| {
        let mut parent = running.parent;
        // Numbers are not given twice at a time, so this ends; the bound is against a list that changed while it was read.
        for _ in 0..=parents.len() {
            if parent == ancestor {
                return true;
            }
            match parents.get(&parent) {
                Some(next) => parent = *next,
                None => return false,
            }
        }
        false
    };
    all.iter().copied().filter(descends).collect()
}
