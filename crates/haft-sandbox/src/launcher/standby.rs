//! The launcher stands by: it waits for commands, and launches each in a copy of itself.
//!
//! Starting a program costs about as much as starting a shell; copying one that waits costs a tenth of it.
//! A copy is a child of haft, not of the one that stands by, so haft waits for it and for nobody else.

use std::io;
use std::os::fd::OwnedFd;

use super::leave;
use super::line::Line;
use crate::wire;

/// What kind of copies a launcher makes of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// Plain ones.
    Plain,
    /// Each the first process of its own, with its own mounts.
    InNamespaces,
}

/// Waits for commands until haft is gone; returns in a copy for one of them, with the line of that one.
pub(super) fn stand_by(haft: Line, copies: Copies) -> Line {
    // The folder that haft was started in is nobody's concern here, and could not be unmounted.
    let _ = rustix::process::chdir("/");
    loop {
        let Ok(Some(streams)) = streams(&haft) else { leave(0) };
        match copy(copies) {
            Ok(None) => {
                drop(haft);
                return taken(streams).unwrap_or_else(|_| leave(super::NO_ORDERS));
            }
            Ok(Some(pid)) => haft.answer(pid),
            Err(error) => haft.answer(-error.raw_os_error().unwrap_or(libc::EAGAIN)),
        }
    }
}

/// Waits for what the next command begins with: its line, its output, its errors.
fn streams(haft: &Line) -> io::Result<Option<[OwnedFd; 3]>> {
    Ok(wire::receive_group(haft)?.try_into().ok())
}

/// Copies this process; returns the number of the copy, or nothing in the copy itself.
fn copy(copies: Copies) -> io::Result<Option<i32>> {
    let apart = match copies {
        Copies::Plain => 0,
        Copies::InNamespaces => libc::CLONE_NEWPID | libc::CLONE_NEWNS,
    };
    let flags = apart | libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: there is one thread, and no stack is given, so it is a fork but for who the parent is and for namespaces.
    #[allow(unsafe_code)]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid @ 1..) => Ok(Some(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

fn taken([line, out, err]: [OwnedFd; 3]) -> io::Result<Line> {
    rustix::stdio::dup2_stdout(&out)?;
    rustix::stdio::dup2_stderr(&err)?;
    Ok(Line::from(line))
}
