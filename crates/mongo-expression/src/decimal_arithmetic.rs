//! Arithmetic of decimals of 34 digits: exact where the result fits, else rounded half to even.
//!
//! Results keep the exponent that the standard prefers, so that `1.10 + 2.2` is `3.30`: of sums the lower one, of
//! products the sum, of quotients the difference where that is exact.
//!
//! Not here: reading and writing (`armilla_value::Decimal`), comparing (`armilla_value::mongo_cmp`), and angles, which
//! go through doubles.

mod functions;

use armilla_value::Decimal;

pub use functions::{exponential, logarithm, logarithm_of_ten, logarithm_to_base, power};

const EXPONENT_MIN: i64 = -6176;
const EXPONENT_MAX: i64 = 6111;
const DIGITS_MAX: u32 = 34;
const COEFFICIENT_MAX: u128 = 10u128.pow(DIGITS_MAX) - 1;
/// Digits that surely fit into 256 bits.
const WIDE_DIGITS_MAX: u32 = 75;

/// A decimal zero.
pub const ZERO: Decimal = Decimal::Finite { negative: false, coefficient: 0, exponent: 0 };

/// How what lies between two numbers becomes one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The nearer, of two as near the even one.
    HalfEven,
    /// Towards zero.
    Truncate,
    /// Down.
    Floor,
    /// Up.
    Ceiling,
}

/// Returns an integer as a decimal.
pub fn from_i64(number: i64) -> Decimal {
    Decimal::Finite { negative: number < 0, coefficient: u128::from(number.unsigned_abs()), exponent: 0 }
}

/// Returns an integer as a decimal; rounded if it has more than 34 digits.
pub fn from_i128(number: i128) -> Decimal {
    finish(number < 0, Wide { high: 0, low: number.unsigned_abs() }, 0, false)
}

/// Returns a double as a decimal of 15 digits, as MongoDB converts.
pub fn from_f64(number: f64) -> Decimal {
    if number.is_nan() {
        return Decimal::NaN;
    }
    if number.is_infinite() {
        return Decimal::Infinity { negative: number < 0.0 };
    }
    if number == 0.0 {
        return Decimal::Finite { negative: number.is_sign_negative(), coefficient: 0, exponent: 0 };
    }
    format!("{number:.14e}").parse().unwrap_or(Decimal::NaN)
}

/// Returns a double with all its digits, up to 34.
pub fn from_f64_exactly(number: f64) -> Decimal {
    if number.is_finite() && number != 0.0 {
        format!("{number:.33e}").parse().unwrap_or_else(|_| from_f64(number))
    } else {
        from_f64(number)
    }
}

/// Returns the nearest double.
pub fn to_f64(decimal: Decimal) -> f64 {
    match decimal {
        Decimal::NaN => f64::NAN,
        Decimal::Infinity { negative } => {
            if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        Decimal::Finite { .. } => decimal.to_string().parse().unwrap_or(f64::NAN),
    }
}

/// Returns the integer that is left without the fraction, if it fits.
pub fn to_i64(decimal: Decimal) -> Option<i64> {
    let Decimal::Finite { negative, coefficient, exponent } = round_to(decimal, 0, Rounding::Truncate) else {
        return None;
    };
    if coefficient == 0 {
        return Some(0);
    }
    let power = 10i128.checked_pow(u32::try_from(exponent).ok()?)?;
    let size = i128::try_from(coefficient).ok()?.checked_mul(power)?;
    i64::try_from(if negative { -size } else { size }).ok()
}

/// Says whether there is no fraction.
pub fn is_integral(decimal: Decimal) -> bool {
    match decimal {
        Decimal::Finite { coefficient, exponent, .. } => {
            exponent >= 0
                || coefficient == 0
                || (exponent >= -(DIGITS_MAX as i32)
                    && coefficient.is_multiple_of(10u128.pow(exponent.unsigned_abs())))
        }
        _ => false,
    }
}

/// Says whether it is zero, of either sign.
pub fn is_zero(decimal: Decimal) -> bool {
    matches!(decimal, Decimal::Finite { coefficient: 0, .. })
}

/// Says whether it has the sign of negative numbers.
pub fn is_negative(decimal: Decimal) -> bool {
    matches!(decimal, Decimal::Finite { negative: true, .. } | Decimal::Infinity { negative: true })
}

/// Returns the number with the other sign.
pub fn negate(decimal: Decimal) -> Decimal {
    match decimal {
        Decimal::NaN => Decimal::NaN,
        Decimal::Infinity { negative } => Decimal::Infinity { negative: !negative },
        Decimal::Finite { negative, coefficient, exponent } => {
            Decimal::Finite { negative: !negative, coefficient, exponent }
        }
    }
}

/// Returns the size of the number.
pub fn absolute(decimal: Decimal) -> Decimal {
    if is_negative(decimal) { negate(decimal) } else { decimal }
}

/// Adds.
pub fn add(left: Decimal, right: Decimal) -> Decimal {
    match (left, right) {
        (Decimal::NaN, _) | (_, Decimal::NaN) => Decimal::NaN,
        (Decimal::Infinity { negative: a }, Decimal::Infinity { negative: b }) => {
            if a == b {
                left
            } else {
                Decimal::NaN
            }
        }
        (Decimal::Infinity { .. }, _) => left,
        (_, Decimal::Infinity { .. }) => right,
        (
            Decimal::Finite { negative: na, coefficient: ca, exponent: ea },
            Decimal::Finite { negative: nb, coefficient: cb, exponent: eb },
        ) => {
            if ea >= eb {
                add_aligned((na, ca, i64::from(ea)), (nb, cb, i64::from(eb)))
            } else {
                add_aligned((nb, cb, i64::from(eb)), (na, ca, i64::from(ea)))
            }
        }
    }
}

/// Subtracts.
pub fn subtract(left: Decimal, right: Decimal) -> Decimal {
    add(left, negate(right))
}

/// Adds; the first has the higher exponent.
fn add_aligned(high: (bool, u128, i64), low: (bool, u128, i64)) -> Decimal {
    let (high_negative, high_coefficient, high_exponent) = high;
    let (low_negative, low_coefficient, low_exponent) = low;
    if high_coefficient == 0 {
        // Zero and zero of different signs make a positive zero.
        let negative = if low_coefficient == 0 { high_negative && low_negative } else { low_negative };
        return finish(negative, Wide { high: 0, low: low_coefficient }, low_exponent, false);
    }
    let distance = u32::try_from(high_exponent - low_exponent).unwrap_or(u32::MAX);
    let shift = distance.min(WIDE_DIGITS_MAX - digits(high_coefficient));
    let scaled = Wide::from_product(high_coefficient, shift);
    let exponent = high_exponent - i64::from(shift);
    if shift == distance {
        let other = Wide { high: 0, low: low_coefficient };
        if high_negative == low_negative {
            return finish(high_negative, scaled.plus(other), exponent, false);
        }
        return match scaled.cmp(&other) {
            std::cmp::Ordering::Equal => finish(false, Wide::ZERO, exponent, false),
            std::cmp::Ordering::Greater => finish(high_negative, scaled.minus(other), exponent, false),
            std::cmp::Ordering::Less => finish(low_negative, other.minus(scaled), exponent, false),
        };
    }
    // The other is far below the last digit that is kept: it only says on which side of it the sum lies.
    let sticky = low_coefficient != 0;
    if sticky && high_negative != low_negative {
        return finish(high_negative, scaled.minus(Wide { high: 0, low: 1 }), exponent, true);
    }
    finish(high_negative, scaled, exponent, sticky)
}

/// Multiplies.
pub fn multiply(left: Decimal, right: Decimal) -> Decimal {
    match (left, right) {
        (Decimal::NaN, _) | (_, Decimal::NaN) => Decimal::NaN,
        (Decimal::Infinity { .. }, other) | (other, Decimal::Infinity { .. }) if is_zero(other) => {
            Decimal::NaN
        }
        (Decimal::Infinity { .. }, _) | (_, Decimal::Infinity { .. }) => {
            Decimal::Infinity { negative: is_negative(left) != is_negative(right) }
        }
        (
            Decimal::Finite { negative: na, coefficient: ca, exponent: ea },
            Decimal::Finite { negative: nb, coefficient: cb, exponent: eb },
        ) => finish(na != nb, Wide::product(ca, cb), i64::from(ea) + i64::from(eb), false),
    }
}

/// Divides. What is divided by zero is infinite, zero by zero is no number.
pub fn divide(left: Decimal, right: Decimal) -> Decimal {
    match (left, right) {
        (Decimal::NaN, _) | (_, Decimal::NaN) => Decimal::NaN,
        (Decimal::Infinity { .. }, Decimal::Infinity { .. }) => Decimal::NaN,
        (Decimal::Infinity { negative }, _) => Decimal::Infinity { negative: negative != is_negative(right) },
        (_, Decimal::Infinity { negative }) => Decimal::Finite {
            negative: negative != is_negative(left),
            coefficient: 0,
            exponent: EXPONENT_MIN as i32,
        },
        (
            Decimal::Finite { negative: na, coefficient: ca, exponent: ea },
            Decimal::Finite { negative: nb, coefficient: cb, exponent: eb },
        ) => {
            let negative = na != nb;
            let preferred = i64::from(ea) - i64::from(eb);
            if cb == 0 {
                return if ca == 0 { Decimal::NaN } else { Decimal::Infinity { negative } };
            }
            if ca == 0 {
                return finish(negative, Wide::ZERO, preferred, false);
            }
            let shift = DIGITS_MAX + 1 + digits(cb) - digits(ca);
            let (quotient, remainder) = Wide::from_product(ca, shift).divide(cb);
            let exponent = preferred - i64::from(shift);
            if remainder != 0 {
                return finish(negative, quotient, exponent, true);
            }
            finish_towards(negative, quotient, exponent, preferred)
        }
    }
}

/// Returns the remainder of a division that truncates; it has the sign of the dividend.
pub fn remainder(left: Decimal, right: Decimal) -> Decimal {
    match (left, right) {
        (Decimal::NaN, _) | (_, Decimal::NaN) | (Decimal::Infinity { .. }, _) => Decimal::NaN,
        (_, Decimal::Infinity { .. }) => left,
        (
            Decimal::Finite { negative, coefficient: ca, exponent: ea },
            Decimal::Finite { coefficient: cb, exponent: eb, .. },
        ) => {
            if cb == 0 {
                return Decimal::NaN;
            }
            let exponent = ea.min(eb);
            if ea >= eb {
                // (ca * 10^n) mod cb, by powers: the product itself may have thousands of digits.
                let power = power_modulo(10, (ea - eb).unsigned_abs(), cb);
                let left = Wide::product(ca % cb, power).divide(cb).1;
                return finish(negative, Wide { high: 0, low: left }, i64::from(exponent), false);
            }
            let shift = (eb - ea).unsigned_abs();
            if digits(cb) + shift > WIDE_DIGITS_MAX {
                return left;
            }
            let divisor = Wide::from_product(cb, shift);
            if divisor.high != 0 || divisor.low > ca {
                return left;
            }
            finish(negative, Wide { high: 0, low: ca % divisor.low }, i64::from(exponent), false)
        }
    }
}

fn power_modulo(base: u128, mut power: u32, modulus: u128) -> u128 {
    let mut result = 1 % modulus;
    let mut base = base % modulus;
    while power > 0 {
        if power & 1 == 1 {
            result = Wide::product(result, base).divide(modulus).1;
        }
        base = Wide::product(base, base).divide(modulus).1;
        power >>= 1;
    }
    result
}

/// Returns the square root; of a negative number none.
pub fn square_root(decimal: Decimal) -> Decimal {
    match decimal {
        Decimal::NaN | Decimal::Infinity { negative: true } => Decimal::NaN,
        Decimal::Infinity { negative: false } => decimal,
        Decimal::Finite { negative, coefficient: 0, exponent } => {
            Decimal::Finite { negative, coefficient: 0, exponent: exponent.div_euclid(2) }
        }
        Decimal::Finite { negative: true, .. } => Decimal::NaN,
        Decimal::Finite { coefficient, exponent, .. } => {
            let preferred = i64::from(exponent.div_euclid(2));
            let mut shift = 70 - digits(coefficient);
            if (exponent - shift as i32).rem_euclid(2) == 1 {
                shift -= 1;
            }
            let radicand = Wide::from_product(coefficient, shift);
            let mut root = 0u128;
            for bit in (0..118).rev() {
                let candidate = root | 1 << bit;
                if Wide::product(candidate, candidate) <= radicand {
                    root = candidate;
                }
            }
            let half = (i64::from(exponent) - i64::from(shift)) / 2;
            if Wide::product(root, root) == radicand {
                finish_towards(false, Wide { high: 0, low: root }, half, preferred)
            } else {
                finish(false, Wide { high: 0, low: root }, half, true)
            }
        }
    }
}

/// Rounds so that no digit is left below an exponent.
pub fn round_to(decimal: Decimal, place: i32, rounding: Rounding) -> Decimal {
    let Decimal::Finite { negative, coefficient, exponent } = decimal else { return decimal };
    if exponent >= place {
        return decimal;
    }
    let dropped = (i64::from(place) - i64::from(exponent)) as u32;
    let (kept, order) = if dropped > DIGITS_MAX {
        (0, if coefficient == 0 { Rest::None } else { Rest::BelowHalf })
    } else {
        let unit = 10u128.pow(dropped);
        (coefficient / unit, Rest::of(coefficient % unit, unit, false))
    };
    let up = match rounding {
        Rounding::HalfEven => order.rounds_up(kept),
        Rounding::Truncate => false,
        Rounding::Floor => negative && order != Rest::None,
        Rounding::Ceiling => !negative && order != Rest::None,
    };
    finish(negative, Wide { high: 0, low: kept + u128::from(up) }, i64::from(place), false)
}

/// What is cut off, against half of the last place that is kept.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Rest {
    None,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Rest {
    fn of(rest: u128, unit: u128, sticky: bool) -> Rest {
        let half = unit / 2;
        match rest.cmp(&half) {
            _ if unit == 1 => {
                if sticky {
                    Rest::BelowHalf
                } else {
                    Rest::None
                }
            }
            std::cmp::Ordering::Less if rest == 0 && !sticky => Rest::None,
            std::cmp::Ordering::Less => Rest::BelowHalf,
            std::cmp::Ordering::Equal if !sticky => Rest::Half,
            _ => Rest::AboveHalf,
        }
    }

    fn rounds_up(self, kept: u128) -> bool {
        match self {
            Rest::None | Rest::BelowHalf => false,
            Rest::Half => kept % 2 == 1,
            Rest::AboveHalf => true,
        }
    }
}

/// Finishes an exact result: zeros at the end go as long as the exponent is below the preferred one.
fn finish_towards(negative: bool, mut wide: Wide, mut exponent: i64, preferred: i64) -> Decimal {
    while exponent < preferred {
        let (quotient, rest) = wide.divide(10);
        if rest != 0 {
            break;
        }
        wide = quotient;
        exponent += 1;
    }
    finish(negative, wide, exponent, false)
}

/// Rounds to 34 digits and to the range of exponents. `sticky` says that there is a little more than the digits say.
fn finish(negative: bool, wide: Wide, exponent: i64, sticky: bool) -> Decimal {
    let count = wide.digits();
    let beyond = i64::from(count.saturating_sub(DIGITS_MAX)).max(EXPONENT_MIN - exponent).max(0);
    let (mut coefficient, mut exponent) =
        if beyond == 0 { (wide.low, exponent) } else { round_off(wide, beyond, sticky, exponent) };
    if coefficient > COEFFICIENT_MAX {
        coefficient /= 10;
        exponent += 1;
    }
    if coefficient == 0 {
        let exponent = exponent.clamp(EXPONENT_MIN, EXPONENT_MAX) as i32;
        return Decimal::Finite { negative, coefficient, exponent };
    }
    while exponent > EXPONENT_MAX && coefficient <= COEFFICIENT_MAX / 10 {
        coefficient *= 10;
        exponent -= 1;
    }
    if exponent > EXPONENT_MAX {
        return Decimal::Infinity { negative };
    }
    Decimal::Finite { negative, coefficient, exponent: exponent as i32 }
}

fn round_off(wide: Wide, beyond: i64, mut sticky: bool, exponent: i64) -> (u128, i64) {
    let raised = exponent + beyond;
    if beyond > i64::from(WIDE_DIGITS_MAX) + 2 {
        return (0, raised);
    }
    // In steps, as a power of ten above 38 does not fit.
    let mut wide = wide;
    let mut left = beyond as u32;
    while left > DIGITS_MAX {
        let step = (left - DIGITS_MAX).min(DIGITS_MAX);
        let (quotient, rest) = wide.divide(10u128.pow(step));
        sticky |= rest != 0;
        wide = quotient;
        left -= step;
    }
    let unit = 10u128.pow(left);
    let (quotient, rest) = wide.divide(unit);
    let up = Rest::of(rest, unit, sticky).rounds_up(quotient.low);
    (quotient.low + u128::from(up), raised)
}

fn digits(number: u128) -> u32 {
    number.checked_ilog10().map_or(1, |power| power + 1)
}

/// An integer of 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    const ZERO: Wide = Wide { high: 0, low: 0 };

    fn product(left: u128, right: u128) -> Wide {
        const MASK: u128 = u64::MAX as u128;
        let (a, b) = (left >> 64, left & MASK);
        let (c, d) = (right >> 64, right & MASK);
        let low = b * d;
        let (middle, carry) = (a * d).overflowing_add(b * c);
        let (low, low_carry) = low.overflowing_add(middle << 64);
        let high = a * c + (middle >> 64) + (u128::from(carry) << 64) + u128::from(low_carry);
        Wide { high, low }
    }

    /// Returns `number * 10^power`; the caller knows that it fits.
    fn from_product(number: u128, power: u32) -> Wide {
        let first = power.min(DIGITS_MAX);
        let mut wide = Wide::product(number, 10u128.pow(first));
        let mut left = power - first;
        while left > 0 {
            let step = left.min(DIGITS_MAX);
            let low = Wide::product(wide.low, 10u128.pow(step));
            let high = wide.high.wrapping_mul(10u128.pow(step));
            wide = Wide { high: low.high.wrapping_add(high), low: low.low };
            left -= step;
        }
        wide
    }

    fn plus(self, other: Wide) -> Wide {
        let (low, carry) = self.low.overflowing_add(other.low);
        Wide { high: self.high.wrapping_add(other.high).wrapping_add(u128::from(carry)), low }
    }

    /// Subtracts; the caller knows that the other is not larger.
    fn minus(self, other: Wide) -> Wide {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Wide { high: self.high.wrapping_sub(other.high).wrapping_sub(u128::from(borrow)), low }
    }

    /// Divides by a number below 2^127 that is not zero.
    fn divide(self, divisor: u128) -> (Wide, u128) {
        if self.high == 0 {
            return (Wide { high: 0, low: self.low / divisor }, self.low % divisor);
        }
        let high = self.high / divisor;
        let mut rest = self.high % divisor;
        let mut low = 0u128;
        for bit in (0..128).rev() {
            rest = rest << 1 | (self.low >> bit & 1);
            low <<= 1;
            if rest >= divisor {
                rest -= divisor;
                low |= 1;
            }
        }
        (Wide { high, low }, rest)
    }

    fn digits(self) -> u32 {
        if self.high == 0 {
            return digits(self.low);
        }
        // 10^38 is the highest power of ten in 128 bits; what is above has at most 39 more digits.
        let (above, _) = self.divide(10u128.pow(38));
        if above.high == 0 {
            38 + digits(above.low)
        } else {
            38 + 38 + digits(above.divide(10u128.pow(38)).0.low)
        }
    }
}

#[cfg(test)]
#[path = "decimal_arithmetic_tests.rs"]
mod tests;
