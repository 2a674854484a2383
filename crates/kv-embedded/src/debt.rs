//! How far writing is ahead of the work behind it, and how much it is slowed down for that.
//!
//! What was written is owed: it has to be flushed, to land, to be merged. Each kind of debt has a bound at which writers
//! have to wait until some of it is done, which takes as long as flushing or merging takes. So from some part of a bound on
//! each group pays a little: it is held back by what its bytes take at a rate that falls as the debt grows. Writers then
//! go at the pace of the work behind, and no writer has to wait for the whole of it.

use std::time::Duration;

use crate::limits::{
    SLOW_BYTES_PER_SECOND, SLOW_MEMTABLES_PERMILLE, SLOW_PAUSE_MAX, SLOW_RUN_PERMILLE, SLOW_RUNS_PERMILLE,
};

/// What is owed, each kind in thousandths of where writers wait for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Debt {
    /// Sorted runs in level 0 of the family that has most of them.
    pub(crate) level_0_permille: u64,
    /// Bytes of the sealed memtables, and of the one that is written to, of the family that has most of them.
    pub(crate) memtables_permille: u64,
    /// Bytes of the run that is being filled while another lands.
    pub(crate) run_permille: u64,
}

impl Debt {
    /// Returns how long a group of so many bytes is held back.
    pub(crate) fn pause(self, bytes: u64) -> Duration {
        let kinds = [
            (self.level_0_permille, SLOW_RUNS_PERMILLE),
            (self.memtables_permille, SLOW_MEMTABLES_PERMILLE),
            (self.run_permille, SLOW_RUN_PERMILLE),
        ];
        let part = |(permille, from): (u64, u64)| {
            let beyond = permille.min(1_000).checked_sub(from)?;
            Some(beyond * 1_000 / (1_000 - from))
        };
        let Some(part) = kinds.into_iter().filter_map(part).max() else { return Duration::ZERO };
        let (fast, slow) = SLOW_BYTES_PER_SECOND;
        let rate = fast - (fast - slow) * part / 1_000;
        Duration::from_micros(bytes.saturating_mul(1_000_000) / rate).min(SLOW_PAUSE_MAX)
    }
}

/// Returns a part of a whole in thousandths.
pub(crate) fn permille(part: u64, whole: u64) -> u64 {
    part.saturating_mul(1_000).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: u64 = 1024 * 1024;

    #[test]
    fn writers_are_slowed_down_before_they_have_to_wait() {
        // Nothing while little is owed, and hardly anything for a small write ever.
        let little = Debt { level_0_permille: 499, memtables_permille: 666, run_permille: 499 };
        assert_eq!(little.pause(16 * MEGABYTE), Duration::ZERO);
        let much = Debt { level_0_permille: 1_000, ..Debt::default() };
        assert!(much.pause(1_024) < Duration::from_millis(1));
        // More and more as it grows, within a bound.
        let pauses: Vec<u128> = [500, 625, 750, 875, 1_000, 5_000]
            .map(|level_0_permille| Debt { level_0_permille, ..little }.pause(MEGABYTE).as_millis())
            .to_vec();
        assert_eq!(pauses, [10, 13, 20, 37, 80, 80]);
        assert_eq!(much.pause(u64::MAX), SLOW_PAUSE_MAX);
    }

    #[test]
    fn the_largest_debt_counts() {
        for (debt, expected) in [
            (Debt { memtables_permille: 834, ..Debt::default() }, 20),
            (Debt { run_permille: 750, ..Debt::default() }, 20),
            (Debt { memtables_permille: 700, run_permille: 750, level_0_permille: 10 }, 20),
        ] {
            assert_eq!(debt.pause(MEGABYTE).as_millis(), expected, "{debt:?}");
        }
    }

    #[test]
    fn parts_of_nothing_are_nothing() {
        assert_eq!((permille(5, 0), permille(1, 2), permille(u64::MAX, 1)), (0, 500, u64::MAX));
    }
}
