//! Bytes that one connection makes the server hold in one direction, and since when they do not move.
//!
//! All orderings are relaxed: the figures steer who is given up, nothing else.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::limits::PROGRESS_BYTES;

/// What is held, and how it moves.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    held: AtomicUsize,
    /// When so much had moved that it counts.
    moved_ms: AtomicU64,
    /// What has moved since.
    moved_bytes: AtomicUsize,
    /// How many wait for the server itself.
    paused: AtomicU32,
}

impl Flow {
    /// Returns what is held.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Notes that so many more bytes are held.
    pub(crate) fn hold(&self, bytes: usize, now_ms: u64) {
        if self.held.fetch_add(bytes, Ordering::Relaxed) == 0 {
            self.restart(now_ms);
        }
    }

    /// Notes that so many bytes are held no longer.
    pub(crate) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Notes that bytes moved. A few do not count: a byte now and then is what a client sends that wants to keep
    /// what it has.
    pub(crate) fn moved(&self, bytes: usize, now_ms: u64) {
        if self.moved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= PROGRESS_BYTES {
            self.restart(now_ms);
        }
    }

    /// Notes that it is the server that lets the client wait.
    pub(crate) fn pause(&self) {
        self.paused.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the client's time runs again.
    pub(crate) fn resume(&self, now_ms: u64) {
        self.restart(now_ms);
        self.paused.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns for how long bytes have been held of which not enough moved; nothing if none are, or if it is not the
    /// client who lets the others wait.
    pub(crate) fn still_ms(&self, now_ms: u64) -> Option<u64> {
        if self.held() == 0 || self.paused.load(Ordering::Relaxed) > 0 {
            return None;
        }
        Some(now_ms.saturating_sub(self.moved_ms.load(Ordering::Relaxed)))
    }

    fn restart(&self, now_ms: u64) {
        self.moved_bytes.store(0, Ordering::Relaxed);
        self.moved_ms.store(now_ms, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_while_too_little_moves() {
        let flow = Flow::default();
        assert_eq!(flow.still_ms(1_000), None);
        flow.hold(100_000, 1_000);
        assert_eq!(flow.still_ms(1_500), Some(500));
        flow.moved(PROGRESS_BYTES - 1, 2_000);
        assert_eq!(flow.still_ms(2_000), Some(1_000));
        flow.moved(1, 2_500);
        assert_eq!(flow.still_ms(2_600), Some(100));
        // More to hold is no progress.
        flow.hold(100, 4_000);
        assert_eq!(flow.still_ms(4_500), Some(2_000));
        flow.pause();
        assert_eq!(flow.still_ms(9_000), None);
        flow.resume(9_000);
        assert_eq!(flow.still_ms(9_001), Some(1));
        flow.release(100_100);
        assert_eq!(flow.still_ms(99_000), None);
        flow.hold(1, 99_000);
        assert_eq!(flow.still_ms(99_000), Some(0));
    }
}
