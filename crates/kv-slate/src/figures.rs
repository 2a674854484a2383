//! Figures of a store, and what trees tell of themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use slatedb::db_stats::{BACKPRESSURE_COUNT, TOTAL_MEM_SIZE_BYTES};
use slatedb_common::metrics::{CounterFn, GaugeFn, HistogramFn, MetricsRecorder, UpDownCounterFn};

/// What is counted from the opening of a store.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) commits: AtomicU64,
    pub(crate) flushes: AtomicU64,
    pub(crate) flush_us: AtomicU64,
    pub(crate) flush_max_us: AtomicU64,
    /// Times that a tree held its writer back.
    pub(crate) stalls: Arc<AtomicU64>,
    pub(crate) queued_bytes: AtomicU64,
}

impl Figures {
    /// Counts a wait for the object store, and the batches that shared it.
    pub(crate) fn flushed(&self, batches: usize, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.commits.fetch_add(batches as u64, Ordering::Relaxed);
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.flush_us.fetch_add(us, Ordering::Relaxed);
        self.flush_max_us.fetch_max(us, Ordering::Relaxed);
    }
}

/// Takes from a tree the few figures that the store shows.
pub(crate) struct TreeFigures {
    /// Bytes of the tree that are in memory alone, or not yet in sorted files.
    pub(crate) memory_bytes: Arc<AtomicI64>,
    pub(crate) stalls: Arc<AtomicU64>,
}

/// A figure that the store does not show.
struct Unseen;

struct Gauge(Arc<AtomicI64>);

struct Counter(Arc<AtomicU64>);

impl MetricsRecorder for TreeFigures {
    fn register_counter(&self, name: &str, _: &str, _: &[(&str, &str)]) -> Arc<dyn CounterFn> {
        match name {
            BACKPRESSURE_COUNT => Arc::new(Counter(self.stalls.clone())),
            _ => Arc::new(Unseen),
        }
    }

    fn register_gauge(&self, name: &str, _: &str, _: &[(&str, &str)]) -> Arc<dyn GaugeFn> {
        match name {
            TOTAL_MEM_SIZE_BYTES => Arc::new(Gauge(self.memory_bytes.clone())),
            _ => Arc::new(Unseen),
        }
    }

    fn register_up_down_counter(&self, _: &str, _: &str, _: &[(&str, &str)]) -> Arc<dyn UpDownCounterFn> {
        Arc::new(Unseen)
    }

    fn register_histogram(&self, _: &str, _: &str, _: &[(&str, &str)], _: &[f64]) -> Arc<dyn HistogramFn> {
        Arc::new(Unseen)
    }
}

impl GaugeFn for Gauge {
    fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

impl CounterFn for Counter {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }
}

impl CounterFn for Unseen {
    fn increment(&self, _: u64) {}
}

impl GaugeFn for Unseen {
    fn set(&self, _: i64) {}
}

impl UpDownCounterFn for Unseen {
    fn increment(&self, _: i64) {}
}

impl HistogramFn for Unseen {
    fn record(&self, _: f64) {}
}
