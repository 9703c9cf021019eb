//! Makes the launcher stand by: it waits for commands, and launches each in a copy of itself.
//!
//! Starting a program costs about as much as starting a shell; copying a waiting process costs a tenth of it.
//! A copy is a child of haft and not of the launcher that stands by, so only haft waits for it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::leave;
use super::line::LauncherLine;
use crate::running::orders::{COPY, LEND_SOCKETS};
use crate::running::wire;

/// What kind of copies a launcher makes of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// Plain ones.
    Plain,
    /// Each the first process of its own, with its own mounts.
    InNamespaces,
}

/// Waits for commands until haft is gone; returns in a copy for one of them, with the line of that one.
pub(super) fn stand_by(haft: LauncherLine, copies: Copies) -> LauncherLine {
    // This process does not need the folder that haft was started in; while it is there, the folder cannot be unmounted.
    let _ = rustix::process::chdir("/");
    loop {
        let streams = match asked(&haft) {
            Ok(Some(StandbyRequest::Copy(streams))) => streams,
            Ok(Some(StandbyRequest::LendSockets)) => {
                lend_sockets(&haft);
                continue;
            }
            Ok(None) | Err(_) => leave(0),
        };
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

/// A request of haft to a launcher that stands by.
enum StandbyRequest {
    /// To launch a command, which begins with its line, its output, its errors.
    Copy([OwnedFd; 3]),
    /// To make sockets on its network.
    LendSockets,
}

/// Waits for what haft asks next; nothing when haft is gone.
fn asked(haft: &LauncherLine) -> io::Result<Option<StandbyRequest>> {
    let mut byte = [0];
    let (received, descriptors) = wire::receive_small(haft, &mut byte)?;
    Ok(match (received, byte[0]) {
        (1, COPY) => descriptors.try_into().ok().map(StandbyRequest::Copy),
        (1, LEND_SOCKETS) => Some(StandbyRequest::LendSockets),
        _ => None,
    })
}

/// Makes a socket for each protocol. A socket stays on the network on which it was made, even if another process connects
/// it. So no code here waits for a server.
fn lend_sockets(haft: &LauncherLine) {
    let made = [AddressFamily::INET, AddressFamily::INET6]
        .map(|family| socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None));
    let sockets: Vec<OwnedFd> = made.into_iter().flatten().collect();
    haft.lend(&sockets);
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

fn taken([line, out, err]: [OwnedFd; 3]) -> io::Result<LauncherLine> {
    rustix::stdio::dup2_stdout(&out)?;
    rustix::stdio::dup2_stderr(&err)?;
    Ok(LauncherLine::from(line))
}
