//! Asks the watching process about system calls of the command (seccomp user notification).
//!
//! The command installs the filter right before its program starts, and hands over the descriptor for the questions. The
//! watcher answers: the kernel continues the call, or the call returns the watcher's result.
//!
//! Not here: which calls, and what is answered (`enter::renames`, `first_touch`).

mod caller;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

pub(super) use self::caller::{AnchoredPath, SyscallCaller};
use crate::running::wire;

/// Wakes the one who waits on the same processor: much faster. Newer kernels have it.
const WAKE_UP_IN_PLACE: u64 = 1;

/// A program for the kernel that says about which calls it asks.
pub(super) type Filter = Vec<libc::sock_filter>;

/// Takes the place where the kernel asks from the command to its watcher.
pub(super) struct Handover {
    command: OwnedFd,
    watcher: OwnedFd,
    filter: Filter,
}

impl Handover {
    /// Prepares it, before the command is forked.
    pub(super) fn prepare(filter: Filter) -> io::Result<Self> {
        let (command, watcher) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(Self { command, watcher, filter })
    }

    /// Lets the kernel ask about calls of this process and all that it starts. For the command.
    pub(super) fn install(&self) -> io::Result<()> {
        // Without the second flag a signal restarts the call while the watcher is answering it.
        let both = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let one = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let listener = listen(&self.filter, both).or_else(|_| listen(&self.filter, one))?;
        wire::send_group(&self.command, &[listener.as_fd()])
    }

    /// Takes it over, if it was installed. For the watcher.
    pub(super) fn receive(self) -> Option<SyscallListener> {
        drop(self.command);
        let listener = SyscallListener(wire::receive_group(&self.watcher).ok()?.into_iter().next()?);
        let _ = listener.ask(libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, WAKE_UP_IN_PLACE as libc::c_ulong);
        Some(listener)
    }
}

/// The descriptor over which the kernel asks about system calls.
pub(super) struct SyscallListener(OwnedFd);

impl AsFd for SyscallListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The reply to the kernel's question about a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyscallReply {
    /// The kernel shall do what it was asked.
    GoOn,
    Done,
    Failed(Errno),
}

impl SyscallListener {
    /// Whether no process is left to be asked about. A watcher that still waits would be woken all the time.
    pub(super) fn is_over(&self) -> bool {
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..)) && polled[0].revents().contains(PollFlags::HUP)
    }

    /// Whether there is a question.
    pub(super) fn is_asked(&self) -> bool {
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..)) && polled[0].revents().contains(PollFlags::IN)
    }

    /// Takes the next question.
    #[allow(unsafe_code)]
    pub(super) fn receive(&self) -> Option<libc::seccomp_notif> {
        // SAFETY: a structure of plain numbers, for which zero is a value, and which the kernel wants to be zero.
        let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        let place = std::ptr::from_mut(&mut question);
        self.ask(libc::SECCOMP_IOCTL_NOTIF_RECV, place).ok().map(|()| question)
    }

    /// Whether the one who asked still waits: its number was not given to another process meanwhile.
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.ask(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, std::ptr::from_ref(&id)).is_ok()
    }

    /// Answers a question.
    pub(super) fn send(&self, id: u64, answer: SyscallReply) {
        let (error, flags) = match answer {
            SyscallReply::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            SyscallReply::Done => (0, 0),
            SyscallReply::Failed(error) => (-error.raw_os_error(), 0),
        };
        let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags };
        // It fails when the process that asked is gone; then no process needs the answer.
        let _ = self.ask(libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut response));
    }

    #[allow(unsafe_code)]
    fn ask<T>(&self, request: libc::Ioctl, argument: T) -> io::Result<()> {
        // SAFETY: each caller hands over what its request takes: a number, or a pointer to the structure it is named
        // after, which lives until the call has returned.
        let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Installs a filter that asks.
#[allow(unsafe_code)]
fn listen(filter: &Filter, flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program is as long as is said and lives until the call has returned; the kernel only reads it.
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&program)) };
    match RawFd::try_from(answer) {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(listener @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}
