//! The kinds of failure at the boundary. Each API translates them in its own `error_map`.

use std::fmt;
use std::time::Duration;

use armilla_container as container;
use armilla_container::{DefinitionError, Position, RequestUnits};
use armilla_kv as kv;
use armilla_query::QueryError;
use armilla_query::gateway::GatewayPlan;

use crate::resource::ResourceKind;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller has to do about a failure. Messages may change; kinds are the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The named resource does not exist. Do not retry.
    NotFound(ResourceKind),
    /// The database or container that the request lies in does not exist.
    OwnerNotFound(ResourceKind),
    /// A resource with this id is already there.
    AlreadyExists(ResourceKind),
    /// Another item of the logical partition holds the same unique key.
    UniqueKeyTaken,
    /// The stored etag is not the one the caller held. Read again, then retry.
    PreconditionFailed,
    /// Nothing changed since the etag that the caller holds.
    NotModified,
    /// The logical partition is full. Delete items, or use another partition key.
    LogicalPartitionFull,
    /// The item is over the size limit.
    TooLarge,
    /// The partition key of the request is not that of the item.
    PartitionKeyMismatch,
    /// The container was deleted and made again since the caller looked. Look again, then retry.
    ContainerReplaced,
    /// The request itself is wrong.
    Invalid,
    /// Another action of the same batch failed, so this one was not done.
    FailedDependency,
    /// Another writer changed what a transaction read, again and again. Run it again.
    Conflict,
    /// The text of a script is no JavaScript function.
    ScriptInvalid,
    /// A script threw an exception, with this number if it had one; nothing of what it did was kept.
    ScriptFailed(Option<u32>),
    /// A script took more time than there is; nothing of what it did was kept.
    ScriptTimeout,
    /// A transaction was open for longer than there is time; nothing of what it did was kept.
    TransactionExpired,
    /// What a script answered or logged is over the size limit; nothing of what it did was kept.
    ScriptResultTooLarge,
    /// The query is wrong; what and where is in the detail, if it is its text that is wrong.
    BadQuery,
    /// The query is about several logical partitions, and the caller said that it is not.
    CrossPartition,
    /// A query took more time than there is for one page, at a place where the page could not end. Narrow it.
    QueryTimeout,
    /// The query spans partitions, and the caller puts results together, by the plan in the detail.
    QueryNeedsPlan,
    /// The position in the change feed is older than what is kept of it. Begin again from now.
    FeedExpired,
    /// The caller may not do this.
    Forbidden,
    /// The caller's role is for data, and this is none.
    NotData,
    /// The caller's role does not go so far.
    BeyondRole,
    /// The caller's credential cannot be read or was not made here.
    Unauthenticated,
    /// The partition split or moved. Refresh the partition map, retry at once.
    RangeGone,
    /// The partition has spent what it may in this second; nothing was done. Retry after the wait that the error says.
    Throttled,
    /// The throughput, or the partition, is being changed already. Retry when that is done.
    Locked,
    /// The caller has seen a later state than the partition has.
    SessionNotAvailable,
    /// A write may or may not have been applied. Read, then decide.
    OutcomeUnknown,
    /// The store cannot serve now. Retry later.
    Unavailable,
    /// Stored bytes fail their checks. Stop serving this partition.
    Corrupt,
    /// Our bug.
    Internal,
}

/// What a front end has to know of a failure beside its kind, to say it in its own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// What is wrong with a query, and where in its text.
    QueryErrors {
        /// The text.
        text: String,
        /// What is wrong with it.
        errors: Vec<QueryError>,
    },
    /// How a client puts the results of several partitions together.
    Plan(Box<GatewayPlan>),
}

/// A failed operation.
#[derive(Debug, Clone)]
pub struct Error {
    /// What the caller has to do.
    pub kind: ErrorKind,
    /// What is wrong and where, in lower case without a full stop.
    pub message: String,
    /// What the attempt cost.
    pub charge: RequestUnits,
    /// Where it happened, once it had been routed to a physical partition.
    pub position: Option<Position>,
    /// What a failing script had logged, if it was asked for.
    pub script_log: Option<String>,
    /// How long to wait before it is tried again, where that is known.
    pub retry_after: Option<Duration>,
    /// What else a front end has to know.
    pub detail: Option<Box<Detail>>,
    /// Whether another process has what it was about by now: what only reads can be done again.
    pub is_moved: bool,
}

impl Error {
    /// Returns a failure that cost nothing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            charge: RequestUnits::ZERO,
            position: None,
            script_log: None,
            retry_after: None,
            detail: None,
            is_moved: false,
        }
    }

    /// Says what is wrong with a request.
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn locked(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Locked, message)
    }

    pub(crate) fn range_gone(range_id: u32) -> Error {
        Error::new(
            ErrorKind::RangeGone,
            format!("the container has no partition key range '{range_id}' (any more)"),
        )
    }

    pub(crate) fn not_found(kind: ResourceKind, id: &str) -> Error {
        Error::new(
            ErrorKind::NotFound(kind),
            format!("entity with the specified id does not exist in the system: {} '{id}'", kind.noun()),
        )
    }

    pub(crate) fn owner_not_found(kind: ResourceKind, id: &str) -> Error {
        Error::new(
            ErrorKind::OwnerNotFound(kind),
            format!("owner resource does not exist: there is no {} '{id}'", kind.noun()),
        )
    }

    pub(crate) fn precondition_failed() -> Error {
        Error::new(
            ErrorKind::PreconditionFailed,
            "operation cannot be performed because one of the specified precondition is not met",
        )
    }

    pub(crate) fn exists(kind: ResourceKind, id: &str) -> Error {
        Error::new(
            ErrorKind::AlreadyExists(kind),
            format!("entity with the specified id already exists in the system: {} '{id}'", kind.noun()),
        )
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
        container::Error::from(error).into()
    }
}

impl From<container::Error> for Error {
    fn from(error: container::Error) -> Error {
        let kind = match error.kind {
            container::ErrorKind::ItemNotFound => ErrorKind::NotFound(ResourceKind::Item),
            container::ErrorKind::ItemExists => ErrorKind::AlreadyExists(ResourceKind::Item),
            container::ErrorKind::UniqueKeyTaken => ErrorKind::UniqueKeyTaken,
            container::ErrorKind::PreconditionFailed => ErrorKind::PreconditionFailed,
            container::ErrorKind::NotModified => ErrorKind::NotModified,
            container::ErrorKind::LogicalPartitionFull => ErrorKind::LogicalPartitionFull,
            container::ErrorKind::ItemTooLarge => ErrorKind::TooLarge,
            container::ErrorKind::PartitionKeyMismatch => ErrorKind::PartitionKeyMismatch,
            container::ErrorKind::Invalid => ErrorKind::Invalid,
            container::ErrorKind::Conflict => ErrorKind::Conflict,
            container::ErrorKind::RangeGone => ErrorKind::RangeGone,
            container::ErrorKind::FeedExpired => ErrorKind::FeedExpired,
            container::ErrorKind::Throttled => ErrorKind::Throttled,
            container::ErrorKind::SessionNotAvailable => ErrorKind::SessionNotAvailable,
            container::ErrorKind::OutcomeUnknown => ErrorKind::OutcomeUnknown,
            // It was tried for long enough before.
            container::ErrorKind::Unavailable | container::ErrorKind::Moved => ErrorKind::Unavailable,
            container::ErrorKind::Corrupt => ErrorKind::Corrupt,
            container::ErrorKind::Internal => ErrorKind::Internal,
        };
        Error {
            kind,
            message: error.message,
            charge: error.charge,
            position: error.position,
            script_log: None,
            retry_after: error.retry_after,
            detail: None,
            is_moved: error.kind == container::ErrorKind::Moved,
        }
    }
}
impl From<DefinitionError> for Error {
    fn from(error: DefinitionError) -> Error {
        match error.path.is_empty() {
            true => Error::invalid(error.message),
            false => Error::invalid(format!("{}: {}", error.path, error.message)),
        }
    }
}
