//! Objects and their members, types, and sizes as BSON.

use std::borrow::Cow;

use armilla_value::{Object, Value, json};

use super::{give, give_count, into_elements, is_nullish, kind, named, null, text};
use crate::error::{Error, Result};
use crate::parse::Parser;
use crate::tree::{Argument, Budget, Frame, Node, Output};
use crate::{measure, type_name};

/// Sets members in a list, as joining objects does: what comes later wins, at the place of the first.
fn merge_into(members: &mut Object, other: Object) {
    if members.is_empty() {
        *members = other;
        return;
    }
    if members.len() + other.len() > 32 {
        let joined: Vec<(String, Value)> = std::mem::take(members).into_iter().chain(other).collect();
        *members = Object::from(joined);
        return;
    }
    for (name, value) in other {
        members.insert(name, value);
    }
}

/// `$mergeObjects`; a single operand that is an array is the list of what is to be joined.
pub(crate) fn merge<'a>(budget: &Budget, mut arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut made = Object::new();
    if arguments.len() == 1
        && let Some(array) = arguments.pop_if(|argument| matches!(argument.as_deref(), Some(Value::Array(_))))
    {
        let elements = match array {
            Some(array) => into_elements(budget, array)?,
            None => None,
        };
        for element in elements.into_iter().flatten() {
            merge_value(&mut made, element)?;
        }
    }
    for argument in arguments.into_iter().flatten() {
        merge_value(&mut made, budget.own(argument)?)?;
    }
    give(made)
}

/// Joins a value that must be an object, or null, to an object.
pub(crate) fn merge_value(made: &mut Object, value: Value) -> Result<()> {
    match value {
        value if crate::is_nullish(Some(&value)) => Ok(()),
        Value::Object(object) => {
            merge_into(made, object);
            Ok(())
        }
        other => Err(Error::new(
            40400,
            format!(
                "$mergeObjects requires object inputs, but input {} is of type {}",
                json::to_string(&other),
                type_name(&other)
            ),
        )),
    }
}

/// `$objectToArray`.
pub(crate) fn to_array<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    if is_nullish(&argument) {
        return null();
    }
    let Some(Value::Object(object)) = argument.as_deref() else {
        return Err(Error::new(
            40390,
            format!("$objectToArray requires a document input, found: {}", kind(&argument)),
        ));
    };
    let mut pairs = Vec::with_capacity(object.len());
    for (name, value) in object.iter() {
        budget.charge(4 * std::mem::size_of::<Value>() + name.len())?;
        let pair = vec![("k".to_owned(), Value::from(name)), ("v".to_owned(), budget.copy(value)?)];
        pairs.push(Value::Object(Object::from(pair)));
    }
    give(Value::Array(pairs))
}

/// `$arrayToObject`: of pairs as arrays, or as objects with `k` and `v`.
pub(crate) fn from_array<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    if is_nullish(&argument) {
        return null();
    }
    let Some(Value::Array(elements)) = argument.as_deref() else {
        return Err(Error::new(
            40386,
            format!("$arrayToObject requires an array input, found: {}", kind(&argument)),
        ));
    };
    let mut members = Vec::with_capacity(elements.len());
    let are_pairs = matches!(elements.first(), Some(Value::Array(_)));
    for element in elements {
        let (name, value) = match element {
            Value::Array(pair) if are_pairs => read_pair(pair)?,
            Value::Object(object) if !are_pairs => read_key_value(object)?,
            Value::Array(_) | Value::Object(_) => {
                let (code, first) = if are_pairs { (40391, "Array") } else { (40396, "Object") };
                return Err(inconsistent(code, first, element));
            }
            _ if members.is_empty() => {
                return Err(Error::new(
                    40398,
                    format!("Unrecognised input type format for $arrayToObject: {}", type_name(element)),
                ));
            }
            _ => {
                let (code, first) = if are_pairs { (40391, "Array") } else { (40396, "Object") };
                return Err(inconsistent(code, first, element));
            }
        };
        if name.contains('\0') {
            return Err(Error::new(
                if are_pairs { 4940400 } else { 4940401 },
                "Key field cannot contain an embedded null byte",
            ));
        }
        members.push((name.to_owned(), budget.copy(value)?));
    }
    give(Object::from(members))
}

fn inconsistent(code: i32, first: &str, found: &Value) -> Error {
    Error::new(
        code,
        format!(
            "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. {first} was detected, now found: {}",
            type_name(found)
        ),
    )
}

fn read_pair(pair: &[Value]) -> Result<(&str, &Value)> {
    let [key, value] = pair else {
        return Err(Error::new(
            40397,
            format!("$arrayToObject requires an array of size 2 arrays,found array of size: {}", pair.len()),
        ));
    };
    match key {
        Value::String(name) => Ok((name, value)),
        other => Err(Error::new(
            40395,
            format!(
                "$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: {}",
                type_name(other)
            ),
        )),
    }
}

fn read_key_value(object: &Object) -> Result<(&str, &Value)> {
    if object.len() != 2 {
        return Err(Error::new(
            40392,
            format!(
                "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:{}",
                object.len()
            ),
        ));
    }
    let (Some(key), Some(value)) = (object.get("k"), object.get("v")) else {
        return Err(Error::new(
            40393,
            "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: "
                .to_owned()
                + &json::to_string(&Value::Object(object.clone())),
        ));
    };
    match key {
        Value::String(name) => Ok((name, value)),
        other => Err(Error::new(
            40394,
            format!(
                "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: {}",
                type_name(other)
            ),
        )),
    }
}

/// Reads `$getField`: the name, and the object, which is the current one if not given.
pub(crate) fn read_get_field(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let long_form = match argument {
        Value::Object(object) if object.iter().next().is_some_and(|(own, _)| !own.starts_with('$')) => {
            Some(object)
        }
        Value::Object(object) if object.is_empty() => Some(object),
        _ => None,
    };
    let (field, input) = match long_form {
        None => (parser.operand(argument)?, parser.operand(&Value::from("$$CURRENT"))?),
        Some(object) => {
            if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "field" | "input")) {
                return Err(Error::new(3041701, format!("$getField found an unknown argument: {own}")));
            }
            let field = object
                .get("field")
                .ok_or_else(|| Error::new(3041702, "$getField requires 'field' to be specified"))?;
            let input = object
                .get("input")
                .ok_or_else(|| Error::new(3041703, "$getField requires 'input' to be specified"))?;
            (parser.operand(field)?, parser.operand(input)?)
        }
    };
    match &field {
        Node::Constant(Value::String(_)) => {}
        Node::Constant(other) => {
            return Err(Error::new(
                5654602,
                format!(
                    "$getField requires 'field' to evaluate to type String, but got {}",
                    type_name(other)
                ),
            ));
        }
        Node::Current(_) | Node::Root(_) => {
            return Err(Error::new(
                5654600,
                "$getField requires 'field' to be a constant: a field path is no name; use $literal for a name that begins with a dollar",
            ));
        }
        _ => {}
    }
    Ok(Node::Lazy(get_field, [Some(field), Some(input)].into()))
}

fn get_field<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let field = named(arguments, 0, frame)?;
    let Some(Value::String(name)) = field.as_deref() else {
        return Err(Error::new(
            3041704,
            format!("$getField requires 'field' to evaluate to type String, but got {}", kind(&field)),
        ));
    };
    // The current document is looked into without a copy of it.
    if let Some(Some(Node::Current(None))) = arguments.get(1) {
        return Ok(frame.current.get(name).map(Cow::Borrowed));
    }
    if let Some(Some(Node::Root(None))) = arguments.get(1) {
        return Ok(frame.root.get(name).map(Cow::Borrowed));
    }
    match named(arguments, 1, frame)? {
        None => Ok(None),
        Some(Cow::Borrowed(Value::Object(object))) => Ok(object.get(name).map(Cow::Borrowed)),
        Some(Cow::Owned(Value::Object(mut object))) => Ok(object.remove(name).map(Cow::Owned)),
        Some(value) if value.is_null() => null(),
        Some(_) => Ok(None),
    }
}

/// Reads `$setField`: the name, the object, and the value.
pub(crate) fn read_set_field(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    read_change(parser, name, argument, true)
}

/// Reads `$unsetField`: a `$setField` of what is missing.
pub(crate) fn read_unset_field(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    read_change(parser, name, argument, false)
}

fn read_change(parser: &mut Parser<'_>, name: &str, argument: &Value, has_value: bool) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(4161100, format!("{name} only supports an object as its argument")));
    };
    for (own, _) in object.iter() {
        if !(matches!(own, "field" | "input") || has_value && own == "value") {
            return Err(Error::new(4161101, format!("{name} found an unknown argument: {own}")));
        }
    }
    let required = |own: &str, code| {
        object.get(own).ok_or_else(|| Error::new(code, format!("{name} requires '{own}' to be specified")))
    };
    let field = parser.operand(required("field", 4161102)?)?;
    let value =
        if has_value { Some(parser.operand(required("value", 4161103)?)?) } else { Some(Node::Missing) };
    let input = parser.operand(required("input", 4161109)?)?;
    match &field {
        Node::Constant(Value::String(_)) => {}
        Node::Constant(other) => {
            return Err(Error::new(
                4161107,
                format!("{name} requires 'field' to evaluate to type String, but got {}", type_name(other)),
            ));
        }
        Node::Current(_) => {
            return Err(Error::new(
                4161108,
                format!(
                    "{name} requires 'field' not to be a field path reference; use $literal for a name that begins with a dollar"
                ),
            ));
        }
        _ => {
            return Err(Error::new(
                4161106,
                format!("{name} requires 'field' to evaluate to a constant, but got a non-constant argument"),
            ));
        }
    }
    Ok(Node::Lazy(set_field, [Some(field), Some(input), value].into()))
}

fn set_field<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let (field, input) = (named(arguments, 0, frame)?, named(arguments, 1, frame)?);
    let value = named(arguments, 2, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let (Some(Value::String(name)), Some(input)) = (field.as_deref(), input) else { return null() };
    let mut object = match frame.budget.own(input)? {
        Value::Object(object) => object,
        other => {
            return Err(Error::new(
                4161105,
                format!(
                    "$setField requires 'input' to evaluate to type Object, but got {}",
                    type_name(&other)
                ),
            ));
        }
    };
    match value {
        Some(value) => {
            object.insert(name.as_str(), frame.budget.own(value)?);
        }
        None => {
            object.remove(name);
        }
    }
    give(object)
}

/// `$bsonSize`.
pub(crate) fn bson_size<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Object(object)) => give_count(measure::bson_bytes(object)),
        Some(_) => {
            Err(Error::new(31393, format!("$bsonSize requires a document input, found: {}", kind(&argument))))
        }
    }
}

/// `$binarySize`.
pub(crate) fn binary_size<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::String(text)) => give_count(text.len()),
        Some(Value::Binary { bytes, .. }) => give_count(bytes.len()),
        Some(_) => Err(Error::new(
            51276,
            format!("$binarySize requires a string or BinData argument, found: {}", kind(&argument)),
        )),
    }
}

/// `$type`.
pub(crate) fn type_of<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    match arguments {
        [Some(node)] => give(kind(&node.evaluate(frame)?)),
        _ => Ok(None),
    }
}

/// `$isNumber`.
pub(crate) fn is_number<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    give(argument.as_deref().is_some_and(crate::is_number))
}

/// `$tsSecond`.
pub(crate) fn timestamp_second<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Timestamp { seconds, .. }) => give(Value::Int64(i64::from(*seconds))),
        Some(_) => Err(Error::new(
            5687301,
            format!("Argument to $tsSecond must be a timestamp, but is {}", text(&argument)),
        )),
    }
}

/// `$tsIncrement`.
pub(crate) fn timestamp_increment<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Timestamp { increment, .. }) => give(Value::Int64(i64::from(*increment))),
        Some(_) => Err(Error::new(
            5687302,
            format!("Argument to $tsIncrement must be a timestamp, but is {}", text(&argument)),
        )),
    }
}
