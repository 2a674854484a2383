//! The proleptic Gregorian calendar: days since 1970-01-01 and what they are called.
//!
//! Both directions work on a year that begins in March, so that the leap day is the last of its year, and on
//! eras of 400 years, which all have the same number of days.

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

const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;
/// From 0000-03-01, where an era begins, to 1970-01-01.
const ERA_START_TO_EPOCH_DAYS: i64 = 719_468;

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
        let (year, month, day) = civil_from_days(ticks.div_euclid(TICKS_PER_DAY));
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

/// Says how many days a month has.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns days since 1970-01-01 for a date that exists in the years 0001 to 9999.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let exists = (YEAR_MIN..=YEAR_MAX).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day);
    if !exists {
        return None;
    }
    let march_year = if month <= 2 { year - 1 } else { year };
    let march_month = (month + 9) % 12;
    let era = march_year.div_euclid(YEARS_PER_ERA);
    let year_of_era = march_year.rem_euclid(YEARS_PER_ERA);
    // Months of 31, 30, 31, 30, 31 days repeat from March on: 153 days in every five months.
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * DAYS_PER_ERA + day_of_era - ERA_START_TO_EPOCH_DAYS)
}

/// Returns year, month and day of a day counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + ERA_START_TO_EPOCH_DAYS;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    // Takes out the leap days that 4, 100 and 400 years bring before it divides by the common year.
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * YEARS_PER_ERA + year_of_era + i64::from(month <= 2);
    (year, month, day)
}
