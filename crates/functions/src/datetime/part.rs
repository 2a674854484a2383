//! The named parts of a moment, from the year down to the nanosecond.

use super::calendar::{Civil, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND};
use super::{TICKS_PER_MILLISECOND, Ticks, in_range};

/// A part of a moment that date functions add, count, show or cut at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Calendar year.
    Year,
    /// Calendar month.
    Month,
    /// Day of 24 hours.
    Day,
    /// Hour.
    Hour,
    /// Minute.
    Minute,
    /// Second.
    Second,
    /// Thousandth of a second.
    Millisecond,
    /// Millionth of a second.
    Microsecond,
    /// Billionth of a second; moments are only kept to a hundred of them.
    Nanosecond,
}

/// How queries spell each part.
const NAMES: [(Part, &[&str]); 9] = [
    (Part::Year, &["year", "yyyy", "yy"]),
    (Part::Month, &["month", "mm", "m"]),
    (Part::Day, &["day", "dd", "d"]),
    (Part::Hour, &["hour", "hh"]),
    (Part::Minute, &["minute", "mi", "n"]),
    (Part::Second, &["second", "ss", "s"]),
    (Part::Millisecond, &["millisecond", "ms"]),
    (Part::Microsecond, &["microsecond", "mcs"]),
    (Part::Nanosecond, &["nanosecond", "ns"]),
];

/// How a length of `count` parts is measured.
pub(crate) enum Length {
    /// So many months, which are not all equally long.
    Months(i64),
    /// So many ticks.
    Ticks(Ticks),
}

impl Part {
    /// Every part, longest first.
    pub const ALL: [Part; 9] = [
        Part::Year,
        Part::Month,
        Part::Day,
        Part::Hour,
        Part::Minute,
        Part::Second,
        Part::Millisecond,
        Part::Microsecond,
        Part::Nanosecond,
    ];

    /// Finds the part with this name, in any letter case.
    pub fn find(name: &str) -> Option<Part> {
        NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|(part, _)| *part)
    }

    /// Returns how long `count` of this part are, or `None` past what 64 bits hold.
    ///
    /// Nanoseconds are rounded down to ticks.
    pub(crate) fn length(self, count: i64) -> Option<Length> {
        let ticks_each = match self {
            Part::Year => return count.checked_mul(12).map(Length::Months),
            Part::Month => return Some(Length::Months(count)),
            Part::Day => TICKS_PER_DAY,
            Part::Hour => TICKS_PER_HOUR,
            Part::Minute => TICKS_PER_MINUTE,
            Part::Second => TICKS_PER_SECOND,
            Part::Millisecond => TICKS_PER_MILLISECOND,
            Part::Microsecond => 10,
            Part::Nanosecond => return Some(Length::Ticks(count.div_euclid(100))),
        };
        count.checked_mul(ticks_each).map(Length::Ticks)
    }
}

/// Returns one part of a moment; the three smallest are counted from the start of the second.
pub fn part(part: Part, ticks: Ticks) -> Option<i64> {
    let civil = Civil::of(in_range(ticks)?);
    Some(match part {
        Part::Year => civil.year,
        Part::Month => civil.month,
        Part::Day => civil.day,
        Part::Hour => civil.hour(),
        Part::Minute => civil.minute(),
        Part::Second => civil.second(),
        Part::Millisecond => civil.fraction_ticks() / TICKS_PER_MILLISECOND,
        Part::Microsecond => civil.fraction_ticks() / 10,
        Part::Nanosecond => civil.fraction_ticks() * 100,
    })
}
