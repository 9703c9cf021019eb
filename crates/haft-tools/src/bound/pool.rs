//! Workers that wait for calls: at most four for each way in which one is started.
//!
//! A call has a worker for itself. One that broke is gone with its call, and the next call starts another. Workers that
//! nobody needed for five minutes are ended.
//!
//! Not here: starting one and putting it on a ground (`RunContext::serve`), what is said to it (`python`).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use haft::prelude::*;
use haft::process::Worker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Most workers of one sort.
const MOST_WORKERS: usize = 4;
/// How long a worker waits for its next call.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// How a worker was started. Two calls with the same profile may share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Profile {
    pub(super) interpreter: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) readable: Vec<PathBuf>,
    pub(super) network: bool,
}

/// All workers of one workspace.
#[derive(Default)]
pub(super) struct Pools {
    pools: Mutex<HashMap<Profile, Arc<Pool>>>,
    calls: AtomicU64,
}

struct Pool {
    idle: Mutex<Idle>,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Idle {
    /// The one that served last is at the end: it is warm, and the others may come to their end.
    workers: Vec<(Box<dyn Worker>, Instant)>,
    is_watched: bool,
}

/// The right to use one worker.
pub(super) struct Turn {
    pool: Arc<Pool>,
    _slot: OwnedSemaphorePermit,
}

impl Pools {
    /// Waits until there is a worker free, or room for a new one.
    pub(super) async fn turn(&self, profile: Profile, cx: &RunContext<'_>) -> Result<Turn, ToolError> {
        let pool = Arc::clone(self.pools().entry(profile).or_insert_with(|| Arc::new(Pool::new())));
        tokio::select! {
            biased;
            () = cx.stopped() => Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped while it waited.")),
            slot = Arc::clone(&pool.room).acquire_owned() => {
                let closed = |_| ToolError::of(ErrorKind::Bug, "The workers are gone.");
                Ok(Turn { _slot: slot.map_err(closed)?, pool })
            }
        }
    }

    /// Returns a number that no other call has.
    pub(super) fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn pools(&self) -> MutexGuard<'_, HashMap<Profile, Arc<Pool>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Takes a worker that waits, if there is one.
    pub(super) fn idle_worker(&self) -> Option<Box<dyn Worker>> {
        self.pool.idle().workers.pop().map(|(worker, _)| worker)
    }

    /// Lets a worker wait for the next call.
    pub(super) fn give_back(self, worker: Box<dyn Worker>) {
        self.pool.put(worker, IDLE);
    }
}

impl Pool {
    fn new() -> Self {
        Self { idle: Mutex::default(), room: Arc::new(Semaphore::new(MOST_WORKERS)) }
    }

    fn put(self: &Arc<Self>, worker: Box<dyn Worker>, patience: Duration) {
        let mut idle = self.idle();
        idle.workers.push((worker, Instant::now() + patience));
        if !std::mem::replace(&mut idle.is_watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
    }

    /// Takes those out that have waited long enough; returns when to look again.
    fn expired(&self) -> (Vec<Box<dyn Worker>>, Option<Instant>) {
        let now = Instant::now();
        let mut idle = self.idle();
        let (late, early): (Vec<_>, Vec<_>) = idle.workers.drain(..).partition(|(_, until)| *until <= now);
        idle.workers = early;
        let next = idle.workers.iter().map(|(_, until)| *until).min();
        idle.is_watched = next.is_some();
        (late.into_iter().map(|(worker, _)| worker).collect(), next)
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends workers that wait for too long, until none waits.
async fn watch(pool: Weak<Pool>) {
    loop {
        let Some((late, next)) = pool.upgrade().map(|pool| pool.expired()) else { return };
        for worker in late {
            worker.end(haft::process::HowEnded::Stopped).await;
        }
        match next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => return,
        }
    }
}
