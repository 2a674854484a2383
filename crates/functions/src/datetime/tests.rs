//! Tests of dates: tables for every rule, a walk through the whole calendar, and laws under random moments.

use armilla_value::calendar::days_in_month;
use proptest::prelude::*;

use super::calendar::{Civil, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_SECOND, days_from_civil};
use super::limits::{BIN_TICKS_MIN, PATTERN_RUN_MAX, TICKS_MAX, TICKS_MIN};
use super::*;

#[track_caller]
fn at(text: &str) -> Ticks {
    parse(text).unwrap_or_else(|| panic!("{text} is no moment"))
}

/// Every moment there is, with the edges more often than chance would bring them.
fn moments() -> impl Strategy<Value = Ticks> {
    prop_oneof![
        8 => TICKS_MIN..=TICKS_MAX,
        1 => -TICKS_PER_DAY..=TICKS_PER_DAY,
        1 => prop::sample::select(vec![TICKS_MIN, TICKS_MIN + 1, TICKS_MAX - 1, TICKS_MAX, -1, 0, 1]),
    ]
}

fn parts() -> impl Strategy<Value = Part> {
    prop::sample::select(Part::ALL.to_vec())
}

#[test]
fn accepted_texts() {
    let table = [
        ("1970-01-01", 0),
        ("1970-01-01Z", 0),
        ("1970-01-01T00:00:00", 0),
        ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01T00:00:00.0000001Z", 1),
        ("1970-01-01 00:00:00.1", 1_000_000),
        ("1970-01-01T00:00:00.12", 1_200_000),
        ("1970-01-01T00:00:00.1234567", 1_234_567),
        ("1969-12-31T23:59:59.9999999Z", -1),
        ("2000-02-29", 11_016 * TICKS_PER_DAY),
        ("1601-01-01", -116_444_736_000_000_000),
        ("0001-01-01", -621_355_968_000_000_000),
        ("9999-12-31T23:59:59.9999999Z", 2_534_023_007_999_999_999),
    ];
    for (text, ticks) in table {
        assert_eq!(parse(text), Some(ticks), "{text}");
    }
    assert_eq!((TICKS_MIN, TICKS_MAX), (at("0001-01-01"), at("9999-12-31T23:59:59.9999999Z")));
    assert_eq!(BIN_TICKS_MIN, at("1601-01-01"));
}

#[test]
fn refused_texts() {
    let table = [
        "",
        "Z",
        "2024",
        "2024-12",
        "2024-1-2",
        "24-12-12",
        "2024/12/12",
        "2024-12-12T",
        "2024-12-12T20",
        "2024-12-12T20Z",
        "2024-12-12T20:21",
        "2024-12-12T20:21:25.",
        "2024-12-12T20:21:25.Z",
        "2024-12-12T20:21:25.12345678",
        "2024-12-12T20:21:25,1",
        "2024-12-12T20:21:25z",
        "2024-12-12t20:21:25",
        "2024-12-12  20:21:25",
        "2024-12-12T20:21:25ZZ",
        "2024-12-12T20:21:25+00:00",
        "2024-12-12T20:21:25.1 Z",
        " 2024-12-12",
        "2024-12-12 ",
        "+024-12-12",
        "2024-12--1",
        "2024-00-10",
        "2024-13-10",
        "2024-12-00",
        "2024-12-32",
        "2024-04-31",
        "2023-02-29",
        "1900-02-29",
        "2100-02-29",
        "2024-02-30",
        "0000-12-31",
        "2024-12-12T24:00:00",
        "2024-12-12T23:60:00",
        "2024-12-12T23:59:60",
        "2024-12-12T2é:59:00",
        "２024-12-12",
    ];
    for text in table {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn canonical_text_and_its_range() {
    let table = [
        (0, Some("1970-01-01T00:00:00.0000000Z")),
        (-1, Some("1969-12-31T23:59:59.9999999Z")),
        (15_973_607_943_002_652, Some("2020-08-13T23:19:54.3002652Z")),
        (TICKS_MIN, Some("0001-01-01T00:00:00.0000000Z")),
        (TICKS_MIN - 1, None),
        (TICKS_MAX, Some("9999-12-31T23:59:59.9999999Z")),
        (TICKS_MAX + 1, None),
        (i64::MIN, None),
        (i64::MAX, None),
    ];
    for (ticks, text) in table {
        assert_eq!(format(ticks).as_deref(), text, "{ticks}");
    }
}

#[test]
fn every_day_of_the_calendar_in_turn() {
    let mut day_number = TICKS_MIN / TICKS_PER_DAY;
    for year in 1..=9999 {
        let is_leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
        for month in 1..=12 {
            let days = match month {
                2 => 28 + i64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            assert_eq!(days_in_month(year, month), days);
            for day in 1..=days {
                assert_eq!(days_from_civil(year, month, day), Some(day_number));
                let civil = Civil::of(day_number * TICKS_PER_DAY + 5);
                assert_eq!(civil, Civil { year, month, day, time_ticks: 5 });
                day_number += 1;
            }
            assert_eq!(days_from_civil(year, month, days + 1), None);
        }
    }
    assert_eq!(day_number * TICKS_PER_DAY - 1, TICKS_MAX);
}

#[test]
fn part_names() {
    let table = [
        (Part::Year, "year yyyy yy YEAR Yyyy"),
        (Part::Month, "month mm m MM"),
        (Part::Day, "day dd d"),
        (Part::Hour, "hour hh HH"),
        (Part::Minute, "minute mi n"),
        (Part::Second, "second ss s"),
        (Part::Millisecond, "millisecond ms"),
        (Part::Microsecond, "microsecond mcs"),
        (Part::Nanosecond, "nanosecond ns NanoSecond"),
    ];
    for (part, names) in table {
        for name in names.split(' ') {
            assert_eq!(Part::find(name), Some(part), "{name}");
        }
    }
    for name in ["", "y", "h", "years", "weekday", "dw", "week", "wk", "quarter", "us", " day", "mİ"] {
        assert_eq!(Part::find(name), None, "{name}");
    }
}

#[test]
fn parts_of_a_moment() {
    let table = [
        ("2016-05-29T08:30:07.1301617", [2016, 5, 29, 8, 30, 7, 130, 130_161, 130_161_700]),
        ("1969-12-31T23:59:59.9999999", [1969, 12, 31, 23, 59, 59, 999, 999_999, 999_999_900]),
        ("0001-01-01", [1, 1, 1, 0, 0, 0, 0, 0, 0]),
        ("9999-12-31T23:59:59.9999999", [9999, 12, 31, 23, 59, 59, 999, 999_999, 999_999_900]),
        ("2024-02-29T00:00:00.0000009", [2024, 2, 29, 0, 0, 0, 0, 0, 900]),
    ];
    for (text, expected) in table {
        let shown = Part::ALL.map(|each| part(each, at(text)).expect("moment in range"));
        assert_eq!(shown, expected, "{text}");
    }
    assert_eq!(part(Part::Year, TICKS_MIN - 1), None);
    assert_eq!(part(Part::Year, TICKS_MAX + 1), None);
}

#[test]
fn adding() {
    let table = [
        ("year", 1, "2024-02-29", Some("2025-02-28")),
        ("year", 4, "2024-02-29", Some("2028-02-29")),
        ("year", -1, "2024-02-29T01:02:03.4567891", Some("2023-02-28T01:02:03.4567891")),
        ("month", 1, "2024-01-31", Some("2024-02-29")),
        ("month", 1, "2023-01-31", Some("2023-02-28")),
        ("month", -1, "2024-03-31", Some("2024-02-29")),
        ("month", -1, "2024-01-15", Some("2023-12-15")),
        ("month", 13, "2023-12-31", Some("2025-01-31")),
        ("month", 25, "1969-11-30", Some("1971-12-30")),
        ("day", 1, "2024-02-28", Some("2024-02-29")),
        ("day", 1, "1900-02-28", Some("1900-03-01")),
        ("day", -1, "1970-01-01", Some("1969-12-31")),
        ("hour", -1, "1970-01-01", Some("1969-12-31T23:00:00")),
        ("minute", 1441, "1970-01-01", Some("1970-01-02T00:01:00")),
        ("second", -25, "2020-07-03", Some("2020-07-02T23:59:35")),
        ("millisecond", 1500, "1970-01-01", Some("1970-01-01T00:00:01.5")),
        ("microsecond", -1, "1970-01-01", Some("1969-12-31T23:59:59.999999")),
        ("nanosecond", 99, "1970-01-01", Some("1970-01-01")),
        ("nanosecond", 100, "1970-01-01", Some("1970-01-01T00:00:00.0000001")),
        ("nanosecond", 199, "1970-01-01", Some("1970-01-01T00:00:00.0000001")),
        ("nanosecond", -1, "1970-01-01", Some("1969-12-31T23:59:59.9999999")),
        ("year", 9998, "0001-01-01", Some("9999-01-01")),
        ("year", 9999, "0001-01-01", None),
        ("year", -1, "0001-12-31", None),
        ("month", -1, "0001-01-31", None),
        ("month", 1, "9999-12-01", None),
        ("day", 1, "9999-12-31", None),
        ("nanosecond", 100, "9999-12-31T23:59:59.9999999", None),
        ("nanosecond", 99, "9999-12-31T23:59:59.9999999", Some("9999-12-31T23:59:59.9999999")),
        ("nanosecond", -1, "0001-01-01", None),
        ("year", i64::MAX, "1970-01-01", None),
        ("month", i64::MAX, "1970-01-01", None),
        ("month", i64::MIN, "1970-01-01", None),
        ("day", i64::MAX, "1970-01-01", None),
        ("microsecond", i64::MIN, "1970-01-01", None),
        ("nanosecond", i64::MAX, "1970-01-01", Some("2262-04-11T23:47:16.8547758")),
    ];
    for (name, count, start, expected) in table {
        let part = Part::find(name).expect("known part");
        assert_eq!(add(part, count, at(start)), expected.map(at), "{count} {name} after {start}");
    }
    assert_eq!(add(Part::Day, 1, TICKS_MIN - 1), None);
    assert_eq!(add(Part::Day, -1, TICKS_MAX + 1), None);
}

#[test]
fn counting_boundaries() {
    let table = [
        ("year", "2028-12-31T23:59:59", "2029-01-01", Some(1)),
        ("year", "2029-01-01", "2029-12-31T23:59:59", Some(0)),
        ("month", "2019-02-04T16:00:00", "2018-03-05T05:00:00", Some(-11)),
        ("month", "2020-01-31T23:59:59", "2020-02-01", Some(1)),
        ("day", "2020-01-01T23:59:59.9999999", "2020-01-02", Some(1)),
        ("day", "2020-01-02", "2020-01-01T23:59:59.9999999", Some(-1)),
        ("day", "1969-12-31T23:00:00", "1970-01-01T01:00:00", Some(1)),
        ("hour", "2018-03-05T05:00:00", "2019-02-04T16:00:00", Some(8075)),
        ("hour", "1969-12-31T23:59:59", "1970-01-01", Some(1)),
        ("minute", "2020-01-01T00:00:59", "2020-01-01T00:01:00", Some(1)),
        ("second", "2018-03-05T05:00:00", "2019-02-04T16:00:00", Some(29_070_000)),
        ("millisecond", "1970-01-01T00:00:00.0009999", "1970-01-01T00:00:00.001", Some(1)),
        ("microsecond", "1970-01-01T00:00:00.0000009", "1970-01-01T00:00:00.000001", Some(1)),
        ("nanosecond", "1970-01-01", "1970-01-01T00:00:00.0000003", Some(300)),
        ("nanosecond", "1970-01-01", "2262-04-11T23:47:16.8547758", Some(9_223_372_036_854_775_800)),
        ("nanosecond", "1970-01-01", "2262-04-11T23:47:16.8547759", None),
        ("year", "0001-01-01", "9999-12-31", Some(9998)),
        ("microsecond", "9999-12-31T23:59:59.9999999", "0001-01-01", Some(-315_537_897_599_999_999)),
    ];
    for (name, start, end, expected) in table {
        let part = Part::find(name).expect("known part");
        assert_eq!(diff(part, at(start), at(end)), expected, "{name} from {start} to {end}");
    }
    assert_eq!(diff(Part::Day, TICKS_MIN - 1, 0), None);
    assert_eq!(diff(Part::Day, 0, TICKS_MAX + 1), None);
}

#[test]
fn bins() {
    const EPOCH: &str = "1970-01-01";
    let table = [
        ("2021-06-28T17:24:29.2991234", "hh", 1, EPOCH, Some("2021-06-28T17:00:00")),
        ("2021-01-08T18:35:00", "dd", 1, EPOCH, Some("2021-01-08")),
        ("2021-01-08T18:35:00", "hh", 5, EPOCH, Some("2021-01-08T15:00:00")),
        ("2021-01-08T18:35:00", "dd", 7, EPOCH, Some("2021-01-07")),
        ("2021-01-08T18:35:00", "dd", 7, "1601-01-01", Some("2021-01-04")),
        ("1969-12-31T23:59:59.9999999", "hh", 1, EPOCH, Some("1969-12-31T23:00:00")),
        ("1969-12-31", "dd", 2, EPOCH, Some("1969-12-30")),
        ("2021-01-08T18:35:00.9876543", "ms", 10, EPOCH, Some("2021-01-08T18:35:00.98")),
        ("2021-01-08T18:35:00.9876543", "mcs", 3, "2021-01-08T18:35:00", Some("2021-01-08T18:35:00.987654")),
        ("2021-01-08T18:35:00.9876543", "ns", 100, EPOCH, Some("2021-01-08T18:35:00.9876543")),
        ("2021-01-08T18:35:00.9876543", "ns", 299, EPOCH, Some("2021-01-08T18:35:00.9876542")),
        ("2021-01-08T18:35:00.9876543", "ns", 99, EPOCH, None),
        ("2021-01-08", "dd", 1, "2022-05-05T06:00:00", Some("2021-01-07T06:00:00")),
        ("2021-01-08", "yyyy", 1, EPOCH, None),
        ("2021-01-08", "mm", 1, EPOCH, None),
        ("2021-01-08", "dd", 0, EPOCH, None),
        ("2021-01-08", "dd", -1, EPOCH, None),
        ("2021-01-08", "dd", i64::MAX, EPOCH, None),
        ("2021-01-08", "mcs", i64::MAX / 10, EPOCH, Some(EPOCH)),
        ("1969-01-08", "mcs", i64::MAX / 10, EPOCH, None),
        ("1601-01-01", "dd", 1, EPOCH, Some("1601-01-01")),
        ("1600-12-31T23:59:59.9999999", "dd", 1, EPOCH, None),
        ("2021-01-08", "dd", 1, "1601-01-01", Some("2021-01-08")),
        ("2021-01-08", "dd", 1, "1600-12-31T23:59:59.9999999", None),
        ("1601-01-01", "dd", 7, "1601-01-02", Some("1600-12-26")),
        ("9999-12-31T23:59:59.9999999", "hh", 1, EPOCH, Some("9999-12-31T23:00:00")),
    ];
    for (text, name, size, origin, expected) in table {
        let part = Part::find(name).expect("known part");
        let found = bin(at(text), part, size, at(origin));
        assert_eq!(found, expected.map(at), "{text} by {size} {name} from {origin}");
    }
    assert_eq!(bin(TICKS_MAX + 1, Part::Day, 1, 0), None);
    assert_eq!(bin(0, Part::Day, 1, TICKS_MAX + 1), None);
}

#[test]
fn patterns() {
    let table = [
        ("yyyy-MM-dd HH:mm:ss", "2024-01-02 14:04:05"),
        ("yyyyyy yyy yy y", "002024 2024 24 24"),
        ("M d H h m s", "1 2 14 2 4 5"),
        ("MMM dddd HHH hh", "001 0002 014 02"),
        ("f ff fff fffffff", "1 12 120 1203000"),
        ("F FF FFF FFFFFFF", "1 12 12 1203"),
        ("[yy]", "[24]"),
        (r"\y\M\\yy", r"yM\24"),
        ("To\\da\\y i\\s", "Today is"),
        ("", ""),
        ("é\\é年y", "éé年24"),
        ("TZtz:/%'\"", "TZtz:/%'\""),
        ("mM", "41"),
    ];
    let moment = at("2024-01-02T14:04:05.1203");
    for (pattern, expected) in table {
        assert_eq!(format_pattern(moment, pattern).as_deref(), Some(expected), "{pattern}");
    }
    for (hour, shown) in [(0, "12"), (1, "01"), (11, "11"), (12, "12"), (13, "01"), (23, "11")] {
        assert_eq!(format_pattern(hour * TICKS_PER_HOUR, "hh").as_deref(), Some(shown));
    }
    assert_eq!(format_pattern(0, "ss.FFF").as_deref(), Some("00."));
    assert_eq!(format_pattern(-1, "yyyy fffffff FFFFFFF").as_deref(), Some("1969 9999999 9999999"));
    assert_eq!(format_pattern(TICKS_MIN, "yyyy y").as_deref(), Some("0001 1"));
    for nonsense in ["\\", "yyyy\\", "ffffffff", "FFFFFFFF"] {
        assert_eq!(format_pattern(0, nonsense), None, "{nonsense}");
    }
    let longest = "H".repeat(PATTERN_RUN_MAX);
    assert_eq!(format_pattern(0, &longest), Some("0".repeat(PATTERN_RUN_MAX)));
    assert_eq!(format_pattern(0, &(longest + "H")), None);
    assert_eq!(format_pattern(TICKS_MAX + 1, "y"), None);
}

#[test]
fn from_numbers() {
    let table: [(&[i64], Option<&str>); 24] = [
        (&[2017, 4, 20], Some("2017-04-20")),
        (&[2017, 4, 20, 13], Some("2017-04-20T13:00:00")),
        (&[2017, 4, 20, 13, 15], Some("2017-04-20T13:15:00")),
        (&[2017, 4, 20, 13, 15, 20], Some("2017-04-20T13:15:20")),
        (&[2017, 4, 20, 13, 15, 20, 3_456_789], Some("2017-04-20T13:15:20.3456789")),
        (&[1, 1, 1], Some("0001-01-01")),
        (&[9999, 12, 31, 23, 59, 59, 9_999_999], Some("9999-12-31T23:59:59.9999999")),
        (&[], None),
        (&[2017], None),
        (&[2017, 4], None),
        (&[2017, 4, 20, 0, 0, 0, 0, 0], None),
        (&[0, 1, 1], None),
        (&[10_000, 1, 1], None),
        (&[-2000, -1, -1], None),
        (&[2017, 0, 1], None),
        (&[2017, 13, 1], None),
        (&[2017, 2, 29], None),
        (&[2017, 4, 20, 24], None),
        (&[2017, 4, 20, -1], None),
        (&[2017, 4, 20, 0, 60], None),
        (&[2017, 4, 20, 0, 0, 60], None),
        (&[2017, 4, 20, 0, 0, 0, 10_000_000], None),
        (&[2017, 4, 20, 0, 0, 0, -1], None),
        (&[i64::MAX, i64::MAX, i64::MAX, i64::MAX], None),
    ];
    for (numbers, expected) in table {
        assert_eq!(from_parts(numbers), expected.map(at), "{numbers:?}");
    }
}

#[test]
fn numbers_to_and_from_moments() {
    assert_eq!(ticks_to_f64(15_779_342_456_789_123), 15_779_342_456_789_124.0);
    assert_eq!(ticks_from_f64(-116_444_736_000_000_000.0), Some(at("1601-01-01")));
    assert_eq!(ticks_from_f64(TICKS_MIN as f64), Some(TICKS_MIN));
    for number in
        [0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 9.3e18, TICKS_MIN as f64 - 128.0]
    {
        assert_eq!(ticks_from_f64(number), None, "{number}");
    }
    assert_eq!(to_timestamp_ms(-1), -1);
    assert_eq!(to_timestamp_ms(9_999), 0);
    assert_eq!(to_timestamp_ms(at("2015-05-19T12:00:00")), 1_432_036_800_000);
    assert_eq!(from_timestamp_ms(-11_644_473_600_000), Some(at("1601-01-01")));
    assert_eq!(from_timestamp_ms(253_402_300_799_999), Some(at("9999-12-31T23:59:59.999")));
    assert_eq!(from_timestamp_ms(253_402_300_800_000), None);
    assert_eq!(from_timestamp_ms(-62_135_596_800_000), Some(TICKS_MIN));
    assert_eq!(from_timestamp_ms(-62_135_596_800_001), None);
    assert_eq!(from_timestamp_ms(i64::MAX), None);
    assert_eq!(from_timestamp_ms_f64(1_597_360_794_300.0), Some(at("2020-08-13T23:19:54.3")));
    assert_eq!(from_timestamp_ms_f64(0.1), None);
    assert_eq!(from_timestamp_ms_f64(f64::NAN), None);
}

proptest! {
    #[test]
    fn text_round_trip(ticks in moments()) {
        let text = format(ticks).expect("moment in range");
        prop_assert_eq!(parse(&text), Some(ticks));
        prop_assert_eq!(format_pattern(ticks, r"yyyy-MM-ddTHH:mm:ss.fffffff\Z"), Some(text));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", pattern in "[yMdHhmsfF\\\\é. ]{0,40}", ticks in any::<i64>()) {
        let _ = parse(&text);
        let _ = Part::find(&text);
        let _ = format_pattern(ticks, &pattern);
        let _ = format(ticks);
    }

    #[test]
    fn no_number_panics(part in parts(), count in any::<i64>(), left in any::<i64>(), right in any::<i64>()) {
        let in_range = |ticks: Option<Ticks>| ticks.is_none_or(|ticks| (TICKS_MIN..=TICKS_MAX).contains(&ticks));
        prop_assert!(in_range(add(part, count, left)));
        prop_assert!(in_range(bin(left, part, count, right)));
        let _ = diff(part, left, right);
    }

    #[test]
    fn text_order_is_time_order(left in moments(), right in moments()) {
        prop_assert_eq!(left.cmp(&right), format(left).cmp(&format(right)));
    }

    #[test]
    fn parts_make_the_moment(ticks in moments()) {
        let numbers: Vec<i64> = Part::ALL[..6].iter().map(|each| part(*each, ticks).expect("in range")).collect();
        let fraction = part(Part::Nanosecond, ticks).expect("in range") / 100;
        prop_assert_eq!(from_parts(&[&numbers[..], &[fraction]].concat()), Some(ticks));
    }

    #[test]
    fn adding_crosses_as_many_boundaries(part in parts(), count in -5000_i64..5000, ticks in moments()) {
        // Whole ticks, since nanoseconds below are rounded away.
        let count = if part == Part::Nanosecond { count * 100 } else { count };
        if let Some(moved) = add(part, count, ticks) {
            prop_assert_eq!(diff(part, ticks, moved), Some(count));
            prop_assert_eq!(diff(part, moved, ticks), Some(-count));
        }
    }

    #[test]
    fn counts_add_up(part in parts(), first in moments(), second in moments(), third in moments()) {
        if let (Some(one), Some(two), Some(both)) =
            (diff(part, first, second), diff(part, second, third), diff(part, first, third))
        {
            prop_assert_eq!(one + two, both);
        }
    }

    #[test]
    fn a_bin_holds_its_moment(
        part in prop::sample::select(Part::ALL[2..8].to_vec()),
        size in 1_i64..100_000,
        ticks in BIN_TICKS_MIN..TICKS_MAX,
        origin in BIN_TICKS_MIN..TICKS_MAX,
    ) {
        if let Some(start) = bin(ticks, part, size, origin) {
            prop_assert!(start <= ticks);
            prop_assert!(add(part, size, start).is_none_or(|end| end > ticks));
            if start >= BIN_TICKS_MIN {
                prop_assert_eq!(bin(start, part, size, origin), Some(start));
            }
            prop_assert_eq!(bin(origin, part, size, origin), Some(origin));
        }
    }

    #[test]
    fn a_bin_of_one_counts_as_the_difference(
        part in prop::sample::select(Part::ALL[2..8].to_vec()),
        left in BIN_TICKS_MIN..TICKS_MAX,
        right in BIN_TICKS_MIN..TICKS_MAX,
    ) {
        let count = diff(part, left, right).expect("fits");
        let (left_bin, right_bin) = (bin(left, part, 1, 0), bin(right, part, 1, 0));
        prop_assert_eq!(left_bin.and_then(|start| add(part, count, start)), right_bin);
    }

    #[test]
    fn months_keep_the_day_or_the_month_end(months in -3000_i64..3000, ticks in moments()) {
        if let Some(moved) = add(Part::Month, months, ticks) {
            let (before, after) = (Civil::of(ticks), Civil::of(moved));
            prop_assert_eq!(after.time_ticks, before.time_ticks);
            prop_assert_eq!(after.day, before.day.min(days_in_month(after.year, after.month)));
            prop_assert_eq!(add(Part::Year, 1, ticks), add(Part::Month, 12, ticks));
        }
    }
}

#[test]
fn a_second_has_ten_million_ticks() {
    assert_eq!(at("1970-01-01T00:00:01"), TICKS_PER_SECOND);
    assert_eq!(TICKS_PER_MILLISECOND * 1000, TICKS_PER_SECOND);
}
