//! Canonical Extended JSON: the objects that stand for scalars which JSON lacks.
//!
//! Only the exact shapes that `write` writes are recognised (and the number wrappers of the canonical form);
//! an object with one member more, or a digit less, stays an object.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::read::parse;
use super::write::{write, write_scalar, write_typed_scalar};
use crate::decimal::Decimal;
use crate::value::{Legacy, Object, Value};

/// Returns the object as which a scalar shows in JSON, if it is one that JSON lacks.
pub fn extended_object(value: &Value) -> Option<Object> {
    if matches!(value, Value::Array(_) | Value::Object(_)) {
        return None;
    }
    let mut text = Vec::new();
    write_scalar(value, &mut text);
    match parse(&text).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Turns every wrapper inside a value into its scalar.
pub(crate) fn recognise(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.into_iter().map(recognise).collect()),
        Value::Object(object) => match scalar(&object) {
            Some(scalar) => scalar,
            None => Value::Object(object.into_iter().map(|(name, value)| (name, recognise(value))).collect()),
        },
        scalar => scalar,
    }
}

/// Turns every wrapper inside a value into its scalar, and every other integer that fits into one of 32 bits.
///
/// Inside a scope plain integers have 64 bits: there the others are written as wrappers.
pub(crate) fn recognise_typed(value: Value) -> Value {
    match value {
        Value::Int64(number) => i32::try_from(number).map_or(value, Value::Int32),
        Value::Array(elements) => Value::Array(elements.into_iter().map(recognise_typed).collect()),
        Value::Object(object) => match scalar(&object) {
            Some(scalar) => scalar,
            None => Value::Object(
                object.into_iter().map(|(name, value)| (name, recognise_typed(value))).collect(),
            ),
        },
        scalar => scalar,
    }
}

/// Reads the text of a wrapper as `write` writes it: what is spelled otherwise inside a scope stays an object there,
/// so that writing the value again gives the same text, whatever objects a scope has.
pub(crate) fn parse_written(text: &[u8]) -> Option<Value> {
    match parse(text).ok()? {
        Value::Object(object) => scalar_with(&object, recognise_written),
        _ => None,
    }
}

fn recognise_written(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.into_iter().map(recognise_written).collect()),
        Value::Object(object) => match written_scalar(&object) {
            Some(scalar) => scalar,
            None => Value::Object(
                object.into_iter().map(|(name, value)| (name, recognise_written(value))).collect(),
            ),
        },
        scalar => scalar,
    }
}

/// Returns the scalar that an object stands for, if it is written just like that.
fn written_scalar(object: &Object) -> Option<Value> {
    if let Some(names) = object.contains("$scope").then(|| object.iter().map(|(name, _)| name)) {
        // Decided before what is inside is read, and so once at every level: what is inside is written as it was.
        return if names.eq(["$code", "$scope"]) { scalar_with(object, recognise_written) } else { None };
    }
    let scalar = scalar_with(object, recognise_written)?;
    let (mut as_scalar, mut as_object) = (Vec::new(), Vec::new());
    write_typed_scalar(&scalar, &mut as_scalar);
    write(&Value::Object(object.clone()), &mut as_object);
    (as_scalar == as_object).then_some(scalar)
}

/// Returns the scalar that an object stands for.
pub fn scalar(object: &Object) -> Option<Value> {
    scalar_with(object, recognise)
}

/// Returns the scalar that an object stands for; `inside` reads the values of a scope.
fn scalar_with(object: &Object, inside: fn(Value) -> Value) -> Option<Value> {
    if let Some((code, scope)) = pair(object, "$code", "$scope") {
        // Both are looked at before the scope is read, so that nothing is read twice for nothing.
        let (code, scope) = (code.as_str()?.to_owned(), scope.as_object()?);
        let scope = scope.iter().map(|(name, value)| (name, inside(value.clone()))).collect();
        return Some(Legacy::CodeWithScope { code, scope }.into());
    }
    let (name, body) = single(object)?;
    match name {
        "$oid" => object_id(body.as_str()?),
        "$date" => match single(body.as_object()?)? {
            ("$numberLong", ms) => Some(Value::Date(integer(ms.as_str()?)?)),
            _ => None,
        },
        "$numberInt" => Some(Value::Int32(i32::try_from(integer(body.as_str()?)?).ok()?)),
        "$numberLong" => Some(Value::Int64(integer(body.as_str()?)?)),
        "$numberDouble" => double(body.as_str()?),
        "$numberDecimal" => Some(Value::Decimal128(body.as_str()?.parse::<Decimal>().ok()?.to_bytes())),
        "$binary" => binary(body.as_object()?),
        "$timestamp" => {
            let (seconds, increment) = pair(body.as_object()?, "t", "i")?;
            Some(Value::Timestamp { seconds: unsigned(seconds)?, increment: unsigned(increment)? })
        }
        "$regularExpression" => {
            let (pattern, options) = pair(body.as_object()?, "pattern", "options")?;
            Some(Value::Regex { pattern: pattern.as_str()?.into(), options: options.as_str()?.into() })
        }
        "$minKey" => (*body == Value::Int64(1)).then_some(Value::MinKey),
        "$maxKey" => (*body == Value::Int64(1)).then_some(Value::MaxKey),
        "$undefined" => (*body == Value::Bool(true)).then(|| Legacy::Undefined.into()),
        "$code" => Some(Legacy::Code(body.as_str()?.to_owned()).into()),
        "$symbol" => Some(Legacy::Symbol(body.as_str()?.to_owned()).into()),
        "$dbPointer" => {
            let (namespace, id) = pair(body.as_object()?, "$ref", "$id")?;
            let Some(("$oid", id)) = single(id.as_object()?) else { return None };
            let Value::ObjectId(id) = object_id(id.as_str()?)? else { return None };
            Some(Legacy::DbPointer { namespace: namespace.as_str()?.to_owned(), id }.into())
        }
        _ => None,
    }
}

fn single(object: &Object) -> Option<(&str, &Value)> {
    if object.len() == 1 { object.iter().next() } else { None }
}

fn pair<'a>(object: &'a Object, first: &str, second: &str) -> Option<(&'a Value, &'a Value)> {
    if object.len() == 2 { Some((object.get(first)?, object.get(second)?)) } else { None }
}

fn object_id(hex: &str) -> Option<Value> {
    if hex.len() != 24 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 12];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(Value::ObjectId(bytes))
}

fn integer(text: &str) -> Option<i64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn double(text: &str) -> Option<Value> {
    let number = match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust reads more spellings than JSON does: only what JSON calls a number is one.
        _ if matches!(parse(text.as_bytes()), Ok(Value::Int64(_) | Value::Double(_))) => text.parse().ok()?,
        _ => return None,
    };
    Some(Value::Double(number))
}

fn binary(body: &Object) -> Option<Value> {
    let (base64, subtype) = pair(body, "base64", "subType")?;
    let subtype = subtype.as_str()?;
    if !(1..=2).contains(&subtype.len()) || !subtype.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some(Value::Binary {
        subtype: u8::from_str_radix(subtype, 16).ok()?,
        bytes: STANDARD.decode(base64.as_str()?).ok()?,
    })
}

fn unsigned(value: &Value) -> Option<u32> {
    match value {
        Value::Int64(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}
