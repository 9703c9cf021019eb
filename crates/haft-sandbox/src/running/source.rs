//! Reads one output stream of a command in pieces, passes them on, and remembers its end.

use std::os::fd::OwnedFd;
use std::time::Instant;

use haft_contract::doors::process::Stream;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::attend::OutputPiece;
use super::wake::Wake;

/// Most bytes of one piece: as many as a pipe holds.
const PIECE: usize = 64 * 1024;
/// How many bytes a pipe holds through which much comes.
const WIDE: usize = 512 * 1024;
/// Most bytes that are read after all processes are gone: as many as the largest pipe holds. A process that still writes
/// then is not ours.
const AFTER_THE_END: usize = 1024 * 1024;
/// How much of its end is remembered.
const TAIL: usize = 16 * 1024;

/// One output stream of a command.
#[derive(Debug)]
pub(crate) struct OutputSource {
    stream: Stream,
    pipe: Option<OwnedFd>,
    /// What was read and could not be passed on yet.
    piece: Option<Vec<u8>>,
    read_after_end: usize,
    /// Whether the pipe was made larger, because much comes through it.
    is_wide: bool,
    tail: StreamTail,
}

impl OutputSource {
    pub(crate) fn new(stream: Stream, pipe: OwnedFd) -> Self {
        Self { stream, pipe: Some(pipe), piece: None, read_after_end: 0, is_wide: false, tail: StreamTail::default() }
    }

    /// Returns what to wait on; nothing while a piece waits for room.
    pub(crate) fn awaited(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref().filter(|_| self.piece.is_none())
    }

    pub(crate) fn holds_piece(&self) -> bool {
        self.piece.is_some()
    }

    /// Returns whether nothing more comes, or is waited for.
    pub(crate) fn is_drained(&self, until: Instant) -> bool {
        self.piece.is_none() && (self.pipe.is_none() || self.read_after_end >= AFTER_THE_END || Instant::now() >= until)
    }

    pub(crate) fn into_tail(self) -> StreamTail {
        self.tail
    }

    /// Passes on what there is, as far as there is room; `gone` says since when the processes of the command are gone.
    pub(crate) fn pass_on(&mut self, pieces: &Sender<OutputPiece>, wake: &Wake, gone: Option<Instant>) {
        loop {
            if self.piece.is_none() {
                self.read(gone);
            }
            let Some(piece) = self.piece.take() else { return };
            if let Err(piece) = offer(pieces, (self.stream, piece)) {
                // Said before it is tried again, so that room made in between is not missed.
                wake.wait_for_room();
                if let Err((_, piece)) = offer(pieces, piece) {
                    self.piece = Some(piece);
                    return;
                }
            }
            // While it runs there are others to look after.
            if gone.is_none() {
                return;
            }
        }
    }

    fn read(&mut self, gone: Option<Instant>) {
        let Some(pipe) = self.pipe.as_ref().filter(|_| self.read_after_end < AFTER_THE_END) else { return };
        let mut piece = Vec::with_capacity(PIECE);
        // Most programs write in small pieces; haft reads large pieces from a program that writes fast.
        let is_open = loop {
            match rustix::io::read(pipe, spare_capacity(&mut piece)) {
                Ok(1..) if piece.len() < PIECE => {}
                Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => break true,
                Ok(0) | Err(_) => break false,
            }
        };
        if piece.len() == PIECE && !self.is_wide {
            self.is_wide = true;
            // Where that is too much for one user, it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
        }
        if !is_open {
            self.pipe = None;
        }
        if !piece.is_empty() {
            self.read_after_end += if gone.is_some() { piece.len() } else { 0 };
            self.tail.take(&piece);
            // Small pieces wait in the queue too; they need not be as large as the largest.
            piece.shrink_to_fit();
            self.piece = Some(piece);
        }
    }
}

/// Gives a piece away, or back when there is no room.
fn offer(pieces: &Sender<OutputPiece>, piece: OutputPiece) -> Result<(), OutputPiece> {
    match pieces.try_send(piece) {
        Err(TrySendError::Full(piece)) => Err(piece),
        // When the reader is gone, discard the output, and let the command run to its end.
        Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
    }
}

/// The end of the output of a stream.
#[derive(Debug, Default)]
pub(crate) struct StreamTail(Vec<u8>);

impl StreamTail {
    fn take(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    /// Returns it as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0[self.0.len().saturating_sub(TAIL)..]).into_owned()
    }
}
