//! Connects the launcher to haft: the launcher's end of the line.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::{RecvFlags, recv};
use serde::Serialize;

use crate::running::orders::{ASK_TO_END, LEND_SOCKETS, LauncherReport, Orders, SIGNAL, TERMINAL_READY};
use crate::running::wire;

/// The launcher's end of the line to haft.
#[derive(Debug)]
pub(crate) struct LauncherLine(OwnedFd);

/// A message from haft over the line, or its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LauncherInput {
    /// Nothing yet.
    Nothing,
    /// Everything shall end by itself.
    AskToEnd,
    /// Everything gets this signal.
    Signal(i32),
    /// The terminal is connected, and the command gets hold of it.
    TerminalReady,
    /// haft is gone.
    Gone,
}

impl LauncherLine {
    /// Takes standard input, which is empty afterwards.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        let line = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        rustix::stdio::dup2_stdin(nothing()?)?;
        Ok(Self(line))
    }

    /// Answers with a number.
    pub(super) fn answer(&self, number: i32) {
        let _ = wire::send_all(&self.0, &number.to_le_bytes());
    }

    /// Answers with descriptors.
    pub(super) fn lend(&self, descriptors: &[OwnedFd]) {
        let group: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        let _ = wire::send_with(&self.0, &[LEND_SOCKETS], &group);
    }

    /// Waits for the orders and the descriptors that come with them.
    pub(crate) fn orders(&self) -> io::Result<(Orders, Vec<OwnedFd>)> {
        wire::receive_orders(&self.0)
    }

    /// Tells haft something. Nothing can be done if it does not listen: then it is gone, and that is seen elsewhere.
    pub(crate) fn report(&self, report: &LauncherReport) {
        if let Ok(mut text) = serde_json::to_vec(report) {
            text.push(b'\n');
            let _ = wire::send_all(&self.0, &text);
        }
    }

    /// Tells haft something short that comes with a few descriptors.
    pub(crate) fn report_with(&self, report: &LauncherReport, descriptors: &[OwnedFd]) {
        let group: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        if let Ok(mut text) = serde_json::to_vec(report) {
            text.push(b'\n');
            let _ = wire::send_with(&self.0, &text, &group);
        }
    }

    /// Tells haft something that comes with descriptors.
    pub(super) fn tell(&self, words: &impl Serialize, descriptors: &[OwnedFd]) {
        let _ = wire::send_orders(&self.0, words, descriptors);
    }

    /// Returns what came next over the line, without waiting.
    pub(crate) fn heard(&self) -> LauncherInput {
        self.hear(RecvFlags::DONTWAIT)
    }

    /// Waits for what comes next over the line.
    pub(super) fn awaited(&self) -> LauncherInput {
        self.hear(RecvFlags::empty())
    }

    fn hear(&self, flags: RecvFlags) -> LauncherInput {
        let mut byte = [0; 1];
        match recv(&self.0, &mut byte, flags) {
            Ok((0, _)) => LauncherInput::Gone,
            Ok(_) if byte[0] == ASK_TO_END => LauncherInput::AskToEnd,
            Ok(_) if byte[0] == TERMINAL_READY => LauncherInput::TerminalReady,
            Ok(_) if byte[0] & SIGNAL != 0 => LauncherInput::Signal(i32::from(byte[0] & !SIGNAL)),
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => LauncherInput::Nothing,
            Err(_) => LauncherInput::Gone,
        }
    }
}

impl From<OwnedFd> for LauncherLine {
    fn from(line: OwnedFd) -> Self {
        Self(line)
    }
}

impl AsFd for LauncherLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens the device that has nothing to read and keeps nothing.
pub(super) fn nothing() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Returns the number of this process.
pub(super) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}
