//! Times as text: dates with an offset, durations of ISO 8601, and time spans of .NET.

use std::fmt::Write;
use std::time::Duration;

const DAY_MS: i64 = 86_400_000;
const SECOND_NS: i128 = 1_000_000_000;

/// Offsets of a zone are at most 18 hours, as Java has it.
pub(crate) const MAX_OFFSET_SECONDS: i32 = 18 * 3600;

/// Returns a time span as .NET writes it, always with hours and seven digits: `00:00:03.9500000`.
pub fn time_span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let mut text = String::with_capacity(16);
    if days > 0 {
        let _ = write!(text, "{days}.");
    }
    let _ = write!(text, "{hours:02}:{minutes:02}:{:02}.{:07}", seconds % 60, duration.subsec_nanos() / 100);
    text
}

/// A day and the time in it, without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) ms_of_day: i64,
}

impl Civil {
    /// Returns what a calendar at that offset shows.
    pub(crate) fn at(milliseconds: i64, offset_seconds: i32) -> Civil {
        let local = i128::from(milliseconds) + i128::from(offset_seconds) * 1000;
        let days = local.div_euclid(i128::from(DAY_MS)) as i64;
        let ms_of_day = local.rem_euclid(i128::from(DAY_MS)) as i64;
        // Days counted from the 1st of March of the year 0, so that a leap day is the last of its year.
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u8;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u8;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Civil { year, month, day, ms_of_day }
    }

    /// Returns the milliseconds since the epoch, or nothing if there is no such day or it is too far away.
    pub(crate) fn milliseconds(self, offset_seconds: i32) -> Option<i64> {
        if !(1..=12).contains(&self.month) || self.day == 0 || self.day > days_of_month(self.year, self.month)
        {
            return None;
        }
        if !(0..DAY_MS).contains(&self.ms_of_day) || self.year.abs() > 1_000_000_000 {
            return None;
        }
        let year = self.year - i64::from(self.month <= 2);
        let month = i64::from(self.month);
        let shifted = if month > 2 { month - 3 } else { month + 9 };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * shifted + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = i128::from(era * 146_097 + day_of_era - 719_468);
        let total =
            days * i128::from(DAY_MS) + i128::from(self.ms_of_day) - i128::from(offset_seconds) * 1000;
        i64::try_from(total).ok()
    }
}

fn days_of_month(year: i64, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns a date as Java writes an `OffsetDateTime`.
pub(crate) fn date_text(milliseconds: i64, offset_seconds: i32) -> String {
    let Civil { year, month, day, ms_of_day } = Civil::at(milliseconds, offset_seconds);
    let mut text = String::with_capacity(30);
    let _ = match year {
        0..=9999 => write!(text, "{year:04}"),
        10_000.. => write!(text, "+{year}"),
        _ => write!(text, "-{:04}", -year),
    };
    let (hours, minutes, seconds) = (ms_of_day / 3_600_000, ms_of_day / 60_000 % 60, ms_of_day / 1000 % 60);
    let _ = write!(text, "-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}");
    if ms_of_day % 1000 != 0 {
        let _ = write!(text, ".{:03}", ms_of_day % 1000);
    }
    if offset_seconds == 0 {
        text.push('Z');
        return text;
    }
    let ahead = offset_seconds.unsigned_abs();
    let _ = write!(
        text,
        "{}{:02}:{:02}",
        if offset_seconds < 0 { '-' } else { '+' },
        ahead / 3600,
        ahead / 60 % 60
    );
    if !ahead.is_multiple_of(60) {
        let _ = write!(text, ":{:02}", ahead % 60);
    }
    text
}

/// Reads a date of ISO 8601: milliseconds and offset; without time it is midnight, without zone UTC.
pub(crate) fn parse_date(text: &str) -> Option<(i64, i32)> {
    // A region behind the offset, as in `2020-01-01T00:00:00+01:00[Europe/Paris]`, adds nothing to the moment.
    let text = text.split('[').next()?;
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (year, rest) = rest.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let year = digits(year, 4..=9)?;
    let mut civil = Civil {
        year: if negative { -year } else { year },
        month: digits(month, 2..=2)? as u8,
        day: digits(day, 2..=2)? as u8,
        ms_of_day: 0,
    };
    let mut offset_seconds = 0;
    if let Some(time) = rest.strip_prefix('T') {
        let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
        let (time, zone) = time.split_at_checked(zone)?;
        civil.ms_of_day = parse_time(time)?;
        offset_seconds = parse_offset(zone)?;
    } else if !rest.is_empty() {
        return None;
    }
    Some((civil.milliseconds(offset_seconds)?, offset_seconds))
}

fn digits(text: &str, width: std::ops::RangeInclusive<usize>) -> Option<i64> {
    if !width.contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn parse_time(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hours = digits(parts.next()?, 2..=2)?;
    let minutes = digits(parts.next()?, 2..=2)?;
    let (seconds, fraction) = match parts.next() {
        None => ("00", ""),
        Some(seconds) => seconds.split_once('.').unwrap_or((seconds, "")),
    };
    let seconds = digits(seconds, 2..=2)?;
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 9 {
        return None;
    }
    let milliseconds = match fraction.len() {
        0 => 0,
        length => digits(fraction, 1..=9)? * 1000 / 10_i64.pow(length as u32),
    };
    Some(((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds)
}

fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first() {
        None => return Some(0),
        Some(b'Z') => return (text == "Z").then_some(0),
        Some(b'-') => (-1, text.get(1..)?),
        _ => (1, text.get(1..)?),
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in rest.split(':') {
        seconds += digits(part, 2..=2)? as i32 * unit;
        unit /= 60;
    }
    (seconds <= MAX_OFFSET_SECONDS).then_some(sign * seconds)
}

/// Returns a duration as Java writes it, such as `PT8H6M12.345S`.
pub(crate) fn duration_text(nanoseconds: i128) -> String {
    if nanoseconds == 0 {
        return "PT0S".into();
    }
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let nanoseconds = nanoseconds.unsigned_abs();
    let (seconds, fraction) = (nanoseconds / SECOND_NS as u128, nanoseconds % SECOND_NS as u128);
    let mut text = String::from("PT");
    for (amount, unit) in [(seconds / 3600, 'H'), (seconds / 60 % 60, 'M')] {
        if amount > 0 {
            let _ = write!(text, "{sign}{amount}{unit}");
        }
    }
    if seconds % 60 > 0 || fraction > 0 {
        let _ = write!(text, "{sign}{}", seconds % 60);
        if fraction > 0 {
            let digits = format!(".{fraction:09}");
            text.push_str(digits.trim_end_matches('0'));
        }
        text.push('S');
    }
    text
}

/// Reads a duration of ISO 8601 without years and months, whose length varies.
pub(crate) fn parse_duration(text: &str) -> Option<i128> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut rest = rest.strip_prefix('P')?;
    let mut in_time = false;
    let mut parts = 0;
    let mut total = 0_i128;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('T') {
            (rest, in_time) = (behind, true);
        }
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, behind) = rest.split_at_checked(end)?;
        let seconds = match (behind.as_bytes().first()?, in_time) {
            (b'W', false) => 7 * 86_400,
            (b'D', false) => 86_400,
            (b'H', true) => 3600,
            (b'M', true) => 60,
            (b'S', true) => 1,
            _ => return None,
        };
        rest = behind.get(1..)?;
        total = total.checked_add(parse_nanoseconds(number)?.checked_mul(seconds)?)?;
        parts += 1;
    }
    (parts > 0).then_some(if negative { -total } else { total })
}

/// Reads seconds with a fraction as nanoseconds.
fn parse_nanoseconds(text: &str) -> Option<i128> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole = whole.parse::<i128>().ok()?.checked_mul(SECOND_NS)?;
    let mut unit = SECOND_NS;
    let mut part = 0;
    for digit in fraction.bytes().take(9) {
        unit /= 10;
        part += i128::from(digit - b'0') * unit;
    }
    let total = whole.checked_add(part)?;
    Some(if negative { -total } else { total })
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
