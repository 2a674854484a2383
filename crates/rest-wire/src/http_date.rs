//! RFC 1123 dates, as milliseconds or seconds since 1970.

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderValue;

/// The last second that has such a date: 31 December 9999.
const SECONDS_MAX: u64 = 253_402_300_799;

/// Reads a date in any case, since the Rust client sends it in lower case, and with `UTC` for `GMT`, as the Go client
/// has it.
pub fn parse_ms(text: &str) -> Option<i64> {
    let mut fixed: [u8; 29] = text.trim().as_bytes().try_into().ok()?;
    fixed.make_ascii_lowercase();
    if fixed.ends_with(b" utc") {
        fixed[26..].copy_from_slice(b"gmt");
    }
    for position in [0, 8, 26, 27, 28] {
        fixed[position].make_ascii_uppercase();
    }
    let time = httpdate::parse_http_date(std::str::from_utf8(&fixed).ok()?).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// Reads a date as seconds since 1970, the nearest that can be said: some clients write the first day of the calendar
/// for 'from the beginning'.
pub fn parse_seconds(text: &str) -> Option<u32> {
    if let Some(milliseconds) = parse_ms(text) {
        return Some(u32::try_from(milliseconds / 1_000).unwrap_or(u32::MAX));
    }
    // Years before 1970 are written like all others. The calendar repeats itself every 400 years, weekdays included.
    const REPEATED_YEARS: u32 = 2_000;
    let text = text.trim();
    let year: u32 = text.get(12..16)?.parse().ok().filter(|year| *year < 1970)?;
    let repeated = [text.get(..12)?, &(year + REPEATED_YEARS).to_string(), text.get(16..)?].concat();
    parse_ms(&repeated).map(|_| 0)
}

/// Writes a date; times out of range become the nearest one in range.
pub fn format_ms(milliseconds: i64) -> String {
    format_seconds(milliseconds.div_euclid(1_000))
}

/// Writes a date; times out of range become the nearest one in range.
pub fn format_seconds(seconds: i64) -> String {
    let seconds = u64::try_from(seconds).unwrap_or(0).min(SECONDS_MAX);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The date of a client's requests, written once in a second.
#[derive(Debug, Clone)]
pub struct RequestDate {
    seconds: i64,
    header: HeaderValue,
}

impl RequestDate {
    /// Returns the date of a time.
    pub fn new(seconds: i64) -> RequestDate {
        let header = HeaderValue::try_from(format_seconds(seconds)).expect("a date is visible ASCII");
        RequestDate { seconds, header }
    }

    /// Moves to a time.
    pub fn move_to(&mut self, seconds: i64) {
        if self.seconds != seconds {
            *self = RequestDate::new(seconds);
        }
    }

    /// Returns the value of `x-ms-date`.
    pub fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Returns the same as text.
    pub fn text(&self) -> &str {
        self.header.to_str().expect("a date is visible ASCII")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{RequestDate, SECONDS_MAX, format_ms, format_seconds, parse_ms, parse_seconds};

    #[test]
    fn dates_change_with_the_second() {
        let mut date = RequestDate::new(0);
        let first = date.header();
        date.move_to(0);
        assert_eq!(date.header(), first);
        date.move_to(1);
        assert_eq!(
            (date.text(), date.header().as_bytes()),
            ("Thu, 01 Jan 1970 00:00:01 GMT", date.text().as_bytes())
        );
        assert_eq!(RequestDate::new(-5).text(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(format_seconds(1_493_254_272), "Thu, 27 Apr 2017 00:51:12 GMT");
    }

    #[test]
    fn dates_are_read_in_any_case() {
        for text in [
            "Thu, 27 Apr 2017 00:51:12 GMT",
            "thu, 27 apr 2017 00:51:12 gmt",
            "THU, 27 APR 2017 00:51:12 GMT",
            " Thu, 27 Apr 2017 00:51:12 GMT ",
            "Thu, 27 Apr 2017 00:51:12 UTC",
        ] {
            assert_eq!(parse_ms(text), Some(1_493_254_272_000), "{text}");
        }
        for text in ["", "Thu, 27 Apr 2017 00:51:12 CET", "Thu, 27 Apr 2017 00:51:12", "é"] {
            assert_eq!(parse_ms(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_are_the_nearest_that_can_be_said() {
        for (text, expected) in [
            ("Thu, 27 Apr 2017 00:51:12 GMT", Some(1_493_254_272)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Wed, 31 Dec 1969 23:59:59 GMT", Some(0)),
            ("Mon, 01 Jan 0001 00:00:00 GMT", Some(0)),
            ("Tue, 01 Jan 0001 00:00:00 GMT", None),
            ("Sun, 07 Feb 2106 06:28:15 GMT", Some(u32::MAX)),
            ("Sun, 07 Feb 2106 06:28:16 GMT", Some(u32::MAX)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(u32::MAX)),
            ("Thu, 27 Apr 2017 00:51:12 CET", None),
            ("2017-04-27T00:51:12Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(parse_seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn times_out_of_range_are_clamped() {
        assert_eq!(format_ms(i64::MIN), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(format_ms(i64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    proptest! {
        #[test]
        fn dates_survive(seconds in 0..=SECONDS_MAX) {
            let milliseconds = i64::try_from(seconds).unwrap() * 1_000;
            prop_assert_eq!(parse_ms(&format_ms(milliseconds)), Some(milliseconds));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}", near in "[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9:]{8} [A-Za-z]{3}") {
            let _ = parse_ms(&text);
            let _ = parse_ms(&near);
            let _ = parse_seconds(&text);
            let _ = parse_seconds(&near);
        }
    }
}
