//! Dates and UUIDs of scripts: `datetime('2018-03-21T08:35:44.741Z')`, `UUID('...')`.

const DAY_MS: i64 = 86_400_000;

/// Reads a date of ISO 8601: milliseconds since the epoch and the offset in seconds. Without an offset it is UTC.
pub(crate) fn date(text: &str) -> Option<(i64, i32)> {
    let mut reader = Reader { rest: text.as_bytes() };
    let negative = reader.take(b'-');
    let signed = negative || reader.take(b'+');
    let year = reader.digits(4, if signed { 9 } else { 4 })?;
    let year = if negative { -year } else { year };
    let (mut month, mut day) = (1, 1);
    if reader.take(b'-') {
        month = reader.digits(2, 2)?;
        if reader.take(b'-') {
            day = reader.digits(2, 2)?;
        }
    }
    let (mut milliseconds, mut offset) = (0, 0);
    if reader.take(b'T') || reader.take(b't') || reader.take(b' ') {
        milliseconds = reader.time()?;
        offset = reader.offset()?;
    }
    if !reader.rest.is_empty() || !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    let local = days.checked_mul(DAY_MS)?.checked_add(milliseconds)?;
    Some((local.checked_sub(offset * 1_000)?, i32::try_from(offset).ok()?))
}

/// Writes a date so that [`date`] reads it.
pub(crate) fn date_text(milliseconds: i64, offset_seconds: i32) -> String {
    // Wider than the range of milliseconds, so that an offset at its end has room.
    let local = i128::from(milliseconds) + i128::from(offset_seconds) * 1_000;
    let day_ms = i128::from(DAY_MS);
    let (days, time) = (local.div_euclid(day_ms), local.rem_euclid(day_ms));
    let (year, month, day) = civil_from_days(i64::try_from(days).unwrap_or_default());
    let sign = match year {
        0..=9999 => "",
        10_000.. => "+",
        _ => "-",
    };
    let (hours, minutes, seconds, rest) =
        (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60, time % 1_000);
    let year = year.unsigned_abs();
    let mut text = format!("{sign}{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}");
    if rest != 0 {
        text.push_str(&format!(".{rest:03}"));
    }
    if offset_seconds == 0 {
        text.push('Z');
        return text;
    }
    let sign = if offset_seconds < 0 { '-' } else { '+' };
    let seconds = offset_seconds.unsigned_abs();
    text.push_str(&format!("{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60));
    if !seconds.is_multiple_of(60) {
        text.push_str(&format!(":{:02}", seconds % 60));
    }
    text
}

/// Reads a UUID of 32 hexadecimal digits in five groups.
pub(crate) fn uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut bits = 0_u128;
    for (index, byte) in bytes.iter().enumerate() {
        match index {
            8 | 13 | 18 | 23 if *byte == b'-' => {}
            8 | 13 | 18 | 23 => return None,
            _ => bits = bits << 4 | u128::from(char::from(*byte).to_digit(16)?),
        }
    }
    Some(bits)
}

/// Writes a UUID so that [`uuid`] reads it.
pub(crate) fn uuid_text(bits: u128) -> String {
    let group = |shift: u32, digits: u32| (bits >> shift) & ((1_u128 << (digits * 4)) - 1);
    let (a, b, c, d, e) = (group(96, 8), group(80, 4), group(64, 4), group(48, 4), group(0, 12));
    format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn take(&mut self, byte: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        (count >= least).then(|| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    }

    /// Reads the time of a day: hours and minutes, seconds and their fraction if written.
    fn time(&mut self) -> Option<i64> {
        let hours = self.digits(2, 2)?;
        let (mut minutes, mut seconds, mut milliseconds) = (0, 0, 0);
        if self.take(b':') {
            minutes = self.digits(2, 2)?;
            if self.take(b':') {
                seconds = self.digits(2, 2)?;
                if self.take(b'.') || self.take(b',') {
                    milliseconds = self.fraction()?;
                }
            }
        }
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        Some(((hours * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds)
    }

    /// Reads up to nine digits and keeps three: milliseconds are what a date holds.
    fn fraction(&mut self) -> Option<i64> {
        let before = self.rest.len();
        let digits = self.digits(1, 9)?;
        let count = before - self.rest.len();
        let scale = |power: usize| (0..power).fold(1, |product, _| product * 10);
        Some(if count <= 3 { digits * scale(3 - count) } else { digits / scale(count - 3) })
    }

    fn offset(&mut self) -> Option<i64> {
        if self.rest.is_empty() || self.take(b'Z') || self.take(b'z') {
            return Some(0);
        }
        let negative = self.take(b'-');
        if !negative && !self.take(b'+') {
            return None;
        }
        let hours = self.digits(2, 2)?;
        let (mut minutes, mut seconds) = (0, 0);
        if self.take(b':') || !self.rest.is_empty() {
            minutes = self.digits(2, 2)?;
            if self.take(b':') || !self.rest.is_empty() {
                seconds = self.digits(2, 2)?;
            }
        }
        if hours > 18 || minutes > 59 || seconds > 59 {
            return None;
        }
        let offset = (hours * 60 + minutes) * 60 + seconds;
        Some(if negative { -offset } else { offset })
    }
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the days since the epoch of a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    match month {
        0..=9 => (year + era * 400, month + 3, day),
        _ => (year + era * 400 + 1, month - 9, day),
    }
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
