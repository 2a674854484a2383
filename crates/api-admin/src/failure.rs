//! A request that failed, and the body that tells the client so.
//!
//! The two shapes of message are those of the SQL API, whose clients come here, too.

use std::borrow::Cow;

use armilla_engine::RequestUnits;
use armilla_rest_wire::authorization::AuthorizationError;
use armilla_rest_wire::replies::AGENT;
use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};

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

impl From<AuthorizationError> for Failure {
    fn from(error: AuthorizationError) -> Failure {
        Failure::new(error.status(), error.to_string())
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
