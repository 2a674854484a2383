//! Functions over arrays, sets and objects.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use armilla_value::{Object, Value};

use crate::aggregate::weight_bytes;
use crate::datum::Datum;
use crate::fingerprint::fingerprint;
use crate::limits::RESULT_BYTES_MAX;
use crate::meter::Meter;
use crate::operators::{and, equals, or, order};

fn array<'d, 'a>(args: &'d [Datum<'a>], index: usize) -> Option<&'d Datum<'a>> {
    args.get(index).filter(|datum| datum.is_array())
}

/// Returns the elements of an array that holds numbers alone, at least one.
fn numbers(args: &[Datum<'_>]) -> Option<Vec<f64>> {
    let numbers: Vec<f64> =
        array(args, 0)?.elements().map(|element| element.as_f64()).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

/// Adds the elements up.
pub(crate) fn sum<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    Some(Datum::Double(numbers(args)?.iter().sum()))
}

/// Returns the mean of the elements.
pub(crate) fn average<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let numbers = numbers(args)?;
    Some(Datum::Double(numbers.iter().sum::<f64>() / numbers.len() as f64))
}

/// Returns the element in the middle, or the mean of the two there.
pub(crate) fn median<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let mut numbers = numbers(args)?;
    if numbers.iter().any(|number| number.is_nan()) {
        return Some(Datum::Double(f64::NAN));
    }
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    Some(Datum::Double(if numbers.len() % 2 == 1 {
        numbers[middle]
    } else {
        (numbers[middle - 1] + numbers[middle]) / 2.0
    }))
}

/// Returns the least or the greatest element.
pub(crate) fn extreme<'a>(args: &[Datum<'a>], wanted: Ordering) -> Option<Datum<'a>> {
    let array = array(args, 0)?;
    if let Datum::Value(Cow::Owned(_)) = array {
        // Copying one element is less work than copying the array for the sake of its lifetime.
        return extreme_of(array.elements(), wanted).map(Datum::into_static);
    }
    extreme_of(array.clone().into_elements(), wanted)
}

fn extreme_of<'d>(elements: impl Iterator<Item = Datum<'d>>, wanted: Ordering) -> Option<Datum<'d>> {
    elements.reduce(|extreme, element| if order(&element, &extreme) == wanted { element } else { extreme })
}

/// Joins arrays.
pub(crate) fn concat<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let mut bytes: usize = 0;
    let mut count: usize = 0;
    for index in 0..args.len() {
        let array = array(args, index)?;
        bytes = bytes.saturating_add(weight_bytes(array));
        count += array.array_len()?;
    }
    if bytes > RESULT_BYTES_MAX {
        return None;
    }
    let mut joined = Vec::with_capacity(count);
    for array in args {
        joined.extend(array.elements().filter_map(Datum::into_value));
    }
    Some(joined.into())
}

/// Says whether an array holds a value, or, if asked, an object with at least its members.
pub(crate) fn contains<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let partial = match args.get(2) {
        None | Some(Datum::Undefined) => false,
        Some(partial) => partial.as_bool()?,
    };
    holds(array(args, 0)?, args.get(1)?, partial).map(Datum::Bool)
}

/// Says whether an array holds all values; a false one decides, whatever the rest is.
pub(crate) fn contains_all<'a>(args: &[Datum<'_>], meter: &Meter<'_>) -> Option<Datum<'a>> {
    let array = array(args, 0)?;
    let mut truth = Some(true);
    for value in &args[1..] {
        if !meter.go_on(array.array_len()? as u64) {
            return None;
        }
        truth = and(truth, holds(array, value, false));
        if truth == Some(false) {
            break;
        }
    }
    truth.map(Datum::Bool)
}

/// Says whether an array holds one of the values; a true one decides, whatever the rest is.
pub(crate) fn contains_any<'a>(args: &[Datum<'_>], meter: &Meter<'_>) -> Option<Datum<'a>> {
    let array = array(args, 0)?;
    let mut truth = Some(false);
    for value in &args[1..] {
        if !meter.go_on(array.array_len()? as u64) {
            return None;
        }
        truth = or(truth, holds(array, value, false));
        if truth == Some(true) {
            break;
        }
    }
    truth.map(Datum::Bool)
}

fn holds(array: &Datum<'_>, value: &Datum<'_>, partial: bool) -> Option<bool> {
    if value.is_undefined() {
        return None;
    }
    if partial && value.is_object() {
        return Some(array.elements().any(|element| has_members(&element, value)));
    }
    Some(array.elements().any(|element| equals(&element, value) == Some(true)))
}

/// Says whether an element has every member of an object, each with an equal value.
fn has_members(element: &Datum<'_>, object: &Datum<'_>) -> bool {
    element.is_object()
        && object.members().all(|(name, wanted)| equals(&element.member(&name), &wanted) == Some(true))
}

/// Returns the elements from a position on, counted from the end where it is negative.
pub(crate) fn slice<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let array = array(args, 0)?;
    let start = args.get(1)?.as_i64_saturated()?;
    let count = match args.get(2) {
        Some(count) => usize::try_from(count.as_i64_saturated()?.max(0)).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let start = match usize::try_from(start) {
        Ok(start) => start,
        Err(_) => {
            let back = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
            array.array_len()?.saturating_sub(back)
        }
    };
    Some(array.elements().skip(start).take(count).filter_map(Datum::into_value).collect::<Vec<_>>().into())
}

/// Returns the distinct values of two arrays, the first array's before the second's.
pub(crate) fn union<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (left, right) = (array(args, 0)?, array(args, 1)?);
    if weight_bytes(left).saturating_add(weight_bytes(right)) > RESULT_BYTES_MAX {
        return None;
    }
    let mut seen = HashSet::new();
    Some(distinct(left.elements().chain(right.elements()), |print| seen.insert(print)))
}

/// Returns the distinct values that both arrays hold, in the order of the second.
pub(crate) fn intersect<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (left, right) = (array(args, 0)?, array(args, 1)?);
    let mut wanted = fingerprints(left);
    // Taking a value out when it is found lets its repeats pass by.
    Some(distinct(right.elements(), |print| wanted.remove(&print)))
}

/// Returns the distinct values of the first array that the second does not hold.
pub(crate) fn difference<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (left, right) = (array(args, 0)?, array(args, 1)?);
    let mut unwanted = fingerprints(right);
    Some(distinct(left.elements(), |print| unwanted.insert(print)))
}

/// Says whether two arrays hold the same values, order and repeats aside.
pub(crate) fn set_equal<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (left, right) = (array(args, 0)?, array(args, 1)?);
    Some(Datum::Bool(fingerprints(left) == fingerprints(right)))
}

fn fingerprints(array: &Datum<'_>) -> HashSet<u128> {
    array.elements().map(|element| fingerprint(&element)).collect()
}

fn distinct<'d, 'a>(
    elements: impl Iterator<Item = Datum<'d>>,
    mut keeps: impl FnMut(u128) -> bool,
) -> Datum<'a> {
    elements
        .filter(|element| keeps(fingerprint(element)))
        .filter_map(Datum::into_value)
        .collect::<Vec<_>>()
        .into()
}

/// Turns the members of an object into an array of objects with two members each.
pub(crate) fn object_to_array<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let object = args.first().filter(|datum| datum.is_object())?;
    let label = |index: usize, default| match args.get(index) {
        Some(label) => label.as_str(),
        None => Some(default),
    };
    let (name_label, value_label) = (label(1, "k")?, label(2, "v")?);
    let labels_bytes = name_label.len() + value_label.len() + 2 * size_of::<(String, Value)>();
    let bytes = object.object_len()?.saturating_mul(labels_bytes).saturating_add(weight_bytes(object));
    if bytes > RESULT_BYTES_MAX {
        return None;
    }
    let pairs = object.members().map(|(name, value)| {
        let name = (name_label.to_owned(), Value::String(name.into_owned()));
        let value = value.into_value().map(|value| (value_label.to_owned(), value));
        Value::Object(Object::from(std::iter::once(name).chain(value).collect::<Vec<_>>()))
    });
    Some(pairs.collect::<Vec<_>>().into())
}
