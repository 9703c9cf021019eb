//! Recognises the process of another agent later, from another process of haft.
//!
//! A process number is not enough: the system reuses it for a new process some day. The start time of the process is.

use std::fs::File;
use std::io::Read;

use serde::{Deserialize, Serialize};

/// The process of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcess {
    /// Its number.
    pub pid: i32,
    /// When it started, in ticks since the system did.
    started: u64,
}

/// Programs between an agent and its hook.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ash", "busybox"];

/// What started within this time before a process, in ticks of 10 ms, was started for it.
const JUST_NOW: u64 = 30;

/// Longest `stat` of a process: a name of 16 letters and some fifty numbers.
const LONGEST_STAT: usize = 1024;

impl AgentProcess {
    /// Returns the process with this number; nothing if there is none.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self { pid, started: Stat::of(pid)?.started })
    }

    /// Returns the nearest process above this one that ran before it: neither a shell nor another program that was started
    /// for this one.
    pub fn above_this() -> Option<Self> {
        let this = Stat::of(i32::try_from(std::process::id()).ok()?)?;
        let mut pid = this.parent;
        loop {
            let stat = Stat::of(pid).filter(|_| pid > 1)?;
            if !SHELLS.contains(&stat.name.as_str()) && stat.started + JUST_NOW <= this.started {
                return Some(Self { pid, started: stat.started });
            }
            pid = stat.parent;
        }
    }

    /// Returns whether the process still runs.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

struct Stat {
    name: String,
    parent: i32,
    started: u64,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        // One call reads the line, which has no length before it is read.
        let mut room = [0; LONGEST_STAT];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut room).ok()?;
        let text = str::from_utf8(&room[..length]).ok()?;
        // The name is in parentheses, and may contain anything.
        let (head, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // A process that has ended and was not waited for does nothing any more.
        let is_dead = matches!(fields.first(), Some(&("Z" | "X")));
        let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        (!is_dead).then(|| Self { name: head.split_once('(').unwrap_or_default().1.to_owned(), parent, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_start() {
        let this = AgentProcess::of(i32::try_from(std::process::id()).expect("a number")).expect("it runs");
        assert!(this.is_alive());
        assert!(!AgentProcess { started: this.started + 1, ..this }.is_alive());
        assert_eq!(AgentProcess::of(i32::MAX), None);
    }
}
