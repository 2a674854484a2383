//! Engine failures as status codes.
//!
//! There is no catch-all arm on purpose: a new kind must be placed here by hand.

use armilla_engine as engine;
use armilla_engine::{Error, ErrorKind};
use armilla_rest_wire::replies::{retry_after_ms, sentence};
use armilla_rest_wire::status::{Status, sub_status};
use http::StatusCode;

use crate::queries::{errors, needs_plan};
use crate::reply::failure::{Detail, Failure, Origin};

/// What clients of a partition that has used its share are told. Some look for the beginning of it.
const REQUEST_RATE_TOO_LARGE: &str = "Request rate is large. More Request Units may be needed, so no changes were made. \
     Please retry this request later.";

/// What clients are told that did not say whether a query may be about several partitions.
const CROSS_PARTITION_DISABLED: &str = "Cross partition query is required but disabled. Please set \
     x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or revise your query to \
     avoid this exception.";

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = status(error.kind);
        if status.http == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(kind = ?error.kind, "{}", error.message);
        }
        let failure = match error.kind {
            ErrorKind::BadQuery => {
                let list = match error.detail.as_deref() {
                    Some(engine::Detail::QueryErrors { text, errors: found }) => {
                        errors::error_list(text, found)
                    }
                    _ => errors::refusal_list(&error.message),
                };
                Failure::new(status, format!("Message: {list}"))
            }
            ErrorKind::QueryNeedsPlan => match error.detail.as_deref() {
                Some(engine::Detail::Plan(plan)) => needs_plan::refusal(status, plan),
                _ => Failure::new(status, error.message),
            },
            ErrorKind::CrossPartition => {
                Failure { origin: Origin::Engine, ..Failure::new(status, CROSS_PARTITION_DISABLED) }
            }
            ErrorKind::Throttled => {
                let message = format!("{REQUEST_RATE_TOO_LARGE} ({})", error.message);
                Failure {
                    origin: Origin::Engine,
                    detail: Some(Detail::RetryAfterMs(retry_after_ms(error.retry_after))),
                    ..Failure::new(status, message)
                }
            }
            // What a script says of itself is passed on to the letter.
            ErrorKind::ScriptInvalid | ErrorKind::ScriptFailed(_) => {
                Failure { origin: Origin::Engine, ..Failure::new(status, error.message) }
            }
            _ => Failure { origin: Origin::Engine, ..Failure::new(status, sentence(&error.message)) },
        };
        let detail = match error.script_log {
            Some(log) => Some(Detail::ScriptLog(log.into())),
            None => failure.detail,
        };
        Failure { charge: error.charge, position: error.position, detail, ..failure }
    }
}

fn status(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::NotFound(_) => Status::NOT_FOUND,
        ErrorKind::OwnerNotFound(_) => Status::NOT_FOUND.sub(sub_status::OWNER_NOT_FOUND),
        ErrorKind::AlreadyExists(_) | ErrorKind::UniqueKeyTaken => Status::CONFLICT,
        ErrorKind::PreconditionFailed => Status::PRECONDITION_FAILED,
        ErrorKind::NotModified => Status::NOT_MODIFIED,
        ErrorKind::LogicalPartitionFull => Status::FORBIDDEN.sub(sub_status::LOGICAL_PARTITION_FULL),
        ErrorKind::TooLarge => Status::TOO_LARGE,
        ErrorKind::PartitionKeyMismatch => Status::BAD_REQUEST.sub(sub_status::PARTITION_KEY_MISMATCH),
        ErrorKind::ContainerReplaced => Status::BAD_REQUEST.sub(sub_status::CONTAINER_RID_MISMATCH),
        // Published: a position outside of the retention window is status code 400.
        ErrorKind::Invalid | ErrorKind::BadQuery | ErrorKind::CrossPartition | ErrorKind::FeedExpired => {
            Status::BAD_REQUEST
        }
        ErrorKind::FailedDependency => Status::FAILED_DEPENDENCY,
        ErrorKind::Conflict => Status::retry_with(),
        ErrorKind::ScriptInvalid => Status::BAD_REQUEST.sub(sub_status::SCRIPT_COMPILE_ERROR),
        ErrorKind::ScriptFailed(number) => Status::BAD_REQUEST.sub(number.unwrap_or(0)),
        ErrorKind::ScriptTimeout | ErrorKind::QueryTimeout | ErrorKind::TransactionExpired => {
            Status::REQUEST_TIMEOUT
        }
        ErrorKind::ScriptResultTooLarge => Status::TOO_LARGE,
        ErrorKind::QueryNeedsPlan => Status::BAD_REQUEST.sub(sub_status::CROSS_PARTITION_QUERY_NOT_SERVABLE),
        ErrorKind::Forbidden => Status::FORBIDDEN,
        ErrorKind::NotData => Status::FORBIDDEN.sub(sub_status::NOT_BY_TOKEN),
        ErrorKind::BeyondRole => Status::FORBIDDEN.sub(sub_status::BEYOND_ROLE),
        ErrorKind::Unauthenticated => Status::UNAUTHORIZED,
        ErrorKind::Throttled => Status::TOO_MANY_REQUESTS.sub(sub_status::REQUEST_RATE_TOO_LARGE),
        ErrorKind::Locked => Status::LOCKED,
        ErrorKind::RangeGone => Status::GONE.sub(sub_status::PARTITION_KEY_RANGE_GONE),
        ErrorKind::SessionNotAvailable => Status::NOT_FOUND.sub(sub_status::READ_SESSION_NOT_AVAILABLE),
        // Clients take a timeout of a write for what it is: unknown, so they do not repeat it.
        ErrorKind::OutcomeUnknown => Status::REQUEST_TIMEOUT,
        ErrorKind::Unavailable => Status::UNAVAILABLE,
        ErrorKind::Corrupt | ErrorKind::Internal => Status::INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_engine as engine;
    use armilla_engine::{Error, ErrorKind, Position, QueryError, RequestUnits, ResourceKind};

    use crate::reply::failure::{Detail, Failure, Origin};

    #[test]
    fn kinds_have_their_codes() {
        for (kind, status, sub, code) in [
            (ErrorKind::NotFound(ResourceKind::Item), 404, 0, "NotFound"),
            (ErrorKind::OwnerNotFound(ResourceKind::Container), 404, 1003, "NotFound"),
            (ErrorKind::AlreadyExists(ResourceKind::Item), 409, 0, "Conflict"),
            (ErrorKind::UniqueKeyTaken, 409, 0, "Conflict"),
            (ErrorKind::PreconditionFailed, 412, 0, "PreconditionFailed"),
            (ErrorKind::NotModified, 304, 0, "NotModified"),
            (ErrorKind::LogicalPartitionFull, 403, 1014, "Forbidden"),
            (ErrorKind::TooLarge, 413, 0, "RequestEntityTooLarge"),
            (ErrorKind::PartitionKeyMismatch, 400, 1001, "BadRequest"),
            (ErrorKind::ContainerReplaced, 400, 1024, "BadRequest"),
            (ErrorKind::Invalid, 400, 0, "BadRequest"),
            (ErrorKind::BadQuery, 400, 0, "BadRequest"),
            (ErrorKind::CrossPartition, 400, 0, "BadRequest"),
            (ErrorKind::FeedExpired, 400, 0, "BadRequest"),
            (ErrorKind::FailedDependency, 424, 0, "FailedDependency"),
            (ErrorKind::Conflict, 449, 0, "RetryWith"),
            (ErrorKind::ScriptInvalid, 400, 65535, "BadRequest"),
            (ErrorKind::ScriptFailed(None), 400, 0, "BadRequest"),
            (ErrorKind::ScriptFailed(Some(404)), 400, 404, "BadRequest"),
            (ErrorKind::ScriptFailed(Some(u32::MAX)), 400, u32::MAX, "BadRequest"),
            (ErrorKind::ScriptTimeout, 408, 0, "RequestTimeout"),
            (ErrorKind::TransactionExpired, 408, 0, "RequestTimeout"),
            (ErrorKind::QueryTimeout, 408, 0, "RequestTimeout"),
            (ErrorKind::ScriptResultTooLarge, 413, 0, "RequestEntityTooLarge"),
            (ErrorKind::QueryNeedsPlan, 400, 1004, "BadRequest"),
            (ErrorKind::Forbidden, 403, 0, "Forbidden"),
            (ErrorKind::NotData, 403, 5300, "Forbidden"),
            (ErrorKind::BeyondRole, 403, 5301, "Forbidden"),
            (ErrorKind::Unauthenticated, 401, 0, "Unauthorized"),
            (ErrorKind::RangeGone, 410, 1002, "Gone"),
            (ErrorKind::Throttled, 429, 3200, "429"),
            (ErrorKind::Locked, 423, 0, "Locked"),
            (ErrorKind::SessionNotAvailable, 404, 1002, "NotFound"),
            (ErrorKind::OutcomeUnknown, 408, 0, "RequestTimeout"),
            (ErrorKind::Unavailable, 503, 0, "ServiceUnavailable"),
            (ErrorKind::Corrupt, 500, 0, "InternalServerError"),
            (ErrorKind::Internal, 500, 0, "InternalServerError"),
        ] {
            let failure = Failure::from(Error::new(kind, "what happened"));
            let found = (failure.status.http.as_u16(), failure.status.sub, failure.status.code);
            assert_eq!(found, (status, sub, code), "{kind:?}");
        }
    }

    #[test]
    fn charge_and_position_come_along() {
        let position = Some(Position { range_id: 1, lsn: 2 });
        let charge = RequestUnits::from_hundredths(100);
        let error = Error { charge, position, ..Error::new(ErrorKind::Invalid, "the thing is odd") };
        let failure = Failure::from(error);
        assert_eq!((failure.charge, failure.position), (charge, position));
        assert_eq!((&*failure.message, failure.origin), ("The thing is odd.", Origin::Engine));
    }

    #[test]
    fn waits_are_whole_milliseconds_and_never_too_short() {
        for (wait, expected) in [
            (None, 1),
            (Some(Duration::ZERO), 1),
            (Some(Duration::from_nanos(1)), 1),
            (Some(Duration::from_millis(1)), 1),
            (Some(Duration::from_micros(1_001)), 2),
            (Some(Duration::from_millis(743)), 743),
            (Some(Duration::from_secs(2)), 2_000),
            (Some(Duration::MAX), u64::MAX),
        ] {
            let error =
                Error { retry_after: wait, ..Error::new(ErrorKind::Throttled, "range 0 has none left") };
            let failure = Failure::from(error);
            assert_eq!(failure.detail, Some(Detail::RetryAfterMs(expected)), "{wait:?}");
            assert!(failure.message.starts_with(
                "Request rate is large. More Request Units may be needed, so no changes were made."
            ));
            assert!(failure.message.ends_with("(range 0 has none left)"), "{}", failure.message);
        }
    }

    #[test]
    fn words_of_scripts_are_kept_as_they_are() {
        let words =
            "Encountered exception while executing Javascript. Exception = Error: no\r\nStack trace: here";
        for kind in [ErrorKind::ScriptFailed(Some(409)), ErrorKind::ScriptInvalid] {
            let failure =
                Failure::from(Error { script_log: Some("a log".to_owned()), ..Error::new(kind, words) });
            assert_eq!((&*failure.message, failure.origin), (words, Origin::Engine));
            assert_eq!(failure.detail, Some(Detail::ScriptLog("a log".into())));
        }
    }

    #[test]
    fn what_is_wrong_with_a_query_is_listed() {
        let errors = vec![QueryError { code: Some("SC1001"), message: "no".to_owned(), span: None }];
        let detail = Some(Box::new(engine::Detail::QueryErrors { text: String::new(), errors }));
        let failure = Failure::from(Error { detail, ..Error::new(ErrorKind::BadQuery, "no") });
        let list = r#"{"errors":[{"severity":"Error","code":"SC1001","message":"no"}]}"#;
        assert_eq!((&*failure.message, failure.origin), (&*format!("Message: {list}"), Origin::Gateway));
        let failure = Failure::from(Error::new(ErrorKind::BadQuery, "no"));
        assert_eq!(&*failure.message, r#"Message: {"Errors":["no"]}"#);
    }
}
