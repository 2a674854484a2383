//! Numbers of operands, whatever type they come in.

use armilla_value::{Decimal, Value};

/// Returns a number of any type as the nearest double.
pub(crate) fn to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal128(bytes) => Decimal::from_bytes(bytes).to_string().parse().ok(),
        other => other.as_f64(),
    }
}

/// Says whether a value is a number.
pub(crate) fn is_number(value: &Value) -> bool {
    value.kind().is_number()
}

/// Says whether a value is a number that is none.
pub(crate) fn is_nan(value: &Value) -> bool {
    match value {
        Value::Double(number) => number.is_nan(),
        Value::Decimal128(bytes) => Decimal::from_bytes(bytes) == Decimal::NaN,
        _ => false,
    }
}

/// Returns the whole part of a number, if 64 bits hold it.
pub(crate) fn truncated(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        Value::Double(number) => whole(number.trunc()),
        Value::Decimal128(bytes) => truncated_decimal(Decimal::from_bytes(bytes)),
        _ => None,
    }
}

/// Returns a number that is whole, if 64 bits hold it.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    let number = truncated(value)?;
    let is_whole = match value {
        Value::Double(double) => double.trunc() == *double,
        Value::Decimal128(_) => armilla_value::mongo_cmp(value, &Value::Int64(number)).is_eq(),
        _ => true,
    };
    is_whole.then_some(number)
}

fn whole(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (-LIMIT..LIMIT).contains(&number).then_some(number as i64)
}

fn truncated_decimal(decimal: Decimal) -> Option<i64> {
    let Decimal::Finite { negative, coefficient, exponent } = decimal else { return None };
    let size = if exponent >= 0 {
        // More than 19 zeros behind a digit are beyond 64 bits.
        match coefficient {
            0 => 0,
            _ if exponent > 19 => return None,
            _ => coefficient.checked_mul(10u128.pow(exponent as u32))?,
        }
    } else {
        // A coefficient has at most 34 digits.
        match exponent.unsigned_abs() {
            power @ 0..=34 => coefficient / 10u128.pow(power),
            _ => 0,
        }
    };
    let size = i128::try_from(size).ok()?;
    i64::try_from(if negative { -size } else { size }).ok()
}
