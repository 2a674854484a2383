//! What things take in memory: estimates that count what the allocator adds.

use armilla_value::{Component, Legacy, PartitionKey, Value};

/// Returns what bytes take that are allocated by themselves.
pub(crate) fn heap(bytes: usize) -> usize {
    // Classes of sizes are an eighth apart, and small ones 16 bytes.
    if bytes == 0 { 0 } else { (bytes + bytes / 8).next_multiple_of(16) }
}

/// Returns what an entry of a hash table takes: tables are between seven sixteenths and seven eighths full.
pub(crate) const fn table_entry(bytes: usize) -> usize {
    2 * (bytes + 1)
}

/// Returns what a key has on the heap.
pub(crate) fn key(key: &PartitionKey) -> usize {
    let texts = key.0.iter().map(|component| match component {
        Component::String(text) => heap(text.len()),
        _ => 0,
    });
    heap(key.0.len() * size_of::<Component>()) + texts.sum::<usize>()
}

/// Returns what a value has on the heap.
pub(crate) fn value(value: &Value) -> usize {
    match value {
        Value::String(text) => heap(text.len()),
        Value::Binary { bytes, .. } => heap(bytes.len()),
        Value::Regex { pattern, options } => heap(pattern.len()) + heap(options.len()),
        Value::Legacy(legacy) => heap(size_of::<Legacy>()) + heap(size_of_legacy(legacy)),
        Value::Array(elements) => values(elements),
        Value::Object(object) => {
            let members = object.iter().map(|(name, inner)| heap(name.len()) + self::value(inner));
            heap(object.len() * size_of::<(String, Value)>()) + members.sum::<usize>()
        }
        _ => 0,
    }
}

/// Returns what a list of values has on the heap.
pub(crate) fn values(values: &[Value]) -> usize {
    heap(size_of_val(values)) + values.iter().map(value).sum::<usize>()
}

/// Returns what parameters have on the heap.
pub(crate) fn parameters(parameters: &[(String, Value)]) -> usize {
    let each = parameters.iter().map(|(name, inner)| heap(name.len()) + value(inner));
    heap(size_of_val(parameters)) + each.sum::<usize>()
}

fn size_of_legacy(legacy: &Legacy) -> usize {
    match legacy {
        Legacy::Undefined => 0,
        Legacy::Code(text) | Legacy::Symbol(text) | Legacy::DbPointer { namespace: text, .. } => text.len(),
        Legacy::CodeWithScope { code, scope } => code.len() + value(&Value::Object(scope.clone())),
    }
}
