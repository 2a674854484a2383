//! Time zones: names of the tz database, and distances from UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::error::{Error, Result};

/// A time zone.
#[derive(Debug, Clone)]
pub(crate) enum Zone {
    /// A distance from UTC in milliseconds.
    Fixed(i64),
    /// A zone of the database.
    Named(TimeZone),
}

impl Zone {
    /// Universal time.
    pub(crate) const UTC: Zone = Zone::Fixed(0);

    /// Reads a time zone: `Europe/Paris`, `+05:30`, `-0800`, `+03`.
    pub(crate) fn parse(text: &str) -> Result<Zone> {
        if matches!(text, "UTC" | "GMT" | "Z") {
            return Ok(Zone::UTC);
        }
        if text.starts_with(['+', '-']) {
            return distance(text).map(Zone::Fixed).ok_or_else(|| unknown(text));
        }
        // The database would take a name of its own for a time zone that is not known.
        if text == "Etc/Unknown" {
            return Err(unknown(text));
        }
        TimeZone::get(text).map(Zone::Named).map_err(|_| unknown(text))
    }

    /// Says whether it is universal time.
    pub(crate) fn is_utc(&self) -> bool {
        matches!(self, Zone::Fixed(0))
    }

    /// Returns how far the clocks are before UTC at a time, in milliseconds.
    pub(crate) fn offset_at(&self, ms: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Named(zone) => i64::from(zone.to_offset(timestamp(ms)).seconds()) * 1000,
        }
    }

    /// Returns what the clocks show.
    pub(crate) fn to_local(&self, ms: i64) -> i64 {
        ms.saturating_add(self.offset_at(ms))
    }

    /// Returns when clocks show this: where they show it twice the first time, where they never do the time as far
    /// after the gap as it would be in it.
    pub(crate) fn to_utc(&self, local_ms: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => local_ms.saturating_sub(*offset),
            Zone::Named(zone) => civil(local_ms).and_then(|local| zone.to_timestamp(local).ok()).map_or_else(
                || local_ms.saturating_sub(self.offset_at(local_ms)),
                |found| found.as_millisecond(),
            ),
        }
    }
}

fn timestamp(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

fn civil(local_ms: i64) -> Option<DateTime> {
    let moment = Timestamp::from_millisecond(local_ms).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(moment))
}

fn unknown(text: &str) -> Error {
    Error::new(40485, format!("unrecognized time zone identifier: \"{text}\""))
}

/// Reads a distance from UTC with its sign, in milliseconds.
pub(crate) fn distance(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match (digits.len(), digits.split_once(':')) {
        (5, Some((hours, minutes))) => (hours, minutes),
        (4, None) => (digits.get(..2)?, digits.get(2..)?),
        (1 | 2, None) => (digits, "0"),
        _ => return None,
    };
    if !hours.bytes().chain(minutes.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (hours * 60 + minutes) * 60_000)
}
