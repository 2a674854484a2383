//! BSON bytes to a tree of values.

use armilla_value::{Legacy, Object, Value};

use super::reader::Reader;
use super::{BINARY_SUBTYPE_OLD, element_type as t};
use crate::error::{WireError, WireErrorKind};
use crate::limits::{DEPTH_MAX, LINEAR_SEARCH_MEMBERS_MAX, VALUE_COUNT_MAX};

/// What to do about a name that comes twice in one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse the document.
    Refuse,
    /// Keep the value of the last at the position of the first.
    KeepLast,
}

/// What decoding carries along: the choice of its caller, and how many values may still be made.
///
/// A value takes up to thirty times as much memory as its shortest form in BSON, so that a bound on the bytes of a
/// message is not yet one on memory.
pub(crate) struct Budget {
    duplicates: Duplicates,
    values_left: usize,
}

impl Budget {
    pub(crate) fn new(duplicates: Duplicates) -> Budget {
        Budget { duplicates, values_left: VALUE_COUNT_MAX }
    }

    fn spend(&mut self) -> Result<(), WireError> {
        match self.values_left.checked_sub(1) {
            Some(left) => {
                self.values_left = left;
                Ok(())
            }
            None => Err(WireError::new(
                WireErrorKind::TooLarge,
                10334,
                format!("a message may hold at most {VALUE_COUNT_MAX} values"),
            )),
        }
    }
}

/// Reads one document that fills the bytes; one name twice in one object is refused.
pub fn decode(bytes: &[u8]) -> Result<Object, WireError> {
    decode_with(bytes, Duplicates::Refuse)
}

/// Reads one document that fills the bytes.
pub fn decode_with(bytes: &[u8], duplicates: Duplicates) -> Result<Object, WireError> {
    let (object, rest) = decode_prefix(bytes, duplicates)?;
    if rest.is_empty() {
        Ok(object)
    } else {
        Err(WireError::invalid_bson("BSON has bytes after the document"))
    }
}

/// Reads one document at the start of the bytes, and returns the bytes after it.
pub fn decode_prefix(bytes: &[u8], duplicates: Duplicates) -> Result<(Object, &[u8]), WireError> {
    let mut reader = Reader::new(bytes);
    let body = reader.document_body()?;
    Ok((object(body, 1, &mut Budget::new(duplicates))?, reader.bytes))
}

/// Reads one document out of several that share a budget.
pub(crate) fn decode_within(bytes: &[u8], budget: &mut Budget) -> Result<Object, WireError> {
    object(Reader::new(bytes).document_body()?, 1, budget)
}

/// Reads the members of a document.
fn object(body: &[u8], depth: usize, budget: &mut Budget) -> Result<Object, WireError> {
    check_depth(depth)?;
    let mut reader = Reader::new(body);
    let mut members: Vec<(String, Value)> = Vec::new();
    while !reader.is_empty() {
        budget.spend()?;
        let element_type = reader.byte()?;
        let name = reader.cstring()?;
        let value = value(element_type, &mut reader, depth, budget)?;
        members.push((name.to_owned(), value));
    }
    let count = members.len();
    let object = Object::from(members);
    if object.len() < count && budget.duplicates == Duplicates::Refuse {
        return Err(WireError::duplicate_name(&first_duplicate(body)?));
    }
    Ok(object)
}

fn array(body: &[u8], depth: usize, budget: &mut Budget) -> Result<Vec<Value>, WireError> {
    check_depth(depth)?;
    let mut reader = Reader::new(body);
    let mut elements = Vec::new();
    while !reader.is_empty() {
        budget.spend()?;
        let element_type = reader.byte()?;
        reader.cstring_bytes()?;
        elements.push(value(element_type, &mut reader, depth, budget)?);
    }
    Ok(elements)
}

/// Reads the value of an element in a document of that depth.
pub(super) fn value(
    element_type: u8,
    reader: &mut Reader<'_>,
    depth: usize,
    budget: &mut Budget,
) -> Result<Value, WireError> {
    Ok(match element_type {
        t::DOUBLE => Value::Double(f64::from_le_bytes(reader.array()?)),
        t::STRING => Value::String(reader.string()?.to_owned()),
        t::OBJECT => Value::Object(object(reader.document_body()?, depth + 1, budget)?),
        t::ARRAY => Value::Array(array(reader.document_body()?, depth + 1, budget)?),
        t::BINARY => binary(reader)?,
        t::OBJECT_ID => Value::ObjectId(reader.array()?),
        t::BOOL => Value::Bool(boolean(reader.byte()?)?),
        t::DATE => Value::Date(i64::from_le_bytes(reader.array()?)),
        t::NULL => Value::Null,
        t::REGEX => {
            let pattern = reader.cstring()?.into();
            Value::Regex { pattern, options: reader.cstring()?.into() }
        }
        t::INT32 => Value::Int32(reader.int32()?),
        t::TIMESTAMP => timestamp(reader.array()?),
        t::INT64 => Value::Int64(i64::from_le_bytes(reader.array()?)),
        t::DECIMAL128 => Value::Decimal128(reader.array()?),
        t::MIN_KEY => Value::MinKey,
        t::MAX_KEY => Value::MaxKey,
        t::UNDEFINED => legacy(Legacy::Undefined),
        t::JAVASCRIPT => legacy(Legacy::Code(reader.string()?.to_owned())),
        t::SYMBOL => legacy(Legacy::Symbol(reader.string()?.to_owned())),
        t::DB_POINTER => {
            let namespace = reader.string()?.to_owned();
            legacy(Legacy::DbPointer { namespace, id: reader.array()? })
        }
        t::JAVASCRIPT_WITH_SCOPE => code_with_scope(reader, depth, budget)?,
        _ => return Err(super::reader::unknown_type(element_type)),
    })
}

fn legacy(value: Legacy) -> Value {
    Value::Legacy(Box::new(value))
}

fn code_with_scope(reader: &mut Reader<'_>, depth: usize, budget: &mut Budget) -> Result<Value, WireError> {
    let mut inner = Reader::new(reader.value_bytes(t::JAVASCRIPT_WITH_SCOPE)?);
    inner.length()?;
    let code = inner.string()?.to_owned();
    let scope = object(inner.document_body()?, depth + 1, budget)?;
    if !inner.is_empty() {
        return Err(WireError::invalid_bson("BSON has code with scope that is not as long as it says"));
    }
    Ok(legacy(Legacy::CodeWithScope { code, scope }))
}

fn binary(reader: &mut Reader<'_>) -> Result<Value, WireError> {
    let length = reader.length()?;
    let subtype = reader.byte()?;
    let mut bytes = reader.take(length)?;
    if subtype == BINARY_SUBTYPE_OLD {
        let mut inner = Reader::new(bytes);
        let inner_length = inner.length()?;
        if inner_length != inner.bytes.len() {
            return Err(WireError::invalid_bson(
                "BSON has bytes of subtype 2 with two lengths that disagree",
            ));
        }
        bytes = inner.bytes;
    }
    Ok(Value::Binary { subtype, bytes: bytes.to_vec() })
}

/// The increment comes first: as one little-endian number the seconds are its high half.
pub(super) fn timestamp(bytes: [u8; 8]) -> Value {
    let number = u64::from_le_bytes(bytes);
    Value::Timestamp { seconds: (number >> 32) as u32, increment: number as u32 }
}

pub(super) fn boolean(byte: u8) -> Result<bool, WireError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(WireError::invalid_bson("BSON has a boolean that is neither 0 nor 1")),
    }
}

fn check_depth(depth: usize) -> Result<(), WireError> {
    if depth > DEPTH_MAX { Err(WireError::too_deep()) } else { Ok(()) }
}

/// Returns the first name that comes a second time; there is one.
fn first_duplicate(body: &[u8]) -> Result<String, WireError> {
    let mut reader = Reader::new(body);
    let mut seen: Vec<&str> = Vec::with_capacity(LINEAR_SEARCH_MEMBERS_MAX);
    let mut table = std::collections::HashSet::new();
    while !reader.is_empty() {
        let element_type = reader.byte()?;
        let name = reader.cstring()?;
        reader.value_bytes(element_type)?;
        let again = if seen.len() < LINEAR_SEARCH_MEMBERS_MAX {
            let again = seen.contains(&name);
            seen.push(name);
            again
        } else {
            seen.contains(&name) || !table.insert(name)
        };
        if again {
            return Ok(name.to_owned());
        }
    }
    Ok(String::new())
}
