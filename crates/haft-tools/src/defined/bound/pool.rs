//! Keeps workers that wait for calls: at most four per start profile and place.
//!
//! Each call has one worker to itself. A worker that breaks ends with its call, and the next call starts another. haft
//! ends a worker that was not used for five minutes.
//!
//! Not here: starting a worker and giving it a ground (`RunContext::serve`), talking to it (`python`).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use haft_contract::doors::process::{HowEnded, TrustedCode, Worker};
use haft_contract::prelude::*;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Most workers of one sort.
const MOST_WORKERS: usize = 4;
/// How long a worker waits for its next call.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// How a worker was started. Two calls with the same profile may share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WorkerKey {
    pub(super) interpreter: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) readable: Vec<PathBuf>,
    pub(super) network: bool,
    /// The folders on its module path. A module that one tool imported stays loaded, so tools that may not import the
    /// same code do not share a worker.
    pub(super) path: Vec<PathBuf>,
    /// The trusted copy of the code that it imports.
    pub(super) code: Option<TrustedCode>,
}

/// The workers of the functions that were defined together, wherever they run. They end with the definitions.
pub(super) struct Pools {
    /// Tells these definitions from others, such as those before a reload.
    number: u64,
    places: Mutex<Vec<Weak<PlacePools>>>,
    calls: AtomicU64,
}

/// The workers of one place: that of all sessions, or that of one client. They end with the place.
#[derive(Default)]
struct PlacePools {
    /// By the definitions that they serve, and by how they were started.
    pools: Mutex<HashMap<(u64, WorkerKey), Arc<Pool>>>,
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
pub(super) struct WorkerSlot {
    pool: Arc<Pool>,
    _slot: OwnedSemaphorePermit,
}

/// How many definitions were numbered.
static DEFINITIONS: AtomicU64 = AtomicU64::new(0);

impl Default for Pools {
    fn default() -> Self {
        let number = DEFINITIONS.fetch_add(1, Ordering::Relaxed);
        Self { number, places: Mutex::default(), calls: AtomicU64::new(0) }
    }
}

impl Pools {
    /// Waits until there is a worker free, or room for a new one.
    pub(super) async fn turn(&self, profile: WorkerKey, cx: &RunContext<'_>) -> Result<WorkerSlot, ToolError> {
        let pool = self.pool(&cx.idle_workers(), profile);
        tokio::select! {
            biased;
            () = cx.stopped() => Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped while it waited.")),
            slot = Arc::clone(&pool.room).acquire_owned() => {
                let closed = |_| ToolError::of(ErrorKind::Bug, "The workers are gone.");
                Ok(WorkerSlot { _slot: slot.map_err(closed)?, pool })
            }
        }
    }

    /// Returns a number that no other call has.
    pub(super) fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the pool for workers of this profile in a place.
    fn pool(&self, place: &Arc<PlacePools>, profile: WorkerKey) -> Arc<Pool> {
        let mut places = self.places();
        places.retain(|known| known.strong_count() > 0);
        if !places.iter().any(|known| known.as_ptr() == Arc::as_ptr(place)) {
            places.push(Arc::downgrade(place));
        }
        Arc::clone(place.pools().entry((self.number, profile)).or_insert_with(|| Arc::new(Pool::new())))
    }

    fn places(&self) -> MutexGuard<'_, Vec<Weak<PlacePools>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pools {
    fn drop(&mut self) {
        for place in self.places().iter().filter_map(Weak::upgrade) {
            place.pools().retain(|(definitions, _), _| *definitions != self.number);
        }
    }
}

impl PlacePools {
    fn pools(&self) -> MutexGuard<'_, HashMap<(u64, WorkerKey), Arc<Pool>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerSlot {
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
            worker.end(HowEnded::Stopped).await;
        }
        match next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use haft_contract::BoxFuture;
    use haft_contract::doors::door::Permit;
    use haft_contract::doors::process::{CommandEnd, ConfinementLevel, NotRun, OutputListener, Staging};

    use super::*;

    /// A worker that does nothing but count the workers that are alive.
    struct CountedWorker(Arc<AtomicUsize>);

    impl CountedWorker {
        fn boxed(alive: &Arc<AtomicUsize>) -> Box<dyn Worker> {
            alive.fetch_add(1, Ordering::SeqCst);
            Box::new(Self(Arc::clone(alive)))
        }
    }

    impl Drop for CountedWorker {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Worker for CountedWorker {
        fn enter<'a>(&'a mut self, _: &'a Permit, _: &'a dyn Staging) -> BoxFuture<'a, Result<(), NotRun>> {
            Box::pin(async { Ok(()) })
        }

        fn send<'a>(&'a mut self, _: &'a [u8], _: OutputListener<'a>) -> BoxFuture<'a, Result<(), CommandEnd>> {
            Box::pin(async { Ok(()) })
        }

        fn receive<'a>(&'a mut self, _: OutputListener<'a>) -> BoxFuture<'a, Result<Vec<u8>, CommandEnd>> {
            Box::pin(std::future::pending())
        }

        fn leave(&mut self) -> BoxFuture<'_, Result<usize, CommandEnd>> {
            Box::pin(async { Ok(0) })
        }

        fn end(self: Box<Self>, how: HowEnded) -> BoxFuture<'static, CommandEnd> {
            let (took, level) = (Duration::ZERO, ConfinementLevel::None);
            Box::pin(async move {
                CommandEnd { how, took, level, left_behind: 0, notes: Vec::new(), refused_hosts: Vec::new() }
            })
        }
    }

    async fn advance(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_nobody_needs_is_ended_and_the_others_wait_on() {
        let alive = Arc::default();
        let pool = Arc::new(Pool::new());
        pool.put(CountedWorker::boxed(&alive), IDLE);
        advance(200).await;
        pool.put(CountedWorker::boxed(&alive), IDLE);
        advance(99).await;
        assert_eq!(alive.load(Ordering::SeqCst), 2);
        advance(2).await;
        assert_eq!(alive.load(Ordering::SeqCst), 1);
        advance(200).await;
        assert_eq!((alive.load(Ordering::SeqCst), pool.idle().is_watched), (0, false));
        pool.put(CountedWorker::boxed(&alive), IDLE);
        advance(301).await;
        assert_eq!(alive.load(Ordering::SeqCst), 0, "the watch begins again");
    }

    #[tokio::test(start_paused = true)]
    async fn workers_are_of_one_place_and_of_one_set_of_definitions_and_end_with_either() {
        let alive = Arc::default();
        let profile = || WorkerKey {
            interpreter: PathBuf::from("python3"),
            workspace: PathBuf::from("/ws"),
            readable: Vec::new(),
            network: false,
            path: Vec::new(),
            code: None,
        };
        let (here, there) = (Arc::new(PlacePools::default()), Arc::new(PlacePools::default()));
        let (before, after) = (Pools::default(), Pools::default());
        for (definitions, place) in [(&before, &here), (&before, &there), (&after, &here)] {
            let pool = definitions.pool(place, profile());
            assert!(pool.idle().workers.is_empty());
            pool.put(CountedWorker::boxed(&alive), IDLE);
            assert_eq!(definitions.pool(place, profile()).idle().workers.len(), 1);
        }
        tokio::task::yield_now().await;
        drop(there);
        assert_eq!(alive.load(Ordering::SeqCst), 2);
        drop(before);
        assert_eq!(alive.load(Ordering::SeqCst), 1);
        drop((here, after));
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }
}
