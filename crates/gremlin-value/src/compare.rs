//! Equality, comparison, equivalence and order of values.
//!
//! Four relations, each for its own steps:
//! * equality (`eq`, `within`): numbers by their worth (`1` equals `1.0`), NaN equals nothing;
//! * comparison (`lt`, `gt`): only inside a family of types; between families and with NaN there is none;
//! * equivalence (`dedup`, `group`): numbers of one type only, NaN is itself; [`Key`] makes it hashable;
//! * order (`order`, `max`, `min`): total, across families.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::number::{self, Number};
use crate::{Map, Path, Tree, Value};

impl Value {
    /// Says whether two values are equal: `1` is `1.0`, null is null, NaN is nothing.
    pub fn equals(&self, other: &Value) -> bool {
        if let (Some(left), Some(right)) = (Number::of(self), Number::of(other)) {
            return number::compare(&left, &right) == Some(Ordering::Equal);
        }
        self.same_by(other, &Value::equals)
    }

    /// Says whether two values are equivalent: `1` is not `1.0`, and NaN is NaN.
    pub fn equivalent(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Double(left), Value::Double(right)) => left == right || (left.is_nan() && right.is_nan()),
            (Value::Float(left), Value::Float(right)) => left == right || (left.is_nan() && right.is_nan()),
            (Value::Byte(left), Value::Byte(right)) => left == right,
            (Value::Int16(left), Value::Int16(right)) => left == right,
            (Value::Int32(left), Value::Int32(right)) => left == right,
            (Value::Int64(left), Value::Int64(right)) => left == right,
            (Value::BigInteger(left), Value::BigInteger(right)) => left == right,
            (Value::BigDecimal(left), Value::BigDecimal(right)) => {
                left == right || number::compare_texts(left, right) == Some(Ordering::Equal)
            }
            _ => self.same_by(other, &Value::equivalent),
        }
    }

    /// Compares two values of one family; none between families, with NaN, and for what has no order.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        if let (Some(left), Some(right)) = (Number::of(self), Number::of(other)) {
            return number::compare(&left, &right);
        }
        match (self, other) {
            (Value::List(_), Value::List(_))
            | (Value::Map(_), Value::Map(_))
            | (Value::Path(_), Value::Path(_)) => Some(self.order(other)),
            _ if self.family() == other.family() && !matches!(self, Value::Null) => Some(self.order(other)),
            (Value::Null, Value::Null) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// Orders any two values.
    pub fn order(&self, other: &Value) -> Ordering {
        let family = self.family();
        let by_family = family.cmp(&other.family());
        if by_family != Ordering::Equal {
            return by_family;
        }
        match (self, other) {
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Char(left), Value::Char(right)) => left.cmp(right),
            (Value::String(left), Value::String(right)) => left.cmp(right),
            // A token comes behind the text that is its word.
            (Value::String(left), Value::Token(right)) => left.as_ref().cmp(right.word).then(Ordering::Less),
            (Value::Token(left), Value::String(right)) => {
                left.word.cmp(right.as_ref()).then(Ordering::Greater)
            }
            (Value::Char(left), Value::Token(right)) => {
                (*left.encode_utf8(&mut [0; 4])).cmp(right.word).then(Ordering::Less)
            }
            (Value::Token(left), Value::Char(right)) => {
                left.word.cmp(right.encode_utf8(&mut [0; 4])).then(Ordering::Greater)
            }
            (Value::String(left), Value::Char(right)) => left.as_ref().cmp(right.encode_utf8(&mut [0; 4])),
            (Value::Char(left), Value::String(right)) => (*left.encode_utf8(&mut [0; 4])).cmp(right.as_ref()),
            (Value::Uuid(left), Value::Uuid(right)) => left.cmp(right),
            (Value::Date { milliseconds: left, .. }, Value::Date { milliseconds: right, .. }) => {
                left.cmp(right)
            }
            (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
            (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
            (Value::List(left), Value::List(right)) => order_all(left, right),
            (Value::Set(left), Value::Set(right)) => order_all(&sorted(left), &sorted(right)),
            (Value::BulkSet(left), Value::BulkSet(right)) => order_all(&expanded(left), &expanded(right)),
            (Value::Map(left), Value::Map(right)) => order_maps(left, right),
            (Value::Metrics(left), Value::Metrics(right)) => order_maps(left, right),
            (Value::Entry(left), Value::Entry(right)) => {
                left.0.order(&right.0).then_with(|| left.1.order(&right.1))
            }
            (Value::Vertex(left), Value::Vertex(right)) => left.id.order(&right.id),
            (Value::Edge(left), Value::Edge(right)) => left.id.order(&right.id),
            (Value::VertexProperty(left), Value::VertexProperty(right)) => left.id.order(&right.id),
            (Value::Property(left), Value::Property(right)) => {
                left.key.cmp(&right.key).then_with(|| left.value.order(&right.value))
            }
            (Value::Path(left), Value::Path(right)) => order_all(&left.objects, &right.objects),
            (Value::Tree(left), Value::Tree(right)) => order_trees(left, right),
            (Value::Token(left), Value::Token(right)) => {
                (left.word, left.kind.name()).cmp(&(right.word, right.kind.name()))
            }
            (Value::Strategy { name: left, .. }, Value::Strategy { name: right, .. }) => left.cmp(right),
            _ => match (Number::of(self), Number::of(other)) {
                (Some(left), Some(right)) => number::order(&left, &right),
                _ => Ordering::Equal,
            },
        }
    }

    /// The place of its family in the order of all values.
    fn family(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Byte(_)
            | Value::Int16(_)
            | Value::Int32(_)
            | Value::Int64(_)
            | Value::BigInteger(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::BigDecimal(_) => 2,
            Value::Date { .. } => 3,
            // Keys of maps are texts and tokens, which order among each other.
            Value::String(_) | Value::Char(_) | Value::Token(_) => 4,
            Value::Uuid(_) => 5,
            Value::Vertex(_) => 6,
            Value::Edge(_) => 7,
            Value::VertexProperty(_) => 8,
            Value::Property(_) => 9,
            Value::Path(_) => 10,
            Value::Set(_) => 11,
            Value::List(_) => 12,
            Value::BulkSet(_) => 13,
            Value::Map(_) => 14,
            Value::Entry(_) => 15,
            Value::Tree(_) => 16,
            Value::Duration(_) => 17,
            Value::Bytes(_) => 18,
            Value::Metrics(_) => 20,
            Value::Predicate(_) => 21,
            Value::Traversal(_) => 22,
            Value::Strategy { .. } => 23,
        }
    }

    /// Says whether two values that are no numbers are the same, where their parts are compared by the function.
    fn same_by(&self, other: &Value, same: &dyn Fn(&Value, &Value) -> bool) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Char(_) | Value::String(_), Value::Char(_) | Value::String(_))
            | (Value::Uuid(_), Value::Uuid(_))
            | (Value::Date { .. }, Value::Date { .. })
            | (Value::Duration(_), Value::Duration(_))
            | (Value::Bytes(_), Value::Bytes(_))
            | (Value::Token(_), Value::Token(_)) => self.order(other) == Ordering::Equal,
            (Value::List(left), Value::List(right)) => all_same(left, right, same),
            (Value::Set(left), Value::Set(right)) => {
                left.len() == right.len()
                    && left.iter().all(|item| right.iter().any(|other| same(item, other)))
            }
            (Value::BulkSet(left), Value::BulkSet(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(item, bulk)| {
                        right.iter().any(|(other, other_bulk)| bulk == other_bulk && same(item, other))
                    })
            }
            (Value::Map(left), Value::Map(right)) => {
                left.entries.len() == right.entries.len()
                    && left.entries.iter().all(|(key, value)| {
                        right
                            .entries
                            .iter()
                            .any(|(other_key, other)| same(key, other_key) && same(value, other))
                    })
            }
            (Value::Entry(left), Value::Entry(right)) => same(&left.0, &right.0) && same(&left.1, &right.1),
            // Elements are the same by id; a partition tells two of the same id apart.
            (Value::Vertex(left), Value::Vertex(right)) => {
                left.id.equivalent(&right.id)
                    && same_partition(left.partition.as_ref(), right.partition.as_ref())
            }
            (Value::Edge(left), Value::Edge(right)) => {
                left.id.equivalent(&right.id)
                    && same_partition(left.partition.as_ref(), right.partition.as_ref())
            }
            (Value::VertexProperty(left), Value::VertexProperty(right)) => {
                left.id.equivalent(&right.id) && left.key == right.key
            }
            (Value::Property(left), Value::Property(right)) => {
                left.key == right.key && same(&left.value, &right.value)
            }
            (Value::Path(left), Value::Path(right)) => {
                all_same(&left.objects, &right.objects, same)
                    && left.labels.len() == right.labels.len()
                    && left.labels.iter().zip(&right.labels).all(|(left, right)| {
                        left.len() == right.len() && left.iter().all(|label| right.contains(label))
                    })
            }
            (Value::Tree(left), Value::Tree(right)) => order_trees(left, right) == Ordering::Equal,
            _ => false,
        }
    }
}

fn same_partition(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left.equals(right),
        _ => true,
    }
}

fn all_same(left: &[Value], right: &[Value], same: &dyn Fn(&Value, &Value) -> bool) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
}

fn order_all(left: &[Value], right: &[Value]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = left.order(right);
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

fn sorted(values: &[Value]) -> Vec<Value> {
    let mut values = values.to_vec();
    values.sort_by(Value::order);
    values
}

fn expanded(values: &[(Value, u64)]) -> Vec<Value> {
    let mut values = values.to_vec();
    values.sort_by(|left, right| left.0.order(&right.0));
    values.into_iter().flat_map(|(value, bulk)| [value, Value::Int64(bulk as i64)]).collect()
}

fn order_maps(left: &Map, right: &Map) -> Ordering {
    let flat = |map: &Map| {
        let mut entries = map.entries.clone();
        entries.sort_by(|left, right| left.0.order(&right.0).then_with(|| left.1.order(&right.1)));
        entries.into_iter().flat_map(|(key, value)| [key, value]).collect::<Vec<_>>()
    };
    order_all(&flat(left), &flat(right))
}

fn order_trees(left: &Tree, right: &Tree) -> Ordering {
    let sorted = |tree: &Tree| {
        let mut branches = tree.branches.clone();
        branches.sort_by(|left, right| left.key.order(&right.key));
        branches
    };
    let (left, right) = (sorted(left), sorted(right));
    for (left, right) in left.iter().zip(&right) {
        let order = left.key.order(&right.key).then_with(|| order_trees(&left.below, &right.below));
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

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
        Value::Byte(value) => value.hash(state),
        Value::Int16(value) => value.hash(state),
        Value::Int32(value) => value.hash(state),
        Value::Int64(value) => value.hash(state),
        Value::BigInteger(value) => value.hash(state),
        Value::Float(value) => hash_float(f64::from(*value), state),
        Value::Double(value) => hash_float(*value, state),
        // Texts of one worth differ (1.0, 1.00), so that only the family can be hashed.
        Value::BigDecimal(_) => state.write_u8(1),
        Value::Char(value) => value.encode_utf8(&mut [0; 4]).hash(state),
        Value::String(value) => value.as_ref().hash(state),
        Value::Uuid(value) => value.hash(state),
        Value::Date { milliseconds, .. } => milliseconds.hash(state),
        Value::Duration(value) => value.hash(state),
        Value::Bytes(value) => value.hash(state),
        Value::List(values) => values.iter().for_each(|value| hash_value(value, state)),
        // Sets and maps are the same in any order.
        Value::Set(values) => values.len().hash(state),
        Value::BulkSet(values) => values.len().hash(state),
        Value::Map(map) => map.entries.len().hash(state),
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
        Value::Path(path) => hash_path(path, state),
        Value::Tree(tree) => tree.branches.len().hash(state),
        Value::Token(token) => token.hash(state),
        Value::Metrics(_) | Value::Predicate(_) | Value::Traversal(_) | Value::Strategy { .. } => {
            state.write_u8(2)
        }
    }
}

fn hash_float<H: Hasher>(value: f64, state: &mut H) {
    // Zero has two patterns of bits, and NaN many.
    let value = if value == 0.0 {
        0.0
    } else if value.is_nan() {
        f64::NAN
    } else {
        value
    };
    value.to_bits().hash(state);
}

fn hash_path<H: Hasher>(path: &Path, state: &mut H) {
    path.objects.iter().for_each(|value| hash_value(value, state));
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
