//! How long to wait before a server is asked again that does not answer.

use std::time::Duration;

use crate::limits::{FEED_RETRY_LEAST, FEED_RETRY_MOST};

/// Doubles from one wait to the next.
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    /// Starts with the shortest wait.
    pub(super) fn new() -> Backoff {
        Backoff { next: FEED_RETRY_LEAST }
    }

    /// Returns the next wait.
    pub(super) fn next(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(FEED_RETRY_MOST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = Backoff::new();
        let mut expected = FEED_RETRY_LEAST;
        for _ in 0..20 {
            assert_eq!(backoff.next(), expected);
            expected = (expected * 2).min(FEED_RETRY_MOST);
        }
        assert_eq!(backoff.next(), FEED_RETRY_MOST);
    }
}
