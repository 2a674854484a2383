//! BSON bytes to values and back, and views into BSON bytes that build no tree.
//!
//! Reading is strict: lengths must fit, text must be UTF-8, a boolean is 0 or 1, and no object may have one name
//! twice (MongoDB would store it; a [`armilla_value::Object`] cannot). Names of array elements are not looked at,
//! as drivers do not look at them either. Writing is exact: what was read comes back byte for byte, save for the
//! names of array elements.
//!
//! Not here: Extended JSON (`armilla_value::json`), the size that a document of a user may have.

mod build;
mod decode;
mod encode;
mod raw;
mod reader;

pub(crate) use build::write_string;
pub use build::{finish_document, start_document, write_index, write_name};
pub(crate) use decode::{Budget, decode_within};
pub use decode::{Duplicates, decode, decode_prefix, decode_with};
pub use encode::{encode, encode_value_into, encoded_bytes};
pub(crate) use encode::{type_of, write_value};
pub use raw::{RawElement, RawElements, RawObject};

/// The numbers of BSON's types.
pub mod element_type {
    /// A 64-bit float.
    pub const DOUBLE: u8 = 0x01;
    /// UTF-8 text.
    pub const STRING: u8 = 0x02;
    /// An embedded document.
    pub const OBJECT: u8 = 0x03;
    /// An array: a document whose names are the indexes.
    pub const ARRAY: u8 = 0x04;
    /// Bytes with a subtype.
    pub const BINARY: u8 = 0x05;
    /// Undefined, deprecated.
    pub const UNDEFINED: u8 = 0x06;
    /// An object id.
    pub const OBJECT_ID: u8 = 0x07;
    /// True or false.
    pub const BOOL: u8 = 0x08;
    /// Milliseconds since 1970.
    pub const DATE: u8 = 0x09;
    /// Null.
    pub const NULL: u8 = 0x0A;
    /// A regular expression.
    pub const REGEX: u8 = 0x0B;
    /// A pointer into a collection, deprecated.
    pub const DB_POINTER: u8 = 0x0C;
    /// JavaScript.
    pub const JAVASCRIPT: u8 = 0x0D;
    /// A symbol, deprecated.
    pub const SYMBOL: u8 = 0x0E;
    /// JavaScript with variables, deprecated.
    pub const JAVASCRIPT_WITH_SCOPE: u8 = 0x0F;
    /// A 32-bit integer.
    pub const INT32: u8 = 0x10;
    /// A timestamp of MongoDB's own machinery.
    pub const TIMESTAMP: u8 = 0x11;
    /// A 64-bit integer.
    pub const INT64: u8 = 0x12;
    /// A decimal number.
    pub const DECIMAL128: u8 = 0x13;
    /// Above everything.
    pub const MAX_KEY: u8 = 0x7F;
    /// Below everything.
    pub const MIN_KEY: u8 = 0xFF;
}

/// The subtype of bytes that carry their length a second time.
pub(crate) const BINARY_SUBTYPE_OLD: u8 = 2;

#[cfg(test)]
mod tests;
