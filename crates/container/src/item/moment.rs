//! When a version of an item was written, finely enough that no other version of the item has the same moment.
//!
//! Clocks are set, and sometimes wrongly. One that goes back a little is waited for: moments go on in ticks behind the
//! last one. One that goes back further had been wrong before, or is now; then moments follow it, because `_ts` and with
//! it the time to live of items come from them, and would stay wrong otherwise until the clock is where it was.
//!
//! Invariants:
//! * while its clock does not go back by more than [`STEP_BACK_SECONDS_MAX`], a partition never gives the same moment
//!   twice, nor an earlier one after a later one;
//! * a new version of an item has another moment than the one whose place it takes, and a later one unless that lies
//!   further ahead of the clock than this, from a time or a run of the program whose clock was wrong;
//! * the order of commits follows from their numbers, never from moments.
//!
//! Not here: how a version keeps its moment (`item`), when it is given (`apply`).

use armilla_env::Clock;
use parking_lot::{Mutex, MutexGuard};

use crate::limits::STEP_BACK_SECONDS_MAX;

/// Ticks of a second.
pub(crate) const TICKS_PER_SECOND: u32 = 10_000_000;

/// Ticks of a millisecond, which is what some clocks count.
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
        Moment(clock.now_ticks().saturating_add(EPOCH_TICKS))
    }
}

/// How far moments may be ahead of the clock, which may say milliseconds and not the ticks in them.
const AHEAD_TICKS_MAX: u64 = STEP_BACK_SECONDS_MAX as u64 * TICKS_PER_SECOND as u64 + TICKS_PER_MS;

/// How far behind the clock moments begin that lie in a time which moments were given of before the clock went back. A clock
/// that says whole milliseconds hardly ever has a moment of the one time given again in the other by that; one that says
/// ticks hardly ever says the same one twice.
const AGAIN_TICKS: u64 = TICKS_PER_MS / 2;

/// How far the beginnings lie apart if the clock goes back into the same time again, and how many there are.
const AGAIN_STEP_TICKS: u64 = 500;
const AGAIN_STEPS: u64 = 10;

impl Moment {
    /// Says whether a version of this moment may take the place of one of another: it is later, or the other lies so far
    /// ahead that it comes from a clock that was wrong.
    pub(crate) fn may_follow(self, replaced: Moment) -> bool {
        self > replaced || replaced.0 - self.0 > AHEAD_TICKS_MAX
    }
}

/// The source of the moments of one partition.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    given: Mutex<Given>,
}

/// What was given, in ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Given {
    /// The last moment since the clock went back.
    last: u64,
    /// The latest moment of the times before it did.
    latest_before: u64,
    /// How often it did.
    steps_back: u64,
}

impl Given {
    /// Returns the moment of the clock, beginning another time if it went back far.
    fn clock(&mut self, now: u64) -> u64 {
        if self.last > now.saturating_add(AHEAD_TICKS_MAX) {
            self.latest_before = self.latest_before.max(self.last);
            self.steps_back += 1;
            self.last = 0;
        }
        match self.steps_back > 0 && now <= self.latest_before {
            true => now.saturating_add(AGAIN_TICKS + self.steps_back % AGAIN_STEPS * AGAIN_STEP_TICKS),
            false => now,
        }
    }
}

/// Returns the earliest moment of a version that takes the place of another, in ticks.
fn earliest_after(replaced: Moment, earliest: u64, now: u64) -> u64 {
    if !Moment(earliest).may_follow(replaced) {
        return replaced.0.saturating_add(1);
    }
    // One that lies far ahead may come from a run that is over, and it is not known what that gave before.
    let again = earliest.max(now.saturating_add(AGAIN_TICKS));
    let is_ahead = replaced.0 > earliest;
    if is_ahead && Moment(again).may_follow(replaced) { again } else { earliest }
}

impl Moments {
    /// Gives a moment: that of the clock, or the first one that is later than all given before and than the version whose
    /// place is taken, as far as those are not too far ahead. `None` if that is beyond what a time stamp can say.
    pub(crate) fn next(&self, now: Moment, replaced: Option<Moment>) -> Option<Moment> {
        let mut given = self.given();
        let mut changed = *given;
        let clock = changed.clock(now.0);
        let earliest = clock.max(changed.last.saturating_add(1));
        let ticks = match replaced {
            Some(replaced) => earliest_after(replaced, earliest, now.0),
            None => earliest,
        };
        if ticks > Moment::LAST.0 {
            return None;
        }
        changed.last = ticks;
        *given = changed;
        Some(Moment(ticks))
    }

    /// Gives only later moments from now on, unless that is too far ahead of the clock.
    pub(crate) fn skip(&self, until: Moment) {
        let mut given = self.given();
        given.last = given.last.max(until.0);
    }

    /// Returns the last moment that was given, or that of the clock if that is later.
    pub(crate) fn latest(&self, now: Moment) -> Moment {
        now.max(Moment(self.given().last))
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock()
    }
}

#[cfg(test)]
mod tests;
