//! What depends on order inside arrays: `$sortArray`, and the first, last, highest and lowest few.

use std::borrow::Cow;
use std::cmp::Ordering;

use armilla_value::{Object, Value, mongo_cmp};

use super::logic::order;
use super::{give, into_elements, is_nullish, kind, named, null, text};
use crate::arithmetic::integral;
use crate::error::{Error, Result};
use crate::parse::{Named, Parser};
use crate::path::Path;
use crate::tree::{Argument, Frame, Node, Output};
use crate::type_name;

/// An order by members of objects, or by the values themselves.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// By the values; downwards if true.
    Values(bool),
    /// By paths; downwards where true.
    Members(Vec<(Path, bool)>),
}

impl Order {
    /// Reads an order: 1, -1, or an object of paths.
    pub(crate) fn parse(value: &Value) -> Result<Order> {
        match value {
            Value::Object(object) => {
                let mut members = Vec::with_capacity(object.len());
                for (path, direction) in object.iter() {
                    members.push((Path::parse(path)?, is_downwards(direction)?));
                }
                if members.is_empty() {
                    return Err(Error::new(15976, "$sort stage must have at least one sort key"));
                }
                Ok(Order::Members(members))
            }
            other => Ok(Order::Values(is_downwards(other)?)),
        }
    }

    /// Compares two values.
    pub(crate) fn compare(&self, left: &Value, right: &Value) -> Ordering {
        match self {
            Order::Values(downwards) => turned(mongo_cmp(left, right), *downwards),
            Order::Members(members) => members
                .iter()
                .map(|(path, downwards)| {
                    let (a, b) = (path.get_in(left), path.get_in(right));
                    let (a, b) = (member_key(a.as_deref(), *downwards), member_key(b.as_deref(), *downwards));
                    turned(order(a, b), *downwards)
                })
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal),
        }
    }

    /// Returns the keys of a document.
    pub(crate) fn keys(&self, document: &Object) -> Vec<Option<Value>> {
        match self {
            Order::Values(_) => Vec::new(),
            Order::Members(members) => members
                .iter()
                .map(|(path, downwards)| member_key(path.get(document).as_deref(), *downwards).cloned())
                .collect(),
        }
    }

    /// Compares the keys of two documents.
    pub(crate) fn compare_keys(&self, left: &[Option<Value>], right: &[Option<Value>]) -> Ordering {
        let Order::Members(members) = self else { return Ordering::Equal };
        let pairs = members.iter().zip(left.iter().zip(right));
        pairs
            .map(|((_, downwards), (a, b))| turned(order(a.as_ref(), b.as_ref()), *downwards))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

/// Returns what counts of a member in an order: null if missing, of an array the lowest element or the highest, and
/// nothing at all, which is below null, of an empty one.
fn member_key(value: Option<&Value>, downwards: bool) -> Option<&Value> {
    match value {
        Some(Value::Array(elements)) if downwards => elements.iter().max_by(|a, b| mongo_cmp(a, b)),
        Some(Value::Array(elements)) => elements.iter().min_by(|a, b| mongo_cmp(a, b)),
        Some(value) => Some(value),
        None => Some(&Value::Null),
    }
}

fn turned(order: Ordering, downwards: bool) -> Ordering {
    if downwards { order.reverse() } else { order }
}

fn is_downwards(direction: &Value) -> Result<bool> {
    match integral(direction) {
        Some(1) => Ok(false),
        Some(-1) => Ok(true),
        _ => Err(Error::new(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")),
    }
}

/// Reads `$sortArray`; the order is kept as a constant that was checked.
pub(crate) fn read_sort_array(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(
            2942500,
            format!("$sortArray requires an object as an argument, found: {}", type_name(argument)),
        ));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "input" | "sortBy")) {
        return Err(Error::new(2942501, format!("$sortArray found an unknown argument: {own}")));
    }
    let input = object
        .get("input")
        .ok_or_else(|| Error::new(2942502, "$sortArray requires 'input' to be specified"))?;
    let sort_by = object
        .get("sortBy")
        .ok_or_else(|| Error::new(2942503, "$sortArray requires 'sortBy' to be specified"))?;
    Order::parse(sort_by)?;
    Ok(Node::Lazy(sort_array, [Some(parser.operand(input)?), Some(Node::Constant(sort_by.clone()))].into()))
}

fn sort_array<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let name = kind(&input);
    let order = match arguments.get(1) {
        Some(Some(Node::Constant(value))) => Order::parse(value)?,
        _ => return Ok(None),
    };
    let elements = match input {
        Some(array) => into_elements(frame.budget, array)?,
        None => None,
    };
    let Some(mut elements) = elements else {
        return Err(Error::new(
            2942504,
            format!("The input argument to $sortArray must be an array, but was of type: {name}"),
        ));
    };
    elements.sort_by(|a, b| order.compare(a, b));
    give(Value::Array(elements))
}

/// What `$firstN` and its like take.
pub(crate) const COUNTED: Named = Named {
    names: &["input", "n"],
    required: &[(1, 5787906), (0, 5787907)],
    not_object: 5787900,
    unknown: 5787901,
};

/// Returns the number of values that are asked for.
pub(crate) fn count(argument: &Argument<'_>) -> Result<usize> {
    let Some(value) = argument.as_deref().filter(|value| crate::is_number(value)) else {
        return Err(Error::new(
            5787902,
            format!("Value for 'n' must be of integral type, but found {}", text(argument)),
        ));
    };
    let Some(number) = integral(value) else {
        return Err(Error::new(
            5787903,
            format!("Value for 'n' must be of integral type, but found {}", text(argument)),
        ));
    };
    match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Error::new(5787908, format!("'n' must be greater than 0, found {number}"))),
    }
}

fn counted<'a>(
    name: &str,
    arguments: &'a [Option<Node>],
    frame: &Frame<'a, '_>,
    choose: fn(&[Value], usize) -> Vec<&Value>,
) -> Output<'a> {
    let count = count(&named(arguments, 1, frame)?)?;
    let input = named(arguments, 0, frame)?;
    let Some(Value::Array(elements)) = input.as_deref() else {
        return Err(Error::new(
            5788200,
            format!("Input must be an array, but {name} found {}", kind(&input)),
        ));
    };
    let mut made = Vec::new();
    for element in choose(elements, count) {
        made.push(frame.budget.copy(element)?);
    }
    Ok(Some(Cow::Owned(Value::Array(made))))
}

/// `$firstN`.
pub(crate) fn first_n<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    counted("$firstN", arguments, frame, |elements, count| elements.iter().take(count).collect())
}

/// `$lastN`.
pub(crate) fn last_n<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    counted("$lastN", arguments, frame, |elements, count| {
        elements.iter().skip(elements.len().saturating_sub(count)).collect()
    })
}

/// `$maxN`, without nulls.
pub(crate) fn max_n<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    counted("$maxN", arguments, frame, |elements, count| extremes(elements, count, true))
}

/// `$minN`, without nulls.
pub(crate) fn min_n<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    counted("$minN", arguments, frame, |elements, count| extremes(elements, count, false))
}

fn extremes(elements: &[Value], count: usize, downwards: bool) -> Vec<&Value> {
    let mut known: Vec<&Value> =
        elements.iter().filter(|element| !crate::is_nullish(Some(element))).collect();
    known.sort_by(|a, b| turned(mongo_cmp(a, b), downwards));
    known.truncate(count);
    known
}
