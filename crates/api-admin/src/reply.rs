//! Replies: status, headers and body, with the headers that clients of the account rely upon.

use armilla_engine::RequestUnits;
use armilla_rest_wire::names;
use armilla_rest_wire::replies::insert_versions;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use crate::failure::Failure;

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
    pub(crate) fn empty(status: StatusCode) -> Reply {
        Reply { status, headers: HeaderMap::new(), body: Bytes::new(), charge: RequestUnits::ZERO }
    }

    /// Returns a reply with JSON text.
    pub(crate) fn json(status: StatusCode, text: impl Into<Bytes>) -> Reply {
        Reply::with(status, "application/json", text.into())
    }

    /// Returns a reply with bytes that are no text.
    pub(crate) fn binary(status: StatusCode, bytes: Bytes) -> Reply {
        Reply::with(status, "application/octet-stream", bytes)
    }

    /// Returns the reply that tells of a failure.
    pub(crate) fn failure(failure: &Failure, activity_id: &str) -> Reply {
        let mut reply = Reply::json(failure.status.http, failure.body(activity_id));
        reply.charge = failure.charge;
        if failure.status.sub != 0 {
            reply.headers.insert(&names::SUB_STATUS, failure.status.sub.into());
        }
        if let Some(verb) = failure.allowed_verb {
            reply.headers.insert(header::ALLOW, HeaderValue::from_static(verb));
        }
        if let Some(milliseconds) = failure.retry_after_ms {
            reply.headers.insert(&names::RETRY_AFTER_MS, milliseconds.into());
        }
        reply
    }

    fn with(status: StatusCode, content_type: &'static str, body: Bytes) -> Reply {
        let mut reply = Reply::empty(status);
        if !body.is_empty() {
            reply.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        reply.body = body;
        reply
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Adds the headers of every reply.
    pub(crate) fn finish(self, activity_id: HeaderValue) -> Response<Full<Bytes>> {
        let Reply { status, mut headers, body, charge } = self;
        let charge = HeaderValue::from_str(&charge.to_string()).expect("a charge is digits and a point");
        headers.insert(&names::REQUEST_CHARGE, charge);
        headers.insert(&names::ACTIVITY_ID, activity_id);
        insert_versions(&mut headers);
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}
