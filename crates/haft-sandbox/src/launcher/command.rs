//! Starts the command: what happens between fork and exec.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::Mode;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use super::line::nothing;
use super::watch::Entered;
use super::{leave, signals};
use crate::orders::{NotStarted, Orders};

/// Where a program is looked for if the environment does not say.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A command that was forked.
#[derive(Debug)]
pub(super) struct Forked {
    pub(super) pid: Pid,
    /// Ends when the program is executed; else it says why it is not.
    pub(super) failure: OwnedFd,
}

/// Forks the command; the caller goes on as its watcher.
pub(super) fn start(orders: &Orders, entered: &mut impl Entered) -> Result<Forked, NotStarted> {
    let fork_failed = |error: &io::Error| NotStarted::Fork(error.raw_os_error().unwrap_or_default());
    let (failure, tell) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| fork_failed(&error.into()))?;
    let program = Program::of(orders);
    // SAFETY: the launcher has one thread, so the child may do whatever the parent may.
    #[allow(unsafe_code)]
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(fork_failed(&io::Error::last_os_error())),
        0 => {
            let why = become_command(orders, &program, entered);
            let why = serde_json::to_vec(&why).unwrap_or_default();
            let _ = rustix::io::write(&tell, &why);
            leave(127)
        }
        pid => {
            let none = || NotStarted::Fork(libc::ESRCH);
            Ok(Forked { pid: Pid::from_raw(pid).ok_or_else(none)?, failure })
        }
    }
}

/// Turns this process into the command; returns why that is not possible.
fn become_command(orders: &Orders, program: &Program, entered: &mut impl Entered) -> NotStarted {
    let failed = |error: &io::Error| error.raw_os_error().unwrap_or_default();
    // Without a session of its own it would have the user's terminal, and could ask there for a password.
    if let Err(error) = rustix::process::setsid() {
        return NotStarted::Fork(error.raw_os_error());
    }
    // Opened here and not before: what was opened outside could be closed to it when it opens /dev/stdin.
    if let Ok(null) = nothing() {
        let _ = rustix::stdio::dup2_stdin(null);
    }
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    if let Err(error) = rustix::process::chdir(&orders.folder) {
        return NotStarted::Folder(error.raw_os_error());
    }
    if let Err(error) = close_when_executed().and_then(|()| signals::reset()) {
        return NotStarted::Fork(failed(&error));
    }
    if let Err(why) = entered.confine() {
        return NotStarted::Unconfined(why);
    }
    NotStarted::Program(failed(&program.execute()))
}

/// Leaves the program nothing but its three standard descriptors.
fn close_when_executed() -> io::Result<()> {
    // SAFETY: it takes numbers only. Descriptors stay open until the exec, so no owner here is deceived.
    #[allow(unsafe_code)]
    let failed = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A program as execve wants it.
struct Program {
    /// Where it may be, in this order.
    places: Vec<CString>,
    words: Vec<CString>,
    environment: Vec<CString>,
}

impl Program {
    fn of(orders: &Orders) -> Self {
        let name = orders.words.first().map(OsString::as_os_str).unwrap_or_default();
        let places = if name.as_bytes().contains(&b'/') {
            vec![name.to_owned()]
        } else {
            let path = orders.environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.as_os_str());
            let path = path.unwrap_or(OsStr::new(USUAL_PATH));
            let folders = path.as_bytes().split(|byte| *byte == b':').filter(|folder| !folder.is_empty());
            folders.map(|folder| OsString::from_vec([folder, b"/", name.as_bytes()].concat())).collect()
        };
        let setting = |(key, value): &(OsString, OsString)| [key.as_bytes(), b"=", value.as_bytes()].concat();
        Self {
            places: places.iter().map(|place| without_nul(place.as_bytes())).collect(),
            words: orders.words.iter().map(|word| without_nul(word.as_bytes())).collect(),
            environment: orders.environment.iter().map(|pair| without_nul(&setting(pair))).collect(),
        }
    }

    /// Returns only when it is not possible.
    fn execute(&self) -> io::Error {
        let pointers = |words: &[CString]| -> Vec<*const libc::c_char> {
            words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (words, environment) = (pointers(&self.words), pointers(&self.environment));
        let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
        for place in &self.places {
            // SAFETY: all strings live in `self`, both lists end with a null pointer.
            #[allow(unsafe_code)]
            unsafe {
                libc::execve(place.as_ptr(), words.as_ptr(), environment.as_ptr())
            };
            let error = io::Error::last_os_error();
            if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) {
                worst = error;
            }
        }
        worst
    }
}

/// Takes what stands before the first NUL: haft refuses words that have one, so there is none.
fn without_nul(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
