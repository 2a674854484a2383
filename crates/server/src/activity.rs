//! What one connection is doing, and when it has done nothing for too long.
//!
//! The stream and the handler report here; the connection's watchdog asks. A request in flight is never
//! cut by the watchdog: its body has a clock of its own (`timed_body`), and the rest is our own work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use armilla_env::Clock;

/// Stands for "no request head has begun".
const NONE: u64 = 0;

/// The state of one connection. All orderings are relaxed: the figures steer timeouts, nothing else.
pub(crate) struct Activity {
    clock: Arc<dyn Clock>,
    progress_ms: AtomicU64,
    head_since_ms: AtomicU64,
    in_flight: AtomicU32,
    http2: AtomicBool,
}

/// Why a connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// A request's headers took too long.
    Head,
    /// Nothing happened.
    Idle,
}

impl Activity {
    /// Starts watching a connection that was just opened.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Activity {
        let activity = Activity {
            clock,
            progress_ms: AtomicU64::new(0),
            head_since_ms: AtomicU64::new(NONE),
            in_flight: AtomicU32::new(0),
            http2: AtomicBool::new(false),
        };
        activity.progress();
        activity
    }

    /// Notes that bytes came in.
    pub(crate) fn received(&self) {
        let now_ms = self.progress();
        // On an HTTP/2 connection bytes between requests are settings, pings and windows.
        if !self.http2.load(Ordering::Relaxed)
            && self.in_flight.load(Ordering::Relaxed) == 0
            && self.head_since_ms.load(Ordering::Relaxed) == NONE
        {
            self.head_since_ms.store(now_ms, Ordering::Relaxed);
        }
    }

    /// Notes that bytes went out.
    pub(crate) fn sent(&self) {
        self.progress();
    }

    /// Notes that the connection began with the HTTP/2 preface.
    pub(crate) fn is_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
        self.head_since_ms.store(NONE, Ordering::Relaxed);
    }

    /// Tells whether bytes of a request head came in and no request was made of them yet.
    pub(crate) fn is_reading_head(&self) -> bool {
        self.head_since_ms.load(Ordering::Relaxed) != NONE
    }

    /// Notes a request whose headers are complete; it is in flight until the guard is dropped.
    pub(crate) fn request(self: &Arc<Self>) -> InFlight {
        self.head_since_ms.store(NONE, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight { activity: self.clone() }
    }

    /// Tells whether the connection is to be closed.
    pub(crate) fn overdue(&self, header_timeout: Duration, idle_timeout: Duration) -> Option<Overdue> {
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let now_ms = self.now_ms();
        let since = |then_ms: u64| Duration::from_millis(now_ms.saturating_sub(then_ms));
        let head_since_ms = self.head_since_ms.load(Ordering::Relaxed);
        if head_since_ms != NONE && since(head_since_ms) >= header_timeout {
            return Some(Overdue::Head);
        }
        (since(self.progress_ms.load(Ordering::Relaxed)) >= idle_timeout).then_some(Overdue::Idle)
    }

    fn progress(&self) -> u64 {
        let now_ms = self.now_ms();
        self.progress_ms.store(now_ms, Ordering::Relaxed);
        now_ms
    }

    fn now_ms(&self) -> u64 {
        // One is added so that no moment looks like `NONE`.
        self.clock.elapsed().as_millis() as u64 + 1
    }
}

/// A request in flight.
pub(crate) struct InFlight {
    activity: Arc<Activity>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.activity.progress();
        self.activity.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use armilla_env::Env;

    use super::*;

    const HEADER: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(180);

    #[test]
    fn heads_requests_and_rest_have_their_own_times() {
        let (env, clock) = Env::simulated(1);
        let activity = Arc::new(Activity::new(env.clock.clone()));
        let overdue = || activity.overdue(HEADER, IDLE);
        let just_under = |limit: Duration| limit - Duration::from_millis(1);

        clock.advance(just_under(IDLE));
        assert_eq!(overdue(), None);
        clock.advance(Duration::from_millis(1));
        assert_eq!(overdue(), Some(Overdue::Idle));

        // The head's time runs from its first byte, however steadily the rest drips.
        activity.received();
        clock.advance(just_under(HEADER));
        activity.received();
        assert_eq!(overdue(), None);
        clock.advance(Duration::from_millis(1));
        assert_eq!(overdue(), Some(Overdue::Head));

        let request = activity.request();
        assert!(!activity.is_reading_head());
        activity.received();
        clock.advance(IDLE * 10);
        assert_eq!(overdue(), None);
        drop(request);
        assert_eq!(overdue(), None);
        clock.advance(IDLE);
        assert_eq!(overdue(), Some(Overdue::Idle));
    }

    #[test]
    fn http2_has_no_time_for_heads() {
        let (env, clock) = Env::simulated(1);
        let activity = Activity::new(env.clock.clone());
        activity.received();
        activity.is_http2();
        activity.received();
        clock.advance(HEADER);
        assert_eq!(activity.overdue(HEADER, IDLE), None);
        activity.sent();
        clock.advance(IDLE);
        assert_eq!(activity.overdue(HEADER, IDLE), Some(Overdue::Idle));
    }
}
