//! Time of day, elapsed time, and waiting.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The future of a wait.
pub type SleepFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Ticks of a millisecond.
const TICKS_PER_MS: u64 = 10_000;

/// Nanoseconds of a tick.
const NANOSECONDS_PER_TICK: u128 = 100;

/// A source of time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the milliseconds since 1970 UTC.
    fn now_ms(&self) -> i64;

    /// Returns the ticks of 100 nanoseconds since 1970 UTC, as finely as the clock knows them.
    fn now_ticks(&self) -> u64 {
        u64::try_from(self.now_ms()).unwrap_or(0).saturating_mul(TICKS_PER_MS)
    }

    /// Returns the time since some fixed moment; never goes back.
    fn elapsed(&self) -> Duration;

    /// Waits.
    fn sleep(&self, duration: Duration) -> SleepFuture;

    /// Returns the whole seconds since 1970 UTC.
    fn now_seconds(&self) -> i64 {
        self.now_ms().div_euclid(1_000)
    }
}

/// The clock of the machine.
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Returns the clock of the machine.
    #[expect(clippy::new_without_default, reason = "reading the time is not a default")]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        // A clock before 1970 is set wrong; 1970 is the nearest answer that does no harm.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
    }

    fn now_ticks(&self) -> u64 {
        let ticks = |since: Duration| (since.as_nanos() / NANOSECONDS_PER_TICK) as u64;
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, ticks)
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> SleepFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until it is advanced.
pub struct SimulatedClock {
    state: Mutex<SimulatedState>,
}

struct SimulatedState {
    start_ms: i64,
    now: Duration,
    sleepers: BTreeMap<Duration, Vec<oneshot::Sender<()>>>,
}

impl SimulatedClock {
    /// Returns a clock that stands at a moment.
    pub fn new(now_ms: i64) -> SimulatedClock {
        let state = SimulatedState { start_ms: now_ms, now: Duration::ZERO, sleepers: BTreeMap::new() };
        SimulatedClock { state: Mutex::new(state) }
    }

    /// Sets the time of day, as an operator may set that of a machine. How much time passes does not change by that.
    pub fn set_ms(&self, now_ms: i64) {
        let mut state = self.state.lock();
        state.start_ms = now_ms - state.now.as_millis() as i64;
    }

    /// Moves time forward and wakes the sleepers that waited for it.
    pub fn advance(&self, duration: Duration) {
        let mut state = self.state.lock();
        state.now += duration;
        let due = state.now + Duration::from_nanos(1);
        let later = state.sleepers.split_off(&due);
        for sleeper in std::mem::replace(&mut state.sleepers, later).into_values().flatten() {
            // A sleeper that went away needs no waking.
            let _ = sleeper.send(());
        }
    }
}

impl Clock for SimulatedClock {
    fn now_ms(&self) -> i64 {
        let state = self.state.lock();
        state.start_ms + state.now.as_millis() as i64
    }

    fn elapsed(&self) -> Duration {
        self.state.lock().now
    }

    fn sleep(&self, duration: Duration) -> SleepFuture {
        let (wake, woken) = oneshot::channel();
        let mut state = self.state.lock();
        if duration.is_zero() {
            return Box::pin(std::future::ready(()));
        }
        let until = state.now + duration;
        state.sleepers.entry(until).or_default().push(wake);
        Box::pin(async move {
            // The sender is dropped only with the clock; then no caller can move time any more.
            let _ = woken.await;
        })
    }
}
