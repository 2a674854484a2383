//! RFC 1123 dates, as milliseconds since 1970.

use std::time::{Duration, UNIX_EPOCH};

/// The last second that has such a date: 31 December 9999.
const SECONDS_MAX: u64 = 253_402_300_799;

/// Reads a date in any case: the Rust client sends it in lower case.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    let mut fixed: [u8; 29] = text.trim().as_bytes().try_into().ok()?;
    fixed.make_ascii_lowercase();
    for position in [0, 8, 26, 27, 28] {
        fixed[position].make_ascii_uppercase();
    }
    let time = httpdate::parse_http_date(std::str::from_utf8(&fixed).ok()?).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// Writes a date; times out of range become the nearest one in range.
pub(crate) fn format_ms(milliseconds: i64) -> String {
    let seconds = u64::try_from(milliseconds.div_euclid(1_000)).unwrap_or(0).min(SECONDS_MAX);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{SECONDS_MAX, format_ms, parse_ms};

    #[test]
    fn dates_are_read_in_any_case() {
        for text in [
            "Thu, 27 Apr 2017 00:51:12 GMT",
            "thu, 27 apr 2017 00:51:12 gmt",
            "THU, 27 APR 2017 00:51:12 GMT",
            " Thu, 27 Apr 2017 00:51:12 GMT ",
        ] {
            assert_eq!(parse_ms(text), Some(1_493_254_272_000), "{text}");
        }
        for text in ["", "Thu, 27 Apr 2017 00:51:12 CET", "Thu, 27 Apr 2017 00:51:12", "é"] {
            assert_eq!(parse_ms(text), None, "{text}");
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
        }
    }
}
