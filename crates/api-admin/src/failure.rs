//! A request that failed, and the body that tells the client so.
//!
//! The two shapes of message are those of the SQL API, whose clients come here, too.

use std::borrow::Cow;

use armilla_engine::RequestUnits;
use armilla_value::{Object, Value, json};
use http::StatusCode;

/// The name and version that end every error message.
const AGENT: &str = concat!("armilla/", env!("CARGO_PKG_VERSION"));

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
    pub(crate) const TOO_MANY_REQUESTS: Status = Status::new(StatusCode::TOO_MANY_REQUESTS, "429");
    pub(crate) const INTERNAL: Status = Status::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError");
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

/// Who refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This front end; the message stands by itself.
    Gateway,
    /// The engine; the message stands in a list of errors.
    Engine,
}

/// Why a request gets no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// Status, sub-status and code.
    pub(crate) status: Status,
    /// What is wrong, for people.
    pub(crate) message: Cow<'static, str>,
    /// Who refused.
    pub(crate) origin: Origin,
    /// What the attempt cost.
    pub(crate) charge: RequestUnits,
    /// The verb that the resource takes: this was another one.
    pub(crate) allowed_verb: Option<&'static str>,
    /// How long to wait before the request is sent again, in milliseconds.
    pub(crate) retry_after_ms: Option<u64>,
}

impl Failure {
    /// Returns a failure found by this front end.
    pub(crate) fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Failure {
        Failure {
            status,
            message: message.into(),
            origin: Origin::Gateway,
            charge: RequestUnits::ZERO,
            allowed_verb: None,
            retry_after_ms: None,
        }
    }

    /// Returns the refusal of a malformed request.
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(Status::BAD_REQUEST, message)
    }

    /// Returns the body that tells the client.
    pub(crate) fn body(&self, activity_id: &str) -> String {
        let message = match self.origin {
            Origin::Gateway => Cow::Borrowed(&*self.message),
            Origin::Engine => {
                let quoted = json::to_string(&Value::from(&*self.message));
                Cow::Owned(format!("Message: {{\"Errors\":[{quoted}]}}"))
            }
        };
        let mut body = Object::default();
        body.insert("code", self.status.code);
        body.insert("message", format!("{message}\r\nActivityId: {activity_id}, {AGENT}"));
        json::to_string(&Value::Object(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_two_shapes() {
        let failure = Failure::bad_request("odd \"header\"\n");
        let expected =
            format!(r#"{{"code":"BadRequest","message":"odd \"header\"\n\r\nActivityId: an-id, {AGENT}"}}"#);
        assert_eq!(failure.body("an-id"), expected);
        let failure =
            Failure { origin: Origin::Engine, ..Failure::new(Status::NOT_FOUND, "no \"such\" thing") };
        let expected = concat!(
            r#"{"code":"NotFound","message":"Message: {\"Errors\":[\"no \\\"such\\\" thing\"]}\r\n"#,
            r#"ActivityId: an-id, "#
        );
        assert_eq!(failure.body("an-id"), format!("{expected}{AGENT}\"}}"));
    }
}
