//! Why bytes are not taken for binary JSON.

use std::fmt;

/// Why bytes are not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryJsonError {
    /// The text would be longer than allowed.
    TooLarge,
    /// The bytes do not follow the format.
    Malformed {
        /// Where the value begins that cannot be read.
        position: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl fmt::Display for BinaryJsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinaryJsonError::TooLarge => f.write_str("the binary JSON body is too large as text"),
            BinaryJsonError::Malformed { position, reason } => {
                write!(f, "the binary JSON body is malformed at byte {position}: {reason}")
            }
        }
    }
}
