//! Starts this program again as a process that outlives its caller: the holder of a session.
//!
//! The holder is not a child of its caller and has its own process session. So it survives the end of the caller and of
//! its terminal, and a kill of the caller's process group or children. It inherits one descriptor, for its report.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::launcher::leave;

/// The name under which the holder is started.
const NAME: &str = "haft-holder";

/// Starts this program with these arguments as a detached process; returns its report.
///
/// # Errors
///
/// Fails if the system cannot start a process.
pub fn start_detached(words: &[OsString]) -> io::Result<String> {
    let (reported, report) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut child = Command::new("/proc/self/exe")
        .arg0(NAME)
        .args(words)
        .current_dir("/")
        .stdin(Stdio::from(report))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    // This child is the parent of the holder, and ends immediately.
    child.wait()?;
    let mut text = String::new();
    std::fs::File::from(reported).read_to_string(&mut text)?;
    Ok(text)
}

/// Reports once to the process that started this one by [`start_detached`].
pub fn report_to_starter(text: &str) {
    let stdin = rustix::stdio::stdin();
    let mut rest = text.as_bytes();
    while let Ok(written @ 1..) = rustix::io::write(stdin, rest) {
        rest = &rest[written..];
    }
    if let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(null);
    }
}

/// Detaches this process from its caller, if [`start_detached`] started it.
#[allow(unsafe_code)]
pub(crate) fn detach(name: &std::ffi::OsStr) {
    if name != NAME {
        return;
    }
    let _ = rustix::process::setsid();
    // SAFETY: this process has one thread, so the child may do all that the parent may; the second call takes numbers,
    // and no value owns a descriptor yet.
    unsafe {
        match libc::fork() {
            0 => {}
            -1 => leave(1),
            _ => leave(0),
        }
        libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0);
    }
}

/// A process whose end also ends a session.
#[derive(Debug)]
pub struct SessionOwner(OwnedFd);

impl SessionOwner {
    /// Finds a process by its number.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub fn of(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Takes the descriptor of a process.
    pub fn from_descriptor(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Returns the descriptor of the process.
    pub fn into_descriptor(self) -> OwnedFd {
        self.0
    }

    /// Returns whether it has ended.
    pub fn has_ended(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..))
    }
}
