//! How stores fail.

use std::fmt;

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller has to do about a failure. Messages may change; kinds are the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The space was opened again after this handle was made. Nothing was written. Stop using the handle.
    Fenced,
    /// Another process has the space, and has to be asked. Nothing was written.
    Elsewhere,
    /// An earlier commit through this handle failed. Nothing was written. Open the space again and look.
    HandleClosed,
    /// The space was dropped. Nothing was written.
    SpaceDropped,
    /// The batch may or may not have been written. Open the space again and look.
    OutcomeUnknown,
    /// Nothing was written, and the store may work again later.
    Io,
    /// A key, a value or a batch is over its bound. Nothing was written.
    TooLarge,
    /// Stored bytes fail their checks. Stop serving.
    Corrupt,
    /// The store was closed. Nothing was written.
    Closed,
    /// Another store holds the place where the store keeps its data. Only opening a store fails so.
    Locked,
    /// The data was written by a newer version of the program. Only opening a store fails so.
    NewerFormat,
}

/// A failure of a store.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// Returns a failure of a kind with a message in lower case and without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Returns what the caller has to do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Error {}
