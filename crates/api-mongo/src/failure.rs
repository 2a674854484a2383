//! Failures as clients get them: a number, a text, and labels that say what a driver may do about it.

use std::borrow::Cow;

use armilla_engine::{ErrorKind, RequestUnits, ResourceKind};
use armilla_mongo_expression::{Error as LanguageError, codes};
use armilla_value::{Object, Value};

/// A failed command, or a failed statement of one.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// MongoDB's number.
    pub(crate) code: i32,
    /// What is wrong, for people.
    pub(crate) message: String,
    /// What drivers may do, where it does not follow from the number.
    pub(crate) labels: Vec<Cow<'static, str>>,
    /// Whether the labels are these and no others.
    pub(crate) labels_are_final: bool,
    /// What else the reply has.
    pub(crate) extra: Object,
    /// What the attempt cost.
    pub(crate) charge: RequestUnits,
    /// How long to wait, where the throughput is spent.
    pub(crate) retry_after_ms: Option<u64>,
    /// Whether what was asked for may have been done all the same.
    pub(crate) is_in_doubt: bool,
    /// Whether the connection is closed after it.
    pub(crate) closes: bool,
    /// What came of the same statement when it was sent before: it is no failure then.
    pub(crate) repeated: Option<Box<Object>>,
}

/// The result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            labels: Vec::new(),
            labels_are_final: false,
            extra: Object::new(),
            charge: RequestUnits::ZERO,
            retry_after_ms: None,
            is_in_doubt: false,
            closes: false,
            repeated: None,
        }
    }

    /// A value that is not what it should be.
    pub(crate) fn bad_value(message: impl Into<String>) -> Failure {
        Failure::new(codes::BAD_VALUE, message)
    }

    /// Something that cannot be read.
    pub(crate) fn parse(message: impl Into<String>) -> Failure {
        Failure::new(codes::FAILED_TO_PARSE, message)
    }

    /// The same, with a member more in the reply.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Failure {
        self.extra.insert(name, value);
        self
    }

    /// The statement was sent before, and done.
    pub(crate) fn repeated(outcome: Object) -> Failure {
        Failure {
            repeated: Some(Box::new(outcome)),
            ..Failure::new(codes::INTERNAL_ERROR, "the statement was done before")
        }
    }

    /// A collection that is not there.
    pub(crate) fn no_collection(namespace: &str) -> Failure {
        Failure::new(codes::NAMESPACE_NOT_FOUND, format!("ns does not exist: {namespace}"))
    }
}

impl From<LanguageError> for Failure {
    fn from(error: LanguageError) -> Failure {
        let mut failure = Failure::new(error.code, error.message);
        if let Some(info) = error.info {
            failure.extra.insert("errInfo", *info);
        }
        failure
    }
}

impl From<armilla_engine::Error> for Failure {
    fn from(error: armilla_engine::Error) -> Failure {
        let code = code(error.kind);
        let retry_after_ms =
            error.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1));
        let message = match error.kind {
            ErrorKind::Throttled => {
                // Applications cut the wait out of this text.
                let wait = retry_after_ms.unwrap_or(1);
                format!(
                    "Error=16500, RetryAfterMs={wait}, Details='Request rate is large. More Request Units may be needed, \
                     so no changes were made. Please retry this request later.'"
                )
            }
            ErrorKind::TooLarge => format!("BSONObj size is invalid: {}", error.message),
            _ => error.message,
        };
        let retry_after_ms = matches!(error.kind, ErrorKind::Throttled).then(|| retry_after_ms.unwrap_or(1));
        let is_in_doubt = error.kind == ErrorKind::OutcomeUnknown;
        Failure { charge: error.charge, retry_after_ms, is_in_doubt, ..Failure::new(code, message) }
    }
}

/// Returns the number of a failure of the engine.
fn code(kind: ErrorKind) -> i32 {
    match kind {
        ErrorKind::NotFound(ResourceKind::Item) => codes::NO_MATCHING_DOCUMENT,
        ErrorKind::NotFound(_) | ErrorKind::OwnerNotFound(_) => codes::NAMESPACE_NOT_FOUND,
        ErrorKind::AlreadyExists(ResourceKind::Item) | ErrorKind::UniqueKeyTaken => codes::DUPLICATE_KEY,
        ErrorKind::AlreadyExists(_) => codes::NAMESPACE_EXISTS,
        ErrorKind::PreconditionFailed | ErrorKind::Conflict | ErrorKind::FailedDependency => {
            codes::WRITE_CONFLICT
        }
        ErrorKind::NotModified => codes::INTERNAL_ERROR,
        ErrorKind::LogicalPartitionFull => OUT_OF_DISK_SPACE,
        ErrorKind::TooLarge => codes::BSON_OBJECT_TOO_LARGE,
        ErrorKind::PartitionKeyMismatch => codes::IMMUTABLE_FIELD,
        ErrorKind::Invalid | ErrorKind::BadQuery | ErrorKind::CrossPartition | ErrorKind::QueryNeedsPlan => {
            codes::BAD_VALUE
        }
        ErrorKind::ScriptInvalid
        | ErrorKind::ScriptFailed(_)
        | ErrorKind::ScriptTimeout
        | ErrorKind::ScriptResultTooLarge => codes::OPERATION_FAILED,
        ErrorKind::TransactionExpired => codes::TRANSACTION_EXCEEDED_LIFETIME_LIMIT_SECONDS,
        ErrorKind::QueryTimeout => codes::MAX_TIME_MS_EXPIRED,
        ErrorKind::FeedExpired => codes::CHANGE_STREAM_HISTORY_LOST,
        ErrorKind::Forbidden | ErrorKind::NotData | ErrorKind::BeyondRole => codes::UNAUTHORIZED,
        ErrorKind::Unauthenticated => codes::AUTHENTICATION_FAILED,
        ErrorKind::Throttled => codes::TOO_MANY_REQUESTS,
        // Drivers try these again, which is what the engine asks for.
        ErrorKind::ContainerReplaced
        | ErrorKind::RangeGone
        | ErrorKind::Locked
        | ErrorKind::SessionNotAvailable
        | ErrorKind::OutcomeUnknown
        | ErrorKind::Unavailable => codes::EXCEEDED_TIME_LIMIT,
        ErrorKind::Corrupt | ErrorKind::Internal => codes::INTERNAL_ERROR,
    }
}

/// `OutOfDiskSpace`: what a full logical partition comes nearest to.
const OUT_OF_DISK_SPACE: i32 = 14_031;

impl From<armilla_mongo_wire::WireError> for Failure {
    fn from(error: armilla_mongo_wire::WireError) -> Failure {
        Failure::new(error.code, error.message)
    }
}
