//! Arithmetic of the four kinds of numbers, with MongoDB's widening.
//!
//! Of two integers the result is as wide as the wider one, and wider where it does not fit: 32 bits become 64, and 64
//! bits a double, or a failure for updates. A double makes a double of it, a decimal a decimal.

use armilla_value::{Decimal, Value};

use crate::decimal_arithmetic as decimal;

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// One of the operands is no number.
    NotNumbers,
    /// The result does not fit into 64 bits.
    Overflow,
}

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Subtract,
    Multiply,
}

/// Adds two numbers; `None` where one of them is no number.
pub fn add(left: &Value, right: &Value) -> Option<Value> {
    widening(Operation::Add, left, right)
}

/// Subtracts the second from the first; `None` where one of them is no number.
pub fn subtract(left: &Value, right: &Value) -> Option<Value> {
    widening(Operation::Subtract, left, right)
}

/// Multiplies two numbers; `None` where one of them is no number.
pub fn multiply(left: &Value, right: &Value) -> Option<Value> {
    widening(Operation::Multiply, left, right)
}

/// Adds two numbers, as `$inc` does: what does not fit into 64 bits is a failure.
pub fn checked_add(left: &Value, right: &Value) -> Result<Value, Failure> {
    checked(Operation::Add, left, right)
}

/// Subtracts, where what does not fit into 64 bits is a failure.
pub fn checked_subtract(left: &Value, right: &Value) -> Result<Value, Failure> {
    checked(Operation::Subtract, left, right)
}

/// Multiplies two numbers, as `$mul` does: what does not fit into 64 bits is a failure.
pub fn checked_multiply(left: &Value, right: &Value) -> Result<Value, Failure> {
    checked(Operation::Multiply, left, right)
}

/// Returns a number as a decimal.
pub fn to_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int32(number) => Some(decimal::from_i64(i64::from(*number))),
        Value::Int64(number) => Some(decimal::from_i64(*number)),
        Value::Double(number) => Some(decimal::from_f64(*number)),
        Value::Decimal128(bytes) => Some(Decimal::from_bytes(bytes)),
        _ => None,
    }
}

/// Returns any of the four kinds of numbers as the nearest double.
pub fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal128(bytes) => Some(decimal::to_f64(Decimal::from_bytes(bytes))),
        other => other.as_f64(),
    }
}

/// Returns a number without its fraction as a 64-bit integer; what is beyond becomes the nearest one, NaN zero.
pub fn to_long(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        Value::Double(number) => Some(*number as i64),
        Value::Decimal128(bytes) => {
            let number = Decimal::from_bytes(bytes);
            Some(decimal::to_i64(number).unwrap_or_else(|| match number {
                Decimal::NaN => 0,
                _ if decimal::is_negative(number) => i64::MIN,
                _ => i64::MAX,
            }))
        }
        _ => None,
    }
}

/// Returns the integer that a number of any kind is, if it is one that fits into 64 bits.
pub fn integral(value: &Value) -> Option<i64> {
    match value {
        Value::Decimal128(bytes) => {
            let number = Decimal::from_bytes(bytes);
            if decimal::is_integral(number) { decimal::to_i64(number) } else { None }
        }
        other => other.as_i64(),
    }
}

/// Returns an integer in the narrower of the two kinds that it fits into.
pub(crate) fn narrow(number: i64) -> Value {
    i32::try_from(number).map_or(Value::Int64(number), Value::Int32)
}

fn widening(operation: Operation, left: &Value, right: &Value) -> Option<Value> {
    match checked(operation, left, right) {
        Ok(value) => Some(value),
        Err(Failure::NotNumbers) => None,
        Err(Failure::Overflow) => Some(Value::Double(doubles(operation, left.as_f64()?, right.as_f64()?))),
    }
}

fn checked(operation: Operation, left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Int32(a), Value::Int32(b)) => {
            let (a, b) = (i64::from(*a), i64::from(*b));
            // Neither sums nor products of 32 bits exceed 64.
            Ok(narrow(match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
            }))
        }
        (Value::Int32(_) | Value::Int64(_), Value::Int32(_) | Value::Int64(_)) => {
            let (a, b) = (whole(left), whole(right));
            let result = match operation {
                Operation::Add => a.checked_add(b),
                Operation::Subtract => a.checked_sub(b),
                Operation::Multiply => a.checked_mul(b),
            };
            result.map(Value::Int64).ok_or(Failure::Overflow)
        }
        (Value::Decimal128(_), _) | (_, Value::Decimal128(_)) => {
            let a = to_decimal(left).ok_or(Failure::NotNumbers)?;
            let b = to_decimal(right).ok_or(Failure::NotNumbers)?;
            let result = match operation {
                Operation::Add => decimal::add(a, b),
                Operation::Subtract => decimal::subtract(a, b),
                Operation::Multiply => decimal::multiply(a, b),
            };
            Ok(Value::Decimal128(result.to_bytes()))
        }
        _ => {
            let a = left.as_f64().ok_or(Failure::NotNumbers)?;
            let b = right.as_f64().ok_or(Failure::NotNumbers)?;
            Ok(Value::Double(doubles(operation, a, b)))
        }
    }
}

fn whole(value: &Value) -> i64 {
    match value {
        Value::Int32(number) => i64::from(*number),
        Value::Int64(number) => *number,
        _ => 0,
    }
}

fn doubles(operation: Operation, left: f64, right: f64) -> f64 {
    match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
    }
}
