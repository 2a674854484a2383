//! When a version of an item was written, finely enough that no other version of the item has the same moment.
//!
//! Invariants:
//! * a partition never gives the same moment twice, nor an earlier one after a later one, whatever its clock does;
//! * a new version of an item is later than the one whose place it takes, also where that came from a partition, or a run
//!   of the program, whose clock was ahead.
//!
//! Not here: how a version keeps its moment (`item`), when it is given (`settle`).

use std::sync::atomic::{AtomicU64, Ordering};

use armilla_env::Clock;

/// Ticks of a second.
pub(crate) const TICKS_PER_SECOND: u32 = 10_000_000;

/// Ticks of a millisecond, which is what clocks count.
const TICKS_PER_MS: u64 = 10_000;

/// Ticks from the year 1 to 1970.
const EPOCH_TICKS: u64 = 621_355_968_000_000_000;

/// A point in time, in ticks of 100 nanoseconds since the beginning of the year 1, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The last moment that a time stamp in seconds can say.
    pub(crate) const LAST: Moment = Moment::in_second(u32::MAX, TICKS_PER_SECOND - 1);

    /// Returns the moment so many ticks after the beginning of the year 1.
    pub const fn from_ticks(ticks: u64) -> Moment {
        Moment(ticks)
    }

    /// Returns the ticks since the beginning of the year 1.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Returns the first moment of a second since 1970.
    pub const fn of_second(second: u32) -> Moment {
        Moment::in_second(second, 0)
    }

    /// Returns the second since 1970 in which the moment lies, or the nearest that a time stamp can say.
    pub fn second(self) -> u32 {
        let since_1970 = self.0.saturating_sub(EPOCH_TICKS) / u64::from(TICKS_PER_SECOND);
        u32::try_from(since_1970).unwrap_or(u32::MAX)
    }

    /// Returns the moment so many ticks after the beginning of a second since 1970.
    pub(crate) const fn in_second(second: u32, ticks: u32) -> Moment {
        Moment(EPOCH_TICKS + second as u64 * TICKS_PER_SECOND as u64 + ticks as u64)
    }

    /// Returns how many ticks of its second had passed.
    pub(crate) fn ticks_of_second(self) -> u32 {
        (self.0.saturating_sub(EPOCH_TICKS) % u64::from(TICKS_PER_SECOND)) as u32
    }

    /// Returns the moment that a clock shows; a time before 1970 counts as its beginning.
    pub(crate) fn now(clock: &dyn Clock) -> Moment {
        let now_ms = u64::try_from(clock.now_ms()).unwrap_or(0);
        Moment(now_ms.saturating_mul(TICKS_PER_MS).saturating_add(EPOCH_TICKS))
    }
}

/// The source of the moments of one partition.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// The ticks of the last moment that was given.
    last: AtomicU64,
}

impl Moments {
    /// Gives a moment: that of the clock, or the first one that is later than all given before and than the version whose
    /// place is taken. `None` if that is beyond what a time stamp can say.
    pub(crate) fn next(&self, now: Moment, replaced: Option<Moment>) -> Option<Moment> {
        let after = |last: u64| {
            let earliest = last.max(replaced.map_or(0, Moment::ticks)).saturating_add(1);
            Some(now.0.max(earliest)).filter(|ticks| *ticks <= Moment::LAST.0)
        };
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).ok()?;
        after(last).map(Moment)
    }

    /// Gives only later moments from now on.
    pub(crate) fn skip(&self, until: Moment) {
        self.last.fetch_max(until.0, Ordering::Relaxed);
    }

    /// Returns the last moment that was given, or that of the clock if that is later.
    pub(crate) fn latest(&self, now: Moment) -> Moment {
        now.max(Moment(self.last.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests;
