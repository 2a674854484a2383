//! What came back to a request.

use armilla_value::{Value, json};
use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body_util::{BodyExt as _, Full};

/// What bodies that are no text are sent as.
pub(crate) const BINARY: &str = "application/octet-stream";

/// An answer, after the checks that hold of all answers.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; where it is no text, as near to it as text comes.
    pub text: String,
}

impl Answer {
    /// Reads a response.
    pub(crate) async fn read(response: Response<Full<Bytes>>) -> Answer {
        let (parts, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let is_binary = parts.headers.get("content-type").is_some_and(|kind| kind == BINARY);
        let text = match is_binary {
            true => String::from_utf8_lossy(&body).into_owned(),
            false => String::from_utf8(body.to_vec()).expect("a body is UTF-8"),
        };
        Answer { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("headers of answers are visible ASCII"))
    }

    /// Returns the status with the sub-status, 0 if there is none.
    pub fn code(&self) -> (u16, u32) {
        let sub_status = self.header("x-ms-substatus");
        (self.status, sub_status.map_or(0, |sub| sub.parse().expect("a sub-status is a number")))
    }

    /// Returns the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        json::parse(self.text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns a text member of the body.
    #[track_caller]
    pub fn member(&self, name: &str) -> String {
        self.json().get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: {self:?}")).to_owned()
    }

    /// Returns a whole number in the body.
    #[track_caller]
    pub fn number(&self, name: &str) -> i64 {
        self.json().get(name).and_then(Value::as_i64).unwrap_or_else(|| panic!("{name}: {self:?}"))
    }

    /// Returns the ids of the entries of a feed.
    #[track_caller]
    pub fn ids(&self, feed: &str) -> Vec<String> {
        let body = self.json();
        let entries = body.get(feed).and_then(Value::as_array).unwrap_or_else(|| panic!("{feed}: {self:?}"));
        assert_eq!(self.number("_count"), entries.len() as i64);
        assert_eq!(self.header("x-ms-item-count"), Some(entries.len().to_string().as_str()));
        let id = |entry: &Value| entry.get("id").and_then(Value::as_str).map(str::to_owned);
        entries.iter().map(|entry| id(entry).unwrap_or_else(|| panic!("an id: {self:?}"))).collect()
    }

    /// Expects a status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Expects a status with a sub-status, 0 for none.
    #[track_caller]
    pub fn expect_code(self, status: u16, sub_status: u32) -> Answer {
        assert_eq!(self.code(), (status, sub_status), "{self:?}");
        self
    }
}
