//! Numbers: their worth, their types and what is computed with them.
//!
//! Integers stay integers and take the wider type of the two; an overflow widens, up to 128 bits. A floating
//! number makes the result floating; a decimal makes it decimal.
//!
//! Decimals are computed with a mantissa of 128 bits and a scale; what does not fit becomes a double.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::Value;

/// Most digits after the point, or zeros before it, of a decimal that is computed exactly: its text has all of them.
const DECIMAL_SCALE_MAX: u32 = 10_000;

/// A number by its worth.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Integer(i128),
    Real(f64),
    /// A mantissa and how many of its digits are after the point.
    Decimal(i128, u32),
}

impl Number {
    /// Returns the number a value is.
    pub(crate) fn of(value: &Value) -> Option<Number> {
        Some(match value {
            Value::Byte(value) => Number::Integer(i128::from(*value)),
            Value::Int16(value) => Number::Integer(i128::from(*value)),
            Value::Int32(value) => Number::Integer(i128::from(*value)),
            Value::Int64(value) => Number::Integer(i128::from(*value)),
            Value::BigInteger(value) => Number::Integer(*value),
            Value::Float(value) => Number::Real(f64::from(*value)),
            Value::Double(value) => Number::Real(*value),
            Value::BigDecimal(text) => decimal(text),
            _ => return None,
        })
    }

    fn real(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
            Number::Decimal(mantissa, scale) => mantissa as f64 / 10f64.powi(scale as i32),
        }
    }
}

/// Reads a decimal; what does not fit 128 bits becomes a real number.
fn decimal(text: &str) -> Number {
    exact_decimal(text).unwrap_or_else(|| Number::Real(text.parse().unwrap_or(f64::NAN)))
}

fn exact_decimal(text: &str) -> Option<Number> {
    let (digits, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let mut scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if mantissa == 0 {
        return Some(Number::Decimal(0, 0));
    }
    if scale.unsigned_abs() > DECIMAL_SCALE_MAX {
        return None;
    }
    while scale < 0 {
        mantissa = mantissa.checked_mul(10)?;
        scale += 1;
    }
    Some(Number::Decimal(mantissa, u32::try_from(scale).ok()?))
}

/// A decimal by its worth, so that texts of one worth have one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DecimalForm {
    Exact(i128, u32),
    /// The bits of a double, for what has more digits.
    Real(u64),
}

/// Returns the form of a decimal.
pub(crate) fn decimal_form(text: &str) -> DecimalForm {
    match decimal(text) {
        Number::Decimal(mut mantissa, mut scale) => {
            while scale > 0 && mantissa % 10 == 0 {
                mantissa /= 10;
                scale -= 1;
            }
            DecimalForm::Exact(mantissa, scale)
        }
        Number::Integer(value) => DecimalForm::Exact(value, 0),
        Number::Real(value) => DecimalForm::Real(value.to_bits()),
    }
}

fn decimal_text(mut mantissa: i128, mut scale: u32) -> Arc<str> {
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    if scale == 0 {
        return mantissa.to_string().into();
    }
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", mantissa.unsigned_abs(), width = scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    format!("{sign}{whole}.{fraction}").into()
}

/// Compares numbers by their worth; none with NaN.
pub(crate) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (*left, *right) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Decimal(..) | Number::Integer(_), Number::Decimal(..) | Number::Integer(_)) => {
            match aligned(*left, *right) {
                Some((left, right, _)) => Some(left.cmp(&right)),
                None => left.real().partial_cmp(&right.real()),
            }
        }
        (Number::Integer(left), Number::Real(right)) => compare_exactly(left, right),
        (Number::Real(left), Number::Integer(right)) => compare_exactly(right, left).map(Ordering::reverse),
        (left, right) => left.real().partial_cmp(&right.real()),
    }
}

/// Compares an integer with a real number without losing digits of the integer.
fn compare_exactly(left: i128, right: f64) -> Option<Ordering> {
    if right.is_nan() {
        return None;
    }
    // Beyond 2^126 the real number is either larger than any such integer or compares well enough as real.
    if right.abs() >= 8.5e37 {
        return (left as f64).partial_cmp(&right);
    }
    let whole = right.trunc();
    Some(
        left.cmp(&(whole as i128))
            .then_with(|| 0f64.partial_cmp(&(right - whole)).unwrap_or(Ordering::Equal)),
    )
}

/// Orders numbers; NaN is after everything.
pub(crate) fn order(left: &Number, right: &Number) -> Ordering {
    compare(left, right).unwrap_or_else(|| left.real().is_nan().cmp(&right.real().is_nan()))
}

fn aligned(left: Number, right: Number) -> Option<(i128, i128, u32)> {
    let parts = |number| match number {
        Number::Integer(value) => Some((value, 0)),
        Number::Decimal(mantissa, scale) => Some((mantissa, scale)),
        Number::Real(_) => None,
    };
    let ((left, left_scale), (right, right_scale)) = (parts(left)?, parts(right)?);
    let scale = left_scale.max(right_scale);
    let raise = |value: i128, by: u32| value.checked_mul(10i128.checked_pow(by)?);
    Some((raise(left, scale - left_scale)?, raise(right, scale - right_scale)?, scale))
}

/// What is computed with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArithmeticError {
    /// One of them is no number.
    NotANumber,
    /// An integer divided by zero.
    DivisionByZero,
    /// Beyond 128 bits.
    Overflow,
}

impl std::fmt::Display for ArithmeticError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            ArithmeticError::NotANumber => "only numbers can be computed with",
            ArithmeticError::DivisionByZero => "division by zero",
            ArithmeticError::Overflow => "the result is too large for an integer",
        })
    }
}

/// How wide a type of integers is.
fn width(value: &Value) -> u8 {
    match value {
        Value::Byte(_) => 1,
        Value::Int16(_) => 2,
        Value::Int32(_) => 4,
        Value::Int64(_) => 8,
        _ => 16,
    }
}

impl Value {
    /// Says whether it is a number.
    pub fn is_number(&self) -> bool {
        Number::of(self).is_some()
    }

    /// Returns an integer that fits 64 bits, whatever its type; none of what has a fraction.
    pub fn as_integer(&self) -> Option<i64> {
        match Number::of(self)? {
            Number::Integer(value) => i64::try_from(value).ok(),
            Number::Real(value) if value.fract() == 0.0 && value.abs() < 9.2e18 => Some(value as i64),
            _ => None,
        }
    }

    /// Returns a number as a double.
    pub fn as_real(&self) -> Option<f64> {
        Some(Number::of(self)?.real())
    }

    /// Computes with two numbers.
    pub fn compute(&self, what: Arithmetic, other: &Value) -> Result<Value, ArithmeticError> {
        let (Some(left), Some(right)) = (Number::of(self), Number::of(other)) else {
            return Err(ArithmeticError::NotANumber);
        };
        match (left, right) {
            (Number::Integer(left), Number::Integer(right)) => {
                let result = match what {
                    Arithmetic::Add => left.checked_add(right),
                    Arithmetic::Subtract => left.checked_sub(right),
                    Arithmetic::Multiply => left.checked_mul(right),
                    Arithmetic::Divide if right == 0 => return Err(ArithmeticError::DivisionByZero),
                    Arithmetic::Divide => left.checked_div(right),
                };
                let result = result.ok_or(ArithmeticError::Overflow)?;
                Ok(integer_at_least(result, width(self).max(width(other))))
            }
            (Number::Decimal(..), Number::Decimal(..) | Number::Integer(_))
            | (Number::Integer(_), Number::Decimal(..)) => Ok(compute_decimals(left, what, right)),
            _ => {
                let (left, right) = (left.real(), right.real());
                let result = match what {
                    Arithmetic::Add => left + right,
                    Arithmetic::Subtract => left - right,
                    Arithmetic::Multiply => left * right,
                    Arithmetic::Divide => left / right,
                };
                Ok(match (self, other) {
                    (Value::BigDecimal(_), _) | (_, Value::BigDecimal(_)) if result.is_finite() => {
                        Value::BigDecimal(result.to_string().into())
                    }
                    (
                        Value::Float(_),
                        Value::Float(_) | Value::Byte(_) | Value::Int16(_) | Value::Int32(_),
                    )
                    | (Value::Byte(_) | Value::Int16(_) | Value::Int32(_), Value::Float(_)) => {
                        Value::Float(result as f32)
                    }
                    _ => Value::Double(result),
                })
            }
        }
    }

    /// Returns the number without its sign, or as it is.
    pub fn multiplied(&self, by: u64) -> Result<Value, ArithmeticError> {
        if by == 1 {
            Ok(self.clone())
        } else {
            self.compute(Arithmetic::Multiply, &integer_at_least(i128::from(by), 1))
        }
    }
}

fn compute_decimals(left: Number, what: Arithmetic, right: Number) -> Value {
    let exact = match what {
        Arithmetic::Add => {
            aligned(left, right).and_then(|(left, right, scale)| Some((left.checked_add(right)?, scale)))
        }
        Arithmetic::Subtract => {
            aligned(left, right).and_then(|(left, right, scale)| Some((left.checked_sub(right)?, scale)))
        }
        Arithmetic::Multiply => aligned(left, right)
            .and_then(|(left, right, scale)| Some((left.checked_mul(right)?, scale.checked_mul(2)?))),
        Arithmetic::Divide => None,
    };
    match exact {
        Some((mantissa, scale)) if scale <= DECIMAL_SCALE_MAX => {
            Value::BigDecimal(decimal_text(mantissa, scale))
        }
        _ => {
            let (left, right) = (left.real(), right.real());
            let result = match what {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
            };
            if result.is_finite() {
                Value::BigDecimal(result.to_string().into())
            } else {
                Value::Double(result)
            }
        }
    }
}

/// Returns an integer in a type of at least this many bytes, or the next wider one it fits.
pub(crate) fn integer_at_least(value: i128, width: u8) -> Value {
    if width <= 1
        && let Ok(value) = i8::try_from(value)
    {
        return Value::Byte(value);
    }
    if width <= 2
        && let Ok(value) = i16::try_from(value)
    {
        return Value::Int16(value);
    }
    if width <= 4
        && let Ok(value) = i32::try_from(value)
    {
        return Value::Int32(value);
    }
    if width <= 8
        && let Ok(value) = i64::try_from(value)
    {
        return Value::Int64(value);
    }
    Value::BigInteger(value)
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
