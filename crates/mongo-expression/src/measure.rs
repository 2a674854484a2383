//! How large values are: in memory, as BSON, and in levels.

use armilla_value::{Legacy, Object, Value};

use crate::error::{Error, Result, codes};
use crate::limits::DEPTH_MAX;

const VALUE_BYTES: usize = std::mem::size_of::<Value>();
const NAME_BYTES: usize = std::mem::size_of::<String>();

/// Returns about how much memory a value takes.
pub fn memory_bytes(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Binary { bytes, .. } => bytes.len(),
            Value::Regex { pattern, options } => pattern.len() + options.len(),
            Value::Array(elements) => elements.iter().map(memory_bytes).sum(),
            Value::Object(object) => object_memory_bytes(object),
            Value::Legacy(legacy) => match &**legacy {
                Legacy::Undefined => 0,
                Legacy::Code(text) | Legacy::Symbol(text) => text.len(),
                Legacy::CodeWithScope { code, scope } => code.len() + object_memory_bytes(scope),
                Legacy::DbPointer { namespace, .. } => namespace.len(),
            },
            _ => 0,
        }
}

/// Returns about how much memory the members of an object take.
pub fn object_memory_bytes(object: &Object) -> usize {
    object.iter().map(|(name, value)| NAME_BYTES + name.len() + memory_bytes(value)).sum()
}

/// Returns how many bytes an object takes as BSON.
pub fn bson_bytes(object: &Object) -> usize {
    // The length before, the zero behind, and for each member its type, its name with a zero, and the value.
    5 + object.iter().map(|(name, value)| 2 + name.len() + bson_value_bytes(value)).sum::<usize>()
}

/// Returns how many bytes a value takes as BSON, without its type and name.
pub fn bson_value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::MinKey | Value::MaxKey => 0,
        Value::Bool(_) => 1,
        Value::Int32(_) => 4,
        Value::Int64(_) | Value::Double(_) | Value::Date(_) | Value::Timestamp { .. } => 8,
        Value::Decimal128(_) => 16,
        Value::ObjectId(_) => 12,
        Value::String(text) => 5 + text.len(),
        // The old binary subtype has a second length inside.
        Value::Binary { subtype, bytes } => 5 + bytes.len() + if *subtype == 2 { 4 } else { 0 },
        Value::Regex { pattern, options } => 2 + pattern.len() + options.len(),
        Value::Array(elements) => {
            5 + elements
                .iter()
                .enumerate()
                .map(|(index, element)| {
                    2 + index.checked_ilog10().unwrap_or(0) as usize + 1 + bson_value_bytes(element)
                })
                .sum::<usize>()
        }
        Value::Object(object) => bson_bytes(object),
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Undefined => 0,
            Legacy::Code(text) | Legacy::Symbol(text) => 5 + text.len(),
            Legacy::CodeWithScope { code, scope } => 4 + 5 + code.len() + bson_bytes(scope),
            Legacy::DbPointer { namespace, .. } => 5 + namespace.len() + 12,
        },
    }
}

/// Fails if a value has more levels than allowed.
pub fn check_depth(value: &Value) -> Result<()> {
    if is_within(value, DEPTH_MAX) {
        return Ok(());
    }
    Err(Error::new(codes::OVERFLOW, "cannot nest objects and arrays more than 200 levels deep"))
}

fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(elements) => levels > 0 && elements.iter().all(|element| is_within(element, levels - 1)),
        Value::Object(object) => levels > 0 && object.iter().all(|(_, member)| is_within(member, levels - 1)),
        Value::Legacy(legacy) => match &**legacy {
            Legacy::CodeWithScope { scope, .. } => {
                levels > 0 && scope.iter().all(|(_, member)| is_within(member, levels - 1))
            }
            _ => true,
        },
        _ => true,
    }
}
