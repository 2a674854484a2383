//! How operations on a container fail.

use std::fmt;
use std::time::Duration;

use armilla_kv as kv;

use crate::throughput::RequestUnits;

/// The result of an operation on a container.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller has to do about a failure. Messages may change; kinds are the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// No item with this partition key and id.
    ItemNotFound,
    /// An item with this id is already in the logical partition.
    ItemExists,
    /// Another item of the logical partition holds the same unique key.
    UniqueKeyTaken,
    /// The stored etag is not the one the caller held. Read again, then retry.
    PreconditionFailed,
    /// The item did not change since the etag that the caller holds.
    NotModified,
    /// The logical partition is full. Delete items, or use another partition key.
    LogicalPartitionFull,
    /// The item is over the size limit.
    ItemTooLarge,
    /// The partition key of the request is not that of the item.
    PartitionKeyMismatch,
    /// The request itself is wrong.
    Invalid,
    /// The range id names no physical partition of this container (any more). Read the ranges again.
    RangeGone,
    /// The position in the change feed of all versions is before what is retained. Begin anew.
    FeedExpired,
    /// The caller has seen a later state than the partition has.
    SessionNotAvailable,
    /// Another writer changed what the transaction read. Nothing was written; run it again.
    Conflict,
    /// The physical partition has spent what it may in this second. Retry after the wait.
    Throttled,
    /// Another process serves the partition by now, or is about to. Nothing was done; run it again.
    Moved,
    /// A write may or may not have been applied. Read, then decide.
    OutcomeUnknown,
    /// The store cannot serve now. Retry later.
    Unavailable,
    /// Stored bytes fail their checks. Stop serving this partition.
    Corrupt,
    /// Our bug.
    Internal,
}

/// A failed operation on a container.
#[derive(Debug, Clone)]
pub struct Error {
    /// What the caller has to do.
    pub kind: ErrorKind,
    /// What is wrong and where, in lower case without a full stop.
    pub message: String,
    /// What the attempt cost.
    pub charge: RequestUnits,
    /// Where it happened, once it had been routed.
    pub position: Option<Position>,
    /// How long to wait before it makes sense to try again, where that is known.
    pub retry_after: Option<Duration>,
}

/// Where in the container an operation ran, and how far that partition was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The physical partition.
    pub range_id: u32,
    /// Its newest commit.
    pub lsn: u64,
}

impl Error {
    /// Returns a failure that cost nothing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), charge: RequestUnits::ZERO, position: None, retry_after: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Corrupt, message)
    }

    /// Adds where it happened and what it cost.
    pub(crate) fn at(mut self, position: Position, charge: RequestUnits) -> Error {
        self.position = Some(position);
        self.charge = charge;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<kv::Error> for Error {
    fn from(error: kv::Error) -> Error {
        let kind = match error.kind() {
            kv::ErrorKind::OutcomeUnknown => ErrorKind::OutcomeUnknown,
            kv::ErrorKind::Corrupt | kv::ErrorKind::NewerFormat => ErrorKind::Corrupt,
            kv::ErrorKind::Elsewhere => ErrorKind::Moved,
            kv::ErrorKind::TooLarge => ErrorKind::ItemTooLarge,
            kv::ErrorKind::Fenced | kv::ErrorKind::SpaceDropped => ErrorKind::RangeGone,
            kv::ErrorKind::Io
            | kv::ErrorKind::Closed
            | kv::ErrorKind::Locked
            | kv::ErrorKind::HandleClosed => ErrorKind::Unavailable,
        };
        Error::new(kind, error.to_string())
    }
}
