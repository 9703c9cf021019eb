//! Receives the watcher's only signal: a child has changed. It blocks all others.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// Tells that a child has changed; readable when there is news. No other signal reaches this process while it watches.
#[derive(Debug)]
pub(super) struct ChildSignals(OwnedFd);

impl ChildSignals {
    /// Blocks all signals from now on.
    pub(super) fn take() -> io::Result<Self> {
        set_mask(Mask::All)?;
        let child = set_of(Mask::OnlyChild);
        // SAFETY: the set is initialised and outlives the call; -1 asks for a new descriptor.
        #[allow(unsafe_code)]
        let descriptor = unsafe { libc::signalfd(-1, &raw const child, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was made just now and has no other owner.
        #[allow(unsafe_code)]
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(Self(descriptor))
    }

    /// Forgets the news.
    pub(super) fn clear(&self) {
        let mut room = [0; size_of::<libc::signalfd_siginfo>() * 4];
        while matches!(rustix::io::read(&self.0, &mut room), Ok(read) if read == room.len()) {}
    }
}

impl AsFd for ChildSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Gives the forked command the signals that a program expects: nothing blocked, nothing ignored, nothing handled.
pub(super) fn reset() -> io::Result<()> {
    // What the kernel calls a sigaction, all of it zero: the default, no flags. The C library would refuse to touch its
    // own two signals, which it leaves ignored in whatever it spawns.
    let default = [0u64; 4];
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: the kernel reads 32 bytes, of which there are as many, and 8 of them are the mask, as the last number
        // says. Signals that cannot be set refuse it, which is fine.
        #[allow(unsafe_code)]
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), std::ptr::null::<u64>(), 8usize)
        };
    }
    set_mask(Mask::None)
}

#[derive(Clone, Copy)]
enum Mask {
    None,
    OnlyChild,
    All,
}

fn set_of(mask: Mask) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset and sigfillset initialise the whole set, sigaddset changes it then.
    #[allow(unsafe_code)]
    unsafe {
        match mask {
            Mask::All => libc::sigfillset(set.as_mut_ptr()),
            Mask::None | Mask::OnlyChild => libc::sigemptyset(set.as_mut_ptr()),
        };
        if matches!(mask, Mask::OnlyChild) {
            libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        }
        set.assume_init()
    }
}

fn set_mask(mask: Mask) -> io::Result<()> {
    let set = set_of(mask);
    // SAFETY: the set is initialised and outlives the call; the old mask is not wanted.
    #[allow(unsafe_code)]
    let failed = unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
