//! Lets programs rename folders of the workspace, which a layer alone refuses, and git copy repositories in it.
//!
//! The kernel asks the watching process about every rename and every link of the command (seccomp user
//! notification). Files and everything outside layers go on as they are. A folder of a layer is
//! renamed here, with the rights of the command; where the kernel says that it cannot be, it is moved
//! file by file, in a process of its own, so that the watching process is never busy for long.
//!
//! Nothing is decided here that protects anything: whoever tricks it gets what the kernel would say.

mod caller;
mod move_folder;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use self::caller::{Rename, Verdict};
use crate::launcher::leave;
use crate::wire;

/// Wakes the one who waits on the same processor: much faster. Newer kernels have it.
const WAKE_UP_IN_PLACE: u64 = 1;

/// Takes the place where renames are asked about from the command to its watcher.
pub(super) struct Handover {
    command: OwnedFd,
    watcher: OwnedFd,
}

impl Handover {
    /// Prepares it, before the command is forked.
    pub(super) fn prepare() -> io::Result<Self> {
        let (command, watcher) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(Self { command, watcher })
    }

    /// Lets the kernel ask about the renames of this process and all that it starts. For the command.
    pub(super) fn install(&self) -> io::Result<()> {
        // Without the second flag a signal makes the call begin anew while it is being answered.
        let both = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let listener = listen(both).or_else(|_| listen(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER))?;
        wire::send_group(&self.command, &[listener.as_fd()])
    }

    /// Takes it over, if it was installed. For the watcher.
    pub(super) fn receive(self) -> Option<Renames> {
        drop(self.command);
        let listener = wire::receive_group(&self.watcher).ok()?.into_iter().next()?;
        let renames = Renames { listener };
        let _ = renames.ask(libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, WAKE_UP_IN_PLACE as libc::c_ulong);
        Some(renames)
    }
}

/// Where the kernel asks about renames.
pub(super) struct Renames {
    listener: OwnedFd,
}

impl AsFd for Renames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Renames {
    /// Answers one question.
    pub(super) fn answer(&self) {
        let Some(question) = self.receive() else { return };
        match caller::judge(&question, || self.is_waiting(question.id)) {
            Verdict::GoOn => self.send(question.id, Answer::GoOn),
            Verdict::Done => self.send(question.id, Answer::Done),
            Verdict::Failed(error) => self.send(question.id, Answer::Failed(error)),
            Verdict::Move(rename) => self.move_apart(question.id, &rename),
        }
    }

    /// Whether nobody is left who could be asked about. Who went on waiting would be woken all the time.
    pub(super) fn is_over(&self) -> bool {
        let mut polled = [PollFd::new(&self.listener, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..)) && polled[0].revents().contains(PollFlags::HUP)
    }

    /// Moves a folder in a process of its own, which ends with this one.
    fn move_apart(&self, id: u64, rename: &Rename) {
        // SAFETY: this process has one thread, so the child may do whatever the parent may.
        #[allow(unsafe_code)]
        match unsafe { libc::fork() } {
            0 => {
                let answer = match move_folder::all(rename) {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::Failed(error),
                };
                self.send(id, answer);
                leave(0)
            }
            -1 => self.send(id, Answer::Failed(Errno::XDEV)),
            _ => {}
        }
    }

    #[allow(unsafe_code)]
    fn receive(&self) -> Option<libc::seccomp_notif> {
        // SAFETY: a structure of plain numbers, for which zero is a value, and which the kernel wants to be zero.
        let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        let place = std::ptr::from_mut(&mut question);
        self.ask(libc::SECCOMP_IOCTL_NOTIF_RECV, place).ok().map(|()| question)
    }

    /// Whether the one who asked still waits: its number was not given to another process meanwhile.
    fn is_waiting(&self, id: u64) -> bool {
        self.ask(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, std::ptr::from_ref(&id)).is_ok()
    }

    fn send(&self, id: u64, answer: Answer) {
        let (error, flags) = match answer {
            Answer::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::Done => (0, 0),
            Answer::Failed(error) => (-error.raw_os_error(), 0),
        };
        let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags };
        // It fails when the one who asked is gone; then nobody needs the answer.
        let _ = self.ask(libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut response));
    }

    #[allow(unsafe_code)]
    fn ask<T>(&self, request: libc::Ioctl, argument: T) -> io::Result<()> {
        // SAFETY: each caller hands over what its request takes: a number, or a pointer to the structure it is named
        // after, which lives until the call has returned.
        let answer = unsafe { libc::ioctl(self.listener.as_raw_fd(), request, argument) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

enum Answer {
    /// The kernel shall do what it was asked.
    GoOn,
    Done,
    Failed(Errno),
}

/// Calls that rename or link something.
const CALLS: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    libc::SYS_linkat,
];

/// Installs the filter that asks about them.
#[allow(unsafe_code)]
fn listen(flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let mut filter = program();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is as long as is said and lives until the call has returned; the kernel copies it.
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&program)) };
    match RawFd::try_from(answer) {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(listener @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Foreign architectures are not looked at: another filter kills who uses them.
fn program() -> Vec<libc::sock_filter> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let number_of_call = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let result = |result: u32| step(libc::BPF_RET | libc::BPF_K, 0, 0, result);
    let mut steps = vec![number_of_call];
    for (index, call) in CALLS.iter().enumerate() {
        // Over the calls that follow, and the answer for all others.
        let to_the_question = (CALLS.len() - index) as u8;
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to_the_question, 0, *call as u32));
    }
    steps.extend([result(libc::SECCOMP_RET_ALLOW), result(libc::SECCOMP_RET_USER_NOTIF)]);
    steps
}
