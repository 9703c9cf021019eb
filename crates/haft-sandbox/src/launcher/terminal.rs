//! Makes the terminal of a command inside the sandbox, so programs find it there by its name.
//!
//! The watcher leads the session of the terminal. So the command has a parent in its session, and the kernel lets the
//! user stop it with Ctrl-Z; a command that led the session itself could not be stopped.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, ioctl_tiocsctty};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::tcsetpgrp;

use super::line::{LauncherInput, LauncherLine};
use crate::running::orders::LauncherReport;

/// The terminal of a command, from the side of its programs.
#[derive(Debug)]
pub(super) struct Terminal {
    end: OwnedFd,
}

impl Terminal {
    /// Makes one, passes its other end to haft and waits until that is connected; nothing when haft is gone.
    pub(super) fn open(line: &LauncherLine) -> io::Result<Option<Self>> {
        let other_end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        unlockpt(&other_end)?;
        let end = ioctl_tiocgptpeer(&other_end, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        line.report_with(&LauncherReport::Terminal, &[other_end]);
        loop {
            match line.awaited() {
                LauncherInput::TerminalReady => break,
                LauncherInput::Gone => return Ok(None),
                // No process exists yet that could get it.
                LauncherInput::Nothing | LauncherInput::AskToEnd | LauncherInput::Signal(_) => {}
            }
        }
        rustix::process::setsid()?;
        ioctl_tiocsctty(&end)?;
        Ok(Some(Self { end }))
    }

    /// Lets a group of processes have it.
    pub(super) fn give_to(&self, group: Pid) {
        // Who is gone needs it no more.
        let _ = tcsetpgrp(&self.end, group);
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}
