//! Numbers as bits whose order is the order of the numbers, whatever their type.
//!
//! ```text
//! double(64)     the largest double that is not above the number, its bits made to sort
//! rest(11)       only where 2^53 <= |double| < 2^63: the whole part of what is left
//! decimal(129)   only where still something is left, which only decimals have: power of ten (16) and
//!                34 digits (113), both inverted for a negative number
//! ```
//! Zeros at the end are not written. The first eight bits make a byte; then seven bits at a time, shifted left,
//! with the low bit set in every byte but the last. At least two bytes are written.
//!
//! NaN is all zeros, below minus infinity. Two numbers with the same floor lie between the same two doubles, so
//! the rest and then the decimal order them; a number equal to a double has no rest.

use crate::decimal::Decimal;
use crate::number::{Magnitude, Number, integral};
use crate::value::Value;

const SIGN: u64 = 1 << 63;
/// Where doubles are further apart than integers, and 64-bit integers still are.
const SPARSE: std::ops::Range<f64> = 9_007_199_254_740_992.0..9_223_372_036_854_775_808.0;
const REST_BITS: u32 = 11;
const DIGITS_BITS: u32 = 113;
/// Makes every power of ten of a decimal's first digit positive.
const POWER_BIAS: i32 = 8192;

/// The bits after the double: `rest` on top, then the decimal, in a 160-bit field.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Tail {
    rest: u16,
    power: u16,
    digits: u128,
}

/// Appends a number, without its class byte.
pub(super) fn encode(number: Number, out: &mut Vec<u8>) {
    let (double, tail) = split(number);
    let bits = sortable(double);
    out.push((bits >> 56) as u8);
    if tail == Tail::default() {
        return write_groups(u128::from(bits) << 72, 0, out);
    }
    // The 56 remaining bits of the double, the rest where there is one, and the decimal: up to 196 bits,
    // left-aligned in two words.
    let mut words = Bits::default();
    words.push(u128::from(bits << 8 >> 8), 56);
    if is_sparse(double) {
        words.push(u128::from(tail.rest), REST_BITS);
    }
    words.push(u128::from(tail.power), 16);
    words.push(tail.digits, DIGITS_BITS);
    write_groups(words.high, words.low, out);
}

/// Reads a number, without its class byte; returns it and the rest of the key.
pub(super) fn decode(key: &[u8]) -> Option<(Value, &[u8])> {
    let (&first, mut rest) = key.split_first()?;
    let mut words = Bits::default();
    words.push(u128::from(first), 8);
    loop {
        let (&group, after) = rest.split_first()?;
        rest = after;
        if words.length + 7 > 256 {
            return None;
        }
        words.push(u128::from(group >> 1), 7);
        if group & 1 == 0 {
            break;
        }
    }
    let double = unsortable((words.take(64)) as u64);
    let remainder = if is_sparse(double) { words.take(REST_BITS) as i64 } else { 0 };
    let power = words.take(16) as u16;
    let digits = words.take(DIGITS_BITS);
    if (power, digits) != (0, 0) {
        return Some((decimal(double, power, digits)?, rest));
    }
    let value = match integral(double) {
        Some(whole) => Value::Int64(whole.checked_add(remainder)?),
        None if remainder != 0 => return None,
        None => Value::Double(double),
    };
    Some((value, rest))
}

/// Splits a number into the double at or below it and what is left.
fn split(number: Number) -> (f64, Tail) {
    match number {
        Number::Double(double) => (double, Tail::default()),
        Number::Int(number) => {
            let (double, rest) = floor_int(number);
            (double, Tail { rest, ..Tail::default() })
        }
        Number::Decimal(decimal) => {
            let double = decimal.floor_double();
            if decimal.compare_double(double).is_eq() {
                return (double, Tail::default());
            }
            // Between sparse doubles lie integers, which have a rest alone, whatever type they come in.
            let rest =
                if is_sparse(double) { decimal.floor_int().saturating_sub(double as i64) as u16 } else { 0 };
            if decimal.is_int() && is_sparse(double) {
                return (double, Tail { rest, ..Tail::default() });
            }
            let (power, digits) = decimal.normalised();
            let (power, digits) = ((power + POWER_BIAS) as u16, digits);
            let (power, digits) =
                if decimal.negative { (!power, !digits & ((1 << DIGITS_BITS) - 1)) } else { (power, digits) };
            (double, Tail { rest, power, digits })
        }
    }
}

fn floor_int(number: i64) -> (f64, u16) {
    let nearest = number as f64;
    let above = nearest as i128 > i128::from(number);
    let floor = if above { nearest.next_down() } else { nearest };
    (floor, (i128::from(number) - floor as i128) as u16)
}

fn decimal(double: f64, power: u16, digits: u128) -> Option<Value> {
    // The floor of a negative number below the smallest double is that double, and of a tiny positive one zero.
    let negative = double.is_sign_negative();
    let (power, digits) =
        if negative { (!power, !digits & ((1 << DIGITS_BITS) - 1)) } else { (power, digits) };
    let mut coefficient = digits;
    let mut exponent = i32::from(power) - POWER_BIAS - 33;
    while coefficient != 0 && coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    let text = format!("{}{coefficient}E{exponent}", if negative { "-" } else { "" });
    let decimal: Decimal = text.parse().ok()?;
    Some(Value::Decimal128(decimal.to_bytes()))
}

fn is_sparse(double: f64) -> bool {
    SPARSE.contains(&double.abs()) || double == -SPARSE.end
}

fn sortable(double: f64) -> u64 {
    if double.is_nan() {
        return 0;
    }
    // Adding zero turns -0 into 0.
    let bits = (double + 0.0).to_bits();
    // Negation, not inversion, so that short negative numbers end in zeros too.
    if bits & SIGN == 0 { bits | SIGN } else { bits.wrapping_neg() }
}

fn unsortable(bits: u64) -> f64 {
    match bits {
        0 => f64::NAN,
        _ if bits & SIGN != 0 => f64::from_bits(bits & !SIGN),
        _ => f64::from_bits(bits.wrapping_neg()),
    }
}

/// Writes left-aligned bits seven at a time, without the zeros at their end.
fn write_groups(mut high: u128, mut low: u128, out: &mut Vec<u8>) {
    loop {
        let group = (high >> 120) as u8 & 0xFE;
        high = high << 7 | low >> 121;
        low <<= 7;
        let more = high | low != 0;
        out.push(group | u8::from(more));
        if !more {
            return;
        }
    }
}

/// Up to 256 bits, left-aligned.
#[derive(Clone, Copy, Default)]
struct Bits {
    high: u128,
    low: u128,
    length: u32,
}

impl Bits {
    fn push(&mut self, bits: u128, count: u32) {
        // `bits` at the top of a word, then moved down behind what is there.
        let aligned = bits << (128 - count);
        if self.length < 128 {
            self.high |= aligned >> self.length;
            if self.length > 0 {
                self.low |= aligned << (128 - self.length);
            }
        } else {
            self.low |= aligned.checked_shr(self.length - 128).unwrap_or(0);
        }
        self.length += count;
    }

    fn take(&mut self, count: u32) -> u128 {
        let bits = self.high >> (128 - count);
        self.high = self.high << count | self.low >> (128 - count);
        self.low <<= count;
        bits
    }
}

impl Magnitude {
    /// Says whether this has no fraction.
    fn is_int(self) -> bool {
        self.exponent >= 0 || {
            let zeros = self.exponent.unsigned_abs();
            zeros <= 33 && self.coefficient.is_multiple_of(10u128.pow(zeros))
        }
    }

    /// Returns the largest integer that is not above this, for a number within the range of 64 bits.
    fn floor_int(self) -> i64 {
        let size = match u32::try_from(self.exponent) {
            Ok(zeros) => self.coefficient.saturating_mul(10u128.saturating_pow(zeros)),
            Err(_) => {
                let power = 10u128.saturating_pow(self.exponent.unsigned_abs());
                let whole = self.coefficient / power;
                if self.negative && !self.coefficient.is_multiple_of(power) { whole + 1 } else { whole }
            }
        };
        let whole = i128::try_from(size).unwrap_or(i128::MAX);
        let whole = if self.negative { -whole } else { whole };
        whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}
