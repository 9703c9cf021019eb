//! The launcher that stands by, from haft's side: each command is launched by a copy of it.
//!
//! It is started with the first command, and ends with the sandbox, or when haft is gone.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use crate::child::Process;
use crate::launcher::Launcher;
use crate::orders::NAME;
use crate::wire;

/// How long a launcher may take to copy itself.
const TO_COPY: Duration = Duration::from_secs(5);

/// Launches commands with one launcher.
#[derive(Debug)]
pub(crate) struct Launchers {
    pub(crate) launcher: Launcher,
    standby: Mutex<Option<Standby>>,
}

/// A launcher that waits for the orders of one command.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) process: Process,
    pub(crate) line: OwnedFd,
    pub(crate) streams: Streams,
}

/// The streams of the command, as haft reads them.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) out: OwnedFd,
    pub(crate) err: OwnedFd,
}

impl Launchers {
    pub(crate) fn new(launcher: Launcher) -> Self {
        Self { launcher, standby: Mutex::default() }
    }

    /// Launches one that waits for its orders.
    pub(crate) fn launch(&self) -> io::Result<Launched> {
        let mut standby = self.standby.lock().unwrap_or_else(PoisonError::into_inner);
        // The one that stands by may have been killed since; then there is another.
        if let Some(launched) = standby.as_ref().and_then(|standby| standby.copy().ok()) {
            return Ok(launched);
        }
        drop(standby.take());
        let another = Standby::start(&self.launcher)?;
        let launched = another.copy()?;
        *standby = Some(another);
        Ok(launched)
    }
}

#[derive(Debug)]
struct Standby {
    process: Process,
    line: OwnedFd,
}

impl Standby {
    fn start(launcher: &Launcher) -> io::Result<Self> {
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
            Ok(process) => Ok(Self { process, line }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    fn copy(&self) -> io::Result<Launched> {
        let (line, their_line) = line()?;
        let (out, their_out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err, their_err) = pipe_with(PipeFlags::CLOEXEC)?;
        for stream in [&out, &err] {
            rustix::io::ioctl_fionbio(stream, true)?;
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
        Ok(Launched { process, line, streams: Streams { out, err } })
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
        // A copy whose number came too late is our child all the same, and nobody else knows of it.
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

        drop(Standby { process: Process::child(standby).unwrap(), line });

        for pid in [standby, late] {
            assert_eq!(rustix::process::test_kill_process(pid), Err(Errno::SRCH));
        }
    }
}
