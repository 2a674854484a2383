//! The operators of the language, over data.
//!
//! Logic is three-valued: `Option<bool>`, where `None` is undefined. Everything that is not a boolean counts
//! as undefined there. Arithmetic works on doubles; bitwise operators on 32-bit integers as JavaScript has them.
//!
//! Not here: LIKE's patterns (`like`), `?:` and `??`, which decide what is evaluated at all (`query`).

use std::borrow::Cow;

use crate::datum::{Datum, DatumKind};
use crate::like::LikePattern;
use crate::limits::RESULT_BYTES_MAX;
use crate::meter::Meter;

mod equality;
mod ordering;

#[cfg(test)]
mod tests;

pub use equality::{equals, same};
pub use ordering::order;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`, `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// An operator over two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `>>>`
    ShiftRightZeroFill,
}

/// An operator over one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    BitNot,
    /// `NOT`
    Not,
}

/// Compares: equality across all types, order within one type of scalars.
pub fn compare(operator: Comparison, left: &Datum<'_>, right: &Datum<'_>) -> Datum<'static> {
    compare_truth(operator, left, right).into()
}

/// Compares like [`compare`], giving the truth value itself.
pub fn compare_truth(operator: Comparison, left: &Datum<'_>, right: &Datum<'_>) -> Option<bool> {
    let holds: fn(std::cmp::Ordering) -> bool = match operator {
        Comparison::Equal => return equals(left, right),
        Comparison::NotEqual => return equals(left, right).map(|equal| !equal),
        Comparison::Less => |order| order.is_lt(),
        Comparison::LessOrEqual => |order| order.is_le(),
        Comparison::Greater => |order| order.is_gt(),
        Comparison::GreaterOrEqual => |order| order.is_ge(),
    };
    let has_order = match left.kind() {
        DatumKind::Undefined | DatumKind::Array | DatumKind::Object => false,
        DatumKind::Other => ordering::is_same_type(left, right),
        kind => kind == right.kind(),
    };
    if !has_order {
        return None;
    }
    // The order of ORDER BY has a place for NaN; the operators have none.
    if is_nan(left) || is_nan(right) {
        return Some(false);
    }
    Some(holds(order(left, right)))
}

pub(crate) fn is_nan(datum: &Datum<'_>) -> bool {
    match datum {
        Datum::Double(number) => number.is_nan(),
        Datum::Node(_) | Datum::Value(_) => {
            datum.kind() == DatumKind::Number && datum.as_f64().is_some_and(f64::is_nan)
        }
        _ => false,
    }
}

/// Returns the truth value of an operand of AND, OR, NOT; `None` for everything but booleans.
pub fn truth(datum: &Datum<'_>) -> Option<bool> {
    datum.as_bool()
}

/// Three-valued AND.
pub fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Three-valued OR.
pub fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Three-valued NOT.
pub fn not(truth: Option<bool>) -> Option<bool> {
    truth.map(|truth| !truth)
}

/// Computes an operator over two numbers; undefined for anything else.
pub fn arithmetic(operator: Arithmetic, left: &Datum<'_>, right: &Datum<'_>) -> Datum<'static> {
    let (Some(left), Some(right)) = (left.as_f64(), right.as_f64()) else {
        return Datum::Undefined;
    };
    let shift_count = || to_int32(right) as u32 & 31;
    match operator {
        Arithmetic::Add => Datum::Double(left + right),
        Arithmetic::Subtract => Datum::Double(left - right),
        Arithmetic::Multiply => Datum::Double(left * right),
        Arithmetic::Divide => Datum::Double(left / right),
        Arithmetic::Remainder => Datum::Double(left % right),
        Arithmetic::BitAnd => int32(to_int32(left) & to_int32(right)),
        Arithmetic::BitOr => int32(to_int32(left) | to_int32(right)),
        Arithmetic::BitXor => int32(to_int32(left) ^ to_int32(right)),
        Arithmetic::ShiftLeft => int32(to_int32(left) << shift_count()),
        Arithmetic::ShiftRight => int32(to_int32(left) >> shift_count()),
        Arithmetic::ShiftRightZeroFill => Datum::Int(i64::from(to_int32(left) as u32 >> shift_count())),
    }
}

/// Computes an operator over one operand; undefined where its type does not fit.
pub fn unary<'a>(operator: Unary, operand: Datum<'a>) -> Datum<'a> {
    match (operator, operand) {
        (Unary::Not, operand) => not(truth(&operand)).into(),
        (Unary::Plus, operand) if operand.is_number() => operand,
        // The sign of a literal is this operator, and a literal keeps its exact value.
        (Unary::Minus, Datum::Int(number)) => {
            number.checked_neg().map_or(Datum::Double(-(number as f64)), Datum::Int)
        }
        (Unary::Minus, operand) => operand.as_f64().map(|number| -number).into(),
        (Unary::BitNot, operand) => {
            operand.as_f64().map_or(Datum::Undefined, |number| int32(!to_int32(number)))
        }
        _ => Datum::Undefined,
    }
}

fn int32(number: i32) -> Datum<'static> {
    Datum::Int(i64::from(number))
}

/// Converts as JavaScript does: truncated, modulo 2^32, and 0 for what is not finite.
fn to_int32(number: f64) -> i32 {
    const MODULUS: f64 = 4_294_967_296.0;
    // In range, the plain conversion is the same and faster.
    if number.abs() < 2_147_483_648.0 {
        return number as i32;
    }
    if !number.is_finite() {
        return 0;
    }
    // The remainder of two doubles is exact, and fits.
    (number.trunc() % MODULUS) as i64 as i32
}

/// Joins two strings; undefined for anything else, and beyond [`RESULT_BYTES_MAX`].
pub fn concat<'a>(left: &Datum<'a>, right: &Datum<'a>) -> Datum<'a> {
    let (Datum::Str(left), Datum::Str(right)) = (left, right) else {
        return Datum::Undefined;
    };
    if left.len() + right.len() > RESULT_BYTES_MAX {
        return Datum::Undefined;
    }
    if right.is_empty() {
        return Datum::Str(left.clone());
    }
    let mut joined = String::with_capacity(left.len() + right.len());
    joined.push_str(left);
    joined.push_str(right);
    Datum::Str(Cow::Owned(joined))
}

/// Says whether a value equals one of a list: `x IN (...)`.
pub fn is_in<'a>(operand: &Datum<'_>, list: impl IntoIterator<Item = &'a Datum<'a>>) -> Option<bool> {
    if operand.is_undefined() {
        return None;
    }
    Some(list.into_iter().any(|member| equals(operand, member) == Some(true)))
}

/// Says whether a value lies between two others, both included: `x BETWEEN a AND b`.
pub fn between(operand: &Datum<'_>, low: &Datum<'_>, high: &Datum<'_>) -> Option<bool> {
    and(
        compare_truth(Comparison::GreaterOrEqual, operand, low),
        compare_truth(Comparison::LessOrEqual, operand, high),
    )
}

/// Matches a value against a pattern that is not known before: `x LIKE p ESCAPE e`.
pub fn like(
    operand: &Datum<'_>,
    pattern: &Datum<'_>,
    escape: Option<char>,
    meter: &Meter<'_>,
) -> Option<bool> {
    let (operand, pattern) = (operand.as_str()?, pattern.as_str()?);
    if !meter.go_over(8 * pattern.len()) {
        return None;
    }
    Some(LikePattern::new(pattern, escape).matches(operand, meter))
}

/// Reaches into an object by name or into an array by number: `o[expr]`.
pub fn index<'a>(collection: Datum<'a>, key: &Datum<'_>) -> Datum<'a> {
    match key {
        Datum::Str(name) => collection.into_member(name),
        _ => match key.as_i64().and_then(|index| usize::try_from(index).ok()) {
            Some(index) => collection.into_element(index),
            None => Datum::Undefined,
        },
    }
}
