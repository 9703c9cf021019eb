//! The open descriptors that a command gets, beside its words.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;

use super::line::nothing;
use super::terminal::Terminal;
use crate::running::orders::{OrderedStreams, Orders};

/// Where a worker finds the socket for its messages.
const MESSAGES: RawFd = 3;

/// Descriptors that come with the orders, beside those of the roots.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    /// What the command reads; without it there is nothing to be read.
    input: Option<OwnedFd>,
    /// The standard streams that the caller of the command passes, except those that are the terminal.
    streams: Option<[Option<OwnedFd>; 3]>,
    /// The terminal.
    pub(super) terminal: Option<Terminal>,
    /// Over which a worker talks.
    messages: Option<OwnedFd>,
    /// Over which haft says on which ground a worker shall be. It is not for the worker itself.
    pub(super) grounds: Option<OwnedFd>,
    /// Where what the command changes is kept, for each root that is watched. They are not for the command.
    pub(super) images: Vec<OwnedFd>,
}

impl Hands {
    /// Takes them from behind those of the roots.
    pub(super) fn take(orders: &Orders, descriptors: &mut Vec<OwnedFd>) -> io::Result<Self> {
        let mut last =
            |is_there: bool| if is_there { descriptors.pop().ok_or(Errno::BADF).map(Some) } else { Ok(None) };
        let (grounds, messages, input) = (last(orders.serves)?, last(orders.serves)?, last(orders.has_input)?);
        let streams = orders.streams.map(|streams| given(streams, descriptors)).transpose()?;
        let first = descriptors.len().checked_sub(orders.watched.len()).ok_or(Errno::BADF)?;
        let images = descriptors.split_off(first);
        Ok(Self { input, streams, terminal: None, messages, grounds, images })
    }

    /// Returns the numbers of the streams that are no terminal.
    pub(super) fn given(&self) -> [Option<RawFd>; 3] {
        let number = |stream: &Option<OwnedFd>| stream.as_ref().map(OwnedFd::as_raw_fd);
        self.streams.as_ref().map(|streams| streams.each_ref().map(number)).unwrap_or_default()
    }

    /// Lets this process have its streams. For the process that becomes the command.
    pub(super) fn take_streams(&self) -> rustix::io::Result<()> {
        let Some(streams) = &self.streams else { return self.take_input() };
        for (number, stream) in streams.iter().enumerate() {
            let stream = match (stream, &self.terminal) {
                (Some(stream), _) => stream.as_fd(),
                (None, Some(terminal)) => terminal.as_fd(),
                (None, None) => return Err(Errno::BADF),
            };
            match number {
                0 => rustix::stdio::dup2_stdin(stream)?,
                1 => rustix::stdio::dup2_stdout(stream)?,
                _ => rustix::stdio::dup2_stderr(stream)?,
            }
        }
        Ok(())
    }

    /// Lets this process read its input. For the process that becomes the command.
    fn take_input(&self) -> rustix::io::Result<()> {
        if let Some(input) = &self.input {
            return rustix::stdio::dup2_stdin(input);
        }
        // Opened here and not before: what was opened outside could be closed to it when it opens /dev/stdin.
        if let Ok(null) = nothing() {
            let _ = rustix::stdio::dup2_stdin(null);
        }
        Ok(())
    }

    /// Lets this process keep its socket. For the process that becomes the command, when it needs no other descriptor.
    #[allow(unsafe_code)]
    pub(super) fn take_messages(&self) -> io::Result<()> {
        let Some(messages) = &self.messages else { return Ok(()) };
        let number = messages.as_raw_fd();
        // SAFETY: both take numbers only. Whatever had the number 3 is this process's own copy, which ends with the exec.
        let answer = unsafe {
            if number == MESSAGES { libc::fcntl(number, libc::F_SETFD, 0) } else { libc::dup2(number, MESSAGES) }
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Takes the streams that are not the terminal from behind the descriptors of the roots.
fn given(streams: OrderedStreams, descriptors: &mut Vec<OwnedFd>) -> io::Result<[Option<OwnedFd>; 3]> {
    let count = streams.terminals.iter().filter(|is_terminal| !**is_terminal).count();
    let begin = descriptors.len().checked_sub(count).ok_or(Errno::BADF)?;
    let mut given = descriptors.split_off(begin).into_iter();
    Ok(streams.terminals.map(|is_terminal| if is_terminal { None } else { given.next() }))
}
