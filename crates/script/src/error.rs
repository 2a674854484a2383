//! Why a script did not do what it was asked for.

use std::fmt;

use crate::limits::{PROGRAM_BYTES_MAX, RESPONSE_BYTES_MAX, RESULT_BYTES_MAX};

/// A failed script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptError {
    /// The text is no JavaScript function.
    NotAFunction(String),
    /// The text is longer than any may be.
    TooLong,
    /// The script threw an exception that it did not catch.
    Thrown {
        /// The number of the error, which clients see as the sub-status.
        number: Option<u32>,
        /// `Error: text`, and the stack on the lines below where there is one.
        message: String,
    },
    /// The script took more time than there is.
    OutOfTime,
    /// The script needed more memory than there is.
    OutOfMemory,
    /// The response of a procedure or trigger is longer than any may be.
    ResponseTooLong,
    /// The arguments of a procedure are no JSON array.
    Arguments(String),
    /// The result of a function cannot be taken over as JSON.
    Result(String),
    /// The result of a function is longer than any may be.
    ResultTooLong,
    /// No function has this name.
    Unknown,
    /// The script made its worker end: it met a defect of the interpreter, or a bound that allows no way back.
    Ended,
    /// No worker can be had.
    Sandbox(String),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::NotAFunction(why) => write!(f, "the text is not a JavaScript function: {why}"),
            ScriptError::TooLong => {
                write!(f, "the text of the script is longer than {PROGRAM_BYTES_MAX} bytes")
            }
            ScriptError::Thrown { message, .. } => write!(f, "exception: {message}"),
            ScriptError::OutOfTime => f.write_str("it took too long and was stopped"),
            ScriptError::OutOfMemory => f.write_str("it needed too much memory and was stopped"),
            ScriptError::ResponseTooLong => {
                write!(f, "the response is longer than {RESPONSE_BYTES_MAX} bytes of JSON")
            }
            ScriptError::Arguments(why) => write!(f, "the arguments are not a JSON array: {why}"),
            ScriptError::Result(why) => write!(f, "the result is not a JSON value: {why}"),
            ScriptError::ResultTooLong => {
                write!(f, "the result is longer than {RESULT_BYTES_MAX} bytes of JSON")
            }
            ScriptError::Unknown => f.write_str("it is not registered"),
            ScriptError::Ended => f.write_str("it ended the process that it ran in"),
            ScriptError::Sandbox(why) => write!(f, "the script engine cannot start: {why}"),
        }
    }
}

impl std::error::Error for ScriptError {}
