//! The two orders of values: SQL's and MongoDB's.
//!
//! Both are total, agree on numbers (exact by mathematical value, NaN lowest and equal to itself, -0 = 0),
//! and differ in the order of the type classes, in strings (UTF-16 code units against UTF-8 bytes) and in
//! objects (members sorted by name against members as written).
//!
//! SQL has no opinion on the scalars that BSON adds; they come after the objects, in the order of their class
//! bytes in `key`. Equality of arrays and objects follows the query language: objects ignore member order.
//!
//! Not here: SQL's comparison operators, which are undefined across types (`query`).

use std::cmp::Ordering;

use crate::number::{Number, compare_numbers};
use crate::utf16::utf16_cmp;
use crate::{Legacy, Object, Value};

/// Compares two values where either may be undefined, which sorts first.
pub fn sql_cmp_option(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => sql_cmp(left, right),
        _ => left.is_some().cmp(&right.is_some()),
    }
}

/// Compares two values as ORDER BY and the index do: null < false < true < numbers < strings < arrays < objects.
pub fn sql_cmp(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(a), Value::String(b)) => utf16_cmp(a, b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => lexicographic(a, b, sql_cmp),
        (Value::Object(a), Value::Object(b)) => sql_object_cmp(a, b),
        _ => sql_class(left).cmp(&sql_class(right)).then_with(|| scalar_cmp(left, right)),
    }
}

fn sql_object_cmp(left: &Object, right: &Object) -> Ordering {
    lexicographic(&left.sorted(), &right.sorted(), |a, b| utf16_cmp(a.0, b.0).then_with(|| sql_cmp(a.1, b.1)))
}

/// Compares two values in MongoDB's canonical order; a missing value is compared as null by the caller.
pub fn mongo_cmp(left: &Value, right: &Value) -> Ordering {
    mongo_class(left).cmp(&mongo_class(right)).then_with(|| match (left, right) {
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Array(a), Value::Array(b)) => lexicographic(a, b, mongo_cmp),
        (Value::Object(a), Value::Object(b)) => mongo_object_cmp(a, b),
        (Value::Legacy(a), Value::Legacy(b)) => legacy_cmp(a, b, mongo_object_cmp),
        (Value::String(text), Value::Legacy(legacy)) => text.as_bytes().cmp(symbol(legacy).as_bytes()),
        (Value::Legacy(legacy), Value::String(text)) => symbol(legacy).as_bytes().cmp(text.as_bytes()),
        _ => scalar_cmp(left, right),
    })
}

fn mongo_object_cmp(left: &Object, right: &Object) -> Ordering {
    let (mut a, mut b) = (left.iter(), right.iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((name_a, a)), Some((name_b, b))) => {
                let order = mongo_class(a)
                    .cmp(&mongo_class(b))
                    .then_with(|| name_a.as_bytes().cmp(name_b.as_bytes()))
                    .then_with(|| mongo_cmp(a, b));
                if order.is_ne() {
                    return order;
                }
            }
        }
    }
}

fn lexicographic<T>(left: &[T], right: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    left.iter()
        .zip(right)
        .map(|(a, b)| compare(a, b))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Compares inside the classes on which both orders agree; across classes the caller has decided.
fn scalar_cmp(left: &Value, right: &Value) -> Ordering {
    if let (Some(a), Some(b)) = (Number::of(left), Number::of(right)) {
        return compare_numbers(a, b);
    }
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::ObjectId(a), Value::ObjectId(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Binary { subtype: s, bytes: a }, Value::Binary { subtype: t, bytes: b }) => {
            a.len().cmp(&b.len()).then(s.cmp(t)).then_with(|| a.cmp(b))
        }
        (Value::Timestamp { seconds: a, increment: i }, Value::Timestamp { seconds: b, increment: j }) => {
            a.cmp(b).then(i.cmp(j))
        }
        (Value::Regex { pattern: a, options: i }, Value::Regex { pattern: b, options: j }) => {
            a.cmp(b).then_with(|| i.cmp(j))
        }
        (Value::Legacy(a), Value::Legacy(b)) => legacy_cmp(a, b, sql_object_cmp),
        _ => Ordering::Equal,
    }
}

/// Compares two of one type; across types the caller has decided.
fn legacy_cmp(left: &Legacy, right: &Legacy, objects: fn(&Object, &Object) -> Ordering) -> Ordering {
    match (left, right) {
        (Legacy::Code(a), Legacy::Code(b)) | (Legacy::Symbol(a), Legacy::Symbol(b)) => {
            a.as_bytes().cmp(b.as_bytes())
        }
        (Legacy::CodeWithScope { code: a, scope: i }, Legacy::CodeWithScope { code: b, scope: j }) => {
            a.as_bytes().cmp(b.as_bytes()).then_with(|| objects(i, j))
        }
        (Legacy::DbPointer { namespace: a, id: i }, Legacy::DbPointer { namespace: b, id: j }) => {
            a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes())).then_with(|| i.cmp(j))
        }
        _ => Ordering::Equal,
    }
}

/// Returns the text of a symbol, the only one of these types in the class of the strings.
fn symbol(legacy: &Legacy) -> &str {
    match legacy {
        Legacy::Symbol(text) => text,
        _ => "",
    }
}

fn sql_class(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
        Value::MinKey => 6,
        Value::Binary { .. } => 7,
        Value::ObjectId(_) => 8,
        Value::Date(_) => 9,
        Value::Timestamp { .. } => 10,
        Value::Regex { .. } => 11,
        Value::Legacy(legacy) => match **legacy {
            Legacy::DbPointer { .. } => 12,
            Legacy::Code(_) => 13,
            Legacy::CodeWithScope { .. } => 14,
            Legacy::Symbol(_) => 15,
            Legacy::Undefined => 16,
        },
        Value::MaxKey => 17,
    }
}

fn mongo_class(value: &Value) -> u8 {
    match value {
        Value::MinKey => 0,
        Value::Null => 2,
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => 3,
        Value::String(_) => 4,
        Value::Object(_) => 5,
        Value::Array(_) => 6,
        Value::Binary { .. } => 7,
        Value::ObjectId(_) => 8,
        Value::Bool(_) => 9,
        Value::Date(_) => 10,
        Value::Timestamp { .. } => 11,
        Value::Regex { .. } => 12,
        Value::Legacy(legacy) => match **legacy {
            Legacy::Undefined => 1,
            Legacy::Symbol(_) => 4,
            Legacy::DbPointer { .. } => 13,
            Legacy::Code(_) => 14,
            Legacy::CodeWithScope { .. } => 15,
        },
        Value::MaxKey => 16,
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
