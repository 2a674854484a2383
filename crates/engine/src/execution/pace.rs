//! How fast a script may compute that computes for long.
//!
//! The operating system lets a busy thread have its core for milliseconds at a time, which is what a neighbour's request
//! then waits for. So a script that has computed for a while pauses every quarter of a millisecond, longer the more
//! such scripts there are: together they get about half of a core. Scripts that are done by then never pause.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use armilla_env::Clock;

use crate::limits::{SCRIPT_SLICE, SCRIPT_SPRINT};

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
}

impl Pace {
    pub(super) fn new(clock: Arc<dyn Clock>, long_runs: LongRuns) -> Pace {
        let now = clock.elapsed();
        Pace {
            clock,
            patience: now + SCRIPT_SPRINT,
            paused: Cell::new(now),
            is_long: Cell::new(false),
            long_runs,
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
        let pace = || Pace::new(clock.clone(), long_runs.clone());
        let (first, second, third) = (pace(), pace(), pace());
        first.keep();
        assert_eq!(long_runs.load(Ordering::Relaxed), 0, "it may be done soon");
        std::thread::sleep(SCRIPT_SPRINT);
        for (number, pace) in [&first, &second, &third].into_iter().enumerate() {
            let begin = std::time::Instant::now();
            pace.keep();
            assert!(begin.elapsed() >= SCRIPT_SLICE * (1 + 2 * number as u32), "{number} others");
            assert_eq!(long_runs.load(Ordering::Relaxed), number as u32 + 1);
        }
        drop((first, second, third));
        assert_eq!(long_runs.load(Ordering::Relaxed), 0);
    }
}
