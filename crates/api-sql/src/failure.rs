//! A request that failed, and the body that tells the client so.
//!
//! Invariant: every failure has a JSON object with a string `message` as its body. The JavaScript
//! client parses it unconditionally and hides the status behind its own exception otherwise.

use std::borrow::Cow;

use armilla_engine::{Position, RequestUnits};

use crate::json_text::{push_escaped, push_string};
use crate::status::Status;

/// The name and version that end every error message.
pub(crate) const AGENT: &str = concat!("armilla/", env!("CARGO_PKG_VERSION"));

/// Who refused: the two shapes of message that clients know.
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
    /// Where in the container it failed, once it had been routed.
    pub(crate) position: Option<Position>,
    /// The verbs that the resource takes, if this was not one of them.
    pub(crate) allowed_verbs: Option<&'static str>,
}

impl Failure {
    /// Returns a failure found by this front end.
    pub(crate) fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Failure {
        Failure {
            status,
            message: message.into(),
            origin: Origin::Gateway,
            charge: RequestUnits::ZERO,
            position: None,
            allowed_verbs: None,
        }
    }

    /// Returns the refusal of a malformed request.
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(Status::BAD_REQUEST, message)
    }

    /// Returns the refusal of a feature that this server lacks.
    pub(crate) fn not_implemented(feature: &str) -> Failure {
        Failure::new(Status::NOT_IMPLEMENTED, format!("{feature} is not supported by this server yet"))
    }

    /// Returns the body that tells the client.
    pub(crate) fn body(&self, activity_id: &str) -> Vec<u8> {
        let mut message = Vec::with_capacity(self.message.len() + 96);
        match self.origin {
            Origin::Gateway => message.extend_from_slice(self.message.as_bytes()),
            Origin::Engine => {
                message.extend_from_slice(b"Message: {\"Errors\":[");
                push_string(&mut message, &self.message);
                message.extend_from_slice(b"]}");
            }
        }
        message.extend_from_slice(b"\r\nActivityId: ");
        message.extend_from_slice(activity_id.as_bytes());
        message.extend_from_slice(b", ");
        message.extend_from_slice(AGENT.as_bytes());
        let message = String::from_utf8_lossy(&message);

        let mut body = Vec::with_capacity(message.len() + 64);
        body.extend_from_slice(b"{\"code\":\"");
        push_escaped(&mut body, self.status.code);
        body.extend_from_slice(b"\",\"message\":");
        push_string(&mut body, &message);
        body.push(b'}');
        body
    }
}

#[cfg(test)]
mod tests {
    use super::{AGENT, Failure, Origin};
    use crate::status::Status;

    #[test]
    fn gateway_messages_stand_by_themselves() {
        let body = Failure::bad_request("odd \"header\"").body("an-id");
        let expected =
            format!(r#"{{"code":"BadRequest","message":"odd \"header\"\r\nActivityId: an-id, {AGENT}"}}"#);
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }

    #[test]
    fn engine_messages_stand_in_a_list() {
        let mut failure = Failure::new(Status::NOT_FOUND.sub(1003), "no \"such\" thing");
        failure.origin = Origin::Engine;
        let expected = concat!(
            r#"{"code":"NotFound","message":"Message: {\"Errors\":[\"no \\\"such\\\" thing\"]}\r\n"#,
            r#"ActivityId: an-id, "#
        );
        let expected = format!("{expected}{AGENT}\"}}");
        assert_eq!(String::from_utf8(failure.body("an-id")).unwrap(), expected);
    }

    #[test]
    fn missing_features_are_named() {
        let failure = Failure::not_implemented("a stored procedure");
        assert_eq!(failure.status.http.as_u16(), 501);
        assert!(failure.message.contains("a stored procedure"));
    }
}
