//! What a command is given beside its words: descriptors that it finds open.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;

use super::line::nothing;
use crate::orders::Orders;

/// Where a worker finds the socket for its messages.
const MESSAGES: RawFd = 3;

/// Descriptors that come with the orders, beside those of the roots.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    /// What the command reads; without it there is nothing to be read.
    input: Option<OwnedFd>,
    /// Over which a worker talks.
    messages: Option<OwnedFd>,
    /// Over which haft says on which ground a worker shall be. It is not for the worker itself.
    pub(super) grounds: Option<OwnedFd>,
}

impl Hands {
    /// Takes them from behind those of the roots.
    pub(super) fn take(orders: &Orders, descriptors: &mut Vec<OwnedFd>) -> io::Result<Self> {
        let mut last =
            |is_there: bool| if is_there { descriptors.pop().ok_or(Errno::BADF).map(Some) } else { Ok(None) };
        let (grounds, messages, input) = (last(orders.serves)?, last(orders.serves)?, last(orders.has_input)?);
        Ok(Self { input, messages, grounds })
    }

    /// Lets this process read its input. For the process that becomes the command.
    pub(super) fn take_input(&self) -> rustix::io::Result<()> {
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
