//! Views into BSON bytes: a member found or walked to without building a tree.
//!
//! A view checks what it walks over and nothing else: a document may be refused late, or not at all where the
//! damage lies in a value that is never read.

use armilla_value::{Object, Value};

use super::decode::{self, Budget, Duplicates};
use super::element_type as t;
use super::reader::{self, Reader};
use crate::error::WireError;

/// One document or array, in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawObject<'a> {
    /// With its length and the zero at its end.
    bytes: &'a [u8],
}

impl<'a> RawObject<'a> {
    /// Looks at bytes that hold one document and nothing after it.
    pub fn new(bytes: &'a [u8]) -> Result<RawObject<'a>, WireError> {
        let (object, rest) = RawObject::prefix(bytes)?;
        if rest.is_empty() {
            Ok(object)
        } else {
            Err(WireError::invalid_bson("BSON has bytes after the document"))
        }
    }

    /// Looks at the document at the start of the bytes, and returns the bytes after it.
    pub fn prefix(bytes: &'a [u8]) -> Result<(RawObject<'a>, &'a [u8]), WireError> {
        let mut reader = Reader::new(bytes);
        let bytes = reader.document()?;
        Ok((RawObject { bytes }, reader.bytes))
    }

    /// Returns the bytes, with the length and the zero at the end.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Walks the members in order. After an error there is no further member.
    pub fn iter(&self) -> RawElements<'a> {
        RawElements { reader: Reader::new(reader::body(self.bytes)) }
    }

    /// Returns the first member of that name.
    pub fn get(&self, name: &str) -> Result<Option<RawElement<'a>>, WireError> {
        for element in self.iter() {
            let element = element?;
            if element.name == name {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// Returns the first member, whose name is that of the command in a message.
    pub fn first(&self) -> Result<Option<RawElement<'a>>, WireError> {
        self.iter().next().transpose()
    }

    /// Builds the tree; one name twice in one object is refused.
    pub fn decode(&self) -> Result<Object, WireError> {
        decode::decode(self.bytes)
    }
}

impl std::fmt::Debug for RawObject<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RawObject of {} bytes", self.bytes.len())
    }
}

/// One member of a document, in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawElement<'a> {
    /// BSON's number of the type, see [`crate::bson::element_type`].
    pub element_type: u8,
    /// The name; of an array's element, its index in digits.
    pub name: &'a str,
    /// The bytes of the value, without type and name.
    pub bytes: &'a [u8],
}

impl<'a> RawElement<'a> {
    /// Returns the text of a string that is UTF-8.
    pub fn as_str(&self) -> Option<&'a str> {
        if self.element_type == t::STRING { Reader::new(self.bytes).string().ok() } else { None }
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match (self.element_type, self.bytes) {
            (t::BOOL, [0]) => Some(false),
            (t::BOOL, [1]) => Some(true),
            _ => None,
        }
    }

    /// Returns a 32-bit or 64-bit integer, or a double with an integral value in that range.
    pub fn as_i64(&self) -> Option<i64> {
        match self.element_type {
            t::INT32 | t::INT64 | t::DOUBLE => self.to_value().ok()?.as_i64(),
            _ => None,
        }
    }

    /// Returns a document or an array, to be walked further.
    pub fn as_object(&self) -> Option<RawObject<'a>> {
        match self.element_type {
            t::OBJECT | t::ARRAY => RawObject::new(self.bytes).ok(),
            _ => None,
        }
    }

    /// Builds the tree of the value.
    pub fn to_value(&self) -> Result<Value, WireError> {
        decode::value(
            self.element_type,
            &mut Reader::new(self.bytes),
            1,
            &mut Budget::new(Duplicates::Refuse),
        )
    }
}

/// The members of a document, in order.
#[derive(Clone)]
pub struct RawElements<'a> {
    reader: Reader<'a>,
}

impl<'a> RawElements<'a> {
    fn element(&mut self) -> Result<RawElement<'a>, WireError> {
        let element_type = self.reader.byte()?;
        let name = self.reader.cstring()?;
        Ok(RawElement { element_type, name, bytes: self.reader.value_bytes(element_type)? })
    }
}

impl<'a> Iterator for RawElements<'a> {
    type Item = Result<RawElement<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let element = self.element();
        if element.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(element)
    }
}
