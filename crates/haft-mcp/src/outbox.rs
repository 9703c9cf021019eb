//! Messages on their way out, whole and in order.
//!
//! As long as the pipe has room a message is written at once, which costs no change of threads. What has no room goes
//! into a bounded queue, which a thread empties, because writing may block. Whoever does not read makes the queue full,
//! and then nothing more is read from him either: the transport takes no request whose answer has no room.

use std::collections::VecDeque;
use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, write};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Most messages that wait to be written.
const MOST_WAITING: usize = 64;
/// So many bytes a pipe takes without blocking when it says that there is room.
const SURE: usize = 4_096;

/// Takes messages to be written.
#[derive(Clone)]
pub(crate) struct Outbox {
    sender: mpsc::Sender<Vec<u8>>,
    pipe: Arc<Pipe>,
}

struct Pipe {
    output: OwnedFd,
    /// How many messages the thread has not written yet. While there is one, nobody else writes.
    waiting: Mutex<usize>,
    ended: CancellationToken,
}

/// Ends when everything was written, or cannot be any more.
pub(crate) type Written = oneshot::Receiver<()>;

/// Nobody reads any more.
#[derive(Debug)]
pub(crate) struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody reads the output any more")
    }
}

impl std::error::Error for Closed {}

impl Outbox {
    /// Writes what is put in, each message as a line. When that fails, `ended` is told.
    ///
    /// # Errors
    ///
    /// Fails where the system has no more files.
    pub(crate) fn open(output: OwnedFd, ended: CancellationToken) -> std::io::Result<(Self, Written)> {
        let mut blocking = PipeWriter::from(output.try_clone()?);
        let pipe = Arc::new(Pipe { output, waiting: Mutex::default(), ended });
        let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(MOST_WAITING);
        let (written, all_written) = oneshot::channel();
        let of_thread = pipe.clone();
        std::thread::spawn(move || {
            while let Some(line) = receiver.blocking_recv() {
                if blocking.write_all(&line).is_err() {
                    of_thread.ended.cancel();
                    break;
                }
                *of_thread.waiting() -= 1;
            }
            drop(written);
        });
        Ok((Self { sender, pipe }, all_written))
    }

    /// Puts a message in as soon as there is room.
    pub(crate) async fn put(&self, line: Vec<u8>) -> Result<(), Closed> {
        self.put_all(&mut VecDeque::from([line])).await
    }

    /// Puts all of these in. Can be given up at any moment: what is left has not been written.
    pub(crate) async fn put_all(&self, lines: &mut VecDeque<Vec<u8>>) -> Result<(), Closed> {
        while let Some(line) = lines.pop_front() {
            let Some(line) = self.now(line)? else { continue };
            lines.push_front(line);
            let room = self.sender.reserve().await.map_err(|_| Closed)?;
            if let Some(line) = lines.pop_front() {
                *self.pipe.waiting() += 1;
                room.send(line);
            }
        }
        Ok(())
    }

    /// Puts a message in if there is room now; one that may be missed otherwise is.
    pub(crate) fn put_if_room(&self, line: Vec<u8>) {
        if let Ok(Some(line)) = self.now(line) {
            let mut waiting = self.pipe.waiting();
            if self.sender.try_send(line).is_ok() {
                *waiting += 1;
            }
        }
    }

    /// Writes a message at once, as far as the pipe has room, and leaves the rest to the thread. Gives it back when
    /// others wait, or there is no room at all.
    fn now(&self, mut line: Vec<u8>) -> Result<Option<Vec<u8>>, Closed> {
        let mut waiting = self.pipe.waiting();
        if *waiting > 0 {
            return Ok(Some(line));
        }
        // What is begun must be ended: its rest needs a place, and others may hold all of them without using them yet.
        let Ok(place) = self.sender.try_reserve() else { return Ok(Some(line)) };
        let mut from = 0;
        while from < line.len() && self.pipe.has_room() {
            let piece = &line[from..line.len().min(from + SURE)];
            match write(&self.pipe.output, piece) {
                Ok(many) => from += many,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.pipe.ended.cancel();
                    return Err(Closed);
                }
            }
        }
        match from {
            0 => Ok(Some(line)),
            all if all == line.len() => Ok(None),
            begun => {
                place.send(line.split_off(begun));
                *waiting += 1;
                Ok(None)
            }
        }
    }
}

impl Pipe {
    fn has_room(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.output, PollFlags::OUT)], Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    fn waiting(&self) -> MutexGuard<'_, usize> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a message as the line that it is on the wire.
pub(crate) fn line_of(message: &impl serde::Serialize) -> Vec<u8> {
    // Messages hold strings, numbers, lists and maps with strings as keys: nothing in them can fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
