//! Reads what a worker prints, as it arrives.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// How much one `read` takes: as much as a pipe holds.
const PIECE: usize = 64 * 1024;
/// How much is read before other work comes first. So a worker that prints without end does not block haft.
const MOST: usize = 1024 * 1024;

/// One stream of a worker.
pub(super) struct Pieces(Option<OwnedFd>);

impl Pieces {
    /// Reads from a pipe that does not block.
    pub(super) fn of(pipe: OwnedFd) -> Self {
        Self(Some(pipe))
    }

    /// Returns what to wait on, until its end.
    pub(super) fn awaited(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }

    /// Reads what there is.
    pub(super) fn read(&mut self, mut heard: impl FnMut(&[u8])) {
        let mut left = MOST;
        let mut room = Vec::new();
        while let Some(pipe) = self.0.as_ref().filter(|_| left > 0) {
            // Most of the time there is nothing; then no room is made for it.
            room.reserve(if room.capacity() == 0 { 1024 } else { PIECE });
            match rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut room)) {
                Ok(read @ 1..) => {
                    heard(&room);
                    room.clear();
                    left = left.saturating_sub(read);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(0) | Err(_) => self.0 = None,
            }
        }
    }
}
