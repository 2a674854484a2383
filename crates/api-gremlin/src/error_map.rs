//! Which failure becomes which status.

use armilla_engine::{Error, ErrorKind};
use armilla_gremlin_language::LanguageError;
use armilla_gremlin_machine::{ErrorKind as MachineErrorKind, MachineError};
use armilla_gremlin_wire::{WireError, WireErrorKind};

use crate::failure::{Failure, FailureKind};
use crate::graph::READ_ONLY;

/// What messages of traversals that fail begin with.
const EXECUTION: &str = "Gremlin Query Execution Error: ";
const COMPILATION: &str = "Gremlin Query Compilation Error: ";

/// The substatus of requests that find the throughput spent.
const THROTTLED_SUBSTATUS: i32 = 3200;

/// The engine's message for a graph that is not there, as the service words it.
pub(crate) const OWNER_MISSING: &str = "Owner resource does not exist";

impl From<LanguageError> for Failure {
    fn from(error: LanguageError) -> Failure {
        let kind = if error.kind.is_syntax() { FailureKind::Syntax } else { FailureKind::Compile };
        Failure::new(597, 400, kind, format!("{}\n1 Error(s)", error.text()))
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Failure {
        let kind = match error.kind() {
            WireErrorKind::Malformed | WireErrorKind::InvalidArguments => FailureKind::Malformed,
            WireErrorKind::Unserializable => FailureKind::Runtime,
        };
        Failure::new(error.code(), error.inner_status(), kind, error.message())
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        let prefixed = |prefix: &str| match error.message.starts_with("Gremlin ") {
            true => error.message.clone(),
            false => format!("{prefix}{}", error.message),
        };
        match error.kind {
            MachineErrorKind::Compile => {
                let place = match error.position {
                    Some(place) => format!(" @ line {}, column {}.", place.line, place.column),
                    None => String::new(),
                };
                let message = format!("{}{place}\n1 Error(s)", prefixed(COMPILATION));
                Failure::new(597, 400, FailureKind::Compile, message)
            }
            MachineErrorKind::Runtime => Failure::new(597, 400, FailureKind::Runtime, prefixed(EXECUTION)),
            MachineErrorKind::Memory => Failure::new(597, 1003, FailureKind::Runtime, error.message),
            MachineErrorKind::TimedOut => Failure::new(598, 1009, FailureKind::Runtime, prefixed(EXECUTION)),
            MachineErrorKind::Cancelled => Failure::new(500, 1007, FailureKind::Internal, error.message),
            MachineErrorKind::ReadOnly => Failure::new(500, 403, FailureKind::Storage, READ_ONLY),
            MachineErrorKind::Fail => Failure::plain(595, 500, error.message),
            MachineErrorKind::Storage => {
                let cause = error.cause.and_then(|cause| cause.cause);
                match cause.and_then(|cause| cause.downcast::<Error>().ok()) {
                    Some(cause) => Failure::from(*cause),
                    None => Failure::new(500, 500, FailureKind::Storage, error.message),
                }
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let storage = |inner: i32| Failure::new(500, inner, FailureKind::Storage, error.message.clone());
        match error.kind {
            ErrorKind::Throttled => Failure {
                substatus: Some(THROTTLED_SUBSTATUS),
                retry_after: Some(error.retry_after.unwrap_or_default()),
                kind: FailureKind::Throttled,
                message: "Request rate is large. More Request Units may be needed, so no changes were made. Please retry \
                          this request later."
                    .to_owned(),
                ..storage(429)
            },
            ErrorKind::OwnerNotFound(_) => Failure { message: OWNER_MISSING.to_owned(), ..storage(404) },
            ErrorKind::NotFound(_) | ErrorKind::ContainerReplaced => storage(404),
            ErrorKind::AlreadyExists(_) | ErrorKind::UniqueKeyTaken => storage(409),
            ErrorKind::PreconditionFailed | ErrorKind::Conflict => Failure {
                message: format!("PreconditionFailedException: {}: run the traversal again", error.message),
                ..storage(412)
            },
            ErrorKind::Forbidden | ErrorKind::NotData | ErrorKind::BeyondRole => {
                Failure { message: READ_ONLY.to_owned(), ..storage(403) }
            }
            ErrorKind::LogicalPartitionFull => storage(403),
            ErrorKind::Unauthenticated => Failure::plain(401, 401, UNAUTHORIZED),
            ErrorKind::TooLarge => storage(413),
            ErrorKind::Invalid
            | ErrorKind::BadQuery
            | ErrorKind::CrossPartition
            | ErrorKind::QueryNeedsPlan
            | ErrorKind::PartitionKeyMismatch => {
                Failure::new(597, 400, FailureKind::Runtime, format!("{EXECUTION}{}", error.message))
            }
            ErrorKind::QueryTimeout | ErrorKind::TransactionExpired | ErrorKind::ScriptTimeout => {
                Failure::new(598, 1009, FailureKind::Runtime, format!("{EXECUTION}{}", error.message))
            }
            ErrorKind::NotModified
            | ErrorKind::FailedDependency
            | ErrorKind::ScriptInvalid
            | ErrorKind::ScriptFailed(_)
            | ErrorKind::ScriptResultTooLarge
            | ErrorKind::FeedExpired
            | ErrorKind::Internal => storage(500),
            ErrorKind::RangeGone
            | ErrorKind::Locked
            | ErrorKind::SessionNotAvailable
            | ErrorKind::OutcomeUnknown
            | ErrorKind::Unavailable
            | ErrorKind::Corrupt => storage(503),
        }
    }
}

/// What a client is told whose key is wrong.
pub(crate) const UNAUTHORIZED: &str = "Unauthorized: Invalid credentials provided";
