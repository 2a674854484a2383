//! Decimals by known sums, products and quotients.

use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn check(operation: fn(Decimal, Decimal) -> Decimal, cases: &[(&str, &str, &str)]) {
    for (left, right, expected) in cases {
        assert_eq!(operation(decimal(left), decimal(right)).to_string(), *expected, "{left} and {right}");
    }
}

#[test]
fn sums() {
    check(
        add,
        &[
            ("1.10", "2.2", "3.30"),
            ("1", "-1", "0"),
            ("1.00", "-1", "0.00"),
            ("1E+10", "1", "10000000001"),
            ("1E+100", "1", "1.000000000000000000000000000000000E+100"),
            ("1E+40", "-1", "1.000000000000000000000000000000000E+40"),
            ("1E+34", "-1", "9999999999999999999999999999999999"),
            ("9999999999999999999999999999999999", "1", "1.000000000000000000000000000000000E+34"),
            ("1000000000000000000000000000000000", "0.5", "1000000000000000000000000000000000"),
            ("1000000000000000000000000000000001", "0.5", "1000000000000000000000000000000002"),
            (
                "1000000000000000000000000000000000",
                "0.5000000000000000001",
                "1000000000000000000000000000000001",
            ),
            ("0", "-0", "0"),
            ("-0", "-0", "-0"),
            ("Infinity", "1", "Infinity"),
            ("Infinity", "-Infinity", "NaN"),
            ("NaN", "1", "NaN"),
            ("9.999999999999999999999999999999999E+6144", "9E+6144", "Infinity"),
        ],
    );
}

#[test]
fn products() {
    check(
        multiply,
        &[
            ("1.20", "3", "3.60"),
            ("-0.1", "0.1", "-0.01"),
            (
                "9999999999999999999999999999999999",
                "9999999999999999999999999999999999",
                "9.999999999999999999999999999999998E+67",
            ),
            ("0", "-5", "-0"),
            ("Infinity", "0", "NaN"),
            ("Infinity", "-2", "-Infinity"),
            ("1E+6000", "1E+6000", "Infinity"),
            ("1E-6000", "1E-6000", "0E-6176"),
        ],
    );
}

/// However far a product lies below the least exponent, as many digits go as must.
#[test]
fn products_below_the_range() {
    let factor = |exponent| Decimal::Finite { negative: false, coefficient: 10u128.pow(33), exponent };
    for below in 33..=90_i32 {
        let coefficient = if below <= 66 { 10u128.pow(66 - below as u32) } else { 0 };
        let expected = Decimal::Finite { negative: false, coefficient, exponent: EXPONENT_MIN as i32 };
        assert_eq!(multiply(factor(-6_000), factor(-176 - below)), expected, "{below} places below");
    }
}

#[test]
fn quotients() {
    check(
        divide,
        &[
            ("1", "3", "0.3333333333333333333333333333333333"),
            ("2", "3", "0.6666666666666666666666666666666667"),
            ("1", "4", "0.25"),
            ("10", "2", "5"),
            ("1.00", "2", "0.50"),
            ("100", "1E+1", "10.0"),
            ("1", "0", "Infinity"),
            ("-1", "0", "-Infinity"),
            ("0", "0", "NaN"),
            ("1", "Infinity", "0E-6176"),
            ("9999999999999999999999999999999999", "7", "1428571428571428571428571428571428"),
        ],
    );
    check(
        remainder,
        &[
            ("10", "3", "1"),
            ("-10", "3", "-1"),
            ("10.5", "3", "1.5"),
            ("1E+30", "7", "1"),
            ("1", "0.3", "0.1"),
            ("1", "1E+100", "1"),
            ("1", "0", "NaN"),
            ("1E+6000", "3", "1"),
        ],
    );
}

#[test]
fn roots_and_places() {
    for (number, expected) in [
        ("4", "2"),
        ("2", "1.414213562373095048801688724209698"),
        ("0.25", "0.5"),
        ("100", "10"),
        ("1E+2", "1E+1"),
        ("1E+3", "31.62277660168379331998893544432719"),
        ("0", "0"),
        ("-1", "NaN"),
        ("Infinity", "Infinity"),
    ] {
        assert_eq!(square_root(decimal(number)).to_string(), expected, "{number}");
    }
    for (number, place, rounding, expected) in [
        ("2.5", 0, Rounding::HalfEven, "2"),
        ("3.5", 0, Rounding::HalfEven, "4"),
        ("-2.51", 0, Rounding::HalfEven, "-3"),
        ("2.9", 0, Rounding::Truncate, "2"),
        ("2.1", 0, Rounding::Ceiling, "3"),
        ("-2.1", 0, Rounding::Ceiling, "-2"),
        ("-2.1", 0, Rounding::Floor, "-3"),
        ("1.2345", -2, Rounding::HalfEven, "1.23"),
        ("1234", 2, Rounding::HalfEven, "1.2E+3"),
        ("1E-6000", 0, Rounding::Ceiling, "1"),
    ] {
        assert_eq!(round_to(decimal(number), place, rounding).to_string(), expected, "{number}");
    }
}

#[test]
fn conversions() {
    assert_eq!(from_f64(2.5).to_string(), "2.50000000000000");
    assert_eq!(from_f64(0.1).to_string(), "0.100000000000000");
    assert_eq!(to_f64(decimal("0.1")), 0.1);
    assert_eq!(to_i64(decimal("9223372036854775807.9")), Some(i64::MAX));
    assert_eq!(to_i64(decimal("9223372036854775808")), None);
    assert_eq!(to_i64(decimal("-9223372036854775808")), Some(i64::MIN));
    assert!(is_integral(decimal("1.00")));
    assert!(!is_integral(decimal("1.01")));
}

proptest::proptest! {
    /// Against integers, which are exact as long as they fit.
    #[test]
    fn as_integers_compute(a in -1_000_000_000_000i64..1_000_000_000_000, b in -1_000_000_000_000i64..1_000_000_000_000) {
        let (left, right) = (from_i64(a), from_i64(b));
        let (wide_a, wide_b) = (i128::from(a), i128::from(b));
        proptest::prop_assert_eq!(add(left, right), from_i128(wide_a + wide_b));
        let product = multiply(left, right);
        if wide_a * wide_b != 0 {
            proptest::prop_assert_eq!(product, from_i128(wide_a * wide_b));
            // What is divided again is what it was.
            proptest::prop_assert_eq!(divide(product, right), left);
            let rest = remainder(left, right);
            proptest::prop_assert_eq!(to_i64(rest), Some(a % b));
        }
        let square = multiply(left, left);
        proptest::prop_assert_eq!(square_root(square), absolute(left));
    }

    /// Whatever the digits and exponents are: no panic, and results in range.
    #[test]
    fn any_numbers(a in proptest::prelude::any::<[u8; 16]>(), b in proptest::prelude::any::<[u8; 16]>(), place in -6176i32..6111) {
        let (left, right) = (Decimal::from_bytes(&a), Decimal::from_bytes(&b));
        for result in [
            add(left, right),
            subtract(left, right),
            multiply(left, right),
            divide(left, right),
            remainder(left, right),
            square_root(left),
            round_to(left, place, Rounding::HalfEven),
            round_to(left, place, Rounding::Floor),
        ] {
            if let Decimal::Finite { coefficient, exponent, .. } = result {
                proptest::prop_assert!(coefficient <= COEFFICIENT_MAX);
                proptest::prop_assert!((EXPONENT_MIN..=EXPONENT_MAX).contains(&i64::from(exponent)));
            }
            proptest::prop_assert_eq!(Decimal::from_bytes(&result.to_bytes()), result);
        }
        let _ = (to_f64(left), to_i64(left), is_integral(left));
    }

    #[test]
    fn doubles_keep_their_digits(number in proptest::prelude::any::<f64>()) {
        let back = to_f64(from_f64_exactly(number));
        proptest::prop_assert!(back == number || number.is_nan());
        let rounded = to_f64(from_f64(number));
        let error = (rounded - number).abs();
        proptest::prop_assert!(!number.is_finite() || error <= number.abs() * 1e-14 || rounded.is_infinite());
    }
}
