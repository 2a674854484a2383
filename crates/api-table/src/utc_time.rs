//! Points in time as shared access signatures and stored access policies write them.
//!
//! The forms are those of ISO 8601 that the service documents: a day, or a day with minutes, seconds or up to seven
//! fraction digits and a zone. Answers always carry seven digits and `Z`.
//!
//! Not here: the dates of HTTP headers, and the dates of entities (`edm`).

use std::fmt;

use armilla_value::calendar::{date_exists, date_from_days, days_from_date};

/// Steps of 100 ns in a second.
const STEPS_PER_SECOND: i64 = 10_000_000;
/// Steps of 100 ns in a millisecond.
const STEPS_PER_MILLISECOND: i64 = 10_000;
const SECONDS_PER_DAY: i64 = 86_400;
const FRACTION_DIGITS_MAX: usize = 7;

/// A point in time between the years 1 and 9999, to 100 ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UtcTime {
    /// Steps of 100 ns since 1970.
    steps: i64,
}

impl UtcTime {
    /// Returns the time so many milliseconds after 1970, or the nearest one that can be written.
    pub(crate) fn from_unix_ms(milliseconds: i64) -> UtcTime {
        let first = days_from_date(1, 1, 1) * SECONDS_PER_DAY * STEPS_PER_SECOND;
        let last = days_from_date(10_000, 1, 1) * SECONDS_PER_DAY * STEPS_PER_SECOND - 1;
        UtcTime { steps: milliseconds.saturating_mul(STEPS_PER_MILLISECOND).clamp(first, last) }
    }

    /// Reads one of the documented forms.
    pub(crate) fn parse(text: &str) -> Option<UtcTime> {
        let bytes = text.as_bytes();
        let (day, rest) = bytes.split_at_checked(10)?;
        let (year, month, date) = match day {
            [year @ .., b'-', m1, m2, b'-', d1, d2] if year.len() == 4 => {
                (number(year)?, number(&[*m1, *m2])?, number(&[*d1, *d2])?)
            }
            _ => return None,
        };
        if year == 0 || !date_exists(year, month, date) {
            return None;
        }
        let days = days_from_date(year, month, date);
        if rest.is_empty() {
            return UtcTime::from_parts(days, 0, 0);
        }
        let (hours, minutes, rest) = match rest {
            [b'T', h1, h2, b':', m1, m2, rest @ ..] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?, rest),
            _ => return None,
        };
        let (seconds, rest) = match rest {
            [b':', s1, s2, rest @ ..] => (number(&[*s1, *s2])?, rest),
            rest => (0, rest),
        };
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => {
                let digit_count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if !(1..=FRACTION_DIGITS_MAX).contains(&digit_count) {
                    return None;
                }
                let missing = u32::try_from(FRACTION_DIGITS_MAX - digit_count).ok()?;
                (number(&rest[..digit_count])? * 10_i64.pow(missing), &rest[digit_count..])
            }
            rest => (0, rest),
        };
        let offset_seconds = match rest {
            b"Z" => 0,
            [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
                let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
                if hours > 14 || minutes > 59 {
                    return None;
                }
                let seconds = hours * 3_600 + minutes * 60;
                if *sign == b'+' { seconds } else { -seconds }
            }
            _ => return None,
        };
        UtcTime::from_parts(days, hours * 3_600 + minutes * 60 + seconds - offset_seconds, fraction)
    }

    fn from_parts(days: i64, seconds: i64, fraction: i64) -> Option<UtcTime> {
        let steps = (days * SECONDS_PER_DAY + seconds) * STEPS_PER_SECOND + fraction;
        let first = days_from_date(1, 1, 1) * SECONDS_PER_DAY * STEPS_PER_SECOND;
        let end = days_from_date(10_000, 1, 1) * SECONDS_PER_DAY * STEPS_PER_SECOND;
        (first..end).contains(&steps).then_some(UtcTime { steps })
    }
}

/// Seven fraction digits and `Z`.
impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.steps.div_euclid(STEPS_PER_SECOND);
        let fraction = self.steps.rem_euclid(STEPS_PER_SECOND);
        let (year, month, date) = date_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let second_of_day = seconds.rem_euclid(SECONDS_PER_DAY);
        write!(
            f,
            "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}.{fraction:07}Z",
            second_of_day / 3_600,
            second_of_day / 60 % 60,
            second_of_day % 60
        )
    }
}

/// Reads digits; nothing else is a number here.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number: i64, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::UtcTime;

    #[test]
    fn every_documented_form_is_read() {
        for (text, expected) in [
            ("2021-06-08", "2021-06-08T00:00:00.0000000Z"),
            ("2021-06-08T02:10Z", "2021-06-08T02:10:00.0000000Z"),
            ("2021-06-08T02:10:09Z", "2021-06-08T02:10:09.0000000Z"),
            ("2021-06-08T02:10:09.5Z", "2021-06-08T02:10:09.5000000Z"),
            ("2021-06-08T02:10:09.123Z", "2021-06-08T02:10:09.1230000Z"),
            ("2021-06-08T02:10:09.1234567Z", "2021-06-08T02:10:09.1234567Z"),
            ("2021-06-08T02:10:09+02:30", "2021-06-07T23:40:09.0000000Z"),
            ("2021-06-08T02:10-08:00", "2021-06-08T10:10:00.0000000Z"),
            ("2000-02-29", "2000-02-29T00:00:00.0000000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.0000000Z"),
            ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.9999999Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"),
        ] {
            assert_eq!(
                UtcTime::parse(text).map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_else_is_a_time() {
        for text in [
            "",
            "2021",
            "2021-6-8",
            "2021-13-01",
            "2021-00-01",
            "2021-02-29",
            "1900-02-29",
            "2021-04-31",
            "2021-04-00",
            "0000-01-01",
            "2021-06-08T02Z",
            "2021-06-08T24:00Z",
            "2021-06-08T02:60Z",
            "2021-06-08T02:10:60Z",
            "2021-06-08T02:10:09",
            "2021-06-08T02:10:09.Z",
            "2021-06-08T02:10:09.12345678Z",
            "2021-06-08T02:10:09z",
            "2021-06-08 02:10:09Z",
            "2021-06-08T02:10:09Z ",
            "2021-06-08T02:10:09+15:00",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "２021-06-08",
            "éééééééé",
        ] {
            assert_eq!(UtcTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_out_of_range_are_clamped() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.0000000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.1230000Z"),
            (i64::MIN, "0001-01-01T00:00:00.0000000Z"),
            (i64::MAX, "9999-12-31T23:59:59.9999999Z"),
        ] {
            assert_eq!(UtcTime::from_unix_ms(milliseconds).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn times_survive_and_keep_their_order(a in -62_135_596_800_000i64..253_402_300_800_000, b in -62_135_596_800_000i64..253_402_300_800_000) {
            let (first, second) = (UtcTime::from_unix_ms(a), UtcTime::from_unix_ms(b));
            prop_assert_eq!(UtcTime::parse(&first.to_string()), Some(first));
            prop_assert_eq!(first.cmp(&second), a.cmp(&b));
            prop_assert_eq!(first.to_string().cmp(&second.to_string()), a.cmp(&b));
        }

        #[test]
        fn no_text_panics(text in ".{0,34}", near in "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(\\.[0-9]{0,9})?(Z|[+-][0-9]{2}:[0-9]{2})?") {
            let _ = UtcTime::parse(&text);
            if let Some(time) = UtcTime::parse(&near) {
                prop_assert_eq!(UtcTime::parse(&time.to_string()), Some(time));
            }
        }
    }
}
