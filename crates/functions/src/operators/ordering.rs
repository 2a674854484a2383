//! The total order of data, which ORDER BY and the index share.

use std::cmp::Ordering;

use armilla_value::{Legacy, Value, sql_cmp, utf16_cmp};

use super::equality::sorted;
use crate::datum::{Datum, DatumKind};

/// Compares as ORDER BY does: undefined, null, false, true, numbers, strings, arrays, objects.
///
/// Agrees with `sql_cmp_option` over values and with the order of their key bytes: NaN is the lowest number
/// and equal to itself, -0 equals 0, arrays and objects go element by element.
pub fn order(left: &Datum<'_>, right: &Datum<'_>) -> Ordering {
    match (left, right) {
        (Datum::Str(left), Datum::Str(right)) => utf16_cmp(left, right),
        (Datum::Int(left), Datum::Int(right)) => left.cmp(right),
        (Datum::Double(left), Datum::Double(right)) => compare_doubles(*left, *right),
        _ => {
            let kind = left.kind();
            kind.cmp(&right.kind()).then_with(|| order_of_kind(kind, left, right))
        }
    }
}

fn order_of_kind(kind: DatumKind, left: &Datum<'_>, right: &Datum<'_>) -> Ordering {
    match kind {
        DatumKind::Undefined | DatumKind::Null => Ordering::Equal,
        DatumKind::Bool => left.as_bool().cmp(&right.as_bool()),
        DatumKind::Number => compare_numbers(left, right),
        DatumKind::String => utf16_cmp(left.as_str().unwrap_or_default(), right.as_str().unwrap_or_default()),
        DatumKind::Array => {
            let (mut left, mut right) = (left.elements(), right.elements());
            loop {
                match (left.next(), right.next()) {
                    (Some(a), Some(b)) => match order(&a, &b) {
                        Ordering::Equal => {}
                        order => return order,
                    },
                    (a, b) => return a.is_some().cmp(&b.is_some()),
                }
            }
        }
        DatumKind::Object => {
            let (left, right) = (sorted(left), sorted(right));
            left.iter()
                .zip(&right)
                .map(|(a, b)| utf16_cmp(&a.0, &b.0).then_with(|| order(&a.1, &b.1)))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        DatumKind::Other => with_value(left, |left| with_value(right, |right| sql_cmp(left, right))),
    }
}

/// Compares two numbers of any type exactly.
pub(super) fn compare_numbers(left: &Datum<'_>, right: &Datum<'_>) -> Ordering {
    match (left, right) {
        (Datum::Int(left), Datum::Int(right)) => left.cmp(right),
        (Datum::Double(left), Datum::Double(right)) => compare_doubles(*left, *right),
        _ => with_value(left, |left| with_value(right, |right| sql_cmp(left, right))),
    }
}

fn compare_doubles(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| (!left.is_nan()).cmp(&!right.is_nan()))
}

/// Says whether two are scalars of the same type, of those that BSON adds.
pub(super) fn is_same_type(left: &Datum<'_>, right: &Datum<'_>) -> bool {
    if left.kind() != DatumKind::Other || right.kind() != DatumKind::Other {
        return false;
    }
    let types = |left: &Value, right: &Value| match (left, right) {
        (Value::Legacy(left), Value::Legacy(right)) => legacy_type(left) == legacy_type(right),
        _ => left.kind() == right.kind(),
    };
    with_value(left, |left| with_value(right, |right| types(left, right)))
}

fn legacy_type(legacy: &Legacy) -> std::mem::Discriminant<Legacy> {
    std::mem::discriminant(legacy)
}

/// Lends a scalar as a value.
fn with_value<T>(datum: &Datum<'_>, use_it: impl FnOnce(&Value) -> T) -> T {
    match datum {
        Datum::Int(number) => use_it(&Value::Int64(*number)),
        Datum::Double(number) => use_it(&Value::Double(*number)),
        Datum::Value(value) => use_it(value),
        Datum::Node(node) => use_it(&node.to_value()),
        Datum::Undefined | Datum::Null | Datum::Bool(_) | Datum::Str(_) => use_it(&Value::Null),
    }
}
