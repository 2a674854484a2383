//! What writers and followers know of each other: which write was acknowledged when, and which is the last one.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, bail};
use armilla_env::Env;

use crate::items::Items;

/// Most writes of one measurement: an item shows so many versions.
const WRITES_MAX: usize = 1_000_000;

/// How often it is looked whether followers have begun.
const POLL_PERIOD: Duration = Duration::from_millis(1);

/// The board. Writes are numbered from 1 on; the number is the version that the item shows.
pub(super) struct Board {
    pub(super) env: Env,
    pub(super) items: Items,
    next: AtomicUsize,
    /// When each write was acknowledged, in nanoseconds of the clock; 0 if it is not yet.
    acknowledged_ns: Vec<AtomicU64>,
    /// The newest write of each item that was acknowledged; 0 if there was none.
    newest: Vec<AtomicU32>,
    /// The write after which there are no more; 0 as long as that is open.
    last: AtomicUsize,
    followers_ready: AtomicUsize,
    is_given_up: AtomicBool,
}

impl Board {
    pub(super) fn new(env: &Env, items: Items) -> Board {
        Board {
            env: env.clone(),
            items,
            next: AtomicUsize::new(1),
            acknowledged_ns: (0..WRITES_MAX).map(|_| AtomicU64::new(0)).collect(),
            newest: (0..items.count).map(|_| AtomicU32::new(0)).collect(),
            last: AtomicUsize::new(0),
            followers_ready: AtomicUsize::new(0),
            is_given_up: AtomicBool::new(false),
        }
    }

    /// Returns the number of the next write, unless there were too many; one is kept for the last.
    pub(super) fn next_write(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < WRITES_MAX - 1).then_some(number)
    }

    /// Returns the number of the last write, and lets it be known as such: it may be delivered before its writer hears
    /// of it.
    pub(super) fn last_write(&self, index: usize) -> usize {
        let number = self.next.fetch_add(1, Ordering::Relaxed).min(WRITES_MAX - 1);
        self.note_newest(index, number);
        self.last.store(number, Ordering::Release);
        number
    }

    /// Takes note of an acknowledgement. Of one item there is one writer at a time.
    pub(super) fn acknowledge(&self, number: usize, index: usize, now: Duration) {
        self.note_newest(index, number);
        self.acknowledged_ns[number].store(nanoseconds(now), Ordering::Release);
    }

    fn note_newest(&self, index: usize, number: usize) {
        self.newest[index].store(u32::try_from(number).unwrap_or(u32::MAX), Ordering::Release);
    }

    /// Returns how long ago a write was acknowledged; no time at all, if its delivery was faster.
    pub(super) fn delay(&self, number: usize, now: Duration) -> Duration {
        match self.acknowledged_ns[number].load(Ordering::Acquire) {
            0 => Duration::ZERO,
            acknowledged => Duration::from_nanos(nanoseconds(now).saturating_sub(acknowledged)),
        }
    }

    /// Says whether a write is the last one.
    pub(super) fn is_last(&self, number: usize) -> bool {
        self.last.load(Ordering::Acquire) == number
    }

    /// Checks what a follower saw last of each item against what was written.
    pub(super) fn check(&self, seen: &[u32]) -> Result<()> {
        for (index, (newest, seen)) in self.newest.iter().zip(seen).enumerate() {
            let newest = newest.load(Ordering::Acquire);
            if newest != *seen {
                bail!("a follower saw write {seen} of item {index} last, but write {newest} was the last");
            }
        }
        Ok(())
    }

    pub(super) fn follower_is_ready(&self) {
        self.followers_ready.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until so many followers know where they begin.
    pub(super) fn wait_for_followers<T>(&self, count: usize, following: &JoinHandle<T>) -> Result<()> {
        while self.followers_ready.load(Ordering::Acquire) < count {
            if following.is_finished() {
                bail!("the followers have ended");
            }
            std::thread::sleep(POLL_PERIOD);
        }
        Ok(())
    }

    /// Lets followers end without the last write.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Release);
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }
}

fn nanoseconds(since: Duration) -> u64 {
    // Never 0, which stands for a write that is not acknowledged.
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_begin_with_the_acknowledgement() {
        let board = Board::new(&Env::system(), Items::new(10, 400).unwrap());
        let number = board.next_write().unwrap();
        assert_eq!(number, 1);
        assert_eq!(board.delay(number, Duration::from_secs(5)), Duration::ZERO);
        board.acknowledge(number, 3, Duration::from_secs(4));
        assert_eq!(board.delay(number, Duration::from_secs(5)), Duration::from_secs(1));
        assert_eq!(board.delay(number, Duration::from_secs(3)), Duration::ZERO);
        assert!(!board.is_last(number));
        let last = board.last_write(7);
        assert!(board.is_last(last));
        let mut seen = vec![0; 10];
        seen[7] = 2;
        assert!(board.check(&seen).is_err());
        seen[3] = 1;
        board.check(&seen).unwrap();
    }

    #[test]
    fn there_are_so_many_writes() {
        let board = Board::new(&Env::system(), Items::new(1, 400).unwrap());
        board.next.store(WRITES_MAX - 2, Ordering::Relaxed);
        assert_eq!(board.next_write(), Some(WRITES_MAX - 2));
        assert_eq!(board.next_write(), None);
        assert_eq!(board.last_write(0), WRITES_MAX - 1);
        board.acknowledge(WRITES_MAX - 1, 0, Duration::ZERO);
    }
}
