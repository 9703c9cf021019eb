//! Waits for a command while a thread attends to it: passes on its output, signals, and requests to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_contract::doors::door::Permit;
use haft_contract::doors::process::{CallerStreams, OutputListener};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use tokio::sync::mpsc;

use crate::running::attend::{Finish, NoFinish, Task, attend};
use crate::running::wake::{AbandonWhenDropped, ThreadRequest, Wake};

/// How many pieces of output wait for the reader; then the command waits.
const PIECES: usize = 4;

/// How much of a piece is dealt with before others on this thread may come first, and how long they wait at least.
const PART: usize = 16 * 1024;
const TURN: Duration = Duration::from_millis(1);

/// Lets a thread attend to the command; passes on what it prints, and the wish to stop.
pub(super) async fn attended(
    task: Task,
    permit: &Permit,
    heard: OutputListener<'_>,
) -> Result<Result<Finish, NoFinish>, ToolError> {
    let failed = |error| ToolError::of(ErrorKind::Io, format!("No command can be run now: {error}."));
    let wake = Arc::new(Wake::new().map_err(|error| failed(std::io::Error::from(error)))?);
    let abandon = AbandonWhenDropped(Arc::clone(&wake));
    let (tell, mut pieces) = mpsc::channel(PIECES);
    let streams = task.streams.clone();
    let attends = tokio::task::spawn_blocking(move || attend(task, tell, &wake));
    let mut is_told = false;
    let mut turn = Instant::now();
    loop {
        tokio::select! {
            biased;
            () = permit.stop().cancelled(), if !is_told => {
                is_told = true;
                abandon.0.tell(ThreadRequest::Stop);
            }
            signals = permit.signals().next() => abandon.0.signal(signals),
            signals = of_caller(streams.as_ref()) => abandon.0.signal(signals),
            piece = pieces.recv() => match piece {
                Some((stream, piece)) => {
                    // The room is there before the piece is dealt with, so that reading and listening overlap.
                    abandon.0.there_is_room();
                    for part in piece.chunks(PART) {
                        heard(stream, part);
                        // A program that prints without end always has another piece: others on this thread get a turn.
                        if turn.elapsed() >= TURN {
                            tokio::task::yield_now().await;
                            turn = Instant::now();
                        }
                        if !is_told && permit.stop().is_cancelled() {
                            is_told = true;
                            abandon.0.tell(ThreadRequest::Stop);
                        }
                    }
                }
                None => break,
            },
        }
    }
    attends.await.map_err(|_| ToolError::of(ErrorKind::Bug, "The thread that attends to the command broke down."))
}

/// Waits for signals from the caller of a command that has brought its streams along.
async fn of_caller(streams: Option<&CallerStreams>) -> Vec<i32> {
    match streams {
        Some(streams) => streams.signals().next().await,
        None => std::future::pending().await,
    }
}
