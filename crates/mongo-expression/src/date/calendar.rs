//! What a local time is called: its year, month, week, day and hour.

use armilla_value::calendar::{date_from_days, days_from_date, days_in_month};

pub(crate) const DAY_MS: i64 = 86_400_000;
pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const MINUTE_MS: i64 = 60_000;

/// A local time, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) millisecond: i64,
    /// Days since 1970-01-01.
    pub(crate) days: i64,
}

impl Civil {
    /// Takes a local time apart.
    pub(crate) fn of(local_ms: i64) -> Civil {
        let (days, rest) = (local_ms.div_euclid(DAY_MS), local_ms.rem_euclid(DAY_MS));
        let (year, month, day) = date_from_days(days);
        Civil {
            year,
            month,
            day,
            hour: rest / HOUR_MS,
            minute: rest / MINUTE_MS % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
            days,
        }
    }

    /// Returns the day of the week from 1, which is Sunday, to 7.
    pub(crate) fn day_of_week(&self) -> i64 {
        (self.days + 4).rem_euclid(7) + 1
    }

    /// Returns the day of the week from 1, which is Monday, to 7.
    pub(crate) fn iso_day_of_week(&self) -> i64 {
        (self.days + 3).rem_euclid(7) + 1
    }

    /// Returns the day of the year from 1 on.
    pub(crate) fn day_of_year(&self) -> i64 {
        self.days - days_from_date(self.year, 1, 1) + 1
    }

    /// Returns the week of the year: weeks begin with Sundays, the days before the first one are week 0.
    pub(crate) fn week(&self) -> i64 {
        (self.day_of_year() + 6 - (self.day_of_week() - 1)) / 7
    }

    /// Returns the year that the week of ISO 8601 belongs to, and the week.
    pub(crate) fn iso_week(&self) -> (i64, i64) {
        // A week belongs to the year of its Thursday.
        let thursday = self.days - (self.iso_day_of_week() - 1) + 3;
        let (year, _, _) = date_from_days(thursday);
        (year, (thursday - days_from_date(year, 1, 1)) / 7 + 1)
    }

    /// Returns the milliseconds since midnight.
    pub(crate) fn time_of_day(&self) -> i64 {
        ((self.hour * 60 + self.minute) * 60 + self.second) * 1000 + self.millisecond
    }
}

/// Returns a local time of a date and milliseconds of the day; nothing if it is out of range.
pub(crate) fn local_ms(days: i64, time_of_day: i64) -> Option<i64> {
    days.checked_mul(DAY_MS)?.checked_add(time_of_day)
}

/// Returns the days to a date whose month and day may be beyond what a year and a month have: they carry over.
pub(crate) fn days_carried(year: i64, month: i64, day: i64) -> Option<i64> {
    let months = year.checked_mul(12)?.checked_add(month.checked_sub(1)?)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    if year.abs() > 300_000_000 {
        return None;
    }
    days_from_date(year, month, 1).checked_add(day.checked_sub(1)?)
}

/// Returns the days to a day of a week of ISO 8601; both may carry over.
pub(crate) fn days_of_iso_week(year: i64, week: i64, day: i64) -> Option<i64> {
    if year.abs() > 300_000_000 {
        return None;
    }
    // The fourth of January is always in the first week.
    let fourth = days_from_date(year, 1, 4);
    let monday = fourth - (fourth + 3).rem_euclid(7);
    monday.checked_add(week.checked_sub(1)?.checked_mul(7)?)?.checked_add(day.checked_sub(1)?)
}

/// Moves a date by months; a day that the month lacks becomes its last.
pub(crate) fn days_after_months(civil: &Civil, months: i64) -> Option<i64> {
    let total = civil.year.checked_mul(12)?.checked_add(civil.month - 1)?.checked_add(months)?;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    if year.abs() > 300_000_000 {
        return None;
    }
    Some(days_from_date(year, month, civil.day.min(days_in_month(year, month))))
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
