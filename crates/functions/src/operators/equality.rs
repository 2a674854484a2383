//! Equality of data, without copying what they hold.

use std::borrow::Cow;

use armilla_value::utf16_cmp;

use super::ordering::{compare_numbers, order};
use crate::datum::{Datum, DatumKind};
use crate::limits::LINEAR_SEARCH_MEMBERS_MAX;

/// Compares by value: `None` where either is undefined, false across types, NaN equal to nothing.
pub fn equals(left: &Datum<'_>, right: &Datum<'_>) -> Option<bool> {
    if left.is_undefined() || right.is_undefined() {
        return None;
    }
    Some(equal(left, right, false))
}

/// Compares as DISTINCT, GROUP BY and the set functions do: like [`equals`], but undefined and NaN equal themselves.
pub fn same(left: &Datum<'_>, right: &Datum<'_>) -> bool {
    equal(left, right, true)
}

fn equal(left: &Datum<'_>, right: &Datum<'_>, nan_equals_nan: bool) -> bool {
    match (left, right) {
        (Datum::Str(left), Datum::Str(right)) => left == right,
        (Datum::Int(left), Datum::Int(right)) => left == right,
        (Datum::Double(left), Datum::Double(right)) => {
            left == right || (nan_equals_nan && left.is_nan() && right.is_nan())
        }
        (Datum::Bool(left), Datum::Bool(right)) => left == right,
        _ => {
            let kind = left.kind();
            kind == right.kind() && equal_of_kind(kind, left, right, nan_equals_nan)
        }
    }
}

fn equal_of_kind(kind: DatumKind, left: &Datum<'_>, right: &Datum<'_>, nan_equals_nan: bool) -> bool {
    match kind {
        DatumKind::Undefined | DatumKind::Null => true,
        // Both in the same form were compared before.
        DatumKind::Bool | DatumKind::String => false,
        DatumKind::Number => compare_numbers(left, right).is_eq() && (nan_equals_nan || !super::is_nan(left)),
        DatumKind::Array => {
            left.array_len() == right.array_len()
                && left.elements().zip(right.elements()).all(|(a, b)| equal(&a, &b, nan_equals_nan))
        }
        DatumKind::Object => equal_objects(left, right, nan_equals_nan),
        DatumKind::Other => order(left, right).is_eq(),
    }
}

fn equal_objects(left: &Datum<'_>, right: &Datum<'_>, nan_equals_nan: bool) -> bool {
    let count = left.object_len();
    if count != right.object_len() {
        return false;
    }
    // Most objects that are compared were written in the same order.
    let mut pairs = left.members().zip(right.members());
    loop {
        match pairs.next() {
            None => return true,
            Some(((name, a), (other_name, b))) if name == other_name => {
                if !equal(&a, &b, nan_equals_nan) {
                    return false;
                }
            }
            Some(_) => break,
        }
    }
    drop(pairs);
    if count.is_some_and(|count| count > LINEAR_SEARCH_MEMBERS_MAX) {
        return sorted(left)
            .iter()
            .zip(&sorted(right))
            .all(|((name, a), (other_name, b))| name == other_name && equal(a, b, nan_equals_nan));
    }
    left.members().all(|(name, a)| match right.member(&name) {
        Datum::Undefined => false,
        b => equal(&a, &b, nan_equals_nan),
    })
}

/// Returns the members in the order of their names.
pub(super) fn sorted<'d>(object: &'d Datum<'_>) -> Vec<(Cow<'d, str>, Datum<'d>)> {
    let mut members: Vec<_> = object.members().collect();
    members.sort_unstable_by(|left, right| utf16_cmp(&left.0, &right.0));
    members
}
