//! Key bytes back to values.

use std::fmt;

use super::escape::unescape;
use super::{END, class, number};
use crate::limits::DEPTH_MAX;
use crate::utf16::restore;
use crate::value::{Legacy, Object, Value};

/// Bytes that are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError {
    /// Bytes before the place where reading stopped.
    pub offset: usize,
}

impl fmt::Display for KeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid key bytes at offset {}", self.offset)
    }
}

impl std::error::Error for KeyError {}

/// Reads the value at the start of a key; returns it and the number of bytes it took.
pub fn decode(key: &[u8]) -> Result<(Value, usize), KeyError> {
    let mut rest = key;
    match decode_value(&mut rest, 1) {
        Some(value) => Ok((value, key.len() - rest.len())),
        None => Err(KeyError { offset: key.len() - rest.len() }),
    }
}

/// Reads the value at the start of a key where it may be undefined.
pub fn decode_option(key: &[u8]) -> Result<(Option<Value>, usize), KeyError> {
    if key.first() == Some(&class::UNDEFINED) {
        return Ok((None, 1));
    }
    decode(key).map(|(value, length)| (Some(value), length))
}

fn decode_value(rest: &mut &[u8], depth: usize) -> Option<Value> {
    let (&first, body) = rest.split_first()?;
    let (value, after) = match first {
        class::NULL => (Value::Null, body),
        class::FALSE => (Value::Bool(false), body),
        class::TRUE => (Value::Bool(true), body),
        class::NUMBER => number::decode(body)?,
        class::STRING => {
            let (text, after) = decode_text(body)?;
            (Value::String(text), after)
        }
        class::ARRAY if depth <= DEPTH_MAX => {
            *rest = body;
            let mut elements = Vec::new();
            while *rest.first()? != END {
                elements.push(decode_value(rest, depth + 1)?);
            }
            (Value::Array(elements), &rest[1..])
        }
        class::OBJECT if depth <= DEPTH_MAX => {
            *rest = body;
            let mut members = Vec::new();
            while *rest.first()? != END {
                let (name, after) = decode_text(rest.strip_prefix(&[class::STRING])?)?;
                *rest = after;
                members.push((name, decode_value(rest, depth + 1)?));
            }
            (Value::Object(Object::from(members)), &rest[1..])
        }
        class::MIN_KEY => (Value::MinKey, body),
        class::MAX_KEY => (Value::MaxKey, body),
        class::BINARY => {
            let (length, body) = body.split_first_chunk()?;
            let (&subtype, body) = body.split_first()?;
            let (bytes, after) = body.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            (Value::Binary { subtype, bytes: bytes.to_vec() }, after)
        }
        class::OBJECT_ID => {
            let (bytes, after) = body.split_first_chunk()?;
            (Value::ObjectId(*bytes), after)
        }
        class::DATE => {
            let (bytes, after) = body.split_first_chunk()?;
            (Value::Date(i64::from_be_bytes(*bytes) ^ i64::MIN), after)
        }
        class::TIMESTAMP => {
            let (seconds, body) = body.split_first_chunk()?;
            let (increment, after) = body.split_first_chunk()?;
            let (seconds, increment) = (u32::from_be_bytes(*seconds), u32::from_be_bytes(*increment));
            (Value::Timestamp { seconds, increment }, after)
        }
        class::REGEX => {
            let (pattern, body) = unescape(body)?;
            let (options, after) = unescape(body)?;
            let (pattern, options) = (String::from_utf8(pattern).ok()?, String::from_utf8(options).ok()?);
            (Value::Regex { pattern: pattern.into(), options: options.into() }, after)
        }
        class::DB_POINTER => {
            let (length, body) = body.split_first_chunk()?;
            let (namespace, body) = body.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            let (id, after) = body.split_first_chunk()?;
            let namespace = String::from_utf8(namespace.to_vec()).ok()?;
            (Legacy::DbPointer { namespace, id: *id }.into(), after)
        }
        class::CODE => {
            let (code, after) = unescape(body)?;
            (Legacy::Code(String::from_utf8(code).ok()?).into(), after)
        }
        class::SYMBOL => {
            let (text, after) = unescape(body)?;
            (Legacy::Symbol(String::from_utf8(text).ok()?).into(), after)
        }
        class::CODE_WITH_SCOPE if depth <= DEPTH_MAX => {
            let (code, after) = unescape(body)?;
            *rest = after;
            let Value::Object(scope) = decode_value(rest, depth + 1)? else { return None };
            (Legacy::CodeWithScope { code: String::from_utf8(code).ok()?, scope }.into(), *rest)
        }
        class::UNDEFINED_VALUE => (Legacy::Undefined.into(), body),
        _ => return None,
    };
    *rest = after;
    Some(value)
}

/// Reads a string, without its class byte.
pub(crate) fn decode_text(key: &[u8]) -> Option<(String, &[u8])> {
    let (mut bytes, after) = unescape(key)?;
    for byte in &mut bytes {
        *byte = restore(*byte);
    }
    Some((String::from_utf8(bytes).ok()?, after))
}
