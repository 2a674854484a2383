//! Why a script did not do what it was asked for.

use std::fmt;

use crate::limits::{FUNCTION_BYTES_MAX, RESULT_BYTES_MAX};

/// A failed script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptError {
    /// The text is no JavaScript function.
    NotAFunction(String),
    /// The text is longer than any function may be.
    TooLong,
    /// The function threw an exception, or needed more memory or stack than there is.
    Thrown(String),
    /// The function took more time than there is.
    OutOfTime,
    /// The result cannot be taken over as JSON.
    Result(String),
    /// The result is longer than any may be.
    ResultTooLong,
    /// No function has this name.
    Unknown,
    /// The sandbox itself could not be made.
    Sandbox(String),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::NotAFunction(why) => write!(f, "the text is not a JavaScript function: {why}"),
            ScriptError::TooLong => {
                write!(f, "the text of the function is longer than {FUNCTION_BYTES_MAX} bytes")
            }
            ScriptError::Thrown(message) => write!(f, "exception: {message}"),
            ScriptError::OutOfTime => f.write_str("it took too long and was stopped"),
            ScriptError::Result(why) => write!(f, "the result is not a JSON value: {why}"),
            ScriptError::ResultTooLong => {
                write!(f, "the result is longer than {RESULT_BYTES_MAX} bytes of JSON")
            }
            ScriptError::Unknown => f.write_str("it is not registered"),
            ScriptError::Sandbox(why) => write!(f, "the script engine cannot start: {why}"),
        }
    }
}

impl std::error::Error for ScriptError {}
