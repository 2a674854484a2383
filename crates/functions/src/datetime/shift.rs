//! Moving a moment, counting between two, and rounding down to a bin.

use armilla_value::calendar::days_in_month;

use super::calendar::{Civil, TICKS_PER_DAY, days_from_civil};
use super::limits::BIN_TICKS_MIN;
use super::part::{Length, Part};
use super::{Ticks, in_range};

/// Moves a moment by `count` parts, backwards if negative.
///
/// Months and years keep the day of the month, or take the last one the month has. Leaving the years 0001 to
/// 9999 is `None`.
pub fn add(part: Part, count: i64, ticks: Ticks) -> Option<Ticks> {
    let ticks = in_range(ticks)?;
    match part.length(count)? {
        Length::Ticks(length) => ticks.checked_add(length).and_then(in_range),
        Length::Months(months) => {
            let civil = Civil::of(ticks);
            let month_number = civil.month_number().checked_add(months)?;
            let (year, month) = (month_number.div_euclid(12), month_number.rem_euclid(12) + 1);
            let day = civil.day.min(days_in_month(year, month));
            Some(days_from_civil(year, month, day)? * TICKS_PER_DAY + civil.time_ticks)
        }
    }
}

/// Counts the boundaries of `part` that lie between two moments, negative if `end` is before `start`.
///
/// Boundaries, not elapsed time: the last tick of December and the first of January are a year apart.
/// Nanoseconds that 64 bits cannot count, after some 292 years, are `None`.
pub fn diff(part: Part, start: Ticks, end: Ticks) -> Option<i64> {
    let (start, end) = (in_range(start)?, in_range(end)?);
    if part == Part::Nanosecond {
        return (end - start).checked_mul(100);
    }
    Some(match part.length(1)? {
        Length::Months(months) => {
            Civil::of(end).month_number().div_euclid(months)
                - Civil::of(start).month_number().div_euclid(months)
        }
        Length::Ticks(length) => end.div_euclid(length) - start.div_euclid(length),
    })
}

/// Returns the start of the bin of `size` parts that holds the moment, where one bin starts at `origin`.
///
/// `None` for years and months, whose bins would differ in length, for a size that is not positive or, in
/// nanoseconds, less than a tick, and for moments and origins before 1601.
pub fn bin(ticks: Ticks, part: Part, size: i64, origin: Ticks) -> Option<Ticks> {
    let (ticks, origin) = (in_range(ticks)?, in_range(origin)?);
    if ticks < BIN_TICKS_MIN || origin < BIN_TICKS_MIN {
        return None;
    }
    match part.length(size)? {
        Length::Ticks(length) if length > 0 => {
            let offset = (ticks - origin).div_euclid(length).checked_mul(length)?;
            origin.checked_add(offset).and_then(in_range)
        }
        Length::Ticks(_) | Length::Months(_) => None,
    }
}
