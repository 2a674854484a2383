//! Status codes of the SQL API, with their sub-status and the name that stands in error bodies.

use http::StatusCode;

/// What a failed request is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status.
    pub http: StatusCode,
    /// The sub-status; 0 is not sent.
    pub sub: u32,
    /// The `code` of the error body.
    pub code: &'static str,
}

impl Status {
    /// 304.
    pub const NOT_MODIFIED: Status = Status::new(StatusCode::NOT_MODIFIED, "NotModified");
    /// 400.
    pub const BAD_REQUEST: Status = Status::new(StatusCode::BAD_REQUEST, "BadRequest");
    /// 401.
    pub const UNAUTHORIZED: Status = Status::new(StatusCode::UNAUTHORIZED, "Unauthorized");
    /// 403.
    pub const FORBIDDEN: Status = Status::new(StatusCode::FORBIDDEN, "Forbidden");
    /// 404.
    pub const NOT_FOUND: Status = Status::new(StatusCode::NOT_FOUND, "NotFound");
    /// 405.
    pub const METHOD_NOT_ALLOWED: Status = Status::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
    /// 408.
    pub const REQUEST_TIMEOUT: Status = Status::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeout");
    /// 409.
    pub const CONFLICT: Status = Status::new(StatusCode::CONFLICT, "Conflict");
    /// 410.
    pub const GONE: Status = Status::new(StatusCode::GONE, "Gone");
    /// 412.
    pub const PRECONDITION_FAILED: Status =
        Status::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed");
    /// 413.
    pub const TOO_LARGE: Status = Status::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
    /// 423.
    pub const LOCKED: Status = Status::new(StatusCode::LOCKED, "Locked");
    /// 424.
    pub const FAILED_DEPENDENCY: Status = Status::new(StatusCode::FAILED_DEPENDENCY, "FailedDependency");
    /// 429. The service writes the number where others have a name.
    pub const TOO_MANY_REQUESTS: Status = Status::new(StatusCode::TOO_MANY_REQUESTS, "429");
    /// 500.
    pub const INTERNAL: Status = Status::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError");
    /// 503.
    pub const UNAVAILABLE: Status = Status::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");

    /// 449: the request shall be sent again, because another one changed what it worked on.
    pub fn retry_with() -> Status {
        Status::new(StatusCode::from_u16(449).expect("449 has three digits"), "RetryWith")
    }

    const fn new(http: StatusCode, code: &'static str) -> Status {
        Status { http, sub: 0, code }
    }

    /// Returns the status with a sub-status.
    pub const fn sub(self, sub: u32) -> Status {
        Status { sub, ..self }
    }
}

/// Sub-status codes that clients act upon.
pub mod sub_status {
    /// 400: the partition key in the header is not the one in the item.
    pub const PARTITION_KEY_MISMATCH: u32 = 1001;
    /// 400: the client has to merge the results of several partitions by itself.
    pub const CROSS_PARTITION_QUERY_NOT_SERVABLE: u32 = 1004;
    /// 400: the client's container was deleted and another one has its name.
    pub const CONTAINER_RID_MISMATCH: u32 = 1024;
    /// 400: the text of a script is no JavaScript function.
    pub const SCRIPT_COMPILE_ERROR: u32 = 65_535;
    /// 403: the logical partition is full.
    pub const LOGICAL_PARTITION_FULL: u32 = 1014;
    /// 404: the session token is ahead of the server.
    pub const READ_SESSION_NOT_AVAILABLE: u32 = 1002;
    /// 404: the resource above the addressed one does not exist.
    pub const OWNER_NOT_FOUND: u32 = 1003;
    /// 410: the partition key range has split or never was.
    pub const PARTITION_KEY_RANGE_GONE: u32 = 1002;
    /// 429: the physical partition has used what it may use in this second.
    pub const REQUEST_RATE_TOO_LARGE: u32 = 3200;
    /// The region takes no writes.
    pub const WRITE_FORBIDDEN: u32 = 3;
    /// What was asked for cannot be allowed by a token of Entra ID, whatever its roles.
    pub const NOT_BY_TOKEN: u32 = 5300;
    /// The role of the token's bearer does not allow it.
    pub const BEYOND_ROLE: u32 = 5301;
    /// 413: the answer would be too long.
    pub const RESPONSE_SIZE_EXCEEDED: u32 = 3402;
}
