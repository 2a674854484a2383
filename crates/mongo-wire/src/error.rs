//! Why bytes are not a message or a document.

use std::fmt;

/// What is wrong, as far as a caller has to tell cases apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireErrorKind {
    /// A document that is not BSON, or a value that BSON cannot carry.
    InvalidBson,
    /// A document with one name twice in one object.
    DuplicateName,
    /// Nesting beyond [`crate::limits::DEPTH_MAX`].
    TooDeep,
    /// A document or a message beyond its bound.
    TooLarge,
    /// A message whose checksum is not that of its bytes.
    ChecksumMismatch,
    /// A message with a flag that must be understood and is not.
    IllegalFlag,
    /// A message whose sections do not fit together.
    BadSections,
    /// A message that does not say for which database it is.
    NoDatabase,
    /// A legacy query for something other than a handshake.
    UnsupportedQuery,
    /// Bytes that are no message at all: close the connection.
    Malformed,
    /// A value that `_id` may not have.
    InvalidId,
    /// A compressed message that does not decompress to what it says.
    BadCompression,
}

/// Why bytes are not a message or a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong.
    pub kind: WireErrorKind,
    /// MongoDB's number for it.
    pub code: i32,
    /// What a person may read about it.
    pub message: String,
}

impl WireError {
    /// Makes an error.
    pub fn new(kind: WireErrorKind, code: i32, message: impl Into<String>) -> WireError {
        WireError { kind, code, message: message.into() }
    }

    pub(crate) fn invalid_bson(message: impl Into<String>) -> WireError {
        WireError::new(WireErrorKind::InvalidBson, 22, message)
    }

    pub(crate) fn too_deep() -> WireError {
        WireError::new(
            WireErrorKind::TooDeep,
            15,
            format!("BSONObj exceeds maximum nested object depth: {}", crate::limits::DEPTH_MAX),
        )
    }

    pub(crate) fn duplicate_name(name: &str) -> WireError {
        WireError::new(
            WireErrorKind::DuplicateName,
            2,
            format!("Duplicate field name '{name}' in one object"),
        )
    }

    pub(crate) fn malformed(message: impl Into<String>) -> WireError {
        WireError::new(WireErrorKind::Malformed, 17, message)
    }

    pub(crate) fn too_large(bytes: usize) -> WireError {
        WireError::new(
            WireErrorKind::TooLarge,
            10334,
            format!(
                "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {}(16MB)",
                crate::limits::COMMAND_BYTES_MAX
            ),
        )
    }

    /// Returns the name that MongoDB gives to the number.
    pub fn code_name(&self) -> &'static str {
        match self.code {
            2 => "BadValue",
            14 => "TypeMismatch",
            15 => "Overflow",
            16 => "InvalidLength",
            17 => "ProtocolError",
            22 => "InvalidBSON",
            53 => "InvalidIdField",
            223 => "IllegalOpMsgFlag",
            233 => "TooManyDocumentSequences",
            288 => "ChecksumMismatch",
            352 => "UnsupportedOpQueryCommand",
            10334 => "BSONObjectTooLarge",
            40430 => "Location40430",
            40431 => "Location40431",
            40432 => "Location40432",
            40433 => "Location40433",
            40571 => "Location40571",
            40587 => "Location40587",
            51251 => "Location51251",
            _ => "UnknownError",
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}
