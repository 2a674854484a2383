//! What is wrong with a query.
//!
//! Messages that carry a code are worded as the service words them, because people search for them.

use std::fmt;

use crate::span::Span;

/// The code of an unexpected token.
pub const UNEXPECTED_TOKEN: &str = "SC1001";

/// The code of a text that ends too early.
pub const UNEXPECTED_END: &str = "SC1002";

/// The text is no query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// [`UNEXPECTED_TOKEN`] or [`UNEXPECTED_END`].
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The offending token, or the empty range at the end of the text.
    pub span: Span,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Something wrong with a query, found by whichever stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The service's code, `SC2001` or a bare number such as `2206`, where one is known.
    pub code: Option<&'static str>,
    /// What is wrong.
    pub message: String,
    /// Where, if at one place.
    pub span: Option<Span>,
}

impl QueryError {
    /// Makes an error with a code at a place.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span) -> QueryError {
        QueryError { code: Some(code), message: message.into(), span: Some(span) }
    }

    /// Makes an error that has neither code nor place.
    pub fn plain(message: impl Into<String>) -> QueryError {
        QueryError { code: None, message: message.into(), span: None }
    }
}

impl From<SyntaxError> for QueryError {
    fn from(error: SyntaxError) -> QueryError {
        QueryError { code: Some(error.code), message: error.message, span: Some(error.span) }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(formatter, "{code}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl std::error::Error for QueryError {}
