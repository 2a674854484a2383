//! The engine's errors in terms of the contract.

use std::path::Path;

use armilla_kv::{Error, ErrorKind};

/// Returns the failure of a read.
pub(crate) fn of_read(error: &fjall::Error) -> Error {
    Error::new(kind(error), format!("reading failed: {}", message(error)))
}

/// Returns the failure of writing or merging sorted files.
pub(crate) fn of_background(error: &fjall::Error) -> Error {
    Error::new(kind(error), message(error))
}

/// Returns the failure of opening the engine's folder.
pub(crate) fn of_open(error: &fjall::Error, path: &Path) -> Error {
    let kind = match error {
        fjall::Error::Locked => ErrorKind::Locked,
        fjall::Error::InvalidVersion(_) => ErrorKind::NewerFormat,
        other => kind(other),
    };
    Error::new(kind, format!("cannot open the store in {}: {}", path.display(), message(error)))
}

/// Returns the failure of an operation on a file or folder.
pub(crate) fn of_file(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} {}: {error}", path.display()))
}

/// Says what the engine says, without its type names where that is possible.
pub(crate) fn message(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => error.to_string(),
        fjall::Error::Poisoned => "an earlier write failed".to_owned(),
        fjall::Error::Locked => "another process has it open".to_owned(),
        other => format!("{other:?}"),
    }
}

fn kind(error: &fjall::Error) -> ErrorKind {
    match error {
        fjall::Error::Io(_)
        | fjall::Error::Storage(fjall::LsmError::Io(_))
        | fjall::Error::Poisoned
        | fjall::Error::Locked => ErrorKind::Io,
        _ => ErrorKind::Corrupt,
    }
}
