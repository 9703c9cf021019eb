//! The user's own terminal, while a command of `haft exec` has another one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};
use tokio::io::unix::AsyncFd;

/// The terminal at which haft was started. Dropping this restores its modes.
pub(crate) struct OwnTerminal {
    terminal: OwnedFd,
    usual: Termios,
    is_raw: bool,
}

/// Says which of the three standard streams are a terminal.
pub(crate) fn which_are_terminals() -> [bool; 3] {
    [isatty(rustix::stdio::stdin()), isatty(rustix::stdio::stdout()), isatty(rustix::stdio::stderr())]
}

impl OwnTerminal {
    /// Finds it among the standard streams; prefers one that can be read and written.
    pub(crate) fn find() -> Option<Self> {
        let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
        let terminals: Vec<BorrowedFd<'_>> = streams.into_iter().filter(|stream| isatty(stream)).collect();
        let is_whole =
            |stream: &&BorrowedFd<'_>| rustix::fs::fcntl_getfl(stream).is_ok_and(|flags| flags.contains(OFlags::RDWR));
        let chosen = terminals.iter().find(is_whole).or(terminals.first())?;
        let usual = tcgetattr(chosen).ok()?;
        Some(Self { terminal: chosen.try_clone_to_owned().ok()?, usual, is_raw: false })
    }

    /// Returns whether this process is in the foreground.
    pub(crate) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.terminal).is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// Passes every key on as it is, or lets the terminal make lines of them again.
    ///
    /// In the background the kernel stops this process until it is in the foreground.
    pub(crate) fn set_raw(&mut self, is_raw: bool) {
        if self.is_raw == is_raw {
            return;
        }
        let mut modes = self.usual.clone();
        if is_raw {
            modes.make_raw();
        }
        self.is_raw = is_raw;
        // A terminal that is gone has no modes.
        let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &modes);
    }

    /// Returns whether keys are passed on as they are.
    pub(crate) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Gives the terminal of a command the size of this one.
    pub(crate) fn size_to(&self, other: impl AsFd) {
        if let Ok(size) = tcgetwinsize(&self.terminal) {
            let _ = tcsetwinsize(other, size);
        }
    }

    /// Gives the terminal of a command the modes of this one.
    pub(crate) fn modes_to(&self, other: impl AsFd) {
        let _ = tcsetattr(other, OptionalActions::Now, &self.usual);
    }

    /// Discards earlier keystrokes.
    pub(crate) fn forget_keys(&self) {
        let _ = tcflush(&self.terminal, QueueSelector::IFlush);
    }

    /// Shows what a command printed.
    pub(crate) fn show(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match rustix::io::write(&self.terminal, bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut polled = [PollFd::new(&self.terminal, PollFlags::OUT)];
                    let _ = poll(&mut polled, None);
                }
                // The terminal is gone.
                Err(_) => return,
            }
        }
    }

    /// Returns its keys.
    pub(crate) fn keys(&self) -> io::Result<KeystrokeReader> {
        let terminal = self.terminal.try_clone()?;
        // SAFETY: the descriptor is owned, and stays open as long as it is registered.
        #[allow(unsafe_code)]
        let terminal = unsafe { AsyncFd::register_with_interest(terminal, tokio::io::Interest::READABLE)? };
        Ok(KeystrokeReader(terminal))
    }
}

impl Drop for OwnTerminal {
    fn drop(&mut self) {
        self.set_raw(false);
    }
}

/// The keystrokes at the terminal.
///
/// The terminal keeps its mode for other programs that have it open: a read blocks, so haft reads only when there is
/// input.
pub(crate) struct KeystrokeReader(AsyncFd<OwnedFd>);

impl KeystrokeReader {
    /// Waits for keys; nothing at the end. May be dropped while it waits.
    pub(crate) async fn next(&self) -> Vec<u8> {
        loop {
            let Ok(mut ready) = self.0.readable().await else { return Vec::new() };
            let mut polled = [PollFd::new(self.0.get_ref(), PollFlags::IN)];
            if !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..)) {
                ready.clear_ready();
                continue;
            }
            let mut room = [0; 4096];
            match rustix::io::read(self.0.get_ref(), &mut room) {
                Ok(read) => return room[..read].to_vec(),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Vec::new(),
            }
        }
    }
}

/// The other end of the terminal that a command has.
pub(crate) struct CommandTerminal(AsyncFd<OwnedFd>);

impl CommandTerminal {
    /// Takes the descriptor.
    pub(crate) fn new(end: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        // SAFETY: the descriptor is owned, and stays open as long as it is registered.
        #[allow(unsafe_code)]
        let end = unsafe { AsyncFd::register(end)? };
        Ok(Self(end))
    }

    /// Waits for what programs print; nothing when none of them has it open any more. May be dropped while it waits.
    pub(crate) async fn printed(&self) -> Vec<u8> {
        loop {
            let Ok(mut ready) = self.0.readable().await else { return Vec::new() };
            match self.read() {
                Ok(printed) => return printed,
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(_) => return Vec::new(),
            }
        }
    }

    /// Returns what is left of what they printed.
    pub(crate) fn rest(&self) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(printed) = self.read() {
            if printed.is_empty() {
                break;
            }
            all.extend(printed);
        }
        all
    }

    fn read(&self) -> rustix::io::Result<Vec<u8>> {
        let mut room = [0; 16 * 1024];
        rustix::io::read(self.0.get_ref(), &mut room).map(|read| room[..read].to_vec())
    }

    /// Passes keys on; returns how many were taken. May be dropped while it waits.
    pub(crate) async fn typed(&self, keys: &[u8]) -> usize {
        loop {
            let Ok(mut ready) = self.0.writable().await else { return keys.len() };
            match rustix::io::write(self.0.get_ref(), keys) {
                Ok(written) => return written,
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(_) => return keys.len(),
            }
        }
    }
}

impl AsFd for CommandTerminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}
