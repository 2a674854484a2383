//! Whether a partition takes tasks, and how large it may become before the split driver should know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// What is never sent.
pub(crate) enum Never {}

/// Whether a partition takes tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Gate {
    /// It does.
    #[default]
    Open,
    /// It will, or others will in its place.
    Closed,
    /// Others do in its place.
    Retired,
}

/// Watches how large a partition becomes.
pub(crate) struct Growth {
    told: Arc<Notify>,
    /// Bytes beyond which the split driver is told.
    bytes_max: AtomicU64,
}

impl Growth {
    pub(super) fn new(told: Arc<Notify>, bytes_max: u64) -> Growth {
        Growth { told, bytes_max: AtomicU64::new(bytes_max) }
    }

    /// Tells the split driver if a partition of so many bytes is too large.
    pub(super) fn note(&self, bytes: u64) {
        if self.is_beyond(bytes) {
            self.told.notify_waiters();
        }
    }

    /// Returns whether a partition of so many bytes is beyond what the split driver wants to know of.
    pub(crate) fn is_beyond(&self, bytes: u64) -> bool {
        bytes > self.bytes_max.load(Ordering::Acquire)
    }

    /// Says nothing more until the partition is larger by an eighth.
    pub(crate) fn acknowledge(&self, bytes: u64) {
        self.bytes_max.store(bytes.saturating_add(bytes / 8), Ordering::Release);
    }
}
