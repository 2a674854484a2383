//! What goes through arrays with a variable: `$map`, `$filter`, `$reduce`.

use std::borrow::Cow;

use armilla_value::Value;

use super::{give, is_nullish, kind, named, null, small_integer, text};
use crate::error::{Error, Result};
use crate::measure::{check_depth, memory_bytes};
use crate::parse::{Parser, check_variable_name};
use crate::tree::{Frame, Locals, Node, Output};

fn variable(object: &armilla_value::Object, name: &str) -> Result<String> {
    let Some(value) = object.get("as") else { return Ok("this".to_owned()) };
    let Value::String(variable) = value else {
        return Err(Error::new(crate::codes::TYPE_MISMATCH, format!("'as' of {name} must be a string")));
    };
    check_variable_name(variable)?;
    Ok(variable.clone())
}

/// Reads `$map`.
pub(crate) fn read_map(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(16878, "$map only supports an object as its argument"));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "input" | "as" | "in")) {
        return Err(Error::new(16879, format!("Unrecognized parameter to $map: {own}")));
    }
    let input = object.get("input").ok_or_else(|| Error::new(16880, "Missing 'input' parameter to $map"))?;
    let body = object.get("in").ok_or_else(|| Error::new(16882, "Missing 'in' parameter to $map"))?;
    let variable = variable(object, "$map")?;
    let input = parser.operand(input)?;
    let body = parser.within(vec![variable], body)?;
    Ok(Node::Lazy(map, [Some(input), Some(body)].into()))
}

fn map<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let (Some(Value::Array(elements)), Some(Some(body))) = (input.as_deref(), arguments.get(1)) else {
        return Err(Error::new(16883, format!("input to $map must be an array not {}", kind(&input))));
    };
    let mut made = Vec::with_capacity(elements.len());
    for element in elements {
        let values = [Some(Cow::Borrowed(element))];
        let locals = Locals { parent: frame.locals, values: &values };
        frame.budget.step(1)?;
        let before = frame.budget.used();
        let value = frame.budget.own_or_null(body.evaluate(&Frame { locals: Some(&locals), ..*frame })?)?;
        frame.budget.release_to(before);
        frame.budget.charge(memory_bytes(&value))?;
        made.push(value);
    }
    give(Value::Array(made))
}

/// Reads `$filter`.
pub(crate) fn read_filter(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(28646, "$filter only supports an object as its argument"));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "input" | "as" | "cond" | "limit"))
    {
        return Err(Error::new(28647, format!("Unrecognized parameter to $filter: {own}")));
    }
    let input =
        object.get("input").ok_or_else(|| Error::new(28648, "Missing 'input' parameter to $filter"))?;
    let body = object.get("cond").ok_or_else(|| Error::new(28650, "Missing 'cond' parameter to $filter"))?;
    let variable = variable(object, "$filter")?;
    let input = parser.operand(input)?;
    let body = parser.within(vec![variable], body)?;
    let limit = object.get("limit").map(|limit| parser.operand(limit)).transpose()?;
    Ok(Node::Lazy(filter, [Some(input), Some(body), limit].into()))
}

fn filter<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let (Some(Value::Array(elements)), Some(Some(body))) = (input.as_deref(), arguments.get(1)) else {
        return Err(Error::new(28651, format!("input to $filter must be an array not {}", kind(&input))));
    };
    let limit = named(arguments, 2, frame)?;
    let most = match limit.as_deref() {
        None | Some(Value::Null) => usize::MAX,
        Some(value) => match small_integer(value) {
            Some(number) if number > 0 => number as usize,
            Some(number) => {
                return Err(Error::new(327392, format!("$filter: limit must be greater than 0: {number}")));
            }
            None => {
                return Err(Error::new(
                    327391,
                    format!(
                        "$filter: limit must be represented as a 32-bit integral value: {}",
                        text(&limit)
                    ),
                ));
            }
        },
    };
    let mut kept = Vec::new();
    for element in elements {
        if kept.len() >= most {
            break;
        }
        let values = [Some(Cow::Borrowed(element))];
        let locals = Locals { parent: frame.locals, values: &values };
        frame.budget.step(1)?;
        let before = frame.budget.used();
        let is_kept = body.is_truthy(&Frame { locals: Some(&locals), ..*frame })?;
        frame.budget.release_to(before);
        if is_kept {
            kept.push(frame.budget.copy(element)?);
        }
    }
    give(Value::Array(kept))
}

/// Reads `$reduce`.
pub(crate) fn read_reduce(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(
            40075,
            format!("$reduce requires an object as an argument, found: {}", crate::type_name(argument)),
        ));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "input" | "initialValue" | "in")) {
        return Err(Error::new(40076, format!("$reduce found an unknown argument: {own}")));
    }
    let required = |code, own: &str| {
        object.get(own).ok_or_else(|| Error::new(code, format!("$reduce requires '{own}' to be specified")))
    };
    let (input, initial, body) =
        (required(40077, "input")?, required(40078, "initialValue")?, required(40079, "in")?);
    let input = parser.operand(input)?;
    let initial = parser.operand(initial)?;
    let names = vec!["this".to_owned(), "value".to_owned()];
    // Joining arrays one after the other would copy all of what is joined so far at each step.
    if let Some(parts) = appended(body) {
        let parts = parser.within(names, &Value::Array(parts.to_vec()))?;
        return Ok(Node::Lazy(reduce_by_appending, [Some(input), Some(initial), Some(parts)].into()));
    }
    let body = parser.within(names, body)?;
    Ok(Node::Lazy(reduce, [Some(input), Some(initial), Some(body)].into()))
}

/// Returns what is appended if a body is `{$concatArrays: ["$$value", ...]}`.
fn appended(body: &Value) -> Option<&[Value]> {
    let Value::Object(object) = body else { return None };
    match (object.len(), object.get("$concatArrays")?) {
        (1, Value::Array(parts)) => {
            let (first, rest) = parts.split_first()?;
            if first.as_str() == Some("$$value") { Some(rest) } else { None }
        }
        _ => None,
    }
}

fn reduce_by_appending<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let (Some(Value::Array(elements)), Some(Some(parts))) = (input.as_deref(), arguments.get(2)) else {
        return Err(Error::new(
            40080,
            format!("$reduce requires that 'input' be an array, found: {}", text(&input)),
        ));
    };
    let initial = named(arguments, 1, frame)?;
    let Some(initial) = initial else {
        return if elements.is_empty() { Ok(None) } else { null() };
    };
    let mut value = frame.budget.own(initial)?;
    let not_array = |found: &Value| {
        Error::new(28664, format!("$concatArrays only supports arrays, not {}", crate::type_name(found)))
    };
    for element in elements {
        let more = {
            let values = [Some(Cow::Borrowed(element)), Some(Cow::Borrowed(&value))];
            let locals = Locals { parent: frame.locals, values: &values };
            frame.budget.step(1)?;
            frame.budget.own_or_null(parts.evaluate(&Frame { locals: Some(&locals), ..*frame })?)?
        };
        check_depth(&more)?;
        let Value::Array(more) = more else { continue };
        for part in more {
            match (&mut value, part) {
                (Value::Null, _) => {}
                (Value::Array(joined), Value::Array(part)) => joined.extend(part),
                (Value::Array(_), part) if crate::is_nullish(Some(&part)) => value = Value::Null,
                (Value::Array(_), part) => return Err(not_array(&part)),
                (other, _) => return Err(not_array(other)),
            }
        }
        if !matches!(value, Value::Array(_) | Value::Null) {
            return Err(not_array(&value));
        }
    }
    give(value)
}

fn reduce<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let (Some(Value::Array(elements)), Some(Some(body))) = (input.as_deref(), arguments.get(2)) else {
        return Err(Error::new(
            40080,
            format!("$reduce requires that 'input' be an array, found: {}", text(&input)),
        ));
    };
    let mut value = match named(arguments, 1, frame)? {
        Some(value) => Some(frame.budget.own(value)?),
        None => None,
    };
    let before = frame.budget.used();
    for element in elements {
        let values = [Some(Cow::Borrowed(element)), value.as_ref().map(Cow::Borrowed)];
        let locals = Locals { parent: frame.locals, values: &values };
        frame.budget.step(1)?;
        let next = match body.evaluate(&Frame { locals: Some(&locals), ..*frame })? {
            Some(next) => Some(frame.budget.own(next)?),
            None => None,
        };
        // What the step made is gone but for its result, which the next one may wrap once more.
        frame.budget.release_to(before);
        if let Some(made @ (Value::Array(_) | Value::Object(_) | Value::String(_))) = &next {
            check_depth(made)?;
            frame.budget.charge(memory_bytes(made))?;
        }
        value = next;
    }
    Ok(value.map(Cow::Owned))
}
