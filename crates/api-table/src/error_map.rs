//! Engine failures as status codes.
//!
//! There is no catch-all arm on purpose: a new kind must be placed here by hand.

use armilla_engine::{Error, ErrorKind, ResourceKind};
use http::StatusCode;

use crate::failure::{Failure, Kind, Shape, condition_failed, resource_missing};
use crate::options::Flavour;

/// What clients of a partition that has used its share are told. Some look for the beginning of it.
const REQUEST_RATE_TOO_LARGE: &str = "Request rate is large. More Request Units may be needed, so no changes were made. \
     Please retry this request later.";

/// Returns how an engine failure is told.
pub(crate) fn shape(error: &Error, flavour: Flavour) -> Shape {
    let own = |status, code: &'static str| Shape::new(status, code, sentence(&error.message));
    let invalid = || own(StatusCode::BAD_REQUEST, "InvalidInput");
    match error.kind {
        ErrorKind::NotFound(ResourceKind::Item) => resource_missing(),
        ErrorKind::NotFound(ResourceKind::Container | ResourceKind::Database) => resource_missing(),
        ErrorKind::OwnerNotFound(_) => Failure::from(Kind::TableMissing).shape(flavour),
        ErrorKind::NotFound(_) => resource_missing(),
        ErrorKind::AlreadyExists(ResourceKind::Container) => Failure::from(Kind::TableExists).shape(flavour),
        ErrorKind::AlreadyExists(_) => {
            Shape::new(StatusCode::CONFLICT, "EntityAlreadyExists", "The specified entity already exists.")
        }
        ErrorKind::UniqueKeyTaken => own(StatusCode::CONFLICT, "EntityAlreadyExists"),
        ErrorKind::PreconditionFailed => condition_failed(),
        ErrorKind::LogicalPartitionFull => own(StatusCode::FORBIDDEN, "PartitionFull"),
        ErrorKind::TooLarge => Shape::new(
            StatusCode::BAD_REQUEST,
            "EntityTooLarge",
            "The entity is larger than the maximum size permitted.",
        ),
        ErrorKind::PartitionKeyMismatch | ErrorKind::Invalid | ErrorKind::FeedExpired => invalid(),
        ErrorKind::BadQuery | ErrorKind::QueryNeedsPlan | ErrorKind::CrossPartition => invalid(),
        ErrorKind::ScriptInvalid
        | ErrorKind::ScriptFailed(_)
        | ErrorKind::ScriptTimeout
        | ErrorKind::TransactionExpired
        | ErrorKind::ScriptResultTooLarge => invalid(),
        ErrorKind::ContainerReplaced => resource_missing(),
        ErrorKind::Forbidden | ErrorKind::NotData | ErrorKind::BeyondRole => match flavour {
            Flavour::Cosmos => own(StatusCode::FORBIDDEN, "Forbidden"),
            Flavour::Storage => own(StatusCode::FORBIDDEN, "AuthorizationPermissionMismatch"),
        },
        ErrorKind::Unauthenticated => own(StatusCode::UNAUTHORIZED, "Unauthorized"),
        ErrorKind::Throttled => Shape::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            format!("{REQUEST_RATE_TOO_LARGE} ({})", error.message),
        ),
        ErrorKind::Locked
        | ErrorKind::RangeGone
        | ErrorKind::SessionNotAvailable
        | ErrorKind::Unavailable => own(StatusCode::SERVICE_UNAVAILABLE, "ServerBusy"),
        // Published: 500 where nobody knows what became of a write, and for what takes too long.
        ErrorKind::OutcomeUnknown | ErrorKind::QueryTimeout => {
            own(StatusCode::INTERNAL_SERVER_ERROR, "OperationTimedOut")
        }
        ErrorKind::NotModified
        | ErrorKind::FailedDependency
        | ErrorKind::Conflict
        | ErrorKind::Corrupt
        | ErrorKind::Internal => own(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
    }
}

/// Returns how long a throttled client is to wait, in whole milliseconds: never shorter than what is needed and never
/// none, since clients take 0 for 'at once'.
pub(crate) fn retry_after_ms(error: &Error) -> Option<u64> {
    if error.kind != ErrorKind::Throttled {
        return None;
    }
    let milliseconds = error.retry_after.unwrap_or_default().as_nanos().div_ceil(1_000_000);
    Some(u64::try_from(milliseconds).unwrap_or(u64::MAX).max(1))
}

/// Turns the engine's fragment into a sentence.
fn sentence(fragment: &str) -> String {
    let mut characters = fragment.chars();
    let mut sentence: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    sentence.push_str(characters.as_str());
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_engine::{Error, ErrorKind, ResourceKind};

    use super::{retry_after_ms, sentence, shape};
    use crate::options::Flavour;

    #[test]
    fn kinds_have_their_codes() {
        for (kind, status, cosmos, storage) in [
            (ErrorKind::NotFound(ResourceKind::Item), 404, "ResourceNotFound", "ResourceNotFound"),
            (ErrorKind::OwnerNotFound(ResourceKind::Container), 404, "ResourceNotFound", "TableNotFound"),
            (ErrorKind::AlreadyExists(ResourceKind::Item), 409, "EntityAlreadyExists", "EntityAlreadyExists"),
            (
                ErrorKind::AlreadyExists(ResourceKind::Container),
                409,
                "TableAlreadyExists",
                "TableAlreadyExists",
            ),
            (
                ErrorKind::PreconditionFailed,
                412,
                "UpdateConditionNotSatisfied",
                "UpdateConditionNotSatisfied",
            ),
            (ErrorKind::TooLarge, 400, "EntityTooLarge", "EntityTooLarge"),
            (ErrorKind::Invalid, 400, "InvalidInput", "InvalidInput"),
            (ErrorKind::Forbidden, 403, "Forbidden", "AuthorizationPermissionMismatch"),
            (ErrorKind::Throttled, 429, "TooManyRequests", "TooManyRequests"),
            (ErrorKind::Unavailable, 503, "ServerBusy", "ServerBusy"),
            (ErrorKind::OutcomeUnknown, 500, "OperationTimedOut", "OperationTimedOut"),
            (ErrorKind::QueryTimeout, 500, "OperationTimedOut", "OperationTimedOut"),
            (ErrorKind::Internal, 500, "InternalError", "InternalError"),
        ] {
            let error = Error::new(kind, "what happened");
            for (flavour, code) in [(Flavour::Cosmos, cosmos), (Flavour::Storage, storage)] {
                let found = shape(&error, flavour);
                assert_eq!((found.status.as_u16(), &*found.code), (status, code), "{kind:?} {flavour:?}");
            }
        }
    }

    #[test]
    fn waits_are_whole_milliseconds_and_never_too_short() {
        for (wait, expected) in [
            (None, 1),
            (Some(Duration::ZERO), 1),
            (Some(Duration::from_micros(1_001)), 2),
            (Some(Duration::from_millis(743)), 743),
        ] {
            let error = Error { retry_after: wait, ..Error::new(ErrorKind::Throttled, "none left") };
            assert_eq!(retry_after_ms(&error), Some(expected), "{wait:?}");
        }
        assert_eq!(retry_after_ms(&Error::new(ErrorKind::Invalid, "no")), None);
    }

    #[test]
    fn fragments_become_sentences() {
        for (fragment, expected) in [("", "."), ("a", "A."), ("ends so.", "Ends so."), ("élan", "Élan.")] {
            assert_eq!(sentence(fragment), expected);
        }
    }
}
