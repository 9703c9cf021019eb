//! Makes a process with one thread, by the `fork` of the C library.
//!
//! The launcher has one thread and forks by the bare system call. After that call only a process with one thread may
//! allocate: otherwise a thread that is gone may hold the lock of the allocator for ever. The tests have many threads.

use std::io::Read;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

/// Runs something in a process with one thread.
#[allow(unsafe_code)]
pub(crate) fn in_one_thread(work: impl FnOnce()) -> Pid {
    // SAFETY: the C library makes its own locks usable in the child, and the child ends without touching other ones.
    match unsafe { libc::fork() } {
        0 => {
            let _ = catch_unwind(AssertUnwindSafe(work));
            // SAFETY: it ends the process without running what the tests would run at their end.
            unsafe { libc::_exit(0) }
        }
        child => Pid::from_raw(child).expect("a child"),
    }
}

/// Returns the text that something returns in a process with one thread; it is empty if that panics.
pub(crate) fn text_of_one_thread(work: impl FnOnce() -> String) -> String {
    let (answer, tell) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let child = in_one_thread(|| {
        let _ = rustix::io::write(tell.as_fd(), work().as_bytes());
    });
    drop(tell);
    let mut text = String::new();
    std::fs::File::from(answer).read_to_string(&mut text).unwrap();
    waitpid(Some(child), WaitOptions::empty()).unwrap();
    text
}
