//! Dates and times: the arithmetic behind the date functions of the query language.
//!
//! A moment is a number of [`Ticks`]. Text is parsed to ticks, ticks are moved, counted, binned, and written
//! back. All of it is checked integer arithmetic over the proleptic Gregorian calendar, without time zones and
//! without leap seconds.
//!
//! Invariants:
//! * every `Ticks` that a function here returns lies in the years 0001 to 9999;
//! * ticks outside that range may be passed in, and give `None`.
//!
//! Not here: which argument types a function takes and what "now" is (the callers).

mod calendar;
mod limits;
mod part;
mod pattern;
mod shift;
mod text;

#[cfg(test)]
mod tests;

pub use part::{Part, part};
pub use pattern::format_pattern;
pub use shift::{add, bin, diff};
pub use text::{format, parse};

use calendar::{TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND, days_from_civil};
use limits::{TICKS_MAX, TICKS_MIN};

/// A moment: how many times 100 ns have passed since 1970-01-01T00:00:00 UTC, negative before.
pub type Ticks = i64;

/// One millisecond in ticks.
pub const TICKS_PER_MILLISECOND: Ticks = 10_000;

/// Returns `ticks` if the moment lies in the years 0001 to 9999.
pub fn in_range(ticks: Ticks) -> Option<Ticks> {
    (TICKS_MIN..=TICKS_MAX).contains(&ticks).then_some(ticks)
}

/// Builds the moment from year, month, day and, each optional, hour, minute, second and 100 ns units.
///
/// Fewer than three numbers, more than seven, or a number that the calendar or the clock does not have is `None`.
pub fn from_parts(parts: &[i64]) -> Option<Ticks> {
    if !(3..=7).contains(&parts.len()) {
        return None;
    }
    let part_or_zero = |index: usize| parts.get(index).copied().unwrap_or(0);
    let days = days_from_civil(parts[0], parts[1], parts[2])?;
    let (hour, minute, second, fraction) =
        (part_or_zero(3), part_or_zero(4), part_or_zero(5), part_or_zero(6));
    let on_the_clock = (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second)
        && (0..TICKS_PER_SECOND).contains(&fraction);
    on_the_clock.then(|| {
        days * TICKS_PER_DAY
            + hour * TICKS_PER_HOUR
            + minute * TICKS_PER_MINUTE
            + second * TICKS_PER_SECOND
            + fraction
    })
}

/// Returns the ticks as the query language shows them: as a double, which rounds beyond 2^53.
pub fn ticks_to_f64(ticks: Ticks) -> f64 {
    ticks as f64
}

/// Returns the moment that a number of ticks names; a fraction or a year outside 0001 to 9999 is `None`.
pub fn ticks_from_f64(number: f64) -> Option<Ticks> {
    integral(number).and_then(in_range)
}

/// Returns whole milliseconds since 1970, rounded down.
pub fn to_timestamp_ms(ticks: Ticks) -> i64 {
    ticks.div_euclid(TICKS_PER_MILLISECOND)
}

/// Returns the moment of a number of milliseconds since 1970, if its year is 0001 to 9999.
pub fn from_timestamp_ms(timestamp_ms: i64) -> Option<Ticks> {
    timestamp_ms.checked_mul(TICKS_PER_MILLISECOND).and_then(in_range)
}

/// As [`from_timestamp_ms`], from a double; a fraction is `None`.
pub fn from_timestamp_ms_f64(number: f64) -> Option<Ticks> {
    integral(number).and_then(from_timestamp_ms)
}

/// Returns the integer that the double is, if it is one.
fn integral(number: f64) -> Option<i64> {
    // Both bounds are powers of two, so the comparison is exact; NaN fails it.
    let fits = number >= -(2f64.powi(63)) && number < 2f64.powi(63);
    (fits && number.fract() == 0.0).then_some(number as i64)
}
