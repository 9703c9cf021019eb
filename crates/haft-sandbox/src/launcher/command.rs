//! Starts the command: the steps between fork and exec.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::Mode;
use rustix::process::Pid;

use super::descriptors;
use super::hands::Hands;
use super::signals;
use super::watch::WatcherConfinement;
use crate::running::orders::{NotStarted, Orders};

/// Where a program is looked for if the environment does not say.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How much stack there is for what happens before the program is executed.
const STACK: usize = 512 * 1024;

/// What the process that becomes the command is given.
struct Child<'a, E> {
    orders: &'a Orders,
    hands: &'a Hands,
    program: ExecProgram,
    entered: &'a mut E,
    /// Why the program could not be executed.
    why: Option<NotStarted>,
}

/// Starts the command; the caller goes on as its watcher when the program was executed.
///
/// Until then the new process has the memory of this one, which is suspended: that costs less than a copy, and this one
/// sees why it failed.
pub(super) fn start<E: WatcherConfinement>(orders: &Orders, hands: &Hands, entered: &mut E) -> Result<Pid, NotStarted> {
    let mut child = Child { orders, hands, program: ExecProgram::of(orders), entered, why: None };
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    let top = stack.as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the launcher has one thread, which waits until the child has its own memory or is gone. So the child may use
    // everything that `child` borrows, and its stack, which is aligned and grows down from its end, outlives it.
    #[allow(unsafe_code)]
    let pid = unsafe { libc::clone(in_child::<E>, top.cast(), flags, (&raw mut child).cast()) };
    let none = |error: &io::Error| NotStarted::Fork(error.raw_os_error().unwrap_or(libc::ESRCH));
    let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(|| none(&io::Error::last_os_error()))?;
    match child.why.take() {
        None => Ok(pid),
        Some(why) => {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
            Err(why)
        }
    }
}

/// Runs in the new process; what it returns is its status.
extern "C" fn in_child<E: WatcherConfinement>(child: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `start` gives a pointer to a `Child` of this type. No other code touches it until this process is gone.
    #[allow(unsafe_code)]
    let child = unsafe { &mut *child.cast::<Child<'_, E>>() };
    child.why = Some(become_command(child));
    127
}

/// Turns this process into the command; returns why that is not possible.
fn become_command(child: &mut Child<'_, impl WatcherConfinement>) -> NotStarted {
    let Child { orders, hands, program, entered, .. } = child;
    let failed = |error: &io::Error| error.raw_os_error().unwrap_or_default();
    if let Err(error) = take_session(orders, hands).and_then(|()| hands.take_streams()) {
        return NotStarted::Fork(error.raw_os_error());
    }
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    if let Err(error) = rustix::process::chdir(&orders.folder) {
        return NotStarted::Folder(error.raw_os_error());
    }
    if let Err(error) = descriptors::close_when_executed().and_then(|()| signals::reset()) {
        return NotStarted::Fork(failed(&error));
    }
    if let Err(why) = entered.confine() {
        return why;
    }
    if let Err(error) = hands.take_messages() {
        return NotStarted::Fork(failed(&error));
    }
    NotStarted::Program(failed(&program.execute()))
}

/// Takes a session of its own: else it would have the user's terminal, and could ask there for a password. With a terminal
/// of its own it takes a group in the session of the watcher.
fn take_session(orders: &Orders, hands: &Hands) -> rustix::io::Result<()> {
    let Some(terminal) = &hands.terminal else { return rustix::process::setsid().map(drop) };
    rustix::process::setpgid(None, None)?;
    if orders.streams.is_some_and(|streams| streams.foreground) {
        // All signals are blocked still, so that the kernel does not stop this process for it.
        terminal.give_to(rustix::process::getpid());
    }
    Ok(())
}

/// A program in the form that execve takes.
struct ExecProgram {
    /// Where it may be, in this order.
    places: Vec<CString>,
    words: Vec<CString>,
    environment: Vec<CString>,
}

impl ExecProgram {
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
