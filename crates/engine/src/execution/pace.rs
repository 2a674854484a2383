//! How fast scripts may compute.
//!
//! Most are done in a fraction of a millisecond. As many of them run at the same time as there are cores: more would only
//! take each other's caches. One that is not done after a while makes room for the next.
//!
//! The operating system lets a busy thread have its core for milliseconds at a time, which is what a neighbour's request
//! then waits for. So a script that has computed for a while pauses every quarter of a millisecond, longer the more
//! such scripts there are: together they get about half of a core. Scripts that are done by then never pause.

use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use armilla_env::Clock;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{SCRIPT_SLICE, SCRIPT_SPRINT};

/// The cores for scripts that have just begun.
pub(crate) struct Cores(Arc<Semaphore>);

impl Default for Cores {
    fn default() -> Cores {
        let count = std::thread::available_parallelism().map_or(1, NonZero::get);
        Cores(Arc::new(Semaphore::new(count)))
    }
}

impl Cores {
    /// Waits for a core.
    pub(super) async fn next(&self) -> OwnedSemaphorePermit {
        self.0.clone().acquire_owned().await.expect("the semaphore is never closed")
    }
}

/// How many scripts compute for long, over all containers.
pub(crate) type LongRuns = Arc<AtomicU32>;

/// The pace of one run.
pub(super) struct Pace {
    clock: Arc<dyn Clock>,
    /// When the script has computed for a while.
    patience: Duration,
    /// When it paused last.
    paused: Cell<Duration>,
    is_long: Cell<bool>,
    long_runs: LongRuns,
    /// Given back once the run is a long one.
    core: Core,
}

/// A core that a run has, as long as it has one.
pub(super) type Core = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

impl Pace {
    pub(super) fn new(clock: Arc<dyn Clock>, long_runs: LongRuns, core: Core) -> Pace {
        let now = clock.elapsed();
        Pace {
            clock,
            patience: now + SCRIPT_SPRINT,
            paused: Cell::new(now),
            is_long: Cell::new(false),
            long_runs,
            core,
        }
    }

    /// Pauses if it is time to. Returns the time.
    pub(super) fn keep(&self) -> Duration {
        let now = self.clock.elapsed();
        if now < self.patience || now.saturating_sub(self.paused.get()) < SCRIPT_SLICE {
            return now;
        }
        if !self.is_long.replace(true) {
            self.long_runs.fetch_add(1, Ordering::Relaxed);
            self.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        let others = self.long_runs.load(Ordering::Relaxed).saturating_sub(1);
        std::thread::sleep(SCRIPT_SLICE * (1 + 2 * others));
        let now = self.clock.elapsed();
        self.paused.set(now);
        now
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        if self.is_long.get() {
            self.long_runs.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use armilla_env::SystemClock;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "pauses are real")]
    fn long_runs_pause_and_are_counted() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let long_runs = LongRuns::default();
        let short = Pace::new(clock.clone(), long_runs.clone(), Core::default());
        short.keep();
        assert_eq!(long_runs.load(Ordering::Relaxed), 0);
        let semaphore = Arc::new(Semaphore::new(2));
        let core = || Arc::new(Mutex::new(Some(semaphore.clone().try_acquire_owned().unwrap())));
        let long = [(); 2].map(|()| Pace::new(clock.clone(), long_runs.clone(), core()));
        assert_eq!(semaphore.available_permits(), 0);
        std::thread::sleep(SCRIPT_SPRINT);
        let begin = std::time::Instant::now();
        for pace in &long {
            pace.keep();
        }
        assert_eq!(long_runs.load(Ordering::Relaxed), 2);
        assert_eq!(semaphore.available_permits(), 2, "others may begin");
        assert!(begin.elapsed() >= SCRIPT_SLICE * 4, "one slice for the first, three beside another");
        let begin = std::time::Instant::now();
        short.keep();
        assert_eq!(long_runs.load(Ordering::Relaxed), 3);
        assert!(begin.elapsed() >= SCRIPT_SLICE * 5);
        drop((short, long));
        assert_eq!(long_runs.load(Ordering::Relaxed), 0);
    }
}
