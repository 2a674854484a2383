//! Replies: status, headers and body, with the headers that clients rely upon.
//!
//! ```text
//! failure                       a request that failed, and the body that tells the client so
//! resource_text, feed_text      resources and pages of feeds as JSON
//! ```
//!
//! Header names are static and numbers are written once, so a point read makes few allocations here.
//!
//! Not here: which failure of the engine has which status (`error_map`).

pub(crate) mod failure;
pub(crate) mod feed_text;
pub(crate) mod resource_text;

use std::fmt;
use std::io::Write as _;

use armilla_engine::{ETag, Position, RequestUnits, SessionToken};
use armilla_rest_wire::{names, percent, replies};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use crate::limits::SCRIPT_LOG_HEADER_BYTES_MAX;

use failure::{Detail, Failure};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Most replies have about this many headers: room for them is made at once.
const HEADERS_EXPECTED: usize = 32;

/// Longest value that is written on the stack: those of every reply are shorter.
const SHORT_BYTES_MAX: usize = 128;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    charge: RequestUnits,
    range_id: Option<u32>,
}

impl Reply {
    /// Returns a reply without a body.
    pub(crate) fn empty(status: StatusCode, charge: RequestUnits) -> Reply {
        let headers = HeaderMap::with_capacity(HEADERS_EXPECTED);
        Reply { status, headers, body: Bytes::new(), charge, range_id: None }
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
            reply.set(&names::SUB_STATUS, failure.status.sub);
        }
        if let Some(position) = failure.position {
            reply.position(position);
        }
        match &failure.detail {
            Some(Detail::AllowedVerbs(allowed)) => {
                reply.set(&http::header::ALLOW, HeaderValue::from_static(allowed));
            }
            Some(Detail::ScriptLog(log)) => reply.script_log(log),
            Some(Detail::RetryAfterMs(milliseconds)) => reply.set(&names::RETRY_AFTER_MS, *milliseconds),
            // It stands in the body.
            Some(Detail::AdditionalErrorInfo(_)) | None => {}
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

    /// Returns the physical partition that served the request, the last one if there were several.
    pub(crate) fn range_id(&self) -> Option<u32> {
        self.range_id
    }

    /// Sets a header.
    pub(crate) fn set(&mut self, name: &HeaderName, value: impl Into<HeaderValue>) {
        self.headers.insert(name, value.into());
    }

    /// Sets a header to text; characters that a header cannot hold are percent-encoded.
    pub(crate) fn set_text(&mut self, name: &HeaderName, text: impl Into<String>) {
        self.set(name, header_text(text.into()));
    }

    /// Sets a header to something that is written in digits and punctuation.
    pub(crate) fn set_short(&mut self, name: &HeaderName, value: impl fmt::Display) {
        self.set(name, short_value(value));
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
        self.range_id = Some(position.range_id);
        let lsn = short_value(position.lsn);
        for name in [
            &names::LSN,
            &names::GLOBAL_COMMITTED_LSN,
            &names::LOCAL_LSN,
            &names::QUORUM_ACKED_LSN,
            &names::QUORUM_ACKED_LOCAL_LSN,
        ] {
            self.set(name, lsn.clone());
        }
        let range_id = short_value(position.range_id);
        self.set(&names::PHYSICAL_PARTITION_ID, range_id.clone());
        self.set(&names::PARTITION_KEY_RANGE_ID, range_id);
        self.session(&SessionToken::from(position));
    }

    /// Sets how far the partitions are that a page came from.
    pub(crate) fn positions(&mut self, positions: &[Position]) {
        // A page over several partitions ends in the last one, but the session has seen them all.
        if let Some(last) = positions.last() {
            self.position(*last);
            self.session(&positions.iter().copied().collect::<SessionToken>());
        }
    }

    /// Sets the session token.
    pub(crate) fn session(&mut self, token: &SessionToken) {
        let value = short_value(token);
        // A token of no range is no token: clients fail on an empty one.
        if !value.is_empty() {
            self.set(&names::SESSION_TOKEN, value);
        }
    }

    /// Sets what a script logged, every character but letters, digits and a few marks percent-encoded.
    pub(crate) fn script_log(&mut self, log: &str) {
        let value = HeaderValue::try_from(encoded_log(log)).expect("percent-encoded text is visible ASCII");
        self.set(&names::SCRIPT_LOG_RESULTS, value);
    }

    /// Sets what a script has read and written, encoded in the same way.
    pub(crate) fn script_footprint(&mut self, footprint: &str) {
        let value =
            HeaderValue::try_from(encoded_log(footprint)).expect("percent-encoded text is visible ASCII");
        self.set(&names::SCRIPT_FOOTPRINT, value);
    }

    /// Sets the commit that wrote the item.
    pub(crate) fn item_lsn(&mut self, lsn: u64) {
        let lsn = short_value(lsn);
        self.set(&names::ITEM_LSN, lsn.clone());
        self.set(&names::ITEM_LOCAL_LSN, lsn);
    }

    /// Sets what the resource lies in, by name and by resource id.
    pub(crate) fn content_path(&mut self, names: String, rid: impl fmt::Display) {
        self.set_text(&names::ALT_CONTENT_PATH, names);
        self.set_short(&names::CONTENT_PATH, rid);
    }

    /// Adds the headers of every reply.
    pub(crate) fn finish(mut self, activity_id: HeaderValue) -> Response<Full<Bytes>> {
        self.set_short(&names::REQUEST_CHARGE, self.charge);
        self.set(&names::ACTIVITY_ID, activity_id);
        replies::insert_versions(&mut self.headers);
        if !self.body.is_empty() && !self.headers.contains_key(http::header::CONTENT_TYPE) {
            self.set(&http::header::CONTENT_TYPE, JSON);
        }
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// Makes a header of any text. Names may hold any character; headers hold visible ASCII and spaces.
fn header_text(text: String) -> HeaderValue {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    if text.bytes().all(is_plain) {
        // Takes the text's own memory over.
        return HeaderValue::try_from(text).expect("visible ASCII and spaces");
    }
    let encoded = percent::encode_unprintable(&text).to_string();
    HeaderValue::try_from(encoded).expect("only visible ASCII and spaces are left")
}

/// Percent-encodes a log. What a header cannot hold is cut off, at the end of a character.
fn encoded_log(log: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'(' | b')')
    };
    let mut encoded = String::with_capacity((log.len() + log.len() / 2).min(SCRIPT_LOG_HEADER_BYTES_MAX));
    let mut buffer = [0; 4];
    for character in log.chars() {
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        let length: usize = bytes.iter().map(|byte| if is_plain(*byte) { 1 } else { 3 }).sum();
        if encoded.len() + length > SCRIPT_LOG_HEADER_BYTES_MAX {
            break;
        }
        for byte in bytes {
            if is_plain(*byte) {
                encoded.push(char::from(*byte));
            } else {
                encoded.push_str(percent::encode_byte(*byte));
            }
        }
    }
    encoded
}

/// Makes a header of something that is written in digits and punctuation, by way of the stack.
fn short_value(value: impl fmt::Display) -> HeaderValue {
    let mut buffer = [0; SHORT_BYTES_MAX];
    let mut rest = &mut buffer[..];
    if write!(rest, "{value}").is_ok() {
        let length = SHORT_BYTES_MAX - rest.len();
        if let Ok(value) = HeaderValue::from_bytes(&buffer[..length]) {
            return value;
        }
    }
    header_text(value.to_string())
}

#[cfg(test)]
mod tests {
    use armilla_engine::{Position, RequestUnits};
    use http::{HeaderValue, StatusCode};

    use super::{Reply, SHORT_BYTES_MAX, encoded_log, header_text, short_value};
    use crate::limits::SCRIPT_LOG_HEADER_BYTES_MAX;
    use crate::reply::failure::Failure;

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
            assert_eq!(header_text(text.to_owned()), expected, "{text}");
        }
    }

    #[test]
    fn logs_are_percent_encoded() {
        for (log, expected) in [
            ("", ""),
            ("The value of x is 1.", "The%20value%20of%20x%20is%201."),
            ("a\nb\tc", "a%0Ab%09c"),
            ("100% 'of' \"it\"/+&=", "100%25%20%27of%27%20%22it%22%2F%2B%26%3D"),
            ("Größe 日 😀", "Gr%C3%B6%C3%9Fe%20%E6%97%A5%20%F0%9F%98%80"),
            ("-_.!~*()", "-_.!~*()"),
        ] {
            assert_eq!(encoded_log(log), expected, "{log}");
        }
    }

    #[test]
    fn logs_are_cut_where_a_header_ends() {
        let at_the_bound = "x".repeat(SCRIPT_LOG_HEADER_BYTES_MAX);
        assert_eq!(encoded_log(&at_the_bound), at_the_bound);
        assert_eq!(encoded_log(&format!("{at_the_bound}y")), at_the_bound);
        let umlauts = encoded_log(&"ö".repeat(SCRIPT_LOG_HEADER_BYTES_MAX));
        assert_eq!(umlauts, "%C3%B6".repeat(SCRIPT_LOG_HEADER_BYTES_MAX / 6));
    }

    #[test]
    fn short_values_may_be_long() {
        assert_eq!(short_value(0), "0");
        for length in [SHORT_BYTES_MAX - 1, SHORT_BYTES_MAX, SHORT_BYTES_MAX + 1, 1_000] {
            let text = "x".repeat(length);
            assert_eq!(short_value(&text), text);
        }
        assert_eq!(short_value("a\nb"), "a%0Ab");
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
