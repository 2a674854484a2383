//! Status codes with their sub-status and the name that stands in error bodies.

use http::StatusCode;

/// What a failed request is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    /// The HTTP status.
    pub(crate) http: StatusCode,
    /// The sub-status; 0 is not sent.
    pub(crate) sub: u32,
    /// The `code` of the error body.
    pub(crate) code: &'static str,
}

impl Status {
    pub(crate) const NOT_MODIFIED: Status = Status::new(StatusCode::NOT_MODIFIED, "NotModified");
    pub(crate) const BAD_REQUEST: Status = Status::new(StatusCode::BAD_REQUEST, "BadRequest");
    pub(crate) const UNAUTHORIZED: Status = Status::new(StatusCode::UNAUTHORIZED, "Unauthorized");
    pub(crate) const FORBIDDEN: Status = Status::new(StatusCode::FORBIDDEN, "Forbidden");
    pub(crate) const NOT_FOUND: Status = Status::new(StatusCode::NOT_FOUND, "NotFound");
    pub(crate) const METHOD_NOT_ALLOWED: Status =
        Status::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
    pub(crate) const REQUEST_TIMEOUT: Status = Status::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeout");
    pub(crate) const CONFLICT: Status = Status::new(StatusCode::CONFLICT, "Conflict");
    pub(crate) const GONE: Status = Status::new(StatusCode::GONE, "Gone");
    pub(crate) const PRECONDITION_FAILED: Status =
        Status::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed");
    pub(crate) const TOO_LARGE: Status = Status::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
    pub(crate) const LOCKED: Status = Status::new(StatusCode::LOCKED, "Locked");
    pub(crate) const FAILED_DEPENDENCY: Status =
        Status::new(StatusCode::FAILED_DEPENDENCY, "FailedDependency");
    /// The service writes the number where others have a name.
    pub(crate) const TOO_MANY_REQUESTS: Status = Status::new(StatusCode::TOO_MANY_REQUESTS, "429");
    pub(crate) const INTERNAL: Status = Status::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError");
    pub(crate) const NOT_IMPLEMENTED: Status = Status::new(StatusCode::NOT_IMPLEMENTED, "NotImplemented");
    pub(crate) const UNAVAILABLE: Status = Status::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");

    /// Returns the status of a request that shall be sent again, because somebody else changed what it worked on.
    pub(crate) fn retry_with() -> Status {
        Status::new(StatusCode::from_u16(449).expect("449 has three digits"), "RetryWith")
    }

    const fn new(http: StatusCode, code: &'static str) -> Status {
        Status { http, sub: 0, code }
    }

    /// Returns the status with a sub-status.
    pub(crate) const fn sub(self, sub: u32) -> Status {
        Status { sub, ..self }
    }
}

/// Sub-status codes that clients act upon.
pub(crate) mod sub_status {
    /// 400: the partition key in the header is not the one in the item.
    pub(crate) const PARTITION_KEY_MISMATCH: u32 = 1001;
    /// 400: the client has to merge the results of several partitions by itself.
    pub(crate) const CROSS_PARTITION_QUERY_NOT_SERVABLE: u32 = 1004;
    /// 400: the client's container was deleted and another one has its name.
    pub(crate) const CONTAINER_RID_MISMATCH: u32 = 1024;
    /// 400: the text of a script is no JavaScript function.
    pub(crate) const SCRIPT_COMPILE_ERROR: u32 = 65_535;
    /// 403: the logical partition is full.
    pub(crate) const LOGICAL_PARTITION_FULL: u32 = 1014;
    /// 404: the session token is ahead of the server.
    pub(crate) const READ_SESSION_NOT_AVAILABLE: u32 = 1002;
    /// 404: the resource above the addressed one does not exist.
    pub(crate) const OWNER_NOT_FOUND: u32 = 1003;
    /// 410: the partition key range has split or never was.
    pub(crate) const PARTITION_KEY_RANGE_GONE: u32 = 1002;
    /// 429: the physical partition has used what it may use in this second.
    pub(crate) const REQUEST_RATE_TOO_LARGE: u32 = 3200;
    /// 413: the answer would be too long.
    pub(crate) const RESPONSE_SIZE_EXCEEDED: u32 = 3402;
}
