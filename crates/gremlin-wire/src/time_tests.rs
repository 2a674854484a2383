//! Tests of times as text.

use proptest::prelude::*;

use super::*;

#[test]
fn time_spans_are_those_of_the_service() {
    let cases = [
        (Duration::ZERO, "00:00:00.0000000"),
        (Duration::from_millis(3950), "00:00:03.9500000"),
        (Duration::from_nanos(1_234_567_899), "00:00:01.2345678"),
        (Duration::from_secs(86_399), "23:59:59.0000000"),
        (Duration::from_secs(90_061), "1.01:01:01.0000000"),
    ];
    for (duration, expected) in cases {
        assert_eq!(time_span(duration), expected);
    }
}

#[test]
fn dates_are_read() {
    let cases = [
        ("1970-01-01T00:00:00Z", Some((0, 0))),
        ("2023-08-08T00:00:00Z", Some((1_691_452_800_000, 0))),
        ("2023-08-08", Some((1_691_452_800_000, 0))),
        ("2023-08-08T00:00", Some((1_691_452_800_000, 0))),
        ("2023-08-08T02:00:00.123456+02:00", Some((1_691_452_800_123, 7200))),
        ("2023-08-07T22:30:00-01:30", Some((1_691_452_800_000, -5400))),
        ("2023-08-08T02:00:00+02:00[Europe/Paris]", Some((1_691_452_800_000, 7200))),
        ("1969-12-31T23:59:59.999Z", Some((-1, 0))),
        ("2024-02-29T00:00:00Z", Some((1_709_164_800_000, 0))),
        ("2023-02-29T00:00:00Z", None),
        ("2023-13-01T00:00:00Z", None),
        ("2023-01-01T24:00:00Z", None),
        ("2023-01-01T00:00:00+19:00", None),
        ("2023-01-01T00:00:00Zx", None),
        ("2023-01-01x", None),
        ("now", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_date(text), expected, "{text}");
    }
}

#[test]
fn durations_are_read_and_written() {
    let cases = [
        ("PT0S", 0, "PT0S"),
        ("PT8H6M12.345S", 29_172_345_000_000, "PT8H6M12.345S"),
        ("P1DT1H", 90_000_000_000_000, "PT25H"),
        ("-PT1M30S", -90_000_000_000, "PT-1M-30S"),
        ("PT-1M-30S", -90_000_000_000, "PT-1M-30S"),
        ("PT0.000000001S", 1, "PT0.000000001S"),
        ("P2W", 1_209_600_000_000_000, "PT336H"),
    ];
    for (text, nanoseconds, expected) in cases {
        assert_eq!(parse_duration(text), Some(nanoseconds), "{text}");
        assert_eq!(duration_text(nanoseconds), expected);
    }
    for text in ["", "P", "PT", "P1Y", "P1M", "PT1D", "P1H", "1S", "PTS", "PT1", "PT--1S", "P1DT", "PT1e3S"] {
        assert_eq!(parse_duration(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn dates_come_back(milliseconds in -60_000_000_000_000_i64..250_000_000_000_000, minutes in -1080_i32..=1080) {
        let text = date_text(milliseconds, minutes * 60);
        prop_assert_eq!(parse_date(&text), Some((milliseconds, minutes * 60)), "{}", text);
    }

    #[test]
    fn durations_come_back(nanoseconds in any::<i64>()) {
        let text = duration_text(i128::from(nanoseconds));
        prop_assert_eq!(parse_duration(&text), Some(i128::from(nanoseconds)), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-+PTZ0-9:.DHMS\\[é]{0,24}") {
        let _ = (parse_date(&text), parse_duration(&text));
    }
}
