//! What failures of SlateDB and of object stores mean to callers.

use armilla_kv::{Error, ErrorKind};

/// Says what a failure of a tree means where nothing was being written.
pub(crate) fn of_read(error: &slatedb::Error) -> Error {
    let kind = match error.kind() {
        slatedb::ErrorKind::Closed(slatedb::CloseReason::Fenced) => ErrorKind::Fenced,
        slatedb::ErrorKind::Closed(_) => ErrorKind::Closed,
        slatedb::ErrorKind::Data => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    };
    Error::new(kind, format!("the object store's tree fails: {error}"))
}

/// Says what the failure of a write means. A put whose answer was lost may have reached the object store, and the process
/// that fenced this one may have found it there: only one that was never sent is known not to be written.
pub(crate) fn of_write(error: &slatedb::Error) -> Error {
    let kind = match error.kind() {
        slatedb::ErrorKind::Data => ErrorKind::Corrupt,
        _ => ErrorKind::OutcomeUnknown,
    };
    Error::new(kind, format!("the object store's tree fails to write: {error}"))
}

/// Says what a failure of the object store itself means.
pub(crate) fn of_objects(what: &str, error: &object_store::Error) -> Error {
    Error::new(ErrorKind::Io, format!("the object store fails to {what}: {error}"))
}

pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store is closed")
}

pub(crate) fn dropped(id: u64) -> Error {
    Error::new(ErrorKind::SpaceDropped, format!("space {id} was dropped"))
}

pub(crate) fn released(id: u64) -> Error {
    Error::new(ErrorKind::Elsewhere, format!("space {id} was closed for another process"))
}

pub(crate) fn fenced(id: u64) -> Error {
    Error::new(ErrorKind::Fenced, format!("space {id} was opened again"))
}

pub(crate) fn handle_closed(id: u64) -> Error {
    Error::new(ErrorKind::HandleClosed, format!("an earlier commit to space {id} failed"))
}
