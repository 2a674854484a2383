//! Values as keys of hash maps.
//!
//! Invariant: what is equivalent hashes alike. What is not should not: a hash that looks at less than equivalence does
//! makes maps of many keys slow, so every part counts, and numbers of different types are apart.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Tree, Value, number};

/// A value as a key of a hash map, by equivalence.
#[derive(Debug, Clone)]
pub struct Key(pub Value);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0.equivalent(&other.0)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_value(&self.0, state);
    }
}

fn hash_value<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Bool(value) => value.hash(state),
        Value::Byte(value) => (1u8, value).hash(state),
        Value::Int16(value) => (2u8, value).hash(state),
        Value::Int32(value) => (3u8, value).hash(state),
        Value::Int64(value) => (4u8, value).hash(state),
        Value::BigInteger(value) => (5u8, value).hash(state),
        Value::Float(value) => hash_float(6, f64::from(*value), state),
        Value::Double(value) => hash_float(7, *value, state),
        Value::BigDecimal(text) => number::decimal_form(text).hash(state),
        Value::Char(value) => value.encode_utf8(&mut [0; 4]).hash(state),
        Value::String(value) => value.as_ref().hash(state),
        Value::Uuid(value) => value.hash(state),
        Value::Date { milliseconds, .. } => milliseconds.hash(state),
        Value::Duration(value) => value.hash(state),
        Value::Bytes(value) => value.hash(state),
        Value::List(values) => {
            (8u8, values.len()).hash(state);
            values.iter().for_each(|value| hash_value(value, state));
        }
        Value::Set(values) => {
            (9u8, values.len()).hash(state);
            in_any_order(values.iter(), state, hash_value);
        }
        Value::BulkSet(values) => {
            (10u8, values.len()).hash(state);
            in_any_order(values.iter(), state, |(value, bulk), state| {
                hash_value(value, state);
                bulk.hash(state);
            });
        }
        Value::Map(map) => {
            (11u8, map.entries.len()).hash(state);
            in_any_order(map.entries.iter(), state, |(key, value), state| {
                hash_value(key, state);
                hash_value(value, state);
            });
        }
        Value::Entry(entry) => {
            hash_value(&entry.0, state);
            hash_value(&entry.1, state);
        }
        Value::Vertex(vertex) => hash_value(&vertex.id, state),
        Value::Edge(edge) => hash_value(&edge.id, state),
        Value::VertexProperty(property) => hash_value(&property.id, state),
        Value::Property(property) => {
            property.key.hash(state);
            hash_value(&property.value, state);
        }
        Value::Path(path) => {
            (12u8, path.objects.len()).hash(state);
            path.objects.iter().for_each(|value| hash_value(value, state));
            for labels in &path.labels {
                in_any_order(labels.iter(), state, |label, state| label.hash(state));
            }
        }
        Value::Tree(tree) => hash_tree(tree, state),
        Value::Token(token) => token.hash(state),
        Value::Metrics(_) | Value::Predicate(_) | Value::Traversal(_) | Value::Strategy { .. } => {
            state.write_u8(2)
        }
    }
}

/// Hashes parts that are the same in any order, by the sum of their own hashes.
fn in_any_order<T, H: Hasher>(
    parts: impl Iterator<Item = T>,
    state: &mut H,
    hash: impl Fn(T, &mut DefaultHasher),
) {
    let mut sum = 0u64;
    for part in parts {
        let mut hasher = DefaultHasher::new();
        hash(part, &mut hasher);
        sum = sum.wrapping_add(hasher.finish());
    }
    state.write_u64(sum);
}

fn hash_tree<H: Hasher>(tree: &Tree, state: &mut H) {
    (13u8, tree.branches.len()).hash(state);
    in_any_order(tree.branches.iter(), state, |branch, state| {
        hash_value(&branch.key, state);
        hash_tree(&branch.below, state);
    });
}

fn hash_float<H: Hasher>(kind: u8, value: f64, state: &mut H) {
    // Zero has two patterns of bits, and NaN many.
    let value = if value == 0.0 {
        0.0
    } else if value.is_nan() {
        f64::NAN
    } else {
        value
    };
    (kind, value.to_bits()).hash(state);
}
