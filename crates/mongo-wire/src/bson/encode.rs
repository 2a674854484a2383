//! A tree of values to BSON bytes.

use armilla_value::{Legacy, Object, Value};

use super::build::{
    finish_document, finish_length, start_document, write_cstring, write_index, write_length, write_string,
};
use super::{BINARY_SUBTYPE_OLD, element_type as t};
use crate::error::WireError;
use crate::limits::WRITE_DEPTH_MAX;

/// Appends a document. On an error nothing is appended.
pub fn encode(object: &Object, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = out.len();
    let result = write_object(object, 1, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Appends one element: its type, its name and its value. On an error nothing is appended.
pub fn encode_value_into(name: &str, value: &Value, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = out.len();
    let result = write_element(name, value, 1, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Returns the number of bytes that a document takes as BSON.
pub fn encoded_bytes(object: &Object) -> usize {
    let members: usize = object.iter().map(|(name, value)| 2 + name.len() + value_bytes(value)).sum();
    5 + members
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::MinKey | Value::MaxKey => 0,
        Value::Bool(_) => 1,
        Value::Int32(_) => 4,
        Value::Int64(_) | Value::Double(_) | Value::Date(_) | Value::Timestamp { .. } => 8,
        Value::ObjectId(_) => 12,
        Value::Decimal128(_) => 16,
        Value::String(text) => 5 + text.len(),
        Value::Binary { subtype, bytes } => {
            5 + bytes.len() + if *subtype == BINARY_SUBTYPE_OLD { 4 } else { 0 }
        }
        Value::Regex { pattern, options } => 2 + pattern.len() + options.len(),
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Undefined => 0,
            Legacy::Code(text) | Legacy::Symbol(text) => 5 + text.len(),
            Legacy::DbPointer { namespace, id } => 5 + namespace.len() + id.len(),
            Legacy::CodeWithScope { code, scope } => 9 + code.len() + encoded_bytes(scope),
        },
        Value::Object(object) => encoded_bytes(object),
        Value::Array(elements) => {
            let members: usize = elements
                .iter()
                .enumerate()
                .map(|(index, element)| 2 + digit_count(index) + value_bytes(element))
                .sum();
            5 + members
        }
    }
}

fn digit_count(index: usize) -> usize {
    index.checked_ilog10().map_or(1, |power| power as usize + 1)
}

/// Returns BSON's number of the type of a value.
pub(crate) fn type_of(value: &Value) -> u8 {
    match value {
        Value::Null => t::NULL,
        Value::Bool(_) => t::BOOL,
        Value::Int32(_) => t::INT32,
        Value::Int64(_) => t::INT64,
        Value::Double(_) => t::DOUBLE,
        Value::Decimal128(_) => t::DECIMAL128,
        Value::String(_) => t::STRING,
        Value::ObjectId(_) => t::OBJECT_ID,
        Value::Date(_) => t::DATE,
        Value::Binary { .. } => t::BINARY,
        Value::Timestamp { .. } => t::TIMESTAMP,
        Value::Regex { .. } => t::REGEX,
        Value::MinKey => t::MIN_KEY,
        Value::MaxKey => t::MAX_KEY,
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Undefined => t::UNDEFINED,
            Legacy::Code(_) => t::JAVASCRIPT,
            Legacy::CodeWithScope { .. } => t::JAVASCRIPT_WITH_SCOPE,
            Legacy::Symbol(_) => t::SYMBOL,
            Legacy::DbPointer { .. } => t::DB_POINTER,
        },
        Value::Array(_) => t::ARRAY,
        Value::Object(_) => t::OBJECT,
    }
}

fn write_object(object: &Object, depth: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    check_depth(depth)?;
    let start = start_document(out);
    for (name, value) in object.iter() {
        write_element(name, value, depth, out)?;
    }
    finish_document(start, out)
}

fn write_element(name: &str, value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    super::build::write_name(type_of(value), name, out)?;
    write_value(value, depth, out)
}

/// Appends the bytes of a value in a document of that depth, without type and name.
pub(crate) fn write_value(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    match value {
        Value::Null | Value::MinKey | Value::MaxKey => {}
        Value::Bool(truth) => out.push(u8::from(*truth)),
        Value::Int32(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Int64(number) | Value::Date(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Decimal128(bytes) => out.extend_from_slice(bytes),
        Value::String(text) => write_string(text, out)?,
        Value::ObjectId(bytes) => out.extend_from_slice(bytes),
        Value::Binary { subtype, bytes } => write_binary(*subtype, bytes, out)?,
        Value::Timestamp { seconds, increment } => {
            out.extend_from_slice(&increment.to_le_bytes());
            out.extend_from_slice(&seconds.to_le_bytes());
        }
        Value::Regex { pattern, options } => {
            write_cstring(pattern, out)?;
            write_cstring(options, out)?;
        }
        Value::Legacy(legacy) => write_legacy(legacy, depth, out)?,
        Value::Array(elements) => {
            check_depth(depth + 1)?;
            let start = start_document(out);
            for (index, element) in elements.iter().enumerate() {
                write_index(type_of(element), index, out);
                write_value(element, depth + 1, out)?;
            }
            finish_document(start, out)?;
        }
        Value::Object(object) => write_object(object, depth + 1, out)?,
    }
    Ok(())
}

fn write_legacy(legacy: &Legacy, depth: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    match legacy {
        Legacy::Undefined => {}
        Legacy::Code(text) | Legacy::Symbol(text) => write_string(text, out)?,
        Legacy::DbPointer { namespace, id } => {
            write_string(namespace, out)?;
            out.extend_from_slice(id);
        }
        Legacy::CodeWithScope { code, scope } => {
            let start = start_document(out);
            write_string(code, out)?;
            write_object(scope, depth + 1, out)?;
            finish_length(start, out)?;
        }
    }
    Ok(())
}

fn write_binary(subtype: u8, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
    if subtype == BINARY_SUBTYPE_OLD {
        write_length(bytes.len() + 4, out)?;
        out.push(subtype);
        write_length(bytes.len(), out)?;
    } else {
        write_length(bytes.len(), out)?;
        out.push(subtype);
    }
    out.extend_from_slice(bytes);
    Ok(())
}

fn check_depth(depth: usize) -> Result<(), WireError> {
    if depth > WRITE_DEPTH_MAX { Err(WireError::too_deep()) } else { Ok(()) }
}
