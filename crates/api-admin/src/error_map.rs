//! Engine failures as status codes: the same as the SQL API has for them.
//!
//! There is no catch-all arm on purpose: a new kind must be placed here by hand.

use armilla_engine::{Error, ErrorKind};
use armilla_rest_wire::replies::{retry_after_ms, sentence};
use armilla_rest_wire::status::{Status, sub_status};
use http::StatusCode;

use crate::failure::{Failure, Origin};

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = status(error.kind);
        if status.http == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(kind = ?error.kind, "{}", error.message);
        }
        let retry_after_ms = (error.kind == ErrorKind::Throttled).then(|| retry_after_ms(error.retry_after));
        let failure = Failure::new(status, sentence(&error.message));
        Failure { origin: Origin::Engine, charge: error.charge, retry_after_ms, ..failure }
    }
}

fn status(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::NotFound(_) => Status::NOT_FOUND,
        ErrorKind::OwnerNotFound(_) => Status::NOT_FOUND.sub(sub_status::OWNER_NOT_FOUND),
        ErrorKind::AlreadyExists(_) => Status::CONFLICT,
        ErrorKind::PreconditionFailed => Status::PRECONDITION_FAILED,
        // Of a range that another split or merge has just taken.
        ErrorKind::Conflict => Status::retry_with(),
        ErrorKind::TooLarge => Status::TOO_LARGE,
        ErrorKind::Invalid => Status::BAD_REQUEST,
        ErrorKind::Forbidden | ErrorKind::NotData | ErrorKind::BeyondRole => Status::FORBIDDEN,
        ErrorKind::Unauthenticated => Status::UNAUTHORIZED,
        ErrorKind::Throttled => Status::TOO_MANY_REQUESTS.sub(sub_status::REQUEST_RATE_TOO_LARGE),
        ErrorKind::Locked => Status::LOCKED,
        ErrorKind::RangeGone => Status::GONE.sub(sub_status::PARTITION_KEY_RANGE_GONE),
        // Clients take a timeout of a write for what it is: unknown, so they do not repeat it.
        ErrorKind::OutcomeUnknown => Status::REQUEST_TIMEOUT,
        ErrorKind::Unavailable => Status::UNAVAILABLE,
        ErrorKind::Corrupt | ErrorKind::Internal => Status::INTERNAL,
        // Of items, queries, feeds and scripts, of which there are none here.
        ErrorKind::UniqueKeyTaken
        | ErrorKind::NotModified
        | ErrorKind::LogicalPartitionFull
        | ErrorKind::PartitionKeyMismatch
        | ErrorKind::ContainerReplaced
        | ErrorKind::FailedDependency
        | ErrorKind::ScriptInvalid
        | ErrorKind::ScriptFailed(_)
        | ErrorKind::ScriptTimeout
        | ErrorKind::TransactionExpired
        | ErrorKind::ScriptResultTooLarge
        | ErrorKind::BadQuery
        | ErrorKind::QueryTimeout
        | ErrorKind::CrossPartition
        | ErrorKind::QueryNeedsPlan
        | ErrorKind::FeedExpired
        | ErrorKind::SessionNotAvailable => Status::INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_engine::ResourceKind;

    use super::*;

    #[test]
    fn kinds_become_statuses_and_fragments_sentences() {
        for (kind, expected) in [
            (ErrorKind::NotFound(ResourceKind::Container), (404, 0)),
            (ErrorKind::OwnerNotFound(ResourceKind::Database), (404, 1003)),
            (ErrorKind::Invalid, (400, 0)),
            (ErrorKind::Forbidden, (403, 0)),
            (ErrorKind::Unauthenticated, (401, 0)),
            (ErrorKind::Locked, (423, 0)),
            (ErrorKind::Conflict, (449, 0)),
            (ErrorKind::RangeGone, (410, 1002)),
            (ErrorKind::OutcomeUnknown, (408, 0)),
            (ErrorKind::Unavailable, (503, 0)),
            (ErrorKind::Corrupt, (500, 0)),
            (ErrorKind::BadQuery, (500, 0)),
        ] {
            let failure = Failure::from(Error::new(kind, "é is wrong"));
            assert_eq!((failure.status.http.as_u16(), failure.status.sub), expected, "{kind:?}");
            assert_eq!((&*failure.message, failure.origin), ("É is wrong.", Origin::Engine));
            assert_eq!(failure.retry_after_ms, None);
        }
    }

    #[test]
    fn waits_are_whole_milliseconds_and_never_none() {
        for (wait, expected) in [(None, 1), (Some(Duration::from_nanos(1_000_001)), 2)] {
            let mut error = Error::new(ErrorKind::Throttled, "too much.");
            error.retry_after = wait;
            let failure = Failure::from(error);
            assert_eq!((failure.status.http.as_u16(), failure.status.sub), (429, 3200));
            assert_eq!((failure.retry_after_ms, &*failure.message), (Some(expected), "Too much."));
        }
    }
}
