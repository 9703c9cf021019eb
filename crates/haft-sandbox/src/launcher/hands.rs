//! What a command is given beside its words: descriptors that it finds open.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::line::nothing;
use crate::orders::Orders;

/// Descriptors that the command finds open.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    /// What it reads; without it there is nothing to be read.
    pub(super) input: Option<OwnedFd>,
}

impl Hands {
    /// Takes them from behind those of the roots.
    pub(super) fn take(orders: &Orders, descriptors: &mut Vec<OwnedFd>) -> io::Result<Self> {
        let input = if orders.has_input { Some(descriptors.pop().ok_or(Errno::BADF)?) } else { None };
        Ok(Self { input })
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
}
