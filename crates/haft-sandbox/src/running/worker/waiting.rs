//! Waits for descriptors: a moment in place, longer in a thread that is made for it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::running::wake::{AbandonWhenDropped, Wake};

/// How long to wait before looking again where nothing can be waited on.
const AGAIN: Duration = Duration::from_millis(20);

/// Waits a moment in place until one of these is ready; returns whether one is.
pub(super) fn is_there_soon(awaited: &[(BorrowedFd<'_>, PollFlags)], moment: Duration) -> bool {
    let mut polled: Vec<PollFd<'_>> = awaited.iter().map(|(one, what)| PollFd::from_borrowed_fd(*one, *what)).collect();
    let moment = Timespec::try_from(moment).unwrap_or_default();
    matches!(poll(&mut polled, Some(&moment)), Ok(1..))
}

/// Waits until one of these is ready, at most until then. Dropping the future ends the wait.
pub(super) async fn wait(awaited: Vec<(io::Result<OwnedFd>, PollFlags)>, until: Option<Instant>) {
    let Ok(wake) = Wake::new().map(Arc::new) else { return tokio::time::sleep(AGAIN).await };
    let _abandon = AbandonWhenDropped(Arc::clone(&wake));
    let waited = tokio::task::spawn_blocking(move || {
        let mut polled = vec![PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN)];
        let ready = awaited.iter().filter_map(|(one, what)| Some((one.as_ref().ok()?, *what)));
        polled.extend(ready.map(|(one, what)| PollFd::new(one, what)));
        // If a descriptor is missing, wait only briefly: the caller then looks again.
        let is_whole = polled.len() > awaited.len();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = if is_whole { left } else { Some(left.unwrap_or(AGAIN).min(AGAIN)) };
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let _ = poll(&mut polled, left.as_ref());
    });
    let _ = waited.await;
}
