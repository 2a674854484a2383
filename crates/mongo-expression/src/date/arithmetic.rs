//! Dates and units of time: adding, counting what lies between, cutting off.

use super::calendar::{Civil, DAY_MS, HOUR_MS, MINUTE_MS, days_after_months, local_ms};
use super::zone::Zone;
use crate::error::{Error, Result, codes};
use armilla_value::calendar::days_from_date;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `millisecond`.
    Millisecond,
    /// `second`.
    Second,
    /// `minute`.
    Minute,
    /// `hour`.
    Hour,
    /// `day`.
    Day,
    /// `week`.
    Week,
    /// `month`.
    Month,
    /// `quarter`.
    Quarter,
    /// `year`.
    Year,
}

impl Unit {
    /// Reads a unit by its name.
    pub fn parse(name: &str) -> Option<Unit> {
        Some(match name {
            "millisecond" => Unit::Millisecond,
            "second" => Unit::Second,
            "minute" => Unit::Minute,
            "hour" => Unit::Hour,
            "day" => Unit::Day,
            "week" => Unit::Week,
            "month" => Unit::Month,
            "quarter" => Unit::Quarter,
            "year" => Unit::Year,
            _ => return None,
        })
    }

    /// Returns its milliseconds if it always has as many.
    fn fixed_ms(self) -> Option<i64> {
        Some(match self {
            Unit::Millisecond => 1,
            Unit::Second => 1000,
            Unit::Minute => MINUTE_MS,
            Unit::Hour => HOUR_MS,
            _ => return None,
        })
    }
}

/// Reads a unit by its name, or fails as the server does.
pub(crate) fn read_unit(name: &str) -> Result<Unit> {
    Unit::parse(name)
        .ok_or_else(|| Error::new(codes::FAILED_TO_PARSE, format!("unknown time unit value: {name}")))
}

/// Reads a day of the week: 0 is Sunday.
pub(crate) fn read_weekday(name: &str) -> Option<i64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "sunday" | "sun" => 0,
        "monday" | "mon" => 1,
        "tuesday" | "tue" => 2,
        "wednesday" | "wed" => 3,
        "thursday" | "thu" => 4,
        "friday" | "fri" => 5,
        "saturday" | "sat" => 6,
        _ => return None,
    })
}

/// Adds units to a date. Units of a day and more are counted on the clocks of the time zone.
pub(crate) fn add(ms: i64, unit: Unit, amount: i64, zone: &Zone) -> Option<i64> {
    if let Some(unit_ms) = unit.fixed_ms() {
        return ms.checked_add(amount.checked_mul(unit_ms)?);
    }
    let civil = Civil::of(zone.to_local(ms));
    let days = match unit {
        Unit::Day => civil.days.checked_add(amount)?,
        Unit::Week => civil.days.checked_add(amount.checked_mul(7)?)?,
        Unit::Month => days_after_months(&civil, amount)?,
        Unit::Quarter => days_after_months(&civil, amount.checked_mul(3)?)?,
        _ => days_after_months(&civil, amount.checked_mul(12)?)?,
    };
    Some(zone.to_utc(local_ms(days, civil.time_of_day())?))
}

/// Counts how many borders of units lie between two dates.
pub(crate) fn difference(start: i64, end: i64, unit: Unit, zone: &Zone, start_of_week: i64) -> Option<i64> {
    let (first_offset, last_offset) = (zone.offset_at(start), zone.offset_at(end));
    let (first, last) =
        (Civil::of(start.checked_add(first_offset)?), Civil::of(end.checked_add(last_offset)?));
    let months = |civil: &Civil| civil.year * 12 + civil.month - 1;
    Some(match unit {
        Unit::Year => last.year - first.year,
        Unit::Quarter => months(&last).div_euclid(3) - months(&first).div_euclid(3),
        Unit::Month => months(&last) - months(&first),
        Unit::Week => {
            // 1970-01-01 was a Thursday.
            let week = |civil: &Civil| (civil.days + 4 - start_of_week).div_euclid(7);
            week(&last) - week(&first)
        }
        Unit::Day => last.days - first.days,
        Unit::Hour => {
            let hour = |ms: i64| ms.div_euclid(HOUR_MS);
            hour(end + last_offset) - hour(start + first_offset) - (last_offset - first_offset) / HOUR_MS
        }
        Unit::Minute => end.div_euclid(MINUTE_MS) - start.div_euclid(MINUTE_MS),
        Unit::Second => end.div_euclid(1000) - start.div_euclid(1000),
        Unit::Millisecond => end.checked_sub(start)?,
    })
}

/// Cuts a date down to the begin of its unit, of which `size` together count as one; they are counted from the year
/// 2000 on.
pub(crate) fn truncate(ms: i64, unit: Unit, size: i64, zone: &Zone, start_of_week: i64) -> Option<i64> {
    let epoch_days = days_from_date(2000, 1, 1);
    let floor = |distance: i64, size: i64| distance.div_euclid(size).checked_mul(size);
    if let Some(unit_ms) = unit.fixed_ms() {
        let size = unit_ms.checked_mul(size)?;
        let origin = zone.to_utc(epoch_days * DAY_MS);
        return origin.checked_add(floor(ms.checked_sub(origin)?, size)?);
    }
    let civil = Civil::of(zone.to_local(ms));
    let months_before = |months: i64| {
        let origin = Civil::of(epoch_days * DAY_MS);
        let distance = (civil.year - 2000) * 12 + civil.month - 1;
        days_after_months(&origin, floor(distance, months)?)
    };
    let days = match unit {
        Unit::Day => epoch_days + floor(civil.days - epoch_days, size)?,
        Unit::Week => {
            // 2000-01-01 was a Saturday; the first week begins with the first such day from there on.
            let origin = epoch_days + (start_of_week - 6).rem_euclid(7);
            origin + floor(civil.days - origin, size.checked_mul(7)?)?
        }
        Unit::Month => months_before(size)?,
        Unit::Quarter => months_before(size.checked_mul(3)?)?,
        _ => months_before(size.checked_mul(12)?)?,
    };
    Some(zone.to_utc(local_ms(days, 0)?))
}
