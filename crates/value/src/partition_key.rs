//! Partition-key values: from items and headers, to headers and key bytes.
//!
//! Components are JSON scalars or undefined. Numbers are doubles and compare by their bits, as the hash does:
//! `-0.0` is another key than `0`. Integers that a double cannot hold share the key of the nearest double. Object ids and
//! dates, which JSON lacks, are the strings of how they are written as JSON.
//!
//! Not here: hashing (`hashed_key`), and checking a key against a container's definition or limits.

use std::fmt;

use crate::json::{self, JsonError};
use crate::key::{self, class};
use crate::property_path::PropertyPath;
use crate::stored::Node;
use crate::value::{Kind, Value};

/// One level of a partition key.
#[derive(Debug, Clone)]
pub enum Component {
    /// The property is missing, or is an object or array.
    Undefined,
    /// JSON null.
    Null,
    /// True or false.
    Bool(bool),
    /// Any number, as a double; equal when the bits are.
    Number(f64),
    /// A string.
    String(String),
}

impl PartialEq for Component {
    fn eq(&self, other: &Component) -> bool {
        match (self, other) {
            (Component::Undefined, Component::Undefined) | (Component::Null, Component::Null) => true,
            (Component::Bool(a), Component::Bool(b)) => a == b,
            (Component::Number(a), Component::Number(b)) => a.to_bits() == b.to_bits(),
            (Component::String(a), Component::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Component {}

impl std::hash::Hash for Component {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Component::Undefined | Component::Null => {}
            Component::Bool(truth) => truth.hash(state),
            Component::Number(number) => number.to_bits().hash(state),
            Component::String(text) => text.hash(state),
        }
    }
}

impl Component {
    /// Returns the component that a value makes; objects, arrays and most of what JSON lacks count as undefined.
    pub fn of(value: &Value) -> Component {
        match value {
            Value::Null => Component::Null,
            Value::Bool(truth) => Component::Bool(*truth),
            Value::String(text) => Component::String(text.clone()),
            Value::ObjectId(_) | Value::Date(_) => Component::String(json::to_string(value)),
            number => number
                .as_f64()
                .or_else(|| crate::number::exact_double(number))
                .map_or(Component::Undefined, Component::Number),
        }
    }

    fn of_node(node: Node<'_>) -> Component {
        match node.kind() {
            Kind::Null => Component::Null,
            Kind::Bool => node.as_bool().map_or(Component::Undefined, Component::Bool),
            Kind::String => {
                node.as_str().map_or(Component::Undefined, |text| Component::String(text.into_owned()))
            }
            Kind::Decimal128 | Kind::ObjectId | Kind::Date => Component::of(&node.to_value()),
            _ => node.as_f64().map_or(Component::Undefined, Component::Number),
        }
    }
}

/// The value of a container's partition-key paths: one component per path, fewer for a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PartitionKey(pub Vec<Component>);

/// Why a text is no partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionKeyError {
    /// The text is not JSON.
    Json(JsonError),
    /// The text is something else than an array.
    NotAnArray,
    /// This component is an array, or an object with members.
    InvalidComponent {
        /// Its place in the array, from 0.
        index: usize,
    },
    /// Key bytes that this crate did not write.
    InvalidBytes,
}

impl fmt::Display for PartitionKeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartitionKeyError::Json(error) => write!(formatter, "partition key: {error}"),
            PartitionKeyError::NotAnArray => formatter.write_str("partition key must be an array"),
            PartitionKeyError::InvalidComponent { index } => {
                write!(formatter, "partition key component {index} must be a scalar or an empty object")
            }
            PartitionKeyError::InvalidBytes => formatter.write_str("invalid partition key bytes"),
        }
    }
}

impl std::error::Error for PartitionKeyError {}

/// Returns the partition key of an item: each path walked through objects alone.
pub fn extract(root: Node<'_>, paths: &[PropertyPath]) -> PartitionKey {
    let component =
        |path: &PropertyPath| root.get_path(path.names()).map_or(Component::Undefined, Component::of_node);
    PartitionKey(paths.iter().map(component).collect())
}

impl PartitionKey {
    /// Reads the form that requests carry: a JSON array, in which `{}` means undefined, and object ids and dates are as items
    /// show them.
    pub fn from_json(text: &[u8]) -> Result<PartitionKey, PartitionKeyError> {
        let Value::Array(elements) = json::parse(text).map_err(PartitionKeyError::Json)? else {
            return Err(PartitionKeyError::NotAnArray);
        };
        let component = |(index, element): (usize, &Value)| match element {
            Value::Object(object) if object.is_empty() => Ok(Component::Undefined),
            Value::Object(object) => match json::extended_scalar(object) {
                Some(scalar @ (Value::ObjectId(_) | Value::Date(_))) => Ok(Component::of(&scalar)),
                _ => Err(PartitionKeyError::InvalidComponent { index }),
            },
            Value::Array(_) => Err(PartitionKeyError::InvalidComponent { index }),
            scalar => Ok(Component::of(scalar)),
        };
        elements.iter().enumerate().map(component).collect::<Result<_, _>>().map(PartitionKey)
    }

    /// Returns the form that requests carry, in ASCII.
    pub fn to_json(&self) -> String {
        let mut out = vec![b'['];
        for (index, component) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match component {
                Component::Undefined => out.extend_from_slice(b"{}"),
                Component::Null => out.extend_from_slice(b"null"),
                Component::Bool(truth) => json::write(&Value::Bool(*truth), &mut out),
                Component::Number(number) => write_number(*number, &mut out),
                Component::String(text) => json::write_ascii_string(text, &mut out),
            }
        }
        out.push(b']');
        String::from_utf8(out).expect("written text is ASCII")
    }

    /// Appends bytes that end themselves, keep the order of the components, and give the key back.
    ///
    /// The components are as in [`key`], except that a number is its eight bytes made to sort, so that
    /// `-0.0` stays what it is. A zero byte ends them.
    pub fn key_bytes(&self, out: &mut Vec<u8>) {
        for component in &self.0 {
            match component {
                Component::Undefined => out.push(class::UNDEFINED),
                Component::Null => out.push(class::NULL),
                Component::Bool(false) => out.push(class::FALSE),
                Component::Bool(true) => out.push(class::TRUE),
                Component::Number(number) => {
                    let bits = number.to_bits();
                    let sortable = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
                    out.push(class::NUMBER);
                    out.extend_from_slice(&sortable.to_be_bytes());
                }
                Component::String(text) => key::encode_string(text, out),
            }
        }
        out.push(key::END);
    }

    /// Reads the key at the start of some bytes; returns it and the number of bytes it took.
    pub fn from_key_bytes(bytes: &[u8]) -> Result<(PartitionKey, usize), PartitionKeyError> {
        let mut components = Vec::new();
        let mut rest = bytes;
        loop {
            let (&first, body) = rest.split_first().ok_or(PartitionKeyError::InvalidBytes)?;
            rest = body;
            components.push(match first {
                key::END => return Ok((PartitionKey(components), bytes.len() - rest.len())),
                class::UNDEFINED => Component::Undefined,
                class::NULL => Component::Null,
                class::FALSE => Component::Bool(false),
                class::TRUE => Component::Bool(true),
                class::NUMBER => {
                    let (number, after) = rest.split_first_chunk().ok_or(PartitionKeyError::InvalidBytes)?;
                    rest = after;
                    let sortable = u64::from_be_bytes(*number);
                    let bits = if sortable >> 63 == 1 { sortable & !(1 << 63) } else { !sortable };
                    Component::Number(f64::from_bits(bits))
                }
                class::STRING => {
                    let (text, after) = key::decode_text(rest).ok_or(PartitionKeyError::InvalidBytes)?;
                    rest = after;
                    Component::String(text)
                }
                _ => return Err(PartitionKeyError::InvalidBytes),
            });
        }
    }

    /// Returns the size that the service's limit on keys looks at: the UTF-8 bytes of all strings.
    pub fn bytes_len(&self) -> usize {
        let length = |component: &Component| match component {
            Component::String(text) => text.len(),
            _ => 0,
        };
        self.0.iter().map(length).sum()
    }
}

/// Writes integral numbers as integers, as every client does.
fn write_number(number: f64, out: &mut Vec<u8>) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.trunc() == number && number.abs() <= EXACT && number.to_bits() != (-0.0f64).to_bits() {
        json::write(&Value::Int64(number as i64), out);
    } else {
        json::write(&Value::Double(number), out);
    }
}

#[cfg(test)]
#[path = "partition_key_tests.rs"]
mod tests;
