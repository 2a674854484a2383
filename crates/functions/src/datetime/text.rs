//! Moments as text: reading every accepted form, writing the canonical one.

use super::calendar::Civil;
use super::limits::FRACTION_DIGITS_MAX;
use super::{Ticks, from_parts, in_range};

/// Reads `YYYY-MM-DD`, then optionally `T` or a space and `hh:mm:ss`, then optionally `.` and one to seven
/// digits, then optionally `Z`.
///
/// Everything is UTC. Any other text, and any date or time that does not exist, is `None`.
pub fn parse(text: &str) -> Option<Ticks> {
    let bytes = text.as_bytes();
    let bytes = bytes.strip_suffix(b"Z").unwrap_or(bytes);
    let (date, time) = bytes.split_at_checked(10)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let mut parts = [digits(&date[..4])?, digits(&date[5..7])?, digits(&date[8..])?, 0, 0, 0, 0];
    if !time.is_empty() {
        let (clock, fraction) = time.split_at_checked(9)?;
        if !matches!(clock[0], b'T' | b' ') || clock[3] != b':' || clock[6] != b':' {
            return None;
        }
        parts[3] = digits(&clock[1..3])?;
        parts[4] = digits(&clock[4..6])?;
        parts[5] = digits(&clock[7..])?;
        parts[6] = fraction_ticks(fraction)?;
    }
    from_parts(&parts)
}

/// Writes `YYYY-MM-DDThh:mm:ss.fffffffZ`, or `None` for a year outside 0001 to 9999.
pub fn format(ticks: Ticks) -> Option<String> {
    let civil = Civil::of(in_range(ticks)?);
    let mut text = *b"0000-00-00T00:00:00.0000000Z";
    write_digits(&mut text[..4], civil.year);
    write_digits(&mut text[5..7], civil.month);
    write_digits(&mut text[8..10], civil.day);
    write_digits(&mut text[11..13], civil.hour());
    write_digits(&mut text[14..16], civil.minute());
    write_digits(&mut text[17..19], civil.second());
    write_digits(&mut text[20..27], civil.fraction_ticks());
    Some(text.into_iter().map(char::from).collect())
}

/// Reads what follows the seconds: nothing, or a point and digits.
fn fraction_ticks(text: &[u8]) -> Option<Ticks> {
    let Some((point, fraction)) = text.split_first() else { return Some(0) };
    if *point != b'.' || !(1..=FRACTION_DIGITS_MAX).contains(&fraction.len()) {
        return None;
    }
    let missing_digits = FRACTION_DIGITS_MAX - fraction.len();
    Some(digits(fraction)? * 10_i64.pow(missing_digits as u32))
}

/// Reads a number of at most seven digits.
fn digits(text: &[u8]) -> Option<i64> {
    text.iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// Fills the place with the number's last digits.
fn write_digits(place: &mut [u8], mut number: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
