//! Starts the launcher that stands by, from haft's side: a copy of it launches each command.
//!
//! It starts with the first command, and ends with the sandbox, or when haft is gone.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use haft_contract::doors::connection::SessionNetwork;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Pid, Uid, geteuid};

use super::child::Process;
use super::orders::{LEND_SOCKETS, NAME, Orders};
use super::wire;
use crate::launcher::Launcher;
use crate::session::ahead;
use crate::session::kept::KeptRoots;
use crate::session::private::SessionPlace;

/// How long a launcher may take to copy itself.
const TO_COPY: Duration = Duration::from_secs(5);

/// Launches commands with one launcher.
pub(crate) struct Launchers {
    pub(crate) launcher: Launcher,
    standby: Mutex<Option<Standby>>,
    pub(crate) kept: KeptRoots,
    /// The folders of the session; they go after everybody who uses them. Without them, commands have some in memory.
    pub(crate) place: OnceLock<Option<SessionPlace>>,
}

/// A copy of a standby launcher that waits for the orders of one command.
#[derive(Debug)]
pub(crate) struct LauncherCopy {
    pub(crate) process: Process,
    pub(crate) line: OwnedFd,
    pub(crate) streams: Streams,
    /// Whether it is the first process of a namespace already.
    pub(crate) is_inside: bool,
}

/// The streams of the command, as haft reads them.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) out: OwnedFd,
    pub(crate) err: OwnedFd,
}

impl Launchers {
    pub(crate) fn new(launcher: Launcher) -> Self {
        Self { launcher, standby: Mutex::default(), kept: KeptRoots::default(), place: OnceLock::new() }
    }

    /// Lets this supervise the connections of commands.
    pub(crate) fn supervised_by(launcher: Launcher, network: Arc<dyn SessionNetwork>) -> Self {
        Self { launcher, standby: Mutex::default(), kept: KeptRoots::supervised_by(network), place: OnceLock::new() }
    }

    /// Launches one for these orders, and returns what it is to be told.
    pub(crate) fn launch(&self, orders: &Orders, descriptors: &[OwnedFd]) -> io::Result<(LauncherCopy, Orders)> {
        let copy = || self.copy();
        match self.kept.launch(orders, descriptors, &copy) {
            Some(launched) => Ok(launched),
            None => Ok((self.copy()?, orders.clone())),
        }
    }

    /// Returns a process on the network that the last command had, where it was not that of the machine.
    pub(crate) fn inside(&self) -> Option<Pid> {
        self.kept.inside()
    }

    /// Copies the one that stands by.
    fn copy(&self) -> io::Result<LauncherCopy> {
        let mut standby = self.standby.lock().unwrap_or_else(PoisonError::into_inner);
        // The one that stands by may have been killed since; then there is another.
        if let Some(launched) = standby.as_ref().and_then(|standby| standby.copy().ok()) {
            return Ok(launched);
        }
        drop(standby.take());
        let another = match ahead::take(&self.launcher) {
            Some(ahead) => ahead,
            None => Standby::start(&self.launcher)?,
        };
        let launched = another.copy()?;
        *standby = Some(another);
        Ok(launched)
    }
}

/// A launcher that stands by.
#[derive(Debug)]
pub(crate) struct Standby {
    process: Process,
    line: OwnedFd,
    /// Whose commands its copies run, where they are the first processes of namespaces.
    inside: Option<WorkspaceOwner>,
}

/// The user and the group that own the files of the workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkspaceOwner(Uid, Gid);

impl WorkspaceOwner {
    /// Returns the owner of a folder.
    pub(crate) fn of(folder: &OwnedFd) -> io::Result<Self> {
        let found = rustix::fs::fstat(folder)?;
        Ok(Self(Uid::from_raw(found.st_uid), Gid::from_raw(found.st_gid)))
    }

    /// The command may open its streams again by name, as /dev/stdout: then it must be allowed to.
    fn take(self, stream: &OwnedFd) {
        if geteuid().is_root() && !self.0.is_root() {
            let _ = rustix::fs::fchown(stream, Some(self.0), Some(self.1));
        }
    }
}

impl Standby {
    /// Takes a launcher that will stand by in a root of its own.
    pub(crate) fn inside(process: Process, line: OwnedFd, owner: WorkspaceOwner) -> Self {
        Self { process, line, inside: Some(owner) }
    }

    /// Returns its number.
    pub(crate) fn pid(&self) -> Pid {
        self.process.pid
    }

    /// Returns the line to it.
    pub(crate) fn line(&self) -> &OwnedFd {
        &self.line
    }

    pub(crate) fn start(launcher: &Launcher) -> io::Result<Self> {
        let program = launcher.program().ok_or(io::ErrorKind::NotFound)?;
        let (line, theirs) = line()?;
        // Nothing runs between fork and exec, so that the standard library spawns without copying our memory. In a group
        // of its own, because the terminal's interrupt is for haft: commands are asked to end in their own way.
        let mut child = Command::new(program)
            .arg0(NAME)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH);
        match pid.map_err(io::Error::from).and_then(Process::child) {
            Ok(process) => Ok(Self { process, line, inside: None }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Makes it launch a copy, which waits for its orders.
    pub(crate) fn copy(&self) -> io::Result<LauncherCopy> {
        let (line, their_line) = line()?;
        let (out, their_out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err, their_err) = pipe_with(PipeFlags::CLOEXEC)?;
        for stream in [&out, &err] {
            rustix::io::ioctl_fionbio(stream, true)?;
        }
        if let Some(owner) = self.inside {
            [&their_out, &their_err].into_iter().for_each(|stream| owner.take(stream));
        }
        for timeout in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&self.line, timeout, Some(TO_COPY))?;
        }
        wire::send_group(&self.line, &[their_line.as_fd(), their_out.as_fd(), their_err.as_fd()])?;
        // Who holds them too would not see their end.
        drop((their_line, their_out, their_err));
        let mut number = [0; 4];
        wire::receive_all(&self.line, &mut number).map_err(no_answer)?;
        let number = i32::from_le_bytes(number);
        let Some(pid) = Pid::from_raw(number).filter(|_| number > 0) else {
            return Err(io::Error::from_raw_os_error(-number));
        };
        let process = Process::child(pid).inspect_err(|_| Process::end_by_number(pid))?;
        Ok(LauncherCopy { process, line, streams: Streams { out, err }, is_inside: self.inside.is_some() })
    }
}

impl Standby {
    /// Returns sockets on its network that are not connected, one for each protocol that there is.
    pub(crate) fn sockets(&self) -> io::Result<Vec<OwnedFd>> {
        for timeout in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&self.line, timeout, Some(TO_COPY))?;
        }
        wire::send_all(&self.line, &[LEND_SOCKETS])?;
        let mut byte = [0];
        match wire::receive_small(&self.line, &mut byte).map_err(no_answer)? {
            (1, sockets) if byte[0] == LEND_SOCKETS => Ok(sockets),
            _ => Err(no_answer(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Names what it means when nothing came in time, or at all: this is no launcher.
fn no_answer(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "it does not answer"),
        io::ErrorKind::UnexpectedEof => io::Error::new(io::ErrorKind::UnexpectedEof, "it ended without an answer"),
        _ => error,
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        // It has no children and nothing to finish.
        Process::end_by_number(self.process.pid);
        // A copy whose number came too late is still our child, and no other code knows of it.
        let mut number = [0; 4];
        while let Ok((4, _)) = recv(&self.line, &mut number, RecvFlags::DONTWAIT) {
            if let Some(pid) = Pid::from_raw(i32::from_le_bytes(number)).filter(|pid| pid.as_raw_nonzero().get() > 0) {
                Process::end_by_number(pid);
            }
        }
    }
}

fn line() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::zombie_processes, reason = "who drops it waits for both")]
    fn a_copy_that_answered_too_late_ends_with_the_one_that_made_it() {
        let sleeping = || {
            let child = Command::new("sleep").arg("1000").spawn().unwrap();
            Pid::from_raw(child.id().cast_signed()).unwrap()
        };
        let (standby, late) = (sleeping(), sleeping());
        let (line, their_line) = line().unwrap();
        rustix::io::write(&their_line, &late.as_raw_nonzero().get().to_le_bytes()).unwrap();

        drop(Standby { process: Process::child(standby).unwrap(), line, inside: None });

        for pid in [standby, late] {
            assert_eq!(rustix::process::test_kill_process(pid), Err(Errno::SRCH));
        }
    }
}
