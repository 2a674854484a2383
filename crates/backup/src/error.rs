//! How backups fail.

use std::fmt;
use std::path::Path;

/// The result of an operation on backups.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller has to do about a failure. Messages may change; kinds are the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file is missing, or its bytes are not those that were written. Use another backup.
    Damaged,
    /// The folder, or the backup in it, is not one that can be used for this. Nothing was changed.
    Refused,
    /// What came is not what a walk sends. Take the backup again.
    Malformed,
    /// The disk or the store failed.
    Io,
}

/// A failure.
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

    pub(crate) fn damaged(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Damaged, message)
    }

    pub(crate) fn refused(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Refused, message)
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Malformed, message)
    }

    /// Returns the failure of an operation on a file or folder.
    pub(crate) fn file(what: &str, path: &Path, error: &std::io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("cannot {what} {}: {error}", path.display()))
    }

    /// Returns what the caller has to do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<armilla_kv::Error> for Error {
    fn from(error: armilla_kv::Error) -> Error {
        Error::new(ErrorKind::Io, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
