//! The value that expressions compute with: borrowed from a stored item or a parameter where possible.
//!
//! Invariants:
//! * null, booleans, integers, doubles and strings have variants of their own and never stand inside
//!   [`Datum::Node`] or [`Datum::Value`], which hold arrays, objects and the scalars that BSON adds;
//! * undefined is a variant here, because expressions pass it around, and never occurs inside an array or object.
//!
//! Not here: operators over data (`operators`), functions (`call`).

use std::borrow::Cow;

use armilla_value::{Decimal, Kind, Node, Object, Value};

mod iterate;
mod write;

#[cfg(test)]
mod tests;

pub use iterate::IntoElements;
pub use write::{write_double, write_integer};

/// Whole doubles up to this size become integers where a value is built: beyond, not every integer is a double.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
/// One past the largest 64-bit integer, as a double.
const INT64_END: f64 = 9_223_372_036_854_775_808.0;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub enum Datum<'a> {
    /// Nothing: a missing property, or an operation without a result.
    Undefined,
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer, exact.
    Int(i64),
    /// Any other number, and every result of arithmetic.
    Double(f64),
    /// Text.
    Str(Cow<'a, str>),
    /// An array, object or BSON scalar inside a stored item.
    Node(Node<'a>),
    /// An array, object or BSON scalar in memory.
    Value(Cow<'a, Value>),
}

/// The type of a datum as the query language sees it, in the order of ORDER BY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DatumKind {
    /// No value.
    Undefined,
    /// Null.
    Null,
    /// True or false.
    Bool,
    /// An integer, double or decimal.
    Number,
    /// Text.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// A scalar of BSON that the query language does not know.
    Other,
}

impl DatumKind {
    fn of(kind: Kind) -> DatumKind {
        match kind {
            Kind::Null => DatumKind::Null,
            Kind::Bool => DatumKind::Bool,
            Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128 => DatumKind::Number,
            Kind::String => DatumKind::String,
            Kind::Array => DatumKind::Array,
            Kind::Object => DatumKind::Object,
            _ => DatumKind::Other,
        }
    }
}

impl<'a> Datum<'a> {
    /// Wraps a value inside a stored item; what corruption made unreadable is null.
    pub fn from_node(node: Node<'a>) -> Datum<'a> {
        match node.kind() {
            Kind::Null => Datum::Null,
            Kind::Bool => node.as_bool().map_or(Datum::Null, Datum::Bool),
            Kind::Int32 | Kind::Int64 => node.as_i64().map_or(Datum::Null, Datum::Int),
            Kind::Double => node.as_f64().map_or(Datum::Null, Datum::Double),
            Kind::String => node.as_str().map_or(Datum::Null, Datum::Str),
            _ => Datum::Node(node),
        }
    }

    /// Wraps a value in memory.
    pub fn from_value(value: &'a Value) -> Datum<'a> {
        match value {
            Value::Null => Datum::Null,
            Value::Bool(truth) => Datum::Bool(*truth),
            Value::Int32(number) => Datum::Int(i64::from(*number)),
            Value::Int64(number) => Datum::Int(*number),
            Value::Double(number) => Datum::Double(*number),
            Value::String(text) => Datum::Str(Cow::Borrowed(text)),
            other => Datum::Value(Cow::Borrowed(other)),
        }
    }

    /// Takes a value over.
    pub fn from_owned(value: Value) -> Datum<'static> {
        match value {
            Value::Null => Datum::Null,
            Value::Bool(truth) => Datum::Bool(truth),
            Value::Int32(number) => Datum::Int(i64::from(number)),
            Value::Int64(number) => Datum::Int(number),
            Value::Double(number) => Datum::Double(number),
            Value::String(text) => Datum::Str(Cow::Owned(text)),
            other => Datum::Value(Cow::Owned(other)),
        }
    }

    /// Borrows text.
    pub fn text(text: &'a str) -> Datum<'a> {
        Datum::Str(Cow::Borrowed(text))
    }

    /// Returns a datum that borrows from this one, which costs nothing where a clone might copy a tree.
    pub fn borrowed(&self) -> Datum<'_> {
        match self {
            Datum::Str(text) => Datum::Str(Cow::Borrowed(text)),
            Datum::Value(value) => Datum::Value(Cow::Borrowed(value)),
            Datum::Undefined => Datum::Undefined,
            Datum::Null => Datum::Null,
            Datum::Bool(truth) => Datum::Bool(*truth),
            Datum::Int(number) => Datum::Int(*number),
            Datum::Double(number) => Datum::Double(*number),
            Datum::Node(node) => Datum::Node(*node),
        }
    }

    /// Cuts all ties to what was borrowed, copying where needed.
    pub fn into_static(self) -> Datum<'static> {
        match self {
            Datum::Undefined => Datum::Undefined,
            Datum::Null => Datum::Null,
            Datum::Bool(truth) => Datum::Bool(truth),
            Datum::Int(number) => Datum::Int(number),
            Datum::Double(number) => Datum::Double(number),
            Datum::Str(text) => Datum::Str(Cow::Owned(text.into_owned())),
            Datum::Node(node) => Datum::from_owned(node.to_value()),
            Datum::Value(value) => Datum::Value(Cow::Owned(value.into_owned())),
        }
    }

    /// Returns the value, or `None` for undefined; whole doubles become integers, as JSON output shows them.
    pub fn into_value(self) -> Option<Value> {
        Some(match self {
            Datum::Undefined => return None,
            Datum::Null => Value::Null,
            Datum::Bool(truth) => Value::Bool(truth),
            Datum::Int(number) => Value::Int64(number),
            Datum::Double(number) if number.trunc() == number && number.abs() <= EXACT_INTEGER_MAX => {
                Value::Int64(number as i64)
            }
            Datum::Double(number) => Value::Double(number),
            Datum::Str(text) => Value::String(text.into_owned()),
            Datum::Node(node) => node.to_value(),
            Datum::Value(value) => value.into_owned(),
        })
    }

    /// Returns a copy of the value, or `None` for undefined.
    pub fn to_value(&self) -> Option<Value> {
        self.borrowed().into_value()
    }

    /// Returns the type.
    pub fn kind(&self) -> DatumKind {
        match self {
            Datum::Undefined => DatumKind::Undefined,
            Datum::Null => DatumKind::Null,
            Datum::Bool(_) => DatumKind::Bool,
            Datum::Int(_) | Datum::Double(_) => DatumKind::Number,
            Datum::Str(_) => DatumKind::String,
            Datum::Node(node) => DatumKind::of(node.kind()),
            Datum::Value(value) => DatumKind::of(value.kind()),
        }
    }

    /// Says whether there is no value.
    pub fn is_undefined(&self) -> bool {
        matches!(self, Datum::Undefined)
    }

    /// Says whether there is a value.
    pub fn is_defined(&self) -> bool {
        !self.is_undefined()
    }

    /// Says whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// Says whether this is exactly true, as WHERE asks.
    pub fn is_true(&self) -> bool {
        matches!(self, Datum::Bool(true))
    }

    /// Says whether this is a number.
    pub fn is_number(&self) -> bool {
        self.kind() == DatumKind::Number
    }

    /// Says whether this is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Datum::Str(_))
    }

    /// Says whether this is an array.
    pub fn is_array(&self) -> bool {
        self.kind() == DatumKind::Array
    }

    /// Says whether this is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == DatumKind::Object
    }

    /// Says whether this is null, a boolean, a number or a string.
    pub fn is_primitive(&self) -> bool {
        matches!(self.kind(), DatumKind::Null | DatumKind::Bool | DatumKind::Number | DatumKind::String)
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Datum::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Datum::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns any number as the nearest double.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Datum::Int(number) => Some(*number as f64),
            Datum::Double(number) => Some(*number),
            Datum::Node(node) if node.kind() == Kind::Decimal128 => decimal_to_f64(&node.to_value()),
            Datum::Value(value) => decimal_to_f64(value),
            _ => None,
        }
    }

    /// Returns an integer, or a double with an integral value in the range of 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Datum::Int(number) => Some(*number),
            Datum::Double(number) => {
                let integral = number.trunc() == *number && (-INT64_END..INT64_END).contains(number);
                integral.then_some(*number as i64)
            }
            _ => None,
        }
    }

    /// Returns an integral number, moved to the nearest 64-bit integer where it is out of range.
    pub(crate) fn as_i64_saturated(&self) -> Option<i64> {
        match self {
            Datum::Int(number) => Some(*number),
            Datum::Double(number) if number.is_finite() && number.trunc() == *number => Some(*number as i64),
            _ => None,
        }
    }

    /// Returns the member of that name; undefined where this is no object or has none.
    pub fn member(&self, name: &str) -> Datum<'_> {
        match self {
            Datum::Node(node) => node.get(name).map_or(Datum::Undefined, Datum::from_node),
            Datum::Value(value) => value.get(name).map_or(Datum::Undefined, Datum::from_value),
            _ => Datum::Undefined,
        }
    }

    /// Takes the member of that name out; undefined where this is no object or has none.
    pub fn into_member(self, name: &str) -> Datum<'a> {
        match self {
            Datum::Node(node) => node.get(name).map_or(Datum::Undefined, Datum::from_node),
            Datum::Value(Cow::Borrowed(value)) => value.get(name).map_or(Datum::Undefined, Datum::from_value),
            Datum::Value(Cow::Owned(Value::Object(mut object))) => {
                object.remove(name).map_or(Datum::Undefined, Datum::from_owned)
            }
            _ => Datum::Undefined,
        }
    }

    /// Returns the element at that index; undefined where this is no array that long.
    pub fn element(&self, index: usize) -> Datum<'_> {
        match self {
            Datum::Node(node) => node.element(index).map_or(Datum::Undefined, Datum::from_node),
            Datum::Value(value) => value
                .as_array()
                .and_then(|elements| elements.get(index))
                .map_or(Datum::Undefined, Datum::from_value),
            _ => Datum::Undefined,
        }
    }

    /// Takes the element at that index out; undefined where this is no array that long.
    pub fn into_element(self, index: usize) -> Datum<'a> {
        match self {
            Datum::Node(node) => node.element(index).map_or(Datum::Undefined, Datum::from_node),
            Datum::Value(Cow::Borrowed(value)) => value
                .as_array()
                .and_then(|elements| elements.get(index))
                .map_or(Datum::Undefined, Datum::from_value),
            Datum::Value(Cow::Owned(Value::Array(mut elements))) if index < elements.len() => {
                Datum::from_owned(elements.swap_remove(index))
            }
            _ => Datum::Undefined,
        }
    }

    /// Returns the number of elements, if this is an array.
    pub fn array_len(&self) -> Option<usize> {
        match self {
            Datum::Node(node) if node.kind() == Kind::Array => Some(node.len()),
            Datum::Value(value) => value.as_array().map(<[Value]>::len),
            _ => None,
        }
    }

    /// Returns the number of members, if this is an object.
    pub fn object_len(&self) -> Option<usize> {
        match self {
            Datum::Node(node) if node.kind() == Kind::Object => Some(node.len()),
            Datum::Value(value) => value.as_object().map(Object::len),
            _ => None,
        }
    }
}

fn decimal_to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal128(bytes) => Decimal::from_bytes(bytes).to_string().parse().ok(),
        _ => None,
    }
}

impl From<bool> for Datum<'_> {
    fn from(truth: bool) -> Self {
        Datum::Bool(truth)
    }
}

impl From<i64> for Datum<'_> {
    fn from(number: i64) -> Self {
        Datum::Int(number)
    }
}

impl From<f64> for Datum<'_> {
    fn from(number: f64) -> Self {
        Datum::Double(number)
    }
}

impl From<String> for Datum<'_> {
    fn from(text: String) -> Self {
        Datum::Str(Cow::Owned(text))
    }
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(text: &'a str) -> Self {
        Datum::Str(Cow::Borrowed(text))
    }
}

impl<'a, D: Into<Datum<'a>>> From<Option<D>> for Datum<'a> {
    /// Makes undefined of `None`.
    fn from(datum: Option<D>) -> Self {
        datum.map_or(Datum::Undefined, Into::into)
    }
}

impl From<Vec<Value>> for Datum<'_> {
    fn from(elements: Vec<Value>) -> Self {
        Datum::Value(Cow::Owned(Value::Array(elements)))
    }
}

impl From<Object> for Datum<'_> {
    fn from(object: Object) -> Self {
        Datum::Value(Cow::Owned(Value::Object(object)))
    }
}
