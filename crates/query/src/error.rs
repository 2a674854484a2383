//! Why a query failed while it ran, or before.

use std::fmt;

use armilla_functions::Stop;
use armilla_functions::limits::VALUES_BYTES_MAX;
use armilla_sql::QueryError;

/// What kind of failure it is, which decides what the client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is wrong, or asks for what the language does not have: with the service's list of errors.
    Invalid(Vec<QueryError>),
    /// The query is well formed but refused; the service answers a list of plain texts.
    Refused,
    /// The query would need more memory than a query may have.
    TooLarge,
    /// It took too long, at a place where a page cannot end.
    TimedOut,
    /// No caller waits for it any more.
    Cancelled,
    /// It was stopped for the sake of others, and may be begun again.
    Postponed,
    /// A continuation token is damaged or belongs to another query.
    Continuation,
    /// What the query needs is not built yet.
    Unsupported,
    /// The data could not be read.
    Source,
    /// The data has gone to another process meanwhile: the page can be begun anew there.
    Moved,
}

/// Why a query failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What is wrong, and where.
    pub message: String,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Makes a refusal that the service answers as plain text.
    pub fn refused(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Refused, message)
    }

    /// Makes the error of a query that a meter has stopped.
    #[cold]
    pub fn stopped(stop: Stop) -> Error {
        match stop {
            Stop::Time => Error::new(
                ErrorKind::TimedOut,
                "the query took too long at a place where a page cannot end: inside of one item or subquery, while \
                 groups or distinct rows are collected, or while rows are put in order; narrow its filter, join fewer \
                 arrays, or ask for fewer groups",
            ),
            Stop::Steps => Error::new(ErrorKind::TimedOut, "the expression takes too many steps"),
            Stop::Cancelled => {
                Error::new(ErrorKind::Cancelled, "the query was cancelled: nobody waits for it")
            }
            Stop::Postponed => {
                Error::new(ErrorKind::Postponed, "the query was stopped to let others have their turn")
            }
            Stop::Memory => Error::too_large(format!(
                "the values that make one row take more than the {} MiB that they may; select fewer or smaller values",
                VALUES_BYTES_MAX >> 20
            )),
        }
    }

    /// Makes an error about more memory than a query may have.
    pub fn too_large(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::TooLarge, message)
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        let message = error.to_string();
        Error { kind: ErrorKind::Invalid(vec![error]), message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
