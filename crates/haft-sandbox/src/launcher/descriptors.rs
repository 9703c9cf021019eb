//! Closes descriptors that the program of a command must not have.
//!
//! One call closes them all if the kernel has it (5.9, and 5.11 for the flag). Otherwise haft closes them one by one.

use std::io;

/// Leaves the program nothing but its three standard descriptors, and what is taken afterwards.
pub(super) fn close_when_executed() -> io::Result<()> {
    // SAFETY: it takes numbers only. Descriptors stay open until the exec, so no owner here is deceived.
    #[allow(unsafe_code)]
    let failed = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if failed == 0 {
        return Ok(());
    }
    for number in open_from(3)? {
        // SAFETY: as above. One that is not open any more is no fault.
        #[allow(unsafe_code)]
        unsafe {
            libc::fcntl(number.cast_signed(), libc::F_SETFD, libc::FD_CLOEXEC)
        };
    }
    Ok(())
}

/// Closes everything from one number to another. For a process that never returns to the owner of those descriptors.
pub(super) fn close_between(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: it takes numbers only.
    #[allow(unsafe_code)]
    let failed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if failed == 0 {
        return Ok(());
    }
    for number in open_from(first)?.into_iter().filter(|number| *number <= last) {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe {
            libc::close(number.cast_signed())
        };
    }
    Ok(())
}

/// Returns the numbers of open descriptors, from one on. That of the list itself is among them, and is closed by then.
fn open_from(first: u32) -> io::Result<Vec<u32>> {
    let names = std::fs::read_dir("/proc/self/fd")?.map(|entry| entry.map(|entry| entry.file_name()));
    let numbers = names.map(|name| name.map(|name| name.to_str().and_then(|name| name.parse().ok())));
    let all: Vec<Option<u32>> = numbers.collect::<io::Result<_>>()?;
    Ok(all.into_iter().flatten().filter(|number| *number >= first).collect())
}
