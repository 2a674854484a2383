//! The types and values of properties, as the Entity Data Model names them.
//!
//! Invariants:
//! * a value knows its type; nothing is guessed from text once it is here;
//! * values of different types do not compare, except that the three kinds of numbers are numbers, compared by
//!   their mathematical value without rounding;
//! * strings compare by UTF-16 code units, as the service does and as the index is ordered.
//!
//! Not here: where a type stands in a request or in an item (`entity`), how it is spelled in a filter (`literal`).

mod guid;
mod ticks;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::Write;

use armilla_value::{Value, sql_cmp, utf16_cmp};

pub(crate) use guid::{guid_text, is_stored_guid, parse_guid};
pub(crate) use ticks::Ticks;

#[cfg(test)]
mod tests;

/// Beyond this, an integer is not exactly a double.
pub(crate) const EXACT_IN_DOUBLE_MAX: u64 = 1 << 53;

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EdmType {
    /// Bytes.
    Binary,
    /// True or false.
    Boolean,
    /// A point in time in steps of 100 ns.
    DateTime,
    /// A 64-bit floating point number.
    Double,
    /// 128 bits.
    Guid,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// Unicode text.
    String,
}

impl EdmType {
    /// Returns the name as clients write it: `Edm.Int64`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EdmType::Binary => "Edm.Binary",
            EdmType::Boolean => "Edm.Boolean",
            EdmType::DateTime => "Edm.DateTime",
            EdmType::Double => "Edm.Double",
            EdmType::Guid => "Edm.Guid",
            EdmType::Int32 => "Edm.Int32",
            EdmType::Int64 => "Edm.Int64",
            EdmType::String => "Edm.String",
        }
    }

    /// Returns the name as items hold it: `Int64`.
    pub(crate) fn short(self) -> &'static str {
        &self.name()[4..]
    }

    /// Reads the name as clients write it.
    pub(crate) fn from_name(name: &str) -> Option<EdmType> {
        EdmType::from_short(name.strip_prefix("Edm.")?)
    }

    /// Reads the name as items hold it.
    pub(crate) fn from_short(short: &str) -> Option<EdmType> {
        Some(match short {
            "Binary" => EdmType::Binary,
            "Boolean" => EdmType::Boolean,
            "DateTime" => EdmType::DateTime,
            "Double" => EdmType::Double,
            "Guid" => EdmType::Guid,
            "Int32" => EdmType::Int32,
            "Int64" => EdmType::Int64,
            "String" => EdmType::String,
            _ => return None,
        })
    }
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EdmValue {
    /// See [`EdmType::Binary`].
    Binary(Vec<u8>),
    /// See [`EdmType::Boolean`].
    Boolean(bool),
    /// See [`EdmType::DateTime`].
    DateTime(Ticks),
    /// See [`EdmType::Double`].
    Double(f64),
    /// See [`EdmType::Guid`]; in the order in which the digits are written.
    Guid([u8; 16]),
    /// See [`EdmType::Int32`].
    Int32(i32),
    /// See [`EdmType::Int64`].
    Int64(i64),
    /// See [`EdmType::String`].
    String(String),
}

/// A value that is lent, from wherever it lies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EdmRef<'a> {
    /// See [`EdmType::Binary`].
    Binary(Cow<'a, [u8]>),
    /// See [`EdmType::Boolean`].
    Boolean(bool),
    /// See [`EdmType::DateTime`].
    DateTime(Ticks),
    /// See [`EdmType::Double`].
    Double(f64),
    /// See [`EdmType::Guid`].
    Guid([u8; 16]),
    /// See [`EdmType::Int32`].
    Int32(i32),
    /// See [`EdmType::Int64`].
    Int64(i64),
    /// See [`EdmType::String`].
    String(Cow<'a, str>),
}

impl EdmValue {
    /// Returns the type.
    #[cfg(test)]
    pub(crate) fn edm_type(&self) -> EdmType {
        match self {
            EdmValue::Binary(_) => EdmType::Binary,
            EdmValue::Boolean(_) => EdmType::Boolean,
            EdmValue::DateTime(_) => EdmType::DateTime,
            EdmValue::Double(_) => EdmType::Double,
            EdmValue::Guid(_) => EdmType::Guid,
            EdmValue::Int32(_) => EdmType::Int32,
            EdmValue::Int64(_) => EdmType::Int64,
            EdmValue::String(_) => EdmType::String,
        }
    }

    /// Lends the value.
    pub(crate) fn lend(&self) -> EdmRef<'_> {
        match self {
            EdmValue::Binary(bytes) => EdmRef::Binary(Cow::Borrowed(bytes)),
            EdmValue::Boolean(truth) => EdmRef::Boolean(*truth),
            EdmValue::DateTime(ticks) => EdmRef::DateTime(*ticks),
            EdmValue::Double(number) => EdmRef::Double(*number),
            EdmValue::Guid(bytes) => EdmRef::Guid(*bytes),
            EdmValue::Int32(number) => EdmRef::Int32(*number),
            EdmValue::Int64(number) => EdmRef::Int64(*number),
            EdmValue::String(text) => EdmRef::String(Cow::Borrowed(text)),
        }
    }
}

impl EdmRef<'_> {
    /// Returns a copy that owns what it holds.
    #[cfg(test)]
    pub(crate) fn into_owned(self) -> EdmValue {
        match self {
            EdmRef::Binary(bytes) => EdmValue::Binary(bytes.into_owned()),
            EdmRef::Boolean(truth) => EdmValue::Boolean(truth),
            EdmRef::DateTime(ticks) => EdmValue::DateTime(ticks),
            EdmRef::Double(number) => EdmValue::Double(number),
            EdmRef::Guid(bytes) => EdmValue::Guid(bytes),
            EdmRef::Int32(number) => EdmValue::Int32(number),
            EdmRef::Int64(number) => EdmValue::Int64(number),
            EdmRef::String(text) => EdmValue::String(text.into_owned()),
        }
    }

    /// Returns the value as a number, if it is one.
    fn number(&self) -> Option<Value> {
        match *self {
            EdmRef::Int32(number) => Some(Value::Int64(i64::from(number))),
            EdmRef::Int64(number) => Some(Value::Int64(number)),
            EdmRef::Double(number) => Some(Value::Double(number)),
            _ => None,
        }
    }

    fn is_nan(&self) -> bool {
        matches!(self, EdmRef::Double(number) if number.is_nan())
    }
}

/// What two values have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Their types do not compare at all.
    None,
    /// They can be equal or not, but neither is before the other: booleans, and numbers one of which is NaN.
    Unordered {
        /// Whether they are equal.
        is_equal: bool,
    },
    /// One is before the other, or they are equal.
    Ordered(Ordering),
}

/// Compares two values.
pub(crate) fn relation(left: &EdmRef<'_>, right: &EdmRef<'_>) -> Relation {
    match (left, right) {
        (EdmRef::String(left), EdmRef::String(right)) => Relation::Ordered(utf16_cmp(left, right)),
        (EdmRef::Boolean(left), EdmRef::Boolean(right)) => Relation::Unordered { is_equal: left == right },
        (EdmRef::DateTime(left), EdmRef::DateTime(right)) => Relation::Ordered(left.cmp(right)),
        (EdmRef::Guid(left), EdmRef::Guid(right)) => Relation::Ordered(left.cmp(right)),
        (EdmRef::Binary(left), EdmRef::Binary(right)) => Relation::Ordered(left.cmp(right)),
        _ => match (left.number(), right.number()) {
            (Some(_), Some(_)) if left.is_nan() || right.is_nan() => Relation::Unordered { is_equal: false },
            (Some(left), Some(right)) => Relation::Ordered(sql_cmp(&left, &right)),
            _ => Relation::None,
        },
    }
}

/// Appends a finite double in the shortest form that reads back the same, and as a double: `3.0`, `1e300`.
pub(crate) fn push_double(number: f64, out: &mut Vec<u8>) {
    write!(out, "{number:?}").expect("writing to a vector does not fail");
}

/// Returns how a double is spelled that JSON has no number for.
pub(crate) fn special_double(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ if number.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// Reads a double that JSON has no number for.
pub(crate) fn parse_special_double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Appends a whole number.
pub(crate) fn push_integer(number: i64, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("writing to a vector does not fail");
}

/// Says whether bytes are base64 as it is written here: the standard alphabet, padded, no stray bits.
pub(crate) fn is_stored_base64(text: &[u8]) -> bool {
    if !text.len().is_multiple_of(4) {
        return false;
    }
    let body = match text {
        [body @ .., b'=', b'='] => body,
        [body @ .., b'='] => body,
        body => body,
    };
    // A last character that stands for fewer bits than six has zeros in the rest.
    let stray = match (body.len() % 4, body.last()) {
        (2, Some(last)) => !b"AQgw".contains(last),
        (3, Some(last)) => !b"AEIMQUYcgkosw048".contains(last),
        (1, _) => true,
        _ => false,
    };
    !stray && body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
