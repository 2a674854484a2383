//! Times as people and HTTP write them: RFC 3339 and RFC 1123, to the second.

use std::time::UNIX_EPOCH;

use armilla_rest_wire::http_date;
use armilla_value::calendar::{date_exists, days_from_date};

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The last second that has a date of four digits: 31 December 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

/// Reads a time in either form as seconds since 1970; parts of a second are cut off.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let seconds = rfc3339(text).or_else(|| {
        let time = httpdate::parse_http_date(text).ok()?;
        i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    })?;
    u64::try_from(seconds).ok().filter(|_| seconds <= SECONDS_MAX)
}

/// Writes a time as a header has it.
pub(super) fn header(seconds: u64) -> String {
    http_date::format_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// `2026-01-31T12:00:00Z`, with parts of a second or without, and with an offset instead of the `Z`.
fn rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 20 {
        return None;
    }
    let separators = [(4, "-"), (7, "-"), (10, "Tt "), (13, ":"), (16, ":")];
    if !separators.iter().all(|(at, allowed)| allowed.as_bytes().contains(&bytes[*at])) {
        return None;
    }
    let (year, month, day) = (number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?);
    let (hour, minute, second) = (number(&text[11..13])?, number(&text[14..16])?, number(&text[17..19])?);
    // A leap second counts as the last second before it.
    if !date_exists(year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = match text[19..].strip_prefix('.') {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)?
        }
        None => &text[19..],
    };
    let local =
        days_from_date(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second.min(59);
    Some(local - offset_seconds(rest)?)
}

fn offset_seconds(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes) = match (hours.len(), minutes.len()) {
        (2, 2) => (number(hours)?, number(minutes)?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Digits alone: no sign.
fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-15T14:49:25Z", Some(1_794_754_165)),
            ("2026-11-15t14:49:25.999z", Some(1_794_754_165)),
            ("2026-11-15 14:49:25+00:00", Some(1_794_754_165)),
            ("2026-11-15T16:49:25+02:00", Some(1_794_754_165)),
            ("2026-11-15T09:19:25.5-05:30", Some(1_794_754_165)),
            ("Sun, 15 Nov 2026 14:49:25 GMT", Some(1_794_754_165)),
            (" Sun, 15 Nov 2026 14:49:25 GMT ", Some(1_794_754_165)),
            ("2000-02-29T00:00:00Z", Some(951_782_400)),
            ("2024-02-29T23:59:60Z", Some(1_709_251_199)),
            ("9999-12-31T23:59:59Z", Some(253_402_300_799)),
            ("9999-12-31T23:59:59-00:01", None),
            ("1969-12-31T23:59:59Z", None),
            ("1970-01-01T00:00:00+00:01", None),
            ("2023-02-29T00:00:00Z", None),
            ("1900-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-00-01T00:00:00Z", None),
            ("2026-01-00T00:00:00Z", None),
            ("2026-01-01T24:00:00Z", None),
            ("2026-01-01T00:60:00Z", None),
            ("2026-01-01T00:00:61Z", None),
            ("2026-01-01T00:00:00", None),
            ("2026-01-01T00:00:00.Z", None),
            ("2026-01-01T00:00:00+1:00", None),
            ("2026-01-01T00:00:00+24:00", None),
            ("2026-01-01T00:00:00+00:60", None),
            ("2026-01-01T00:00:00Zx", None),
            ("2026-01-01T00:00:+1Z", None),
            ("2026-01-01", None),
            ("yesterday", None),
            ("２０２６-01-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_sent_is_what_was_said() {
        for seconds in [0, 1, 951_782_400, 1_794_754_165, 253_402_300_799] {
            assert_eq!(parse(&header(seconds)), Some(seconds));
        }
        assert_eq!(header(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
