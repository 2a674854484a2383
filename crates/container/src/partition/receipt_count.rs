//! At most how many receipts a partition has.
//!
//! It is counted only where that may be too many: what was noted includes receipts whose commits failed.

use std::sync::atomic::{AtomicU64, Ordering};

/// At most how many receipts a partition has.
#[derive(Debug)]
pub(crate) struct ReceiptCount(AtomicU64);

/// More than there can be, and far from where numbers end.
const UNKNOWN: u64 = u64::MAX / 2;

impl Default for ReceiptCount {
    /// Of a partition that was opened a moment ago nothing is known.
    fn default() -> ReceiptCount {
        ReceiptCount(AtomicU64::new(UNKNOWN))
    }
}

impl ReceiptCount {
    /// Returns how many there are at most.
    pub(crate) fn most(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes note of one more.
    pub(crate) fn note_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes note that some are gone.
    pub(crate) fn note_dropped(&self, receipts: u64) {
        self.0.fetch_sub(receipts, Ordering::Relaxed);
    }

    /// Takes note that so many were counted, where as many as `before` were thought to be. Those that were noted meanwhile
    /// may be among the counted ones: it is never less than there are.
    pub(crate) fn note_counted(&self, before: u64, counted: u64) {
        self.0.fetch_sub(before.saturating_sub(counted), Ordering::Relaxed);
    }
}
