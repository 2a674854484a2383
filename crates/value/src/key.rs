//! Key bytes: values as bytes whose order is the order of the values.
//!
//! Every type class is one contiguous run, told by its first byte; SQL and MongoDB visit the runs in different
//! orders. Between two values of JSON types, and between any two of one class, byte order is [`sql_cmp`]'s
//! order, and bytes are equal exactly where SQL says the values are.
//!
//! ```text
//! undefined  04          null 08         false 0C        true 0D
//! number     10 then the bits of `key::number`: seven to a byte, the low bit saying whether more follow
//! string     18 then UTF-8 with the lead bytes EE and EF moved to F8 and F9 (UTF-16 order), escaped
//! array      20 elements 00
//! object     28 (name as a string, value)* 00, sorted by name
//! min key    30          binary 31 length(4) subtype(1) bytes       object id 32 bytes(12)
//! date       33 ms(8, sign flipped)      timestamp 34 seconds(4) increment(4)
//! regex      35 pattern options, both UTF-8, escaped                max key 3F
//! DBPointer  36 length(4) namespace id(12)                          code 37 UTF-8, escaped
//! code with scope 38 UTF-8, escaped, the scope as an object         symbol 39 UTF-8, escaped
//! BSON's undefined 3A
//! ```
//! Integers of fixed width are big-endian. Escaped bytes: `00` is written `00 FF`, and the end is `00 01`.
//! No value begins with `00`, so that the end of an array sorts before a further element.
//!
//! Numbers lose their type (`1`, `1.0` and Decimal128 `1.00` are equal): decoding gives an integer where
//! one fits, else a double, else a decimal. Objects lose their member order.
//!
//! Not here: the layout of index keys around these bytes (`index`, `container`).
//!
//! [`sql_cmp`]: crate::sql_cmp

mod decode;
mod encode;
mod escape;
mod number;

pub(crate) use decode::decode_text;
pub use decode::{KeyError, decode, decode_option};
pub use encode::{encode_node, encode_number, encode_string, encode_undefined, encode_value};
pub use escape::{escape, unescape};

/// The first byte of every encoded value, by type class.
pub mod class {
    /// An absent value.
    pub const UNDEFINED: u8 = 0x04;
    /// Null.
    pub const NULL: u8 = 0x08;
    /// False.
    pub const FALSE: u8 = 0x0C;
    /// True.
    pub const TRUE: u8 = 0x0D;
    /// Numbers of all types.
    pub const NUMBER: u8 = 0x10;
    /// Strings.
    pub const STRING: u8 = 0x18;
    /// Arrays.
    pub const ARRAY: u8 = 0x20;
    /// Objects.
    pub const OBJECT: u8 = 0x28;
    /// MongoDB's lowest value.
    pub const MIN_KEY: u8 = 0x30;
    /// Binary data.
    pub const BINARY: u8 = 0x31;
    /// Object ids.
    pub const OBJECT_ID: u8 = 0x32;
    /// Dates.
    pub const DATE: u8 = 0x33;
    /// Timestamps.
    pub const TIMESTAMP: u8 = 0x34;
    /// Regular expressions.
    pub const REGEX: u8 = 0x35;
    /// References to documents of a collection, deprecated in BSON.
    pub const DB_POINTER: u8 = 0x36;
    /// JavaScript code, deprecated in BSON.
    pub const CODE: u8 = 0x37;
    /// JavaScript code with variables, deprecated in BSON.
    pub const CODE_WITH_SCOPE: u8 = 0x38;
    /// Symbols, deprecated in BSON.
    pub const SYMBOL: u8 = 0x39;
    /// The value that BSON calls undefined, deprecated there; an absent value is [`UNDEFINED`].
    pub const UNDEFINED_VALUE: u8 = 0x3A;
    /// MongoDB's highest value.
    pub const MAX_KEY: u8 = 0x3F;
}

/// Ends an array or object; below every class byte.
pub(crate) const END: u8 = 0x00;

#[cfg(test)]
mod tests;
