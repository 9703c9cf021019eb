//! A child process of haft's, until its status was asked for.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
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
}

impl Process {
    /// Takes a child by its number, which is its own until we ask for its status.
    pub(crate) fn child(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid, descriptor: pidfd_open(pid, PidfdFlags::empty())?, is_gone: false })
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
            // An error means that somebody else in this program has asked for its status: it is gone as well.
            self.is_gone =
                !matches!(waitid(WaitId::PidFd(self.descriptor.as_fd()), options), Ok(None) | Err(Errno::INTR));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if !self.is_gone {
            let _ = pidfd_send_signal(&self.descriptor, signal);
        }
    }
}

/// Pid 1 of a namespace was made without an exit signal, and is waited for only in this way.
fn all_kinds() -> WaitIdOptions {
    WaitIdOptions::from_bits_retain(libc::__WALL.cast_unsigned())
}
