//! Arrays as sets: order and repetition do not count.

use std::cmp::Ordering;

use armilla_value::{Value, mongo_cmp};

use super::{give, into_elements, is_nullish, kind, null};
use crate::error::{Error, Result};
use crate::parse::Parser;
use crate::tree::{Argument, Budget, Node, Output};

fn sorted(mut elements: Vec<Value>) -> Vec<Value> {
    // A stable sort keeps of equal numbers the representation that came first.
    elements.sort_by(mongo_cmp);
    elements.dedup_by(|later, earlier| mongo_cmp(later, earlier).is_eq());
    elements
}

fn array<'a>(argument: &'a Argument<'_>, code: i32, message: impl Fn(&str) -> String) -> Result<&'a [Value]> {
    match argument.as_deref() {
        Some(Value::Array(elements)) => Ok(elements),
        _ => Err(Error::new(code, message(kind(argument)))),
    }
}

fn distinct(elements: &[Value]) -> Vec<&Value> {
    let mut refs: Vec<&Value> = elements.iter().collect();
    refs.sort_by(|a, b| mongo_cmp(a, b));
    refs.dedup_by(|a, b| mongo_cmp(a, b).is_eq());
    refs
}

fn has(set: &[&Value], value: &Value) -> bool {
    set.binary_search_by(|element| mongo_cmp(element, value)).is_ok()
}

/// `$setUnion`.
pub(crate) fn union<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut joined = Vec::new();
    for argument in arguments {
        if is_nullish(&argument) {
            return null();
        }
        let name = kind(&argument);
        let elements = match argument {
            Some(array) => into_elements(budget, array)?,
            None => None,
        };
        let Some(elements) = elements else {
            return Err(Error::new(
                17043,
                format!("All operands of $setUnion must be arrays. One argument is of type: {name}"),
            ));
        };
        joined.extend(elements);
    }
    give(Value::Array(sorted(joined)))
}

/// `$setIntersection`.
pub(crate) fn intersection<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut common: Option<Vec<&Value>> = None;
    for argument in &arguments {
        if is_nullish(argument) {
            return null();
        }
        let elements = array(argument, 17047, |name| {
            format!("All operands of $setIntersection must be arrays. One argument is of type: {name}")
        })?;
        let set = distinct(elements);
        common = Some(match common {
            None => set,
            Some(common) => common.into_iter().filter(|value| has(&set, value)).collect(),
        });
    }
    let mut made = Vec::new();
    for value in common.unwrap_or_default() {
        made.push(budget.copy(value)?);
    }
    give(Value::Array(made))
}

/// `$setDifference`: what is in the first only, in its order.
pub(crate) fn difference<'a>(budget: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let elements = array(&left, 17048, |name| {
        format!("both operands of $setDifference must be arrays. First argument is of type: {name}")
    })?;
    let others = distinct(array(&right, 17049, |name| {
        format!("both operands of $setDifference must be arrays. Second argument is of type: {name}")
    })?);
    let mut places: Vec<(usize, &Value)> = elements.iter().enumerate().collect();
    places.sort_by(|a, b| mongo_cmp(a.1, b.1).then(a.0.cmp(&b.0)));
    places.dedup_by(|later, earlier| mongo_cmp(later.1, earlier.1).is_eq());
    places.retain(|(_, value)| !has(&others, value));
    places.sort_by_key(|(place, _)| *place);
    let mut made = Vec::with_capacity(places.len());
    for (_, value) in places {
        made.push(budget.copy(value)?);
    }
    give(Value::Array(made))
}

/// Reads `$setEquals`.
pub(crate) fn read_equals(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let nodes = match argument {
        Value::Array(elements) => parser.elements(elements)?,
        single => vec![parser.operand(single)?],
    };
    if nodes.len() < 2 {
        return Err(Error::new(
            17045,
            format!("$setEquals needs at least two arguments had: {}", nodes.len()),
        ));
    }
    Ok(Node::Many(equals, nodes.into()))
}

fn equals<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut sets = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.iter().enumerate() {
        sets.push(distinct(array(argument, 17044, |name| {
            format!("All operands of $setEquals must be arrays. {}-th argument is of type: {name}", index + 1)
        })?));
    }
    give(sets.windows(2).all(|pair| {
        pair[0].len() == pair[1].len()
            && pair[0].iter().zip(&pair[1]).all(|(a, b)| mongo_cmp(a, b) == Ordering::Equal)
    }))
}

/// `$setIsSubset`.
pub(crate) fn is_subset<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    let elements = array(&left, 17046, |name| {
        format!("both operands of $setIsSubset must be arrays. First argument is of type: {name}")
    })?;
    let others = distinct(array(&right, 17042, |name| {
        format!("both operands of $setIsSubset must be arrays. Second argument is of type: {name}")
    })?);
    give(elements.iter().all(|element| has(&others, element)))
}

/// `$anyElementTrue`.
pub(crate) fn any_element_true<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    let elements = array(&argument, 17041, |name| {
        format!("$anyElementTrue's argument must be an array, but is {name}")
    })?;
    give(elements.iter().any(|element| crate::is_truthy(Some(element))))
}

/// `$allElementsTrue`.
pub(crate) fn all_elements_true<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    let elements = array(&argument, 17040, |name| {
        format!("$allElementsTrue's argument must be an array, but is {name}")
    })?;
    give(elements.iter().all(|element| crate::is_truthy(Some(element))))
}
