//! Sends messages, whole and in order.
//!
//! While the pipe has room, haft writes a message immediately, without a thread switch. Other messages go into a bounded
//! queue, which a thread empties, because writing may block. If a client does not read, the queue fills up. Then haft stops
//! reading from that client: the transport takes no request whose answer has no room.

use std::collections::VecDeque;
use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, write};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Most messages that wait to be written.
const MOST_WAITING: usize = 64;
/// So many bytes a pipe takes without blocking when it says that there is room.
const SURE: usize = 4_096;

/// Takes messages to be written.
#[derive(Clone)]
pub(crate) struct Outbox {
    sender: mpsc::UnboundedSender<OutboxLine>,
    /// The places in the queue.
    places: Arc<Semaphore>,
    pipe: Arc<Pipe>,
}

/// A line that the thread has to write.
struct OutboxLine {
    line: Vec<u8>,
    /// The rest of a message that has begun needs no place: there is never more than one.
    _place: Option<OwnedSemaphorePermit>,
}

struct Pipe {
    output: OwnedFd,
    /// How many messages the thread has not written yet. While there is one, only the thread writes.
    waiting: Mutex<usize>,
    ended: CancellationToken,
}

/// Completes when everything was written, or can no longer be written.
pub(crate) type FlushSignal = oneshot::Receiver<()>;

/// The error that the reader has closed the output.
#[derive(Debug)]
pub(crate) struct ClosedOutbox;

impl std::fmt::Display for ClosedOutbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the output has no reader any more")
    }
}

impl std::error::Error for ClosedOutbox {}

impl Outbox {
    /// Writes what is put in, each message as a line. When that fails, `ended` is told.
    ///
    /// # Errors
    ///
    /// Fails where the system has no more files.
    pub(crate) fn open(output: OwnedFd, ended: CancellationToken) -> std::io::Result<(Self, FlushSignal)> {
        let mut blocking = PipeWriter::from(output.try_clone()?);
        let pipe = Arc::new(Pipe { output, waiting: Mutex::default(), ended });
        let places = Arc::new(Semaphore::new(MOST_WAITING));
        let (sender, mut receiver) = mpsc::unbounded_channel::<OutboxLine>();
        let (written, all_written) = oneshot::channel();
        let of_thread = (pipe.clone(), places.clone());
        std::thread::spawn(move || {
            let (pipe, places) = of_thread;
            while let Some(waiting) = receiver.blocking_recv() {
                if blocking.write_all(&waiting.line).is_err() {
                    pipe.ended.cancel();
                    places.close();
                    break;
                }
                *pipe.waiting() -= 1;
            }
            drop(written);
        });
        Ok((Self { sender, places, pipe }, all_written))
    }

    /// Puts a message in as soon as there is room.
    pub(crate) async fn put(&self, line: Vec<u8>) -> Result<(), ClosedOutbox> {
        self.put_all(&mut VecDeque::from([line])).await
    }

    /// Puts all of these in. Can be given up at any moment: what is left has not been written.
    pub(crate) async fn put_all(&self, lines: &mut VecDeque<Vec<u8>>) -> Result<(), ClosedOutbox> {
        while let Some(line) = lines.pop_front() {
            let Some(line) = self.now(line)? else { continue };
            lines.push_front(line);
            let place = self.places.clone().acquire_owned().await.map_err(|_| ClosedOutbox)?;
            if let Some(line) = lines.pop_front() {
                self.leave(&mut self.pipe.waiting(), OutboxLine { line, _place: Some(place) })?;
            }
        }
        Ok(())
    }

    /// Puts a message in if there is room now; one that may be missed otherwise is.
    pub(crate) fn put_if_room(&self, line: Vec<u8>) {
        if let Ok(Some(line)) = self.now(line)
            && let Ok(place) = self.places.clone().try_acquire_owned()
        {
            // Who cannot be told any more misses nothing.
            let _ = self.leave(&mut self.pipe.waiting(), OutboxLine { line, _place: Some(place) });
        }
    }

    /// Leaves a message to the thread.
    fn leave(&self, waiting: &mut usize, message: OutboxLine) -> Result<(), ClosedOutbox> {
        *waiting += 1;
        self.sender.send(message).map_err(|_| ClosedOutbox)
    }

    /// Writes as much of a message as the pipe has room for, and leaves the rest to the thread. Returns the message when
    /// others wait, or there is no room.
    fn now(&self, mut line: Vec<u8>) -> Result<Option<Vec<u8>>, ClosedOutbox> {
        let mut waiting = self.pipe.waiting();
        if *waiting > 0 {
            return Ok(Some(line));
        }
        let mut from = 0;
        while from < line.len() && self.pipe.has_room() {
            let piece = &line[from..line.len().min(from + SURE)];
            match write(&self.pipe.output, piece) {
                Ok(many) => from += many,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.pipe.ended.cancel();
                    return Err(ClosedOutbox);
                }
            }
        }
        match from {
            0 => Ok(Some(line)),
            all if all == line.len() => Ok(None),
            // A message that has begun must be ended before anything else is written.
            begun => {
                self.leave(&mut waiting, OutboxLine { line: line.split_off(begun), _place: None })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// Sends many messages of all lengths from many tasks while a reader reads; returns the lines that it read.
    async fn through(many: usize) -> Vec<String> {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        let (outbox, _written) = Outbox::open(writer.into(), CancellationToken::new()).expect("it opens");
        let mut putting = tokio::task::JoinSet::new();
        for number in 0..many {
            let outbox = outbox.clone();
            let line = format!("{number}:{}\n", "x".repeat(number * 37 % 20_000)).into_bytes();
            putting.spawn(async move { outbox.put(line).await.expect("somebody reads") });
        }
        // The pipe is full before the first is read.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        drop(outbox);
        let reading = std::thread::spawn(move || {
            BufReader::new(reader).lines().map(|line| line.expect("it is text")).collect::<Vec<_>>()
        });
        while putting.join_next().await.is_some() {}
        drop(_written.await);
        reading.join().expect("it is read")
    }

    #[tokio::test]
    async fn every_message_arrives_once_and_whole_however_slow_the_reader_is() {
        let read = through(3_000).await;
        let mut numbers: Vec<usize> = read
            .iter()
            .map(|line| {
                let (number, rest) = line.split_once(':').expect("a whole line");
                let number: usize = number.parse().expect("a number");
                assert_eq!(rest.len(), number * 37 % 20_000);
                number
            })
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..3_000).collect::<Vec<_>>());
    }
}
