//! Arrays: their size, their elements, joining and cutting them.

use std::borrow::Cow;

use armilla_value::{Value, mongo_cmp};

use super::strings::bounds;
use super::{give, give_count, into_elements, is_nullish, kind, named, null, small_integer, text};
use crate::error::{Error, Result};
use crate::parse::Parser;
use crate::tree::{Argument, Budget, Frame, Node, Output};
use crate::type_name;

/// `$size`.
pub(crate) fn size<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        Some(Value::Array(elements)) => give_count(elements.len()),
        _ => Err(Error::new(
            17124,
            format!("The argument to $size must be an array, but was of type: {}", kind(&argument)),
        )),
    }
}

/// Takes one element out of an array, by copy only where the array is one's own already.
fn pick<'a>(budget: &Budget, array: Cow<'a, Value>, index: usize) -> Output<'a> {
    match array {
        Cow::Borrowed(Value::Array(elements)) => Ok(elements.get(index).map(Cow::Borrowed)),
        owned => {
            let Some(mut elements) = into_elements(budget, owned)? else { return Ok(None) };
            Ok(if index < elements.len() { Some(Cow::Owned(elements.swap_remove(index))) } else { None })
        }
    }
}

/// `$arrayElemAt`: missing beyond the ends.
pub(crate) fn element_at<'a>(budget: &Budget, array: Argument<'a>, index: Argument<'a>) -> Output<'a> {
    if is_nullish(&array) || is_nullish(&index) {
        return null();
    }
    let Some(Value::Array(elements)) = array.as_deref() else {
        return Err(Error::new(
            28689,
            format!("$arrayElemAt's first argument must be an array, but is {}", kind(&array)),
        ));
    };
    let Some(value) = index.as_deref().filter(|value| crate::is_number(value)) else {
        return Err(Error::new(
            28690,
            format!("$arrayElemAt's second argument must be a numeric value, but is {}", kind(&index)),
        ));
    };
    let Some(at) = small_integer(value) else {
        return Err(Error::new(
            28691,
            format!(
                "$arrayElemAt's second argument must be representable as a 32-bit integer: {}",
                text(&index)
            ),
        ));
    };
    let place =
        if at < 0 { elements.len().checked_sub(at.unsigned_abs() as usize) } else { Some(at as usize) };
    match (place, array) {
        (Some(place), Some(array)) => pick(budget, array, place),
        _ => Ok(None),
    }
}

/// `$first`.
pub(crate) fn first<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    end("$first", budget, argument, |_| 0)
}

/// `$last`.
pub(crate) fn last<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    end("$last", budget, argument, |count| count.saturating_sub(1))
}

fn end<'a>(name: &str, budget: &Budget, argument: Argument<'a>, place: fn(usize) -> usize) -> Output<'a> {
    if is_nullish(&argument) {
        return null();
    }
    match argument {
        Some(array) if matches!(*array, Value::Array(_)) => {
            let count = array.as_array().map_or(0, <[Value]>::len);
            pick(budget, array, place(count))
        }
        _ => {
            Err(Error::new(28689, format!("{name}'s argument must be an array, but is {}", kind(&argument))))
        }
    }
}

/// `$slice`.
pub(crate) fn slice<'a>(budget: &Budget, mut arguments: Vec<Argument<'a>>) -> Output<'a> {
    if arguments.iter().any(is_nullish) {
        return null();
    }
    let third = if arguments.len() > 2 { arguments.pop().flatten() } else { None };
    let (second, array) = (arguments.pop().flatten(), arguments.pop().flatten());
    let Some(Value::Array(elements)) = array.as_deref() else {
        return Err(Error::new(
            28724,
            format!("First argument to $slice must be an array, but is of type: {}", kind(&array)),
        ));
    };
    let number = |argument: &Argument<'_>, (not_numeric, not_integral), which: &str| {
        if !argument.as_deref().is_some_and(crate::is_number) {
            return Err(Error::new(
                not_numeric,
                format!(
                    "{which} argument to $slice must be a numeric value, but is of type: {}",
                    kind(argument)
                ),
            ));
        }
        argument.as_deref().and_then(small_integer).ok_or_else(|| {
            Error::new(
                not_integral,
                format!(
                    "{which} argument to $slice can't be represented as a 32-bit integer: {}",
                    text(argument)
                ),
            )
        })
    };
    let count = elements.len();
    let from_end = |number: i32| count.saturating_sub(number.unsigned_abs() as usize);
    let position = number(&second, (28725, 28726), "Second")?;
    let range = if third.is_some() {
        let length = number(&third, (28727, 28728), "Third")?;
        if length <= 0 {
            return Err(Error::new(28729, format!("Third argument to $slice must be positive: {length}")));
        }
        let start = if position < 0 { from_end(position) } else { (position as usize).min(count) };
        start..start.saturating_add(length as usize).min(count)
    } else if position < 0 {
        from_end(position)..count
    } else {
        0..(position as usize).min(count)
    };
    if let Some(Cow::Owned(Value::Array(mut elements))) = array {
        elements.truncate(range.end);
        elements.drain(..range.start);
        return give(Value::Array(elements));
    }
    let mut made = Vec::with_capacity(range.len());
    for element in &elements[range] {
        made.push(budget.copy(element)?);
    }
    give(Value::Array(made))
}

/// `$in`.
pub(crate) fn contains<'a>(_: &Budget, value: Argument<'a>, array: Argument<'a>) -> Output<'a> {
    let Some(Value::Array(elements)) = array.as_deref() else {
        return Err(Error::new(
            40081,
            format!("$in requires an array as a second argument, found: {}", kind(&array)),
        ));
    };
    give(elements.iter().any(|element| super::logic::order(value.as_deref(), Some(element)).is_eq()))
}

/// `$indexOfArray`.
pub(crate) fn index_of<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let [array, value, ..] = &arguments[..] else { return Ok(None) };
    if is_nullish(array) {
        return null();
    }
    let Some(Value::Array(elements)) = array.as_deref() else {
        return Err(Error::new(
            40090,
            format!("$indexOfArray requires an array as a first argument, found: {}", kind(array)),
        ));
    };
    let (start, end) = bounds("$indexOfArray", &arguments, elements.len())?;
    let wanted = value.as_deref();
    let found = elements
        .iter()
        .enumerate()
        .take(end)
        .skip(start)
        .find(|(_, element)| wanted.is_some_and(|wanted| mongo_cmp(wanted, element).is_eq()));
    match found {
        Some((index, _)) => give_count(index),
        None => give(Value::Int32(-1)),
    }
}

/// `$concatArrays`.
pub(crate) fn concat<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut joined = Vec::new();
    for argument in arguments {
        let Some(array) = argument else { return null() };
        if array.is_null() {
            return null();
        }
        let name = type_name(&array);
        let Some(mut elements) = into_elements(budget, array)? else {
            return Err(Error::new(28664, format!("$concatArrays only supports arrays, not {name}")));
        };
        if joined.is_empty() { joined = elements } else { joined.append(&mut elements) }
    }
    give(Value::Array(joined))
}

/// `$isArray`.
pub(crate) fn is_array<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    give(matches!(argument.as_deref(), Some(Value::Array(_))))
}

/// `$range`.
pub(crate) fn range<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let number = |place: usize, (not_numeric, not_integral), which: &str| {
        let argument = &arguments[place];
        if !argument.as_deref().is_some_and(crate::is_number) {
            return Err(Error::new(
                not_numeric,
                format!("$range requires a numeric {which} value, found value of type: {}", kind(argument)),
            ));
        }
        argument.as_deref().and_then(small_integer).map(i64::from).ok_or_else(|| {
            Error::new(
                not_integral,
                format!(
                    "$range requires a {which} value that can be represented as a 32-bit integer, found value: {}",
                    text(argument)
                ),
            )
        })
    };
    let start = number(0, (34443, 34444), "starting")?;
    let end = number(1, (34445, 34446), "ending")?;
    let step = if arguments.len() > 2 { number(2, (34447, 34448), "step")? } else { 1 };
    if step == 0 {
        return Err(Error::new(34449, "$range requires a non-zero step value"));
    }
    let distance = if step > 0 { end - start } else { start - end };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    budget.charge((count as usize).saturating_mul(std::mem::size_of::<Value>()))?;
    give(Value::Array((0..count).map(|index| Value::Int32((start + index * step) as i32)).collect()))
}

/// `$reverseArray`.
pub(crate) fn reverse<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    if is_nullish(&argument) {
        return null();
    }
    let name = kind(&argument);
    let elements = match argument {
        Some(array) => into_elements(budget, array)?,
        None => None,
    };
    let Some(mut elements) = elements else {
        return Err(Error::new(
            34435,
            format!("The argument to $reverseArray must be an array, but was of type: {name}"),
        ));
    };
    elements.reverse();
    give(Value::Array(elements))
}

/// Reads `$zip`: whether the longest counts, then the defaults, then the inputs.
pub(crate) fn read_zip(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(
            34460,
            format!("$zip only supports an object as an argument, found {}", type_name(argument)),
        ));
    };
    let (mut inputs, mut defaults, mut is_longest) = (Vec::new(), None, false);
    for (own, value) in object.iter() {
        match (own, value) {
            ("inputs", Value::Array(elements)) => inputs = parser.elements(elements)?,
            ("inputs", other) => {
                return Err(Error::new(
                    34461,
                    format!("inputs must be an array of expressions, found {}", type_name(other)),
                ));
            }
            ("defaults", Value::Array(elements)) => defaults = Some(parser.elements(elements)?),
            ("defaults", other) => {
                return Err(Error::new(
                    34462,
                    format!("defaults must be an array of expressions, found {}", type_name(other)),
                ));
            }
            ("useLongestLength", Value::Bool(truth)) => is_longest = *truth,
            ("useLongestLength", other) => {
                return Err(Error::new(
                    34463,
                    format!("useLongestLength must be a bool, found {}", type_name(other)),
                ));
            }
            _ => return Err(Error::new(34464, format!("$zip found an unknown argument: {own}"))),
        }
    }
    if inputs.is_empty() {
        return Err(Error::new(34465, "$zip requires at least one input array"));
    }
    if defaults.is_some() && !is_longest {
        return Err(Error::new(34466, "cannot specify defaults unless useLongestLength is true"));
    }
    if defaults.as_ref().is_some_and(|defaults| defaults.len() != inputs.len()) {
        return Err(Error::new(34467, "defaults and inputs must have the same length"));
    }
    let inputs_count = inputs.len();
    let mut nodes = vec![Some(Node::Constant(Value::Bool(is_longest)))];
    nodes.extend(inputs.into_iter().map(Some));
    nodes.extend(defaults.into_iter().flatten().map(Some));
    let function = if nodes.len() > 1 + inputs_count { zip_with_defaults } else { zip };
    Ok(Node::Lazy(function, nodes.into()))
}

fn zip<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    zipped(arguments, arguments.len() - 1, frame)
}

fn zip_with_defaults<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    zipped(arguments, (arguments.len() - 1) / 2, frame)
}

fn zipped<'a>(arguments: &'a [Option<Node>], count: usize, frame: &Frame<'a, '_>) -> Output<'a> {
    let is_longest = crate::is_truthy(named(arguments, 0, frame)?.as_deref());
    let mut inputs = Vec::with_capacity(count);
    for place in 1..=count {
        let input = named(arguments, place, frame)?;
        if is_nullish(&input) {
            return null();
        }
        if !matches!(input.as_deref(), Some(Value::Array(_))) {
            return Err(Error::new(
                34468,
                format!("$zip found a non-array expression in input: {}", text(&input)),
            ));
        }
        inputs.push(input);
    }
    let lengths =
        inputs.iter().map(|input| input.as_deref().and_then(Value::as_array).map_or(0, <[Value]>::len));
    let length = if is_longest { lengths.max() } else { lengths.min() }.unwrap_or(0);
    let mut rows = Vec::new();
    for row in 0..length {
        let mut made = Vec::with_capacity(count);
        frame.budget.charge((count + 1).saturating_mul(std::mem::size_of::<Value>()))?;
        for (column, input) in inputs.iter().enumerate() {
            made.push(
                match input.as_deref().and_then(Value::as_array).and_then(|elements| elements.get(row)) {
                    Some(element) => frame.budget.copy(element)?,
                    None => frame.budget.own_or_null(named(arguments, 1 + count + column, frame)?)?,
                },
            );
        }
        rows.push(Value::Array(made));
    }
    give(Value::Array(rows))
}
