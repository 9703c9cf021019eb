//! Keeps the ground of a worker: puts the worker on a fresh one for each call, and removes it afterwards.
//!
//! It is a process beside the watcher. Mounting needs rights that the watcher gives up, because the watcher acts for the
//! command when it renames folders. The keeper does nothing for the command, only what haft asks over a separate socket.
//!
//! When it removes a ground, nothing may be left that could change it. So it ends whatever the call has started. It does
//! not release a layer that the worker still holds open for writing, so the worker ends.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::descriptors;
use super::enter::Grounds;
use super::leave;
use super::line::{nothing, own_pid};
use super::watch::ProcessScope;
use crate::running::orders::{GroundOrder, GroundReport};
use crate::running::{process_list, wire};

/// How long all that was killed may take to end.
const TO_DIE: Duration = Duration::from_millis(700);
/// How long the keeper waits before it looks again at a process that it cannot wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The processes and the grounds that a keeper looks after.
pub(super) struct KeeperSetup {
    tree: ProcessScope,
    /// From what grounds are made; nothing where the worker is on the same one all the time.
    grounds: Option<Grounds>,
}

impl KeeperSetup {
    /// Nothing but who belongs to the worker.
    pub(super) fn nothing(tree: ProcessScope) -> Self {
        Self { tree, grounds: None }
    }

    /// Grounds in a namespace of its own.
    pub(super) fn grounds(grounds: Option<Grounds>) -> Self {
        Self { tree: ProcessScope::Namespace, grounds }
    }
}

/// Starts the one who keeps the ground.
pub(super) fn start(socket: OwnedFd, kept: KeeperSetup) -> io::Result<Pid> {
    let watcher = own_pid();
    // SAFETY: this process has one thread, so the child may do whatever the parent may.
    #[allow(unsafe_code)]
    match unsafe { libc::fork() } {
        0 => Keeper { socket, kept, watcher }.keep(),
        pid => Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error),
    }
}

struct Keeper {
    socket: OwnedFd,
    kept: KeeperSetup,
    watcher: i32,
}

impl Keeper {
    fn keep(mut self) -> ! {
        if self.let_go_of_the_rest().is_err() {
            leave(0)
        }
        loop {
            let Ok((order, descriptors)) = wire::receive_orders(&self.socket) else { leave(0) };
            let report = match order {
                GroundOrder::Enter(roots) => self.enter(&roots, descriptors),
                GroundOrder::Leave(worker) => self.shut(worker),
            };
            let Ok(mut text) = serde_json::to_vec(&report) else { leave(0) };
            text.push(b'\n');
            if wire::send_all(&self.socket, &text).is_err() {
                leave(0)
            }
            // No process waits for this: a shut ground cannot change, and is gone before the next order is read.
            if matches!(report, GroundReport::Left(_)) && self.take_away().is_err() {
                leave(0)
            }
        }
    }

    /// Closes what belongs to the watcher and to the worker: haft sees their ends only if no other process holds them.
    fn let_go_of_the_rest(&self) -> io::Result<()> {
        let null = nothing()?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        drop(null);
        let mut open: Vec<RawFd> = self.kept.grounds.iter().flat_map(Grounds::descriptors).collect();
        open.push(self.socket.as_raw_fd());
        open.sort_unstable();
        let mut next = 3;
        for number in open.into_iter().map(RawFd::cast_unsigned).chain([u32::MAX]) {
            if next < number {
                descriptors::close_between(next, number.saturating_sub(1))?;
            }
            next = number.saturating_add(1);
        }
        Ok(())
    }

    fn enter(&mut self, roots: &[crate::running::orders::VisibleRoot], descriptors: Vec<OwnedFd>) -> GroundReport {
        match &mut self.kept.grounds {
            Some(grounds) => {
                grounds.change(roots, descriptors).map_or_else(GroundReport::from, |()| GroundReport::Entered)
            }
            None => GroundReport::Entered,
        }
    }

    fn shut(&mut self, worker: i32) -> GroundReport {
        let Some(left_behind) = self.end_others(worker) else {
            return GroundReport::Held("processes that it started do not end although they were killed".into());
        };
        match self.kept.grounds.as_ref().map(Grounds::shut) {
            Some(Err(error)) => GroundReport::Held(match error.raw_os_error() {
                Some(libc::EBUSY) => "it keeps a file of the workspace open for writing".into(),
                _ => format!("its workspace cannot be unmounted: {error}"),
            }),
            None | Some(Ok(())) => GroundReport::Left(left_behind),
        }
    }

    fn take_away(&mut self) -> io::Result<()> {
        self.kept.grounds.as_mut().map_or(Ok(()), Grounds::take_away)
    }

    /// Ends everybody but the worker; returns how many there were, or nothing when they do not end.
    fn end_others(&self, worker: i32) -> Option<usize> {
        let until = Instant::now() + TO_DIE;
        let mut left_behind = None;
        loop {
            let others = self.others(worker);
            let living = others.iter().filter(|other| !other.has_ended).count();
            let count = *left_behind.get_or_insert(living);
            // A process that has ended may have threads that still run: a descriptor tells.
            let at_work: Vec<AtWork> = others.iter().filter_map(AtWork::of).collect();
            if at_work.is_empty() {
                return Some(count);
            }
            for process in &at_work {
                let _ = kill_process(process.pid, Signal::KILL);
            }
            for process in &at_work {
                process.wait(until.saturating_duration_since(Instant::now()));
            }
            // The next round finds processes that were forked meanwhile.
            if Instant::now() >= until {
                return None;
            }
        }
    }

    fn others(&self, worker: i32) -> Vec<process_list::ProcessEntry> {
        let known = [own_pid(), self.watcher, worker];
        let is_other = |pid: i32| !known.contains(&pid);
        match self.kept.tree {
            ProcessScope::Namespace => process_list::some(is_other),
            ProcessScope::Descendants => {
                process_list::descendants_of(self.watcher).into_iter().filter(|one| is_other(one.pid)).collect()
            }
        }
    }
}

/// A process that has not ended.
struct AtWork {
    pid: Pid,
    /// Readable when it has ended; nothing where the kernel has no such descriptors.
    descriptor: Option<OwnedFd>,
}

impl AtWork {
    fn of(running: &process_list::ProcessEntry) -> Option<Self> {
        let pid = Pid::from_raw(running.pid)?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => (!has_ended(&process, Duration::ZERO)).then_some(Self { pid, descriptor: Some(process) }),
            Err(Errno::NOSYS | Errno::PERM) => running.is_at_work().then_some(Self { pid, descriptor: None }),
            Err(_) => None,
        }
    }

    fn wait(&self, most: Duration) {
        match &self.descriptor {
            Some(process) => drop(has_ended(process, most)),
            // The caller looks again.
            None => drop(poll(&mut [], Timespec::try_from(most.min(LOOK_AGAIN)).ok().as_ref())),
        }
    }
}

fn has_ended(process: &OwnedFd, most: Duration) -> bool {
    let mut polled = [PollFd::new(process, PollFlags::IN)];
    let most = Timespec::try_from(most).unwrap_or_default();
    matches!(poll(&mut polled, Some(&most)), Ok(1..))
}
