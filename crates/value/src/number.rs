//! Exact comparison of the four number types by mathematical value.
//!
//! No comparison rounds: a 64-bit integer is never turned into a double, nor a decimal into either. NaN is
//! below every number and equal to itself, and -0 equals 0, so the order is total.
//!
//! Not here: the byte form of this order (`key`).

use std::cmp::Ordering;

use crate::decimal::Decimal;
use crate::value::Value;

/// A number reduced to what comparison needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// An integer.
    Int(i64),
    /// A double, or a decimal that is not finite.
    Double(f64),
    /// A finite decimal other than zero.
    Decimal(Magnitude),
}

/// A finite decimal other than zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Magnitude {
    pub(crate) negative: bool,
    pub(crate) coefficient: u128,
    pub(crate) exponent: i32,
}

impl Number {
    /// Returns the number that a value is, if it is one.
    pub(crate) fn of(value: &Value) -> Option<Number> {
        match value {
            Value::Int32(number) => Some(Number::Int(i64::from(*number))),
            Value::Int64(number) => Some(Number::Int(*number)),
            Value::Double(number) => Some(Number::Double(*number)),
            Value::Decimal128(bytes) => Some(Number::of_decimal(Decimal::from_bytes(bytes))),
            _ => None,
        }
    }

    pub(crate) fn of_decimal(decimal: Decimal) -> Number {
        match decimal {
            Decimal::NaN => Number::Double(f64::NAN),
            Decimal::Infinity { negative: true } => Number::Double(f64::NEG_INFINITY),
            Decimal::Infinity { negative: false } => Number::Double(f64::INFINITY),
            Decimal::Finite { coefficient: 0, .. } => Number::Int(0),
            Decimal::Finite { negative, coefficient, exponent } => {
                Number::Decimal(Magnitude { negative, coefficient, exponent })
            }
        }
    }
}

/// Returns the double that is the same number as a decimal, if there is one.
pub(crate) fn exact_double(value: &Value) -> Option<f64> {
    let Value::Decimal128(bytes) = value else { return None };
    let decimal = Decimal::from_bytes(bytes);
    let double: f64 = decimal.to_string().parse().ok()?;
    let is_same = compare_numbers(Number::of_decimal(decimal), Number::Double(double)).is_eq();
    (is_same && double.is_finite()).then_some(double)
}

/// Compares two numbers exactly.
pub(crate) fn compare_numbers(left: Number, right: Number) -> Ordering {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Double(a), Number::Double(b)) => compare_doubles(a, b),
        (Number::Int(a), Number::Double(b)) => compare_int_double(a, b),
        (Number::Double(a), Number::Int(b)) => compare_int_double(b, a).reverse(),
        (Number::Decimal(a), Number::Decimal(b)) => a.compare(b),
        (Number::Decimal(a), Number::Double(b)) => a.compare_double(b),
        (Number::Double(a), Number::Decimal(b)) => b.compare_double(a).reverse(),
        (Number::Decimal(a), Number::Int(b)) => a.compare_int(b),
        (Number::Int(a), Number::Decimal(b)) => b.compare_int(a).reverse(),
    }
}

/// Returns the integer that a double is, if it is one in the range of 64 bits.
pub(crate) fn integral(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (number.trunc() == number && (-LIMIT..LIMIT).contains(&number)).then_some(number as i64)
}

fn compare_doubles(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| (!left.is_nan()).cmp(&!right.is_nan()))
}

fn compare_int_double(left: i64, right: f64) -> Ordering {
    if right.is_nan() {
        return Ordering::Greater;
    }
    // Every double of at least 2^63 in size saturates here to a 128-bit value outside the 64-bit range.
    let whole = right.trunc();
    i128::from(left).cmp(&(whole as i128)).then_with(|| compare_doubles(whole, right))
}

impl Magnitude {
    fn compare_int(self, right: i64) -> Ordering {
        if right == 0 {
            return if self.negative { Ordering::Less } else { Ordering::Greater };
        }
        self.compare(Magnitude {
            negative: right < 0,
            coefficient: u128::from(right.unsigned_abs()),
            exponent: 0,
        })
    }

    fn compare(self, right: Magnitude) -> Ordering {
        match (self.negative, right.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.normalised().cmp(&right.normalised()),
            (true, true) => right.normalised().cmp(&self.normalised()),
        }
    }

    /// Returns the power of ten of the first digit, and the digits as an integer of exactly 34.
    pub(crate) fn normalised(self) -> (i32, u128) {
        let digits = self.coefficient.ilog10();
        (self.exponent + digits as i32, self.coefficient * 10u128.pow(33 - digits.min(33)))
    }

    pub(crate) fn compare_double(self, right: f64) -> Ordering {
        if right.is_nan() {
            return Ordering::Greater;
        }
        if right == 0.0 || self.negative != right.is_sign_negative() {
            return if self.negative { Ordering::Less } else { Ordering::Greater };
        }
        let order = self.compare_size(right.abs());
        if self.negative { order.reverse() } else { order }
    }

    /// Compares sizes, signs aside; `right` is above zero.
    fn compare_size(self, right: f64) -> Ordering {
        let (first_digit_power, _) = self.normalised();
        // Doubles end below 10^309 and begin above 10^-324, so that the integers below stay short.
        if right.is_infinite() || first_digit_power < -324 {
            return Ordering::Less;
        }
        if first_digit_power > 308 {
            return Ordering::Greater;
        }
        let bits = right.to_bits();
        let (fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
        let (mantissa, power) =
            if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        let (mut own, mut other) = (Natural::from(self.coefficient), Natural::from(u128::from(mantissa)));
        let fives = if self.exponent >= 0 { &mut own } else { &mut other };
        fives.multiply_by_power_of_five(self.exponent.unsigned_abs());
        let twos = self.exponent - power;
        let shifted = if twos >= 0 { &mut own } else { &mut other };
        shifted.shift_left(twos.unsigned_abs());
        own.compare(&other)
    }

    /// Returns the largest double that is not above this.
    pub(crate) fn floor_double(self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        let nearest: f64 = format!("{sign}{}e{}", self.coefficient, self.exponent)
            .parse()
            .expect("digits with an exponent are a number");
        if self.compare_double(nearest).is_lt() { nearest.next_down() } else { nearest }
    }
}

/// An integer of any size, lowest 32 bits first, without zeros at the top.
struct Natural(Vec<u32>);

impl From<u128> for Natural {
    fn from(number: u128) -> Natural {
        let mut limbs =
            vec![number as u32, (number >> 32) as u32, (number >> 64) as u32, (number >> 96) as u32];
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Natural(limbs)
    }
}

impl Natural {
    fn multiply(&mut self, factor: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn multiply_by_power_of_five(&mut self, power: u32) {
        // The largest power of five in 32 bits.
        for _ in 0..power / 13 {
            self.multiply(5u32.pow(13));
        }
        self.multiply(5u32.pow(power % 13));
    }

    fn shift_left(&mut self, bits: u32) {
        self.multiply(1 << (bits % 32));
        self.0.splice(0..0, std::iter::repeat_n(0, (bits / 32) as usize));
    }

    fn compare(&self, other: &Natural) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}
