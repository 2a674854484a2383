//! Replies: status, headers and body, with the headers that clients rely upon.
//!
//! Header names are static and numbers are written once, so a point read makes few allocations here.

use std::fmt::Write as _;

use armilla_engine::{ETag, Position, RequestUnits, SessionToken};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use crate::failure::Failure;
use crate::headers::names;

/// The version of the API whose rules are followed.
const API_VERSION: HeaderValue = HeaderValue::from_static("2020-07-15");
/// The version of the gateway whose behaviour is followed.
const GATEWAY_VERSION: HeaderValue = HeaderValue::from_static("version=2.14.0");
const SERVICE_VERSION: HeaderValue =
    HeaderValue::from_static(concat!("version=", env!("CARGO_PKG_VERSION"), ".0"));
const SCHEMA_VERSION: HeaderValue = HeaderValue::from_static("1.18");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Most replies have about this many headers: room for them is made at once.
const HEADERS_EXPECTED: usize = 32;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    charge: RequestUnits,
}

impl Reply {
    /// Returns a reply without a body.
    pub(crate) fn empty(status: StatusCode, charge: RequestUnits) -> Reply {
        Reply { status, headers: HeaderMap::with_capacity(HEADERS_EXPECTED), body: Bytes::new(), charge }
    }

    /// Returns a reply with JSON text.
    pub(crate) fn json(status: StatusCode, text: impl Into<Bytes>, charge: RequestUnits) -> Reply {
        let mut reply = Reply::empty(status, charge);
        reply.body = text.into();
        reply
    }

    /// Returns the reply that tells of a failure.
    pub(crate) fn failure(failure: &Failure, activity_id: &str) -> Reply {
        let mut reply = Reply::empty(failure.status.http, failure.charge);
        if failure.status.http != StatusCode::NOT_MODIFIED {
            reply.body = failure.body(activity_id).into();
        }
        if failure.status.sub != 0 {
            reply.set(&names::SUB_STATUS, u64::from(failure.status.sub));
        }
        if let Some(position) = failure.position {
            reply.position(position);
        }
        if let Some(allowed) = failure.allowed_verbs {
            reply.set(&http::header::ALLOW, HeaderValue::from_static(allowed));
        }
        reply
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns what the request cost.
    pub(crate) fn charge(&self) -> RequestUnits {
        self.charge
    }

    /// Sets a header.
    pub(crate) fn set(&mut self, name: &HeaderName, value: impl Into<HeaderValue>) {
        self.headers.insert(name, value.into());
    }

    /// Sets a header to text; characters that a header cannot hold are percent-encoded.
    pub(crate) fn set_text(&mut self, name: &HeaderName, text: &str) {
        self.set(name, header_text(text));
    }

    /// Sets the version of a single resource.
    pub(crate) fn etag(&mut self, etag: ETag) {
        let mut text = [b'"'; 38];
        text[1..37].copy_from_slice(&etag.text());
        let value = HeaderValue::from_bytes(&text).expect("an etag is made of digits and hyphens");
        self.set(&http::header::ETAG, value);
    }

    /// Sets where in the container the request was served, and how far that partition is.
    pub(crate) fn position(&mut self, position: Position) {
        let lsn = HeaderValue::from(position.lsn);
        for name in [
            &names::LSN,
            &names::GLOBAL_COMMITTED_LSN,
            &names::LOCAL_LSN,
            &names::QUORUM_ACKED_LSN,
            &names::QUORUM_ACKED_LOCAL_LSN,
        ] {
            self.set(name, lsn.clone());
        }
        let range_id = HeaderValue::from(position.range_id);
        self.set(&names::PHYSICAL_PARTITION_ID, range_id.clone());
        self.set(&names::PARTITION_KEY_RANGE_ID, range_id);
        self.session(&SessionToken::from(position));
    }

    /// Sets the session token.
    pub(crate) fn session(&mut self, token: &SessionToken) {
        let mut text = String::with_capacity(24);
        write!(text, "{token}").expect("writing to a string does not fail");
        // A token of no range is no token: clients fail on an empty one.
        if !text.is_empty() {
            self.set_text(&names::SESSION_TOKEN, &text);
        }
    }

    /// Sets the commit that wrote the item.
    pub(crate) fn item_lsn(&mut self, lsn: u64) {
        let lsn = HeaderValue::from(lsn);
        self.set(&names::ITEM_LSN, lsn.clone());
        self.set(&names::ITEM_LOCAL_LSN, lsn);
    }

    /// Sets what the resource lies in, by name and by resource id.
    pub(crate) fn content_path(&mut self, names: &str, rid: &str) {
        self.set_text(&names::ALT_CONTENT_PATH, names);
        self.set_text(&names::CONTENT_PATH, rid);
    }

    /// Adds the headers of every reply.
    pub(crate) fn finish(mut self, activity_id: HeaderValue) -> Response<Full<Bytes>> {
        let mut charge = String::with_capacity(12);
        write!(charge, "{}", self.charge).expect("writing to a string does not fail");
        self.set_text(&names::REQUEST_CHARGE, &charge);
        self.set(&names::ACTIVITY_ID, activity_id);
        self.set(&names::VERSION, API_VERSION);
        self.set(&names::GATEWAY_VERSION, GATEWAY_VERSION);
        self.set(&names::SERVICE_VERSION, SERVICE_VERSION);
        self.set(&names::SCHEMA_VERSION, SCHEMA_VERSION);
        if !self.body.is_empty() {
            self.set(&http::header::CONTENT_TYPE, JSON);
        }
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// Makes a header of any text. Names may hold any character; headers hold visible ASCII and spaces.
fn header_text(text: &str) -> HeaderValue {
    if let Ok(value) = HeaderValue::from_str(text) {
        // `from_str` lets no byte through that is not visible ASCII, a space or a tab.
        return value;
    }
    let mut encoded = String::with_capacity(3 * text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' => encoded.push(char::from(byte)),
            _ => write!(encoded, "%{byte:02X}").expect("writing to a string does not fail"),
        }
    }
    HeaderValue::from_str(&encoded).expect("only visible ASCII and spaces are left")
}

#[cfg(test)]
mod tests {
    use armilla_engine::{Position, RequestUnits};
    use http::{HeaderValue, StatusCode};

    use super::{Reply, header_text};
    use crate::failure::Failure;

    #[test]
    fn header_texts_are_ascii() {
        for (text, expected) in [
            ("dbs/d/colls/c", "dbs/d/colls/c"),
            ("dbs/100%/colls/a b", "dbs/100%/colls/a b"),
            ("dbs/Größe", "dbs/Gr%C3%B6%C3%9Fe"),
            ("a\nb\u{7f}", "a%0Ab%7F"),
            ("日", "%E6%97%A5"),
            ("", ""),
        ] {
            assert_eq!(header_text(text), expected, "{text}");
        }
    }

    #[test]
    fn every_reply_has_the_standard_headers() {
        let response = Reply::empty(StatusCode::NO_CONTENT, RequestUnits::from_hundredths(1_005))
            .finish(HeaderValue::from_static("an-id"));
        assert_eq!(response.status(), 204);
        let header = |name: &str| response.headers()[name].to_str().unwrap();
        assert_eq!(header("x-ms-request-charge"), "10.05");
        assert_eq!(header("x-ms-activity-id"), "an-id");
        assert_eq!(header("x-ms-version"), "2020-07-15");
        assert_eq!(header("x-ms-gatewayversion"), "version=2.14.0");
        assert!(header("x-ms-serviceversion").starts_with("version="));
        assert_eq!(header("x-ms-schemaversion"), "1.18");
        assert!(!response.headers().contains_key("content-type"));
    }

    #[test]
    fn positions_are_written_everywhere() {
        let mut reply = Reply::empty(StatusCode::OK, RequestUnits::ZERO);
        reply.position(Position { range_id: 3, lsn: 42 });
        reply.item_lsn(41);
        let response = reply.finish(HeaderValue::from_static("an-id"));
        for (name, expected) in [
            ("lsn", "42"),
            ("x-ms-item-lsn", "41"),
            ("x-ms-cosmos-item-llsn", "41"),
            ("x-ms-global-committed-lsn", "42"),
            ("x-ms-cosmos-llsn", "42"),
            ("x-ms-quorum-acked-lsn", "42"),
            ("x-ms-cosmos-quorum-acked-llsn", "42"),
            ("x-ms-documentdb-partitionkeyrangeid", "3"),
            ("x-ms-cosmos-physical-partition-id", "3"),
            ("x-ms-session-token", "3:-1#42"),
        ] {
            assert_eq!(response.headers()[name], expected, "{name}");
        }
    }

    #[test]
    fn failures_have_a_body_and_not_modified_has_none() {
        let mut failure = Failure::bad_request("no");
        failure.status = failure.status.sub(1001);
        let response = Reply::failure(&failure, "an-id").finish(HeaderValue::from_static("an-id"));
        assert_eq!(response.headers()["x-ms-substatus"], "1001");
        assert_eq!(response.headers()["content-type"], "application/json");
        failure.status.http = StatusCode::NOT_MODIFIED;
        let response = Reply::failure(&failure, "an-id").finish(HeaderValue::from_static("an-id"));
        assert!(http_body::Body::is_end_stream(response.body()));
    }
}
