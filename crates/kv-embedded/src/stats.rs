//! Counters of what the store did.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts, sums and greatest values since the store was opened.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) flushes: Timing,
    pub(crate) stalls: Timing,
}

/// How often something took how long.
#[derive(Default)]
pub(crate) struct Timing {
    count: AtomicU64,
    sum_us: AtomicU64,
    max_us: AtomicU64,
}

impl Timing {
    pub(crate) fn add(&self, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(took_us, Ordering::Relaxed);
        self.max_us.fetch_max(took_us, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn sum_us(&self) -> u64 {
        self.sum_us.load(Ordering::Relaxed)
    }

    pub(crate) fn max_us(&self) -> u64 {
        self.max_us.load(Ordering::Relaxed)
    }
}
