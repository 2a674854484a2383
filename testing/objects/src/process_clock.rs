//! The clock of a simulated process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_env::{Clock, SimulatedClock, SleepFuture};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// It begins somewhere, has a speed of its own, and wakes nothing while the process is paused.
pub struct ProcessClock {
    base: Arc<SimulatedClock>,
    begin: Duration,
    percent: u32,
    pause: Arc<Pause>,
    /// Where it stands still while the process is paused: since when it is, and for how long it was before.
    still: Option<Mutex<(Option<Duration>, Duration)>>,
}

/// Whether a process is paused. What waits for its end goes on in the order in which it came.
#[derive(Default)]
struct Pause {
    is_paused: AtomicBool,
    ended: Notify,
}

impl ProcessClock {
    /// Returns the clock of a process, which shows `begin` at first and runs at so many percent of the true speed.
    pub fn new(base: Arc<SimulatedClock>, begin: Duration, percent: u32) -> ProcessClock {
        ProcessClock { base, begin, percent, pause: Arc::default(), still: None }
    }

    /// Returns the same clock, but one that stands still while the process is paused, as no clock may.
    pub fn standing_still(self) -> ProcessClock {
        ProcessClock { still: Some(Mutex::default()), ..self }
    }

    /// Lets the process do nothing.
    pub fn pause(&self) {
        if let Some(still) = &self.still {
            still.lock().0.get_or_insert(self.base.elapsed());
        }
        self.pause.is_paused.store(true, Ordering::Relaxed);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        if let Some(still) = &self.still {
            let mut still = still.lock();
            if let Some(since) = still.0.take() {
                still.1 += self.base.elapsed() - since;
            }
        }
        self.pause.is_paused.store(false, Ordering::Relaxed);
        self.pause.ended.notify_waiters();
    }
}

impl Clock for ProcessClock {
    fn now_ms(&self) -> i64 {
        self.elapsed().as_millis() as i64
    }

    fn elapsed(&self) -> Duration {
        let now = self.base.elapsed();
        let still = self.still.as_ref().map_or(Duration::ZERO, |still| {
            let (since, before) = *still.lock();
            before + since.map_or(Duration::ZERO, |since| now - since)
        });
        self.begin + (now - still) * self.percent / 100
    }

    fn sleep(&self, duration: Duration) -> SleepFuture {
        let (sleep, pause) = (self.base.sleep(duration * 100 / self.percent), self.pause.clone());
        Box::pin(async move {
            sleep.await;
            loop {
                let ended = pause.ended.notified();
                if !pause.is_paused.load(Ordering::Relaxed) {
                    break;
                }
                ended.await;
            }
        })
    }
}
