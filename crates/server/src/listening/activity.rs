//! What one connection is doing, and when it has done nothing for too long.
//!
//! The stream and the handler report here; the connection's watchdog asks. A request in flight is never
//! cut by the watchdog: its body has a clock of its own (`gathered_body`), and the rest is our own work. Answers that
//! nobody takes are.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use armilla_env::Clock;
use tokio::sync::Notify;

use crate::rooms::clients::Client;
use crate::rooms::flow::Flow;
use crate::rooms::room::Seat;

/// Stands for "no request head has begun".
const NONE: u64 = 0;

/// The state of one connection. All orderings are relaxed: the figures steer timeouts, nothing else.
pub(crate) struct Activity {
    clock: Arc<dyn Clock>,
    progress_ms: AtomicU64,
    head_since_ms: AtomicU64,
    in_flight: AtomicU32,
    http2: AtomicBool,
    /// Whose connection it is.
    pub(crate) client: Arc<Client>,
    /// Bodies that have not come to their end.
    pub(crate) bodies: Flow,
    /// Answers that have not been sent.
    pub(crate) answers: Flow,
    /// Its places in the rooms, from when it first needs them.
    pub(crate) bodies_seat: OnceLock<Arc<Seat>>,
    /// See above.
    pub(crate) answers_seat: OnceLock<Arc<Seat>>,
    /// Bytes of answers that are being made, as far as that can be told.
    expected: AtomicUsize,
    /// Is told when an answer is gone.
    pub(crate) answer_gone: Notify,
    is_to_close: AtomicBool,
    close: Notify,
}

/// Why a connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// A request's headers took too long.
    Head,
    /// An answer is not taken.
    Answer,
    /// Nothing happened.
    Idle,
}

/// How long a connection may take for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// For the headers of one request.
    pub(crate) header: Duration,
    /// For the client to take the next part of an answer.
    pub(crate) answer: Duration,
    /// For nothing at all.
    pub(crate) idle: Duration,
}

impl Activity {
    /// Starts watching a connection that was just opened.
    pub(crate) fn new(clock: Arc<dyn Clock>, client: Arc<Client>) -> Activity {
        let activity = Activity {
            clock,
            progress_ms: AtomicU64::new(0),
            head_since_ms: AtomicU64::new(NONE),
            in_flight: AtomicU32::new(0),
            http2: AtomicBool::new(false),
            client,
            bodies: Flow::default(),
            answers: Flow::default(),
            bodies_seat: OnceLock::new(),
            answers_seat: OnceLock::new(),
            expected: AtomicUsize::new(0),
            answer_gone: Notify::new(),
            is_to_close: AtomicBool::new(false),
            close: Notify::new(),
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
    pub(crate) fn sent(&self, count: usize) {
        let now_ms = self.progress();
        self.answers.moved(count, now_ms);
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

    /// Notes that an answer of so many bytes is being made; returns what is expected besides.
    pub(crate) fn expect(&self, bytes: usize) -> usize {
        self.expected.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Takes back what was expected.
    pub(crate) fn expect_no_longer(&self, bytes: usize) {
        self.expected.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Asks for the end of the connection; returns whether that is news.
    pub(crate) fn ask_to_close(&self) -> bool {
        let is_news = !self.is_to_close.swap(true, Ordering::Relaxed);
        self.close.notify_one();
        is_news
    }

    /// Tells whether somebody asked for the end of the connection.
    pub(crate) fn is_to_close(&self) -> bool {
        self.is_to_close.load(Ordering::Relaxed)
    }

    /// Waits until somebody asks for the end of the connection.
    pub(crate) async fn asked_to_close(&self) {
        self.close.notified().await;
    }

    /// Returns for how long nothing has been going on, if nothing is.
    pub(crate) fn idle_ms(&self) -> Option<u64> {
        let is_idle = self.in_flight.load(Ordering::Relaxed) == 0 && self.answers.held() == 0;
        is_idle.then(|| self.now_ms().saturating_sub(self.progress_ms.load(Ordering::Relaxed)))
    }

    /// Tells whether the connection is to be closed.
    pub(crate) fn overdue(&self, timeouts: &Timeouts) -> Option<Overdue> {
        let Timeouts { header: header_timeout, answer: answer_timeout, idle: idle_timeout } = *timeouts;
        let still = self.answers.still_ms(self.now_ms());
        if still.is_some_and(|still_ms| Duration::from_millis(still_ms) >= answer_timeout) {
            return Some(Overdue::Answer);
        }
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

    /// Returns the time by which connections are judged.
    pub(crate) fn now_ms(&self) -> u64 {
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

    const TIMEOUTS: Timeouts = Timeouts { header: HEADER, answer: ANSWER, idle: IDLE };
    const ANSWER: Duration = Duration::from_secs(30);
    const HEADER: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(180);

    #[test]
    fn heads_requests_and_rest_have_their_own_times() {
        let (env, clock) = Env::simulated(1);
        let activity = Arc::new(Activity::new(env.clock.clone(), Arc::default()));
        let overdue = || activity.overdue(&TIMEOUTS);
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
        let activity = Activity::new(env.clock.clone(), Arc::default());
        activity.received();
        activity.is_http2();
        activity.received();
        clock.advance(HEADER);
        assert_eq!(activity.overdue(&TIMEOUTS), None);
        activity.sent(1);
        clock.advance(IDLE);
        assert_eq!(activity.overdue(&TIMEOUTS), Some(Overdue::Idle));
    }

    /// Neither a request in flight nor bytes that say nothing keep a connection that takes no answers.
    #[test]
    fn answers_have_to_be_taken() {
        let (env, clock) = Env::simulated(1);
        let activity = Arc::new(Activity::new(env.clock.clone(), Arc::default()));
        let _request = activity.request();
        activity.answers.hold(1_000_000, activity.now_ms());
        for _ in 0..29 {
            clock.advance(Duration::from_secs(1));
            activity.received();
            activity.sent(17);
            assert_eq!(activity.overdue(&TIMEOUTS), None);
        }
        clock.advance(Duration::from_secs(1));
        assert_eq!(activity.overdue(&TIMEOUTS), Some(Overdue::Answer));
        activity.sent(crate::limits::PROGRESS_BYTES);
        assert_eq!(activity.overdue(&TIMEOUTS), None);
        activity.answers.release(1_000_000);
        clock.advance(ANSWER);
        assert_eq!(activity.overdue(&TIMEOUTS), None);
    }
}
