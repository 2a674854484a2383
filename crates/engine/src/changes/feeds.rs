//! What the readers of an account's change feeds share.

use tokio::sync::{Semaphore, watch};

use crate::limits::{FEED_READS_AT_ONCE_MAX, FEED_WAITERS_MAX};

/// What the readers of an account's change feeds share.
pub(crate) struct Feeds {
    /// Pages that may be read at the same time.
    pub(super) turns: Semaphore,
    /// Callers that may wait.
    pub(super) waiters: Semaphore,
    /// Whether nobody may wait any more.
    pub(super) ended: watch::Sender<bool>,
}

impl Default for Feeds {
    fn default() -> Feeds {
        Feeds {
            turns: Semaphore::new(FEED_READS_AT_ONCE_MAX),
            waiters: Semaphore::new(FEED_WAITERS_MAX),
            ended: watch::Sender::new(false),
        }
    }
}
