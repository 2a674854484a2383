//! Exponentials and logarithms of decimals.
//!
//! They are computed with 37 digits behind the point in integers, which leaves the 34 digits of a result right but for
//! the last. Powers lose as many more as their exponent has before the point.

use armilla_value::Decimal;

use super::{
    DIGITS_MAX, Rounding, Wide, ZERO, absolute, add, digits, divide, finish, from_i64, is_negative, is_zero,
    multiply, round_to, subtract, to_f64,
};

/// One, with 37 digits behind the point.
const ONE: i128 = 10i128.pow(37);
/// The natural logarithm of ten.
const LN_10: i128 = 23_025_850_929_940_456_840_179_914_546_843_642_076;
const PLACES: i64 = 37;
/// Beyond, an exponential is infinite or zero.
const EXPONENTIAL_MAX: f64 = 20_000.0;
/// So often the argument of an exponential is halved before its series is summed, and the sum squared afterwards.
const HALVINGS: u32 = 8;

/// Returns e to a power.
pub fn exponential(power: Decimal) -> Decimal {
    let approximate = match power {
        Decimal::NaN => return Decimal::NaN,
        Decimal::Infinity { negative: true } => return ZERO,
        Decimal::Infinity { negative: false } => return power,
        Decimal::Finite { coefficient: 0, .. } => return from_i64(1),
        Decimal::Finite { .. } => to_f64(power),
    };
    if approximate.abs() > EXPONENTIAL_MAX {
        return if approximate > 0.0 {
            Decimal::Infinity { negative: false }
        } else {
            Decimal::Finite { negative: false, coefficient: 0, exponent: -6176 }
        };
    }
    // e^x = 10^tens * e^rest
    let tens = (approximate / std::f64::consts::LN_10).round() as i64;
    let size = Wide::product(u128::from(tens.unsigned_abs()), LN_10.unsigned_abs());
    let argument = fixed(absolute(power));
    let (low, high) = if size <= argument { (size, argument) } else { (argument, size) };
    // What is left is at most half of the logarithm of ten, and a little.
    let rest = i128::try_from(high.minus(low).low).unwrap_or(0);
    let is_below = (size > argument) != is_negative(power);
    let result = exponential_fixed(if is_below { -rest } else { rest });
    finish(false, Wide { high: 0, low: result.unsigned_abs() }, tens - PLACES, true)
}

/// Returns a decimal that is not negative with 37 digits behind the point; what is below is cut off.
fn fixed(number: Decimal) -> Wide {
    let Decimal::Finite { coefficient, exponent, .. } = number else { return Wide::ZERO };
    match u32::try_from(i64::from(exponent) + PLACES) {
        Ok(shift) if shift + digits(coefficient) <= 75 => Wide::from_product(coefficient, shift),
        Ok(_) => Wide::ZERO,
        Err(_) => {
            let dropped = exponent.unsigned_abs() - PLACES as u32;
            if dropped > DIGITS_MAX {
                return Wide::ZERO;
            }
            Wide { high: 0, low: coefficient / 10u128.pow(dropped) }
        }
    }
}

fn multiply_fixed(left: i128, right: i128) -> i128 {
    let size = Wide::product(left.unsigned_abs(), right.unsigned_abs()).divide(ONE.unsigned_abs()).0.low;
    let size = i128::try_from(size).unwrap_or(i128::MAX);
    if (left < 0) == (right < 0) { size } else { -size }
}

/// Returns e to a power of at most a few.
fn exponential_fixed(power: i128) -> i128 {
    let small = power / (1 << HALVINGS);
    let (mut sum, mut term, mut place) = (ONE, ONE, 1);
    loop {
        term = multiply_fixed(term, small) / place;
        if term == 0 {
            break;
        }
        sum += term;
        place += 1;
    }
    for _ in 0..HALVINGS {
        sum = multiply_fixed(sum, sum);
    }
    sum
}

/// Returns the natural logarithm; of zero and negative numbers none.
pub fn logarithm(number: Decimal) -> Decimal {
    let (coefficient, exponent) = match number {
        Decimal::Infinity { negative: false } => return number,
        Decimal::Finite { negative: false, coefficient, exponent } if coefficient != 0 => {
            (coefficient, exponent)
        }
        _ => return Decimal::NaN,
    };
    let distance = subtract(number, from_i64(1));
    if is_zero(distance) {
        return from_i64(0);
    }
    if to_f64(distance).abs() < 0.1 {
        return logarithm_near_one(number, distance);
    }
    // ln (mantissa * 10^tens), with the mantissa from one to below ten
    let count = digits(coefficient);
    let tens = i64::from(exponent) + i64::from(count) - 1;
    let mantissa =
        i128::try_from(coefficient * 10u128.pow(DIGITS_MAX - count) * 10u128.pow(4)).unwrap_or(ONE);
    // Fifteen digits are near enough that the rest is all but nothing: ln m = y + ln (m / e^y).
    let near = ((mantissa as f64 / ONE as f64).ln() * 1e15) as i128 * 10i128.pow(22);
    let rest = multiply_fixed(mantissa, exponential_fixed(-near)) - ONE;
    let rest = rest - multiply_fixed(rest, rest) / 2 + multiply_fixed(multiply_fixed(rest, rest), rest) / 3;
    let size = Wide::product(u128::from(tens.unsigned_abs()), LN_10.unsigned_abs());
    let fraction = Wide { high: 0, low: (near + rest).unsigned_abs() };
    // The mantissa's logarithm is not negative, and below that of ten.
    if tens >= 0 {
        finish(false, size.plus(fraction), -PLACES, true)
    } else {
        finish(true, size.minus(fraction), -PLACES, true)
    }
}

/// Sums 2 * (z + z^3 / 3 + z^5 / 5 ...) of z = (x - 1) / (x + 1), where a difference of logarithms would lose digits.
fn logarithm_near_one(number: Decimal, distance: Decimal) -> Decimal {
    let ratio = divide(distance, add(number, from_i64(1)));
    let square = multiply(ratio, ratio);
    let (mut sum, mut power) = (ratio, ratio);
    // Each term is below a four-hundredth of the one before.
    for place in (3..33).step_by(2) {
        power = multiply(power, square);
        sum = add(sum, divide(power, from_i64(place)));
    }
    multiply(sum, from_i64(2))
}

/// Returns the logarithm to the base of ten, which is exact for its powers.
pub fn logarithm_of_ten(number: Decimal) -> Decimal {
    if let Decimal::Finite { negative: false, coefficient, exponent } = number
        && coefficient != 0
        && coefficient == 10u128.pow(digits(coefficient) - 1)
    {
        return from_i64(i64::from(exponent) + i64::from(digits(coefficient)) - 1);
    }
    divide(logarithm(number), logarithm(from_i64(10)))
}

/// Returns the logarithm to a base, which is whole for whole powers of it.
pub fn logarithm_to_base(number: Decimal, base: Decimal) -> Decimal {
    let logarithm_of_number = logarithm(number);
    if is_zero(logarithm_of_number) {
        return logarithm_of_number;
    }
    let quotient = divide(logarithm_of_number, logarithm(base));
    // Both logarithms are right but for the last digit, so that a quotient as near to an integer is that integer.
    let whole = round_to(quotient, 0, Rounding::HalfEven);
    let near = multiply(absolute(whole), Decimal::Finite { negative: false, coefficient: 2, exponent: -33 });
    if is_negative(subtract(absolute(subtract(quotient, whole)), near)) { whole } else { quotient }
}

/// Returns a positive number to a power.
pub fn power(base: Decimal, power: Decimal) -> Decimal {
    exponential(multiply(power, logarithm(base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    /// Compares but for the last digits, of which so many may differ by a few.
    fn check(found: Decimal, expected: &str, ulps: i64) {
        let difference = absolute(subtract(found, decimal(expected)));
        let Decimal::Finite { exponent, .. } = decimal(expected) else { panic!("{expected}") };
        let unit = Decimal::Finite { negative: false, coefficient: 1, exponent };
        let few = multiply(unit, from_i64(ulps));
        let is_near = !is_negative(subtract(few, difference)) || is_zero(subtract(few, difference));
        assert!(is_near, "{found} is not {expected}");
    }

    #[test]
    fn exponentials() {
        for (number, expected) in [
            ("1", "2.718281828459045235360287471352662"),
            ("-1", "0.3678794411714423215955237701614609"),
            ("0.5", "1.648721270700128146848650787814164"),
            ("10", "22026.46579480671651695790064528424"),
            ("100", "2.688117141816135448412625551580014E+43"),
            ("-100", "3.720075976020835962959695803863118E-44"),
            ("1000.5", "3.248098150471802759630967531694177E+434"),
            ("0.001", "1.001000500166708341668055753993058"),
            ("1E-20", "1.000000000000000000010000000000000"),
            ("14000", "1.326620321137711275937776890335631E+6080"),
            ("-14000", "7.537951771629720907593006284141136E-6081"),
        ] {
            check(exponential(decimal(number)), expected, 3);
        }
        for (number, expected) in [
            ("0", "1"),
            ("NaN", "NaN"),
            ("Infinity", "Infinity"),
            ("-Infinity", "0"),
            ("1E+6000", "Infinity"),
            ("15000", "Infinity"),
            ("-1E+6000", "0E-6176"),
            ("1E-6000", "1.000000000000000000000000000000000"),
        ] {
            assert_eq!(exponential(decimal(number)).to_string(), expected, "{number}");
        }
    }

    #[test]
    fn logarithms() {
        for (number, expected, expected_of_ten) in [
            ("2", "0.6931471805599453094172321214581766", "0.3010299956639811952137388947244930"),
            ("0.5", "-0.6931471805599453094172321214581766", "-0.3010299956639811952137388947244930"),
            ("1.0000001", "9.999999500000033333330833333533333E-8", "4.342944601885291801367019735877947E-8"),
            ("123456.789", "11.72364648718588098113995898391011", "5.091514977169270447518333623059547"),
            (
                "1.000000000000000000000000000000001",
                "9.999999999999999999999999999999995E-34",
                "4.342944819032518276511289189166049E-34",
            ),
            (
                "0.9999",
                "-0.0001000050003333583353335000142869644",
                "-0.00004343161980751038455604402380722667",
            ),
            ("3", "1.098612288668109691395245236922526", "0.4771212547196624372950279032551153"),
            ("1E+6000", "13815.51055796427410410794872810619", "6000"),
            ("1E-6000", "-13815.51055796427410410794872810619", "-6000"),
        ] {
            check(logarithm(decimal(number)), expected, 5);
            check(logarithm_of_ten(decimal(number)), expected_of_ten, 5);
        }
        assert_eq!(logarithm(decimal("1.00")).to_string(), "0");
        assert_eq!(logarithm_of_ten(decimal("1000")).to_string(), "3");
        assert_eq!(logarithm_of_ten(decimal("0.01")).to_string(), "-2");
        assert_eq!(logarithm_to_base(decimal("9"), decimal("3")).to_string(), "2");
        assert_eq!(logarithm_to_base(decimal("0.125"), decimal("2")).to_string(), "-3");
        assert_eq!(logarithm_to_base(decimal("1"), decimal("2")).to_string(), "0");
        assert_eq!(logarithm(decimal("0")).to_string(), "NaN");
        assert_eq!(logarithm(decimal("-1")).to_string(), "NaN");
        assert_eq!(logarithm(decimal("Infinity")).to_string(), "Infinity");
    }

    #[test]
    fn powers() {
        for (base, exponent, expected, ulps) in [
            ("2", "0.5", "1.414213562373095048801688724209698", 5),
            ("10", "-1.5", "0.03162277660168379331998893544432719", 20),
            ("1.5", "2.5", "2.755675960631075360471944584044128", 10),
            ("2", "1000.5", "1.515342004482324461532259326246123E+301", 10_000),
            ("0.1", "0.1", "0.7943282347242815020659182828363879", 5),
        ] {
            check(power(decimal(base), decimal(exponent)), expected, ulps);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_numbers(bytes in proptest::prelude::any::<[u8; 16]>(), other in proptest::prelude::any::<[u8; 16]>()) {
            let (number, other) = (Decimal::from_bytes(&bytes), Decimal::from_bytes(&other));
            let _ = (exponential(number), logarithm(number), logarithm_of_ten(number), power(absolute(number), other));
        }

        #[test]
        fn as_doubles_say(number in 1e-300f64..1e300) {
            let near = |found: Decimal, expected: f64| (to_f64(found) - expected).abs() <= expected.abs() * 1e-13 + 1e-13;
            let exact = super::super::from_f64_exactly(number);
            proptest::prop_assert!(near(logarithm(exact), number.ln()));
            let small = number.ln();
            proptest::prop_assert!(near(exponential(super::super::from_f64_exactly(small)), small.exp()));
        }
    }
}
