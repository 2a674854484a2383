//! How deep values nest.

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
