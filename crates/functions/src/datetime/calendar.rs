//! Moments in ticks, taken apart into a date and a time.

use armilla_value::calendar::{date_exists, date_from_days, days_from_date};

use super::Ticks;
use super::limits::{YEAR_MAX, YEAR_MIN};

/// One second in ticks.
pub(crate) const TICKS_PER_SECOND: Ticks = 10_000_000;
/// One minute in ticks.
pub(crate) const TICKS_PER_MINUTE: Ticks = 60 * TICKS_PER_SECOND;
/// One hour in ticks.
pub(crate) const TICKS_PER_HOUR: Ticks = 60 * TICKS_PER_MINUTE;
/// One day in ticks.
pub(crate) const TICKS_PER_DAY: Ticks = 24 * TICKS_PER_HOUR;

/// A moment taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    /// 1 to 9999 for ticks in range.
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: i64,
    /// 1 to 31.
    pub(crate) day: i64,
    /// Ticks since midnight.
    pub(crate) time_ticks: Ticks,
}

impl Civil {
    /// Takes a moment apart.
    pub(crate) fn of(ticks: Ticks) -> Civil {
        let (year, month, day) = date_from_days(ticks.div_euclid(TICKS_PER_DAY));
        Civil { year, month, day, time_ticks: ticks.rem_euclid(TICKS_PER_DAY) }
    }

    /// 0 to 23.
    pub(crate) fn hour(self) -> i64 {
        self.time_ticks / TICKS_PER_HOUR
    }

    /// 0 to 59.
    pub(crate) fn minute(self) -> i64 {
        self.time_ticks / TICKS_PER_MINUTE % 60
    }

    /// 0 to 59.
    pub(crate) fn second(self) -> i64 {
        self.time_ticks / TICKS_PER_SECOND % 60
    }

    /// Ticks since the second began.
    pub(crate) fn fraction_ticks(self) -> Ticks {
        self.time_ticks % TICKS_PER_SECOND
    }

    /// Months since the year 0, counting from its January.
    pub(crate) fn month_number(self) -> i64 {
        self.year * 12 + (self.month - 1)
    }
}

/// Returns days since 1970-01-01 for a date that exists in the years 0001 to 9999.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let exists = (YEAR_MIN..=YEAR_MAX).contains(&year) && date_exists(year, month, day);
    exists.then(|| days_from_date(year, month, day))
}
