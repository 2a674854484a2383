//! How scripts share threads and cores with everybody else.
//!
//! Most scripts are done in a fraction of a millisecond, so they run where their request is served, without the two
//! changes of threads that another place would cost. One that is not done after a moment gives way: it pauses as one
//! that blocks, so that the runtime moves all other tasks to another thread, and goes on by itself.
//!
//! The operating system lets a busy thread have its core for milliseconds at a time, which is what a neighbour's request
//! then waits for. So a script that has computed for a while goes on pausing, longer the more such scripts there are:
//! together they get about half of a core.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use armilla_env::Clock;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::limits::{SCRIPT_MOMENT, SCRIPT_MOMENT_CHECKS, SCRIPT_PAUSE, SCRIPT_SLICE, SCRIPT_SPRINT};

/// How many scripts compute for long, over all containers.
pub(crate) type LongRuns = Arc<AtomicU32>;

/// The pace of one run.
pub(super) struct Pace {
    clock: Arc<dyn Clock>,
    began: Duration,
    /// How often the interpreter has asked for the time.
    asked: Cell<u32>,
    /// When it paused last.
    paused: Cell<Duration>,
    is_long: Cell<bool>,
    long_runs: LongRuns,
}

impl Pace {
    pub(super) fn new(clock: Arc<dyn Clock>, long_runs: LongRuns) -> Pace {
        let began = clock.elapsed();
        Pace {
            clock,
            began,
            asked: Cell::new(0),
            paused: Cell::new(began),
            is_long: Cell::new(false),
            long_runs,
        }
    }

    /// Pauses if it is time to. Returns the time.
    pub(super) fn keep(&self) -> Duration {
        let now = self.clock.elapsed();
        let took = now.saturating_sub(self.began);
        let asked = self.asked.replace(self.asked.get().saturating_add(1));
        // The first pause comes also where the clock stands still: somebody else may have to move it.
        let is_first = asked == SCRIPT_MOMENT_CHECKS;
        let is_due = took >= SCRIPT_MOMENT && now.saturating_sub(self.paused.get()) >= SCRIPT_SLICE;
        if !is_first && !is_due {
            return now;
        }
        let pause = if took < SCRIPT_SPRINT {
            SCRIPT_PAUSE
        } else {
            if !self.is_long.replace(true) {
                self.long_runs.fetch_add(1, Ordering::Relaxed);
            }
            let others = self.long_runs.load(Ordering::Relaxed).saturating_sub(1);
            SCRIPT_SLICE * (1 + 2 * others)
        };
        giving_way(|| std::thread::sleep(pause));
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

/// Does something that takes its time. If this thread serves other tasks, they move to another one.
pub(super) fn giving_way<T>(work: impl FnOnce() -> T) -> T {
    let serves_others =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if serves_others { tokio::task::block_in_place(work) } else { work() }
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
        let paused = |pace: &Pace| {
            let begin = std::time::Instant::now();
            pace.keep();
            begin.elapsed()
        };
        let (first, second, third) = (pace(), pace(), pace());
        std::thread::sleep(SCRIPT_MOMENT);
        assert!(paused(&first) >= SCRIPT_PAUSE);
        assert_eq!(long_runs.load(Ordering::Relaxed), 0, "it may be done soon");
        std::thread::sleep(SCRIPT_SPRINT);
        for (number, pace) in [&first, &second, &third].into_iter().enumerate() {
            assert!(paused(pace) >= SCRIPT_SLICE * (1 + 2 * number as u32), "{number} others");
            assert_eq!(long_runs.load(Ordering::Relaxed), number as u32 + 1);
        }
        drop((first, second, third));
        assert_eq!(long_runs.load(Ordering::Relaxed), 0);
    }

    /// A task on the one thread of a runtime goes on while a script that takes its time is on that thread.
    #[test]
    fn others_go_on() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
            let seen = is_done.clone();
            let busy = tokio::spawn(async move {
                let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
                let pace = Pace::new(clock.clone(), LongRuns::default());
                let other = is_done.clone();
                tokio::spawn(async move { other.store(true, Ordering::Release) });
                let end = clock.elapsed() + Duration::from_secs(20);
                while !is_done.load(Ordering::Acquire) && pace.keep() < end {}
            });
            busy.await.unwrap();
            assert!(seen.load(Ordering::Acquire), "the other task waited for the busy one");
        });
    }
}
