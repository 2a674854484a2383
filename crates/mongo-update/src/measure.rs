//! How deep values nest and how large they are.

use armilla_value::{Legacy, Object, Value};

/// Returns how many levels of arrays and objects a value has.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => document_depth(object),
        Value::Legacy(legacy) => match &**legacy {
            Legacy::CodeWithScope { scope, .. } => document_depth(scope),
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns how many levels a document has, itself counted.
pub(crate) fn document_depth(document: &Object) -> usize {
    1 + document.iter().map(|(_, value)| depth(value)).max().unwrap_or(0)
}

/// How many bytes of BSON an element has at least besides its value: its type, one digit and a zero.
pub(crate) const ELEMENT_BYTES_MIN: usize = 3;

/// Returns about how many bytes of BSON a value has, never more than it really has.
pub(crate) fn bytes_min(value: &Value) -> usize {
    match value {
        Value::Null | Value::MinKey | Value::MaxKey => 0,
        Value::Bool(_) => 1,
        Value::Int32(_) => 4,
        Value::String(text) => text.len(),
        Value::Binary { bytes, .. } => bytes.len(),
        Value::Array(elements) => elements.iter().map(|element| ELEMENT_BYTES_MIN + bytes_min(element)).sum(),
        Value::Object(object) => object.iter().map(|(name, value)| 2 + name.len() + bytes_min(value)).sum(),
        Value::Regex { pattern, options } => pattern.len() + options.len(),
        Value::Legacy(_) => 0,
        _ => 8,
    }
}
