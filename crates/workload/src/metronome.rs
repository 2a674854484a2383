//! Releases the operations of an open loop when they are due.
//!
//! A thread of its own sleeps until the next operation is due: the timers of the runtime are good to a millisecond,
//! which is longer than many operations take. What is due waits as a number, not as a queue: connections take the next
//! number when they are free, so however far they fall behind, nothing grows.
//!
//! Invariant: operation `n` is taken by one connection, and not before it is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_env::Env;
use tokio::sync::Semaphore;

use crate::limits::{METRONOME_SLEEP_MAX, OPEN_LOOP_GRACE};
use crate::schedule::Schedule;

/// The operations that are due and that nobody has taken yet.
pub(crate) struct Metronome {
    released: Arc<Semaphore>,
    taken: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Metronome {
    /// Starts to release operations; `start` is when the schedule begins, by the clock's elapsed time.
    pub(crate) fn start(env: &Env, schedule: Schedule, start: Duration) -> Result<Metronome> {
        let released = Arc::new(Semaphore::new(0));
        let (own, clock) = (released.clone(), env.clock.clone());
        let thread = std::thread::Builder::new()
            .name("metronome".to_owned())
            .spawn(move || {
                let mut count = 0;
                while !own.is_closed() {
                    let elapsed = clock.elapsed().saturating_sub(start);
                    let closing = schedule.end() + OPEN_LOOP_GRACE;
                    if elapsed >= closing {
                        own.close();
                        return;
                    }
                    let due = schedule.due_count(elapsed);
                    // Bounded by the length of a run times its rate, both of which are.
                    own.add_permits(usize::try_from(due - count).unwrap_or(0));
                    count = due;
                    let next = if count < schedule.total() { schedule.due_at(count) } else { closing };
                    std::thread::sleep(next.saturating_sub(elapsed).min(METRONOME_SLEEP_MAX));
                }
            })
            .context("cannot start a thread")?;
        Ok(Metronome { released, taken: AtomicU64::new(0), thread: Some(thread) })
    }

    /// Waits for an operation that is due and returns its number; `None` once the schedule is over.
    pub(crate) async fn next(&self) -> Option<u64> {
        self.released.acquire().await.ok()?.forget();
        Some(self.taken.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns how many operations were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for Metronome {
    fn drop(&mut self) {
        self.released.close();
        if let Some(thread) = self.thread.take() {
            // It has nothing to say; a panic in it was printed where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn operations_come_in_order_and_not_early() {
        let env = Env::system();
        let schedule = Schedule::new(2_000.0, Duration::ZERO, Duration::from_millis(200));
        let start = env.clock.elapsed();
        let metronome = Metronome::start(&env, schedule, start).unwrap();
        let mut count = 0;
        while let Some(number) = metronome.next().await {
            assert_eq!(number, count);
            assert!(env.clock.elapsed() - start >= schedule.due_at(number));
            count += 1;
        }
        // Whoever is always free gets all of them.
        assert_eq!(count, schedule.total());
        assert_eq!(metronome.taken(), count);
        assert!(metronome.next().await.is_none());
    }

    #[tokio::test]
    async fn what_nobody_takes_is_not_kept_behind_the_end() {
        let env = Env::system();
        let schedule = Schedule::new(1_000.0, Duration::ZERO, Duration::from_millis(50));
        let metronome = Metronome::start(&env, schedule, env.clock.elapsed()).unwrap();
        env.clock.sleep(2 * OPEN_LOOP_GRACE + Duration::from_millis(50)).await;
        assert!(metronome.next().await.is_none());
        assert_eq!(metronome.taken(), 0);
    }

    #[test]
    fn a_metronome_that_is_dropped_stops() {
        let env = Env::system();
        let schedule = Schedule::new(0.1, Duration::ZERO, Duration::from_secs(3_600));
        let begin = env.clock.elapsed();
        drop(Metronome::start(&env, schedule, begin).unwrap());
        assert!(env.clock.elapsed() - begin < Duration::from_secs(5));
    }
}
