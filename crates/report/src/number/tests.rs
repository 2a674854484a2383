//! Each way to write a number, at its bounds.

use proptest::prelude::*;

use super::*;

#[test]
fn about_three_digits() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (5.71, "5.71"),
        (2.857, "2.86"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (10.29, "10.3"),
        (99.96, "100"),
        (186.4, "186"),
        (999.6, "1,000"),
        (46_412.3, "46,412"),
        (1_000_000.0, "1,000,000"),
        (9_999_999.0, "9,999,999"),
        (10_000_000.0, "10.0 M"),
        (12_345_678.0, "12.3 M"),
        (45e9, "45.0 G"),
        (45e12, "45.0 T"),
        (1e16, "1.00e16"),
        (0.5, "0.50"),
        (0.053, "0.053"),
        (0.001, "0.0010"),
        (0.00095, "0.00095"),
        (0.00094, "9.4e-4"),
        (-3.5, "-3.50"),
        (-1234.0, "-1,234"),
        (f64::NAN, "n/a"),
        (f64::INFINITY, "n/a"),
        (f64::NEG_INFINITY, "n/a"),
    ] {
        assert_eq!(short(value), text, "{value}");
    }
}

#[test]
fn ticks_have_no_idle_zeros() {
    for (value, text) in
        [(0.1, "0.1"), (0.05, "0.05"), (2.5, "2.5"), (10.0, "10"), (1e7, "10.0 M"), (1e-4, "1.0e-4")]
    {
        assert_eq!(tick(value), text, "{value}");
    }
}

#[test]
fn ticks_in_little_room() {
    for (tick, text) in
        [("10,000", "10 k"), ("1,500", "1,500"), ("2,000,000", "2,000,000"), ("-5,000", "-5 k"), ("0", "0")]
    {
        assert_eq!(compact(tick), text);
    }
}

#[test]
fn equal_decimals() {
    for (value, decimals, text) in [
        (2063.544, 2, "2,063.54"),
        (5.0, 2, "5.00"),
        (0.005, 0, "0"),
        (-0.001, 2, "0.00"),
        (-1234.5, 1, "-1,234.5"),
        (999_999.999, 2, "1,000,000.00"),
        (0.1, DECIMALS_MAX, "0.100000000000"),
        (0.1, DECIMALS_MAX + 1, "0.100000000000"),
        (f64::NAN, 2, "n/a"),
    ] {
        assert_eq!(fixed(value, decimals), text, "{value} {decimals}");
    }
    for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (u64::MAX, "18,446,744,073,709,551,615")]
    {
        assert_eq!(count(value), text);
    }
}

#[test]
fn times_change_unit_where_they_round_up() {
    for (nanoseconds, text) in [
        (0, "0 us"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1.00 us"),
        (833_000, "833 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (10_100_000, "10.1 ms"),
        (999_499_999, "999 ms"),
        (999_500_000, "1.00 s"),
        (1_050_000_000, "1.05 s"),
        (59_949_999_999, "59.9 s"),
        (59_950_000_000, "1 min 0 s"),
        (125_400_000_000, "2 min 5 s"),
        (3_599_400_000_000, "59 min 59 s"),
        (3_599_500_000_000, "1 h 0 min"),
        (11_040_000_000_000, "3 h 4 min"),
    ] {
        assert_eq!(duration(Duration::from_nanos(nanoseconds)), text, "{nanoseconds}");
    }
    assert!(duration(Duration::MAX).ends_with(" min"));
}

#[test]
fn sizes_and_differences() {
    for (value, text) in [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.00 kB"),
        (999_499, "999 kB"),
        (999_500, "1.00 MB"),
        (724_000_000, "724 MB"),
        (999_500_000, "1.00 GB"),
        (2_500_000_000_000, "2.50 TB"),
        (u64::MAX, "18,446,744 TB"),
    ] {
        assert_eq!(bytes(value), text, "{value}");
    }
    for (value, text) in [
        (0.0005, "+0.05 %"),
        (-0.0366, "-3.66 %"),
        (0.0, "0.00 %"),
        (-0.00001, "0.00 %"),
        (0.099_94, "+9.99 %"),
        (0.099_96, "+10.0 %"),
        (12.0, "+1,200.0 %"),
        (f64::NAN, "n/a"),
    ] {
        assert_eq!(percent(value), text, "{value}");
    }
}

proptest! {
    #[test]
    fn any_number_is_written(value in any::<f64>(), decimals in 0..20_usize, nanoseconds in any::<u64>()) {
        for text in [short(value), fixed(value, decimals), percent(value), tick(value)] {
            prop_assert!(!text.is_empty() && text.is_ascii());
        }
        prop_assert!(!duration(Duration::from_nanos(nanoseconds)).is_empty());
    }

    #[test]
    fn short_is_close(value in 1e-3..1e7_f64) {
        let read: f64 = short(value).replace(',', "").parse().unwrap();
        prop_assert!((read / value - 1.0).abs() < 0.05);
    }
}
