//! Dates as texts: ISO 8601, with a time and an offset or without.

const DAY: i64 = 86_400_000;

/// Writes a date in ISO 8601, in the offset it was written with.
pub fn to_text(milliseconds: i64, offset_seconds: i32) -> String {
    let local = milliseconds.saturating_add(i64::from(offset_seconds) * 1000);
    let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second, fraction) =
        (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction > 0 {
        text.push_str(&format!(".{fraction:03}"));
    }
    if offset_seconds == 0 {
        text.push('Z');
    } else {
        let sign = if offset_seconds < 0 { '-' } else { '+' };
        let minutes = offset_seconds.unsigned_abs() / 60;
        text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    }
    text
}

/// Reads a date in ISO 8601: milliseconds since the epoch, and the offset in seconds.
pub fn from_text(text: &str) -> Option<(i64, i32)> {
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, ""),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next().unwrap_or("1"));
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    let (time, offset_seconds) = split_offset(time)?;
    let milliseconds = milliseconds_of(time)?;
    let local = days_since_epoch(year, month, day).checked_mul(DAY)?.checked_add(milliseconds)?;
    Some((local - i64::from(offset_seconds) * 1000, offset_seconds))
}

fn number(text: &str, digits_max: usize) -> Option<i64> {
    if text.is_empty() || text.len() > digits_max || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn split_offset(time: &str) -> Option<(&str, i32)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (time, offset) = time.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits = offset.get(1..)?.replace(':', "");
    let (hours, minutes) = (digits.get(..2)?, digits.get(2..).filter(|text| !text.is_empty()).unwrap_or("0"));
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    if hours > 18 || minutes > 59 {
        return None;
    }
    Some((time, sign * i32::try_from(hours * 3600 + minutes * 60).ok()?))
}

fn milliseconds_of(time: &str) -> Option<i64> {
    if time.is_empty() {
        return Some(0);
    }
    let mut parts = time.splitn(3, ':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (number(text, 2)?, 0),
            Some((second, fraction)) => {
                let digits: String = fraction.chars().chain("00".chars()).take(3).collect();
                number(fraction, 9)?;
                (number(second, 2)?, number(&digits, 3)?)
            }
        },
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(((hour * 60 + minute) * 60 + second) * 1000 + fraction)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of the Gregorian calendar, by counting years from March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
#[path = "date_tests.rs"]
mod tests;
