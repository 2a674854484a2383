//! Why a call has no answer.

use std::error::Error;
use std::fmt;

/// Why a call has no answer. The messages are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// It did not get there: another node may be asked.
    NotSent(String),
    /// It may have got there, and no answer came: the connection broke, patience was at its end, or the other node failed.
    Unknown(String),
    /// The other side is not a node of this account, or of a version that this one does not understand.
    Refused(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::NotSent(message) => write!(f, "the call was not sent: {message}"),
            CallError::Unknown(message) => write!(f, "what became of the call is not known: {message}"),
            CallError::Refused(message) => write!(f, "the other side was refused: {message}"),
        }
    }
}

impl Error for CallError {}
