//! Messages on their way out, in order, in a bounded queue.
//!
//! Whoever does not read makes this queue full, and then nothing more is read from him either: the transport takes no
//! request whose answer has no room. Writing blocks, so it has a thread of its own.

use std::io::Write;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Most messages that wait to be written.
const MOST_WAITING: usize = 64;

/// Takes messages to be written.
#[derive(Clone)]
pub(crate) struct Outbox {
    sender: mpsc::Sender<Vec<u8>>,
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
    pub(crate) fn open(mut output: impl Write + Send + 'static, ended: CancellationToken) -> (Self, Written) {
        let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(MOST_WAITING);
        let (written, all_written) = oneshot::channel();
        std::thread::spawn(move || {
            while let Some(line) = receiver.blocking_recv() {
                if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                    ended.cancel();
                    break;
                }
            }
            drop(written);
        });
        (Self { sender }, all_written)
    }

    /// Puts a message in as soon as there is room.
    pub(crate) async fn put(&self, line: Vec<u8>) -> Result<(), Closed> {
        self.sender.send(line).await.map_err(|_| Closed)
    }

    /// Waits for room for one message.
    pub(crate) async fn room(&self) -> Result<mpsc::Permit<'_, Vec<u8>>, Closed> {
        self.sender.reserve().await.map_err(|_| Closed)
    }

    /// Puts a message in if there is room now; one that may be missed otherwise is.
    pub(crate) fn put_if_room(&self, line: Vec<u8>) {
        let _ = self.sender.try_send(line);
    }
}

/// Writes a message as the line that it is on the wire.
pub(crate) fn line_of(message: &impl serde::Serialize) -> Vec<u8> {
    // Messages hold strings, numbers, lists and maps with strings as keys: nothing in them can fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
