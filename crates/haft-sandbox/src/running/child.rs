//! A child process of haft, until haft has asked for its status.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, pidfd_send_signal, waitid,
};

/// A child of ours.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// Readable when it has ended.
    pub(crate) descriptor: OwnedFd,
    pub(crate) is_gone: bool,
    /// Whether the descriptor is one of the process itself.
    is_pidfd: bool,
}

impl Process {
    /// Takes a child by its number, which is its own until we ask for its status.
    pub(crate) fn child(pid: Pid) -> io::Result<Self> {
        let (descriptor, is_pidfd) = match pidfd_open(pid, PidfdFlags::empty()) {
            // Old kernels do not have them, and filters of old containers refuse them.
            Err(Errno::NOSYS | Errno::PERM) => (end_of(pid)?, false),
            opened => (opened?, true),
        };
        Ok(Self { pid, descriptor, is_gone: false, is_pidfd })
    }

    /// Kills a child for which there is no descriptor, and waits for its end.
    pub(crate) fn end_by_number(pid: Pid) {
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | all_kinds());
    }

    /// Asks for its status, if it has ended.
    pub(crate) fn look(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | all_kinds();
        if !self.is_gone {
            // An error means that another part of this program has already asked for its status: it is gone as well.
            let id = if self.is_pidfd { WaitId::PidFd(self.descriptor.as_fd()) } else { WaitId::Pid(self.pid) };
            self.is_gone = !matches!(waitid(id, options), Ok(None) | Err(Errno::INTR));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if !self.is_gone {
            // The number is its own until its status is asked for.
            let _ = match self.is_pidfd {
                true => pidfd_send_signal(&self.descriptor, signal),
                false => kill_process(self.pid, signal),
            };
        }
    }
}

/// Returns a descriptor that ends with a child: a thread waits for it, and leaves its status to be asked for.
fn end_of(pid: Pid) -> io::Result<OwnedFd> {
    let (ended, held) = pipe_with(PipeFlags::CLOEXEC)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | all_kinds();
    std::thread::Builder::new().name("haft-waits".into()).spawn(move || {
        while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        drop(held);
    })?;
    Ok(ended)
}

/// Pid 1 of a namespace was made without an exit signal, and is waited for only in this way.
fn all_kinds() -> WaitIdOptions {
    WaitIdOptions::from_bits_retain(libc::__WALL.cast_unsigned())
}
