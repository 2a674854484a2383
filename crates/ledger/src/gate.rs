//! Which requests are written down, decided at the price of a counter: [`Rate`] by how many there are a second, [`Gate`]
//! so many a second and no more.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::hash;
use crate::limits::{ALL_A_SECOND, FEW_OF, SOME_A_SECOND, SOME_OF, STEP_BACK_SECONDS_MAX};
use crate::weight::Weight;

/// Counters of a [`Rate`]: threads share one only where there are more of them.
const STRIPES: usize = 16;

/// Requests that a thread counts before it says so to the others.
const FLUSH: u32 = 16;

/// Decides by the rate of requests which of them are written down.
///
/// Of each block of so many, one is taken, at a place that looks like chance: totals are right but for the last block,
/// and requests that come in turns are taken in turns.
#[derive(Debug)]
pub(crate) struct Rate {
    stripes: [Stripe; STRIPES],
    total: Stripe,
}

/// A second and how many requests there were in it, alone in its lines of the processor's cache.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

impl Rate {
    pub(crate) fn new() -> Rate {
        Rate { stripes: std::array::from_fn(|_| Stripe::default()), total: Stripe::default() }
    }

    /// Returns what a request stands for if it is written down.
    pub(crate) fn weigh(&self, now_ms: i64) -> Option<Weight> {
        // Cut off on purpose: seconds are compared for a few years at most.
        let second = now_ms.div_euclid(1_000) as u32;
        let place = self.stripes[stripe_of_thread()].count(second, 1);
        if place % FLUSH == FLUSH - 1 {
            self.total.add(second, FLUSH);
        }
        let of = match self.total.in_second(second) {
            ..ALL_A_SECOND => return Some(Weight::ONE),
            ALL_A_SECOND..SOME_A_SECOND => SOME_OF,
            SOME_A_SECOND.. => FEW_OF,
        };
        let block = (u64::from(second) << 32) | u64::from(place / of);
        let taken = (hash::mix(u64::from(of), block) >> 32) as u32 % of;
        (place % of == taken).then_some(Weight::of(u64::from(of)))
    }
}

impl Rate {
    /// Returns about how many requests there were in this second so far.
    pub(crate) fn in_second(&self, now_ms: i64) -> u32 {
        self.total.in_second(now_ms.div_euclid(1_000) as u32)
    }
}

impl Stripe {
    /// Counts some, and returns how many there were in this second.
    ///
    /// Loaded and stored, which costs a fraction of adding: threads that share a stripe may lose a few of each other's,
    /// and take the same place then. That spreads what is taken a little less evenly, and no more.
    fn count(&self, second: u32, more: u32) -> u32 {
        let (running, count) = halves(self.0.load(Relaxed));
        let (running, before) = if is_running(running, second) { (running, count) } else { (second, 0) };
        self.0.store((u64::from(running) << 32) | u64::from(before.saturating_add(more)), Relaxed);
        before
    }

    /// Counts some for all threads.
    fn add(&self, second: u32, more: u32) {
        let (running, _) = halves(self.0.fetch_add(u64::from(more), Relaxed));
        if !is_running(running, second) {
            self.0.store((u64::from(second) << 32) | u64::from(more), Relaxed);
        }
    }

    fn in_second(&self, second: u32) -> u32 {
        let (running, count) = halves(self.0.load(Relaxed));
        if is_running(running, second) { count } else { 0 }
    }
}

/// Tells whether a request of this second counts in the running one: it is the same, or the clock was a little ahead.
fn is_running(running: u32, second: u32) -> bool {
    let ahead = i64::from(second.wrapping_sub(running) as i32);
    (-STEP_BACK_SECONDS_MAX..=0).contains(&ahead)
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// Returns the stripe of this thread: threads get them in turn.
fn stripe_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    STRIPE.with(|stripe| {
        if stripe.get() == usize::MAX {
            stripe.set(NEXT.fetch_add(1, Relaxed) % STRIPES);
        }
        stripe.get()
    })
}

/// Lets so many through each second: evenly spread where many ask, and as many at once after a rest.
#[derive(Debug)]
pub(crate) struct Gate {
    /// When the next one would come if they came evenly.
    next_ms: AtomicI64,
    step_ms: i64,
}

/// After how long a rest as many are let through at once as in a second.
const REST_MS: i64 = 1_000;

impl Gate {
    pub(crate) const fn new(a_second: i64) -> Gate {
        Gate { next_ms: AtomicI64::new(i64::MIN), step_ms: REST_MS / a_second }
    }

    /// Tells whether one is let through.
    pub(crate) fn opens(&self, now_ms: i64) -> bool {
        let next_ms = self.next_ms.load(Relaxed);
        let ahead_ms = next_ms.saturating_sub(now_ms);
        // Further ahead than it ever gets: the clock was set back.
        let is_set_back = ahead_ms > REST_MS + STEP_BACK_SECONDS_MAX * 1_000;
        if ahead_ms > REST_MS - self.step_ms && !is_set_back {
            return false;
        }
        let from_ms = if is_set_back { now_ms } else { next_ms.max(now_ms) };
        let after_ms = from_ms.saturating_add(self.step_ms);
        self.next_ms.compare_exchange(next_ms, after_ms, Relaxed, Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests;
