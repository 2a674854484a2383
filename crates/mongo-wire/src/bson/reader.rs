//! A cursor over BSON bytes: numbers, names, strings, and how long each value is.

use crate::bson::element_type as t;
use crate::error::WireError;

/// Shortest document: its length and the zero at its end.
pub(super) const DOCUMENT_BYTES_MIN: usize = 5;

#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err(WireError::invalid_bson("BSON ends inside of a value")),
        }
    }

    pub(super) fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], WireError> {
        match self.bytes.split_first_chunk() {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(*taken)
            }
            None => Err(WireError::invalid_bson("BSON ends inside of a value")),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn int32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads a length, which may not be negative.
    pub(super) fn length(&mut self) -> Result<usize, WireError> {
        usize::try_from(self.int32()?).map_err(|_| WireError::invalid_bson("BSON has a negative length"))
    }

    /// Reads the bytes before a zero, and the zero.
    pub(super) fn cstring_bytes(&mut self) -> Result<&'a [u8], WireError> {
        match self.bytes.iter().position(|&byte| byte == 0) {
            Some(end) => {
                let taken = &self.bytes[..end];
                self.bytes = &self.bytes[end + 1..];
                Ok(taken)
            }
            None => Err(WireError::invalid_bson("BSON has a name or a pattern without an end")),
        }
    }

    pub(super) fn cstring(&mut self) -> Result<&'a str, WireError> {
        text(self.cstring_bytes()?)
    }

    /// Reads text that is preceded by its length and followed by a zero.
    pub(super) fn string(&mut self) -> Result<&'a str, WireError> {
        let length = self.length()?;
        match self.take(length)?.split_last() {
            Some((0, bytes)) => text(bytes),
            _ => Err(WireError::invalid_bson("BSON has a string that does not end with a zero byte")),
        }
    }

    /// Takes one document and returns what lies between its length and the zero at its end.
    pub(super) fn document_body(&mut self) -> Result<&'a [u8], WireError> {
        Ok(body(self.document()?))
    }

    /// Takes one document, with its length and the zero at its end.
    pub(super) fn document(&mut self) -> Result<&'a [u8], WireError> {
        let length = Reader { bytes: self.bytes }.length()?;
        if length < DOCUMENT_BYTES_MIN {
            return Err(WireError::invalid_bson(format!("BSON has a document of {length} bytes")));
        }
        let document = self.take(length)?;
        if document.last() != Some(&0) {
            return Err(WireError::invalid_bson("BSON has a document that does not end with a zero byte"));
        }
        Ok(document)
    }

    /// Takes the bytes of one value without looking further into it than its length asks for.
    pub(super) fn value_bytes(&mut self, element_type: u8) -> Result<&'a [u8], WireError> {
        let start = self.bytes;
        match element_type {
            t::NULL | t::UNDEFINED | t::MIN_KEY | t::MAX_KEY => {}
            t::BOOL => _ = self.take(1)?,
            t::INT32 => _ = self.take(4)?,
            t::DOUBLE | t::DATE | t::TIMESTAMP | t::INT64 => _ = self.take(8)?,
            t::OBJECT_ID => _ = self.take(12)?,
            t::DECIMAL128 => _ = self.take(16)?,
            t::STRING | t::JAVASCRIPT | t::SYMBOL => {
                let length = self.length()?;
                self.take(length)?;
            }
            t::BINARY => {
                let length = self.length()?;
                self.take(1)?;
                self.take(length)?;
            }
            t::OBJECT | t::ARRAY => _ = self.document()?,
            t::REGEX => {
                self.cstring_bytes()?;
                self.cstring_bytes()?;
            }
            t::DB_POINTER => {
                let length = self.length()?;
                self.take(length)?;
                self.take(12)?;
            }
            t::JAVASCRIPT_WITH_SCOPE => {
                let length = Reader { bytes: self.bytes }.length()?;
                if length < 4 {
                    return Err(WireError::invalid_bson("BSON has code with scope that is too short"));
                }
                self.take(length)?;
            }
            _ => return Err(unknown_type(element_type)),
        }
        Ok(&start[..start.len() - self.bytes.len()])
    }
}

/// Returns what lies between the length of a document and the zero at its end.
pub(super) fn body(document: &[u8]) -> &[u8] {
    document.get(4..document.len().saturating_sub(1)).unwrap_or_default()
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, WireError> {
    std::str::from_utf8(bytes).map_err(|_| WireError::invalid_bson("BSON has text that is not UTF-8"))
}

pub(super) fn unknown_type(element_type: u8) -> WireError {
    WireError::invalid_bson(format!("Unrecognized BSON type {element_type}"))
}
