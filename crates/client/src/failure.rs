//! What can go wrong with a request.

use std::fmt;
use std::time::Duration;

use armilla_rest_wire::names;
use armilla_value::json;
use http::{HeaderMap, StatusCode};

use crate::connection::Answer;

/// Why a request was not done.
#[derive(Debug)]
pub enum Failure {
    /// The server said no.
    Refused(Box<Refusal>),
    /// There was no answer: the server is away, or was while it had the request. What the request was to change may
    /// be changed or not.
    Lost(anyhow::Error),
    /// The request could not be made of what was given.
    Malformed(anyhow::Error),
}

/// What a server said that did not do what it was asked.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The sub-status; 0 if there is none.
    pub sub_status: u32,
    /// Why, in the server's words.
    pub message: String,
    /// What it cost.
    pub charge: f64,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
    /// How often the request was refused for its rate before.
    pub throttled: u32,
}

impl Refusal {
    /// Reads an answer.
    pub(crate) fn of(answer: &Answer, throttled: u32) -> Refusal {
        let number = |name| text(&answer.headers, name).and_then(|text| text.parse().ok());
        Refusal {
            status: answer.status,
            sub_status: number(&names::SUB_STATUS).unwrap_or(0),
            message: message(&answer.body).unwrap_or_else(|| answer.status.to_string()),
            charge: charge(&answer.headers),
            retry_after: retry_after(&answer.headers),
            throttled,
        }
    }
}

impl Failure {
    /// Returns the status, if the server answered.
    pub fn status(&self) -> Option<StatusCode> {
        self.refusal().map(|refusal| refusal.status)
    }

    /// Returns what the server said, if it did.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) => Some(refusal),
            Failure::Lost(_) | Failure::Malformed(_) => None,
        }
    }

    /// Whether the server said this status.
    pub fn is(&self, status: u16) -> bool {
        self.status().is_some_and(|said| said.as_u16() == status)
    }

    /// Whether it may be over soon: throttled, timed out, in the way of a split or of another write, closing, away, or
    /// in trouble of its own.
    pub fn is_passing(&self) -> bool {
        match self {
            Failure::Refused(refusal) => {
                matches!(refusal.status.as_u16(), 408 | 410 | 429 | 449 | 500 | 502..=599)
            }
            Failure::Lost(_) => true,
            Failure::Malformed(_) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refusal) => {
                write!(f, "the server answered {}", refusal.status.as_u16())?;
                if refusal.sub_status != 0 {
                    write!(f, "/{}", refusal.sub_status)?;
                }
                write!(f, ": {}", refusal.message)
            }
            Failure::Lost(error) | Failure::Malformed(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for Failure {}

/// The message of a failure, on one line, without what the service's clients expect around it.
pub fn message(body: &[u8]) -> Option<String> {
    let value = json::parse(body).ok()?;
    let text = value.get("message")?.as_str()?;
    let line = text.lines().next()?.trim();
    let wrapped = line.strip_prefix("Message: ").and_then(|rest| json::parse(rest.as_bytes()).ok());
    let first = wrapped.as_ref().and_then(|errors| errors.get("Errors")?.as_array()?.first()?.as_str());
    Some(first.unwrap_or(line).replace('\n', " ")).filter(|said| !said.is_empty())
}

/// Returns the text of a header.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns what a request cost.
pub(crate) fn charge(headers: &HeaderMap) -> f64 {
    text(headers, &names::REQUEST_CHARGE).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Returns how long the server asks to wait.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    text(headers, &names::RETRY_AFTER_MS)?.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_a_server_said() {
        let mut headers = HeaderMap::new();
        headers.insert(&names::SUB_STATUS, HeaderValue::from_static("3200"));
        headers.insert(&names::RETRY_AFTER_MS, HeaderValue::from_static("12"));
        headers.insert(&names::REQUEST_CHARGE, HeaderValue::from_static("0.38"));
        let body = br#"{"message":"Message: {\"Errors\":[\"No \\\"x\\\".\"]}\r\nActivityId: 1"}"#;
        let answer = Answer { status: StatusCode::TOO_MANY_REQUESTS, headers, body: body[..].into() };
        let failure = Failure::Refused(Box::new(Refusal::of(&answer, 3)));
        assert_eq!(failure.to_string(), "the server answered 429/3200: No \"x\".");
        let refusal = failure.refusal().unwrap();
        assert_eq!((refusal.retry_after, refusal.throttled), (Some(Duration::from_millis(12)), 3));
        assert!((refusal.charge - 0.38).abs() < 1e-9);
        assert!(failure.is(429) && failure.is_passing());
        let none = Answer { status: StatusCode::NOT_FOUND, headers: HeaderMap::new(), body: "<html>".into() };
        let failure = Failure::Refused(Box::new(Refusal::of(&none, 0)));
        assert_eq!(failure.to_string(), "the server answered 404: 404 Not Found");
        assert!(!failure.is_passing());
        assert!(Failure::Lost(anyhow::anyhow!("x")).is_passing());
        assert!(!Failure::Malformed(anyhow::anyhow!("x")).is_passing());
    }

    #[test]
    fn messages() {
        for (body, expected) in [
            (r#"{"message":"no container c\r\nActivityId: 1"}"#, Some("no container c")),
            (r#"{"message":""}"#, None),
            (r#"{"message":7}"#, None),
            ("", None),
        ] {
            assert_eq!(message(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }
}
