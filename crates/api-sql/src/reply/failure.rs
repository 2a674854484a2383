//! A request that failed, and the body that tells the client so.
//!
//! Invariant: every failure has a JSON object with a string `message` as its body. The JavaScript
//! client parses it unconditionally and hides the status behind its own exception otherwise.

use std::borrow::Cow;

use armilla_engine::{Position, RequestUnits};
use armilla_rest_wire::authorization::AuthorizationError;
use armilla_rest_wire::replies::AGENT;
use armilla_rest_wire::status::Status;

use crate::json_text::{push_escaped, push_string};

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
    /// What the client is told besides.
    pub(crate) detail: Option<Detail>,
}

/// What the client is told besides the message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Detail {
    /// What it needs to go on by other means, as JSON text.
    AdditionalErrorInfo(Box<str>),
    /// The verbs that the resource takes: this was not one of them.
    AllowedVerbs(&'static str),
    /// What a script had logged before it failed.
    ScriptLog(Box<str>),
    /// How long to wait before the request is sent again, in milliseconds.
    RetryAfterMs(u64),
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
            detail: None,
        }
    }

    /// Returns the refusal of a malformed request.
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(Status::BAD_REQUEST, message)
    }

    /// Returns the refusal of a resource without a name.
    pub(crate) fn missing_id(what: &str) -> Failure {
        Failure::bad_request(format!(
            "The input content is invalid because the required properties - 'id; ' - are missing: {what} needs a \
             text 'id'."
        ))
    }

    /// Returns the message in the shape that its origin gives it.
    pub(crate) fn shaped_message(&self) -> Cow<'_, str> {
        match self.origin {
            Origin::Gateway => Cow::Borrowed(&self.message),
            Origin::Engine => {
                let mut list = Vec::with_capacity(self.message.len() + 32);
                list.extend_from_slice(b"Message: {\"Errors\":[");
                push_string(&mut list, &self.message);
                list.extend_from_slice(b"]}");
                Cow::Owned(String::from_utf8_lossy(&list).into_owned())
            }
        }
    }

    /// Returns the body that tells the client.
    pub(crate) fn body(&self, activity_id: &str) -> Vec<u8> {
        let message = [&*self.shaped_message(), "\r\nActivityId: ", activity_id, ", ", AGENT].concat();

        let mut body = Vec::with_capacity(message.len() + 64);
        body.extend_from_slice(b"{\"code\":\"");
        push_escaped(&mut body, self.status.code);
        body.extend_from_slice(b"\",\"message\":");
        push_string(&mut body, &message);
        if let Some(Detail::AdditionalErrorInfo(info)) = &self.detail {
            body.extend_from_slice(b",\"additionalErrorInfo\":");
            push_string(&mut body, info);
        }
        body.push(b'}');
        body
    }
}

impl From<AuthorizationError> for Failure {
    fn from(error: AuthorizationError) -> Failure {
        Failure::new(error.status(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use armilla_rest_wire::status::Status;

    use super::{AGENT, Detail, Failure, Origin};

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
    fn additional_info_is_json_in_a_string() {
        let mut failure = Failure::bad_request("no");
        failure.detail = Some(Detail::AdditionalErrorInfo(r#"{"a":1}"#.into()));
        let body = String::from_utf8(failure.body("an-id")).unwrap();
        assert!(body.ends_with(r#","additionalErrorInfo":"{\"a\":1}"}"#), "{body}");
    }
}
