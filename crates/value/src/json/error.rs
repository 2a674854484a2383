//! What is wrong with a JSON text, and where.

use std::fmt;

/// Why a text is not the JSON we take, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Bytes before the place.
    pub offset: usize,
    /// Line of the place, from 1.
    pub line: u32,
    /// Characters before the place in its line, plus 1.
    pub column: u32,
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text ends inside a value.
    UnexpectedEnd,
    /// Something else stands where this was expected.
    Expected(&'static str),
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// The text starts with a byte-order mark.
    ByteOrderMark,
    /// A control character stands in a string without an escape.
    ControlCharacter,
    /// A backslash is followed by something else than an escape.
    InvalidEscape,
    /// An escape names half of a surrogate pair.
    LoneSurrogate,
    /// A number is spelled in a way JSON does not know.
    InvalidNumber,
    /// A number is larger than a double can be.
    NumberTooLarge,
    /// Objects and arrays are nested deeper than allowed.
    TooDeep,
    /// There is more text after the value.
    TrailingBytes,
}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            JsonErrorKind::UnexpectedEnd => "unexpected end of text",
            JsonErrorKind::Expected(what) => return write!(formatter, "expected {what}"),
            JsonErrorKind::InvalidUtf8 => "invalid UTF-8",
            JsonErrorKind::ByteOrderMark => "byte-order mark before the text",
            JsonErrorKind::ControlCharacter => "control character in a string",
            JsonErrorKind::InvalidEscape => "invalid escape in a string",
            JsonErrorKind::LoneSurrogate => "lone surrogate in a string",
            JsonErrorKind::InvalidNumber => "invalid number",
            JsonErrorKind::NumberTooLarge => "number too large for a double",
            JsonErrorKind::TooDeep => "nested deeper than 128 levels",
            JsonErrorKind::TrailingBytes => "text after the value",
        })
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at line {} column {}", self.kind, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// A failure inside the readers, before line and column are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: JsonErrorKind,
    pub(crate) offset: usize,
}

impl Fault {
    /// Counts line and column in the text that failed.
    pub(crate) fn locate(self, text: &[u8]) -> JsonError {
        let before = &text[..self.offset.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        // Continuation bytes are not characters of their own.
        let column = 1 + before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        JsonError {
            kind: self.kind,
            offset: self.offset,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}
