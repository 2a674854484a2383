//! Any value as one that JSON text keeps as it is.
//!
//! Scalars of JSON stay what they are. What JSON lacks becomes an object with one member, whose name begins with `$`;
//! an object that has such a name itself becomes a list of its members in one of these.

use armilla_value::{Legacy, Object, Value};

/// Writes a value.
pub(super) fn to_plain(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Int64(_) | Value::String(_) => value.clone(),
        Value::Double(number) if number.is_finite() => value.clone(),
        Value::Double(number) => tagged("$double", hexadecimal(&number.to_bits().to_be_bytes())),
        Value::Int32(number) => tagged("$int", *number),
        Value::Decimal128(bytes) => tagged("$decimal", hexadecimal(bytes)),
        Value::ObjectId(bytes) => tagged("$id", hexadecimal(bytes)),
        Value::Date(ms) => tagged("$date", *ms),
        Value::Binary { subtype, bytes } => {
            tagged("$binary", vec![Value::from(u32::from(*subtype)), Value::from(hexadecimal(bytes))])
        }
        Value::Timestamp { seconds, increment } => {
            tagged("$timestamp", vec![Value::from(*seconds), Value::from(*increment)])
        }
        Value::Regex { pattern, options } => {
            tagged("$regex", vec![Value::from(&**pattern), Value::from(&**options)])
        }
        Value::MinKey => tagged("$bound", "least"),
        Value::MaxKey => tagged("$bound", "greatest"),
        Value::Legacy(legacy) => of_legacy(legacy),
        Value::Array(elements) => Value::Array(elements.iter().map(to_plain).collect()),
        Value::Object(object) if object.iter().any(|(name, _)| name.starts_with('$')) => {
            tagged("$object", of_members(object))
        }
        Value::Object(object) => {
            object.iter().map(|(name, inner)| (name, to_plain(inner))).collect::<Object>().into()
        }
    }
}

fn of_legacy(legacy: &Legacy) -> Value {
    match legacy {
        Legacy::Undefined => tagged("$undefined", true),
        Legacy::Code(code) => tagged("$code", code.as_str()),
        Legacy::CodeWithScope { code, scope } => {
            tagged("$code", vec![Value::from(code.as_str()), of_members(scope)])
        }
        Legacy::Symbol(text) => tagged("$symbol", text.as_str()),
        Legacy::DbPointer { namespace, id } => {
            tagged("$pointer", vec![Value::from(namespace.as_str()), Value::from(hexadecimal(id))])
        }
    }
}

fn of_members(object: &Object) -> Value {
    let member = |(name, inner): (&str, &Value)| Value::from(vec![Value::from(name), to_plain(inner)]);
    Value::Array(object.iter().map(member).collect())
}

fn tagged(name: &str, content: impl Into<Value>) -> Value {
    Value::Object(Object::from([(name, content.into())]))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a value that [`to_plain`] wrote.
pub(super) fn from_plain(value: &Value) -> Result<Value, String> {
    let Value::Object(object) = value else {
        return match value {
            Value::Array(elements) => {
                elements.iter().map(from_plain).collect::<Result<_, _>>().map(Value::Array)
            }
            scalar => Ok(scalar.clone()),
        };
    };
    match object.iter().next() {
        Some((name, content)) if name.starts_with('$') => {
            let read = if object.len() == 1 { from_tagged(name, content)? } else { None };
            read.ok_or_else(|| format!("{name} is no value as it is written here"))
        }
        _ => {
            let members = object.iter().map(|(name, inner)| Ok((name.to_owned(), from_plain(inner)?)));
            Ok(Value::Object(Object::from(members.collect::<Result<Vec<_>, String>>()?)))
        }
    }
}

fn from_tagged(name: &str, content: &Value) -> Result<Option<Value>, String> {
    let texts = || match content.as_array() {
        Some([one, other]) => Some((one.as_str()?, other.as_str()?)),
        _ => None,
    };
    let numbers = || match content.as_array() {
        Some([one, other]) => Some((u32::try_from(one.as_i64()?).ok()?, other)),
        _ => None,
    };
    Ok(match name {
        "$double" => bytes_of(content).map(|bits| Value::Double(f64::from_bits(u64::from_be_bytes(bits)))),
        "$int" => content.as_i64().and_then(|number| i32::try_from(number).ok()).map(Value::Int32),
        "$decimal" => bytes_of(content).map(Value::Decimal128),
        "$id" => bytes_of(content).map(Value::ObjectId),
        "$date" => content.as_i64().map(Value::Date),
        "$binary" => numbers().and_then(|(subtype, bytes)| {
            Some(Value::Binary { subtype: u8::try_from(subtype).ok()?, bytes: from_hexadecimal(bytes)? })
        }),
        "$timestamp" => numbers().and_then(|(seconds, increment)| {
            Some(Value::Timestamp { seconds, increment: u32::try_from(increment.as_i64()?).ok()? })
        }),
        "$regex" => texts()
            .map(|(pattern, options)| Value::Regex { pattern: pattern.into(), options: options.into() }),
        "$bound" => match content.as_str() {
            Some("least") => Some(Value::MinKey),
            Some("greatest") => Some(Value::MaxKey),
            _ => None,
        },
        "$undefined" => content.as_bool().map(|_| Legacy::Undefined.into()),
        "$code" => match content {
            Value::String(code) => Some(Legacy::Code(code.clone()).into()),
            Value::Array(parts) => match parts.as_slice() {
                [Value::String(code), scope] => {
                    let scope = to_members(scope)?;
                    scope.map(|scope| Legacy::CodeWithScope { code: code.clone(), scope }.into())
                }
                _ => None,
            },
            _ => None,
        },
        "$symbol" => content.as_str().map(|text| Legacy::Symbol(text.to_owned()).into()),
        "$pointer" => match content.as_array() {
            Some([Value::String(namespace), id]) => {
                bytes_of(id).map(|id| Legacy::DbPointer { namespace: namespace.clone(), id }.into())
            }
            _ => None,
        },
        "$object" => to_members(content)?.map(Value::Object),
        _ => None,
    })
}

fn to_members(content: &Value) -> Result<Option<Object>, String> {
    let Some(list) = content.as_array() else { return Ok(None) };
    let mut members = Vec::with_capacity(list.len());
    for member in list {
        let Some([Value::String(name), inner]) = member.as_array() else { return Ok(None) };
        members.push((name.clone(), from_plain(inner)?));
    }
    Ok(Some(Object::from(members)))
}

fn bytes_of<const COUNT: usize>(content: &Value) -> Option<[u8; COUNT]> {
    from_hexadecimal(content)?.try_into().ok()
}

fn from_hexadecimal(content: &Value) -> Option<Vec<u8>> {
    let digits = content.as_str()?.as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(16 * digit(*high)? + digit(*low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}
