//! Replies: status, headers and body, with the headers that clients rely upon.

use armilla_engine::{Moment, RequestUnits};
use armilla_value::json;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use crate::entity::{MetadataLevel, etag_text};
use crate::failure::{Failure, Kind, Shape};
use crate::headers::names;
use crate::options::Flavour;
use crate::utc_time::UtcTime;
use crate::xml;

/// The version that a client without one is taken to speak.
const VERSION_DEFAULT: HeaderValue = HeaderValue::from_static("2019-02-02");

/// Most replies have about this many headers: room for them is made at once.
const HEADERS_EXPECTED: usize = 16;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) charge: RequestUnits,
}

/// What every reply says of its request.
pub(crate) struct Asked<'r> {
    pub(crate) flavour: Flavour,
    pub(crate) request_id: &'r str,
    pub(crate) client_request_id: Option<HeaderValue>,
    pub(crate) version: Option<HeaderValue>,
}

impl Reply {
    /// Returns a reply without a body.
    pub(crate) fn empty(status: StatusCode, charge: RequestUnits) -> Reply {
        Reply { status, headers: HeaderMap::with_capacity(HEADERS_EXPECTED), body: Bytes::new(), charge }
    }

    /// Returns a reply with JSON.
    pub(crate) fn json(
        status: StatusCode,
        text: impl Into<Bytes>,
        level: MetadataLevel,
        flavour: Flavour,
        charge: RequestUnits,
    ) -> Reply {
        let mut reply = Reply::empty(status, charge);
        reply.body = text.into();
        reply.set(&http::header::CONTENT_TYPE, HeaderValue::from_static(json_type(level, flavour)));
        reply
    }

    /// Returns a reply with XML.
    pub(crate) fn xml(status: StatusCode, text: impl Into<Bytes>, charge: RequestUnits) -> Reply {
        let mut reply = Reply::empty(status, charge);
        reply.body = text.into();
        reply.set(&http::header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        reply
    }

    /// Returns the reply that tells of a failure, in XML where the request was about something that is XML.
    pub(crate) fn failure(
        failure: &Failure,
        flavour: Flavour,
        is_xml: bool,
        request_id: &str,
        now_ms: i64,
    ) -> Reply {
        let shape = failure.shape(flavour);
        let mut reply = match is_xml {
            true => {
                let message = full_message(&shape, flavour, request_id, now_ms);
                Reply::xml(shape.status, xml::write_error(&shape.code, &message), failure.charge)
            }
            false => {
                let body = json_body(&shape, flavour, request_id, now_ms);
                Reply::json(shape.status, body, MetadataLevel::Full, flavour, failure.charge)
            }
        };
        reply.set_text(&names::ERROR_CODE, &shape.code);
        if let Some(milliseconds) = failure.retry_after_ms() {
            reply.set(&names::RETRY_AFTER_MS, HeaderValue::from(milliseconds));
            reply.set(&http::header::RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1_000)));
        }
        match &failure.kind {
            Kind::MethodNotAllowed(allowed) => {
                reply.set(&http::header::ALLOW, HeaderValue::from_static(allowed));
            }
            Kind::Auth(error) => {
                if let Some(challenge) = error.challenge(flavour) {
                    reply.set_text(&http::header::WWW_AUTHENTICATE, challenge);
                }
            }
            _ => {}
        }
        reply
    }

    /// Sets a header.
    pub(crate) fn set(&mut self, name: &HeaderName, value: HeaderValue) {
        self.headers.insert(name, value);
    }

    /// Sets a header to text that is known to be plain; what is not is left out.
    pub(crate) fn set_text(&mut self, name: &HeaderName, text: &str) {
        if let Ok(value) = HeaderValue::from_str(text) {
            self.set(name, value);
        }
    }

    /// Sets the version of an entity.
    pub(crate) fn etag(&mut self, moment: Moment) {
        self.set_text(&http::header::ETAG, &etag_text(moment));
    }

    /// Adds the headers of every reply.
    pub(crate) fn finish(mut self, asked: Asked<'_>) -> Response<Full<Bytes>> {
        self.set_text(&names::REQUEST_ID, asked.request_id);
        if self.charge != RequestUnits::ZERO {
            let charge = self.charge.to_string();
            self.set_text(&names::REQUEST_CHARGE, &charge);
        }
        if let Some(id) = asked.client_request_id {
            self.set(&names::CLIENT_REQUEST_ID, id);
        }
        if asked.flavour == Flavour::Storage {
            self.set(&names::VERSION, asked.version.unwrap_or(VERSION_DEFAULT));
            self.set(&http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            self.set(&http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// Returns the type of a JSON body.
pub(crate) fn json_type(level: MetadataLevel, flavour: Flavour) -> &'static str {
    match (flavour, level) {
        (Flavour::Cosmos, MetadataLevel::None) => "application/json; odata=nometadata",
        (Flavour::Cosmos, MetadataLevel::Minimal) => "application/json; odata=minimalmetadata",
        (Flavour::Cosmos, MetadataLevel::Full) => "application/json; odata=fullmetadata",
        (Flavour::Storage, MetadataLevel::None) => {
            "application/json;odata=nometadata;streaming=true;charset=utf-8"
        }
        (Flavour::Storage, MetadataLevel::Minimal) => {
            "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
        }
        (Flavour::Storage, MetadataLevel::Full) => {
            "application/json;odata=fullmetadata;streaming=true;charset=utf-8"
        }
    }
}

/// Returns the message with what names the request.
fn full_message(shape: &Shape, flavour: Flavour, request_id: &str, now_ms: i64) -> String {
    match flavour {
        Flavour::Cosmos => format!("{}\nRequestID:{request_id}\n", shape.message),
        Flavour::Storage => {
            let now = UtcTime::from_unix_ms(now_ms);
            format!("{}\nRequestId:{request_id}\nTime:{now}", shape.message)
        }
    }
}

/// Returns a failure as JSON, on one line.
pub(crate) fn json_body(shape: &Shape, flavour: Flavour, request_id: &str, now_ms: i64) -> Vec<u8> {
    let mut body = Vec::with_capacity(256);
    body.extend_from_slice(b"{\"odata.error\":{\"code\":");
    json::write_string(&shape.code, &mut body);
    body.extend_from_slice(match flavour {
        Flavour::Cosmos => b",\"message\":{\"lang\":\"en-us\",\"value\":",
        Flavour::Storage => b",\"message\":{\"lang\":\"en-US\",\"value\":",
    });
    json::write_string(&full_message(shape, flavour, request_id, now_ms), &mut body);
    body.extend_from_slice(b"}}}");
    body
}

#[cfg(test)]
mod tests {
    use armilla_engine::RequestUnits;
    use http::{HeaderValue, StatusCode};

    use super::{Asked, Reply};
    use crate::failure::{Failure, Kind};
    use crate::options::Flavour;

    fn asked(flavour: Flavour) -> Asked<'static> {
        Asked {
            flavour,
            request_id: "an-id",
            client_request_id: Some(HeaderValue::from_static("theirs")),
            version: None,
        }
    }

    #[test]
    fn every_reply_has_the_standard_headers() {
        let charge = RequestUnits::from_hundredths(1_005);
        for (flavour, version) in [(Flavour::Cosmos, None), (Flavour::Storage, Some("2019-02-02"))] {
            let response = Reply::empty(StatusCode::NO_CONTENT, charge).finish(asked(flavour));
            let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap());
            assert_eq!(header("x-ms-request-id"), Some("an-id"));
            assert_eq!(header("x-ms-client-request-id"), Some("theirs"));
            assert_eq!(header("x-ms-request-charge"), Some("10.05"));
            assert_eq!(header("x-ms-version"), version);
            assert_eq!(header("content-type"), None);
        }
        let free = Reply::empty(StatusCode::OK, RequestUnits::ZERO).finish(asked(Flavour::Cosmos));
        assert!(!free.headers().contains_key("x-ms-request-charge"));
    }

    #[test]
    fn failures_are_told_by_flavour_and_form() {
        let failure = Failure::from(Kind::TableMissing).at(3);
        let body = |flavour, is_xml| {
            String::from_utf8(Reply::failure(&failure, flavour, is_xml, "an-id", 1_000).body.to_vec())
                .unwrap()
        };
        assert_eq!(
            body(Flavour::Cosmos, false),
            "{\"odata.error\":{\"code\":\"ResourceNotFound\",\"message\":{\"lang\":\"en-us\",\"value\":\
             \"3:The specified resource does not exist.\\nRequestID:an-id\\n\"}}}"
        );
        assert_eq!(
            body(Flavour::Storage, false),
            "{\"odata.error\":{\"code\":\"TableNotFound\",\"message\":{\"lang\":\"en-US\",\"value\":\
             \"3:The table specified does not exist.\\nRequestId:an-id\\nTime:1970-01-01T00:00:01.0000000Z\"}}}"
        );
        assert_eq!(
            body(Flavour::Storage, true),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error \
             xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"><m:code>TableNotFound</m:code>\
             <m:message xml:lang=\"en-US\">3:The table specified does not exist.\nRequestId:an-id\n\
             Time:1970-01-01T00:00:01.0000000Z</m:message></m:error>"
        );
    }
}
